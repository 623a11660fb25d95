//! The launch plan: options to argv, environment and `initialize` payload (`protocol.md §1`).

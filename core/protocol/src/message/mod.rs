//! Typed messages: what the CLI writes, by `type` and `subtype` (`protocol.md §5`).

//! Control requests in both directions, from one catalogue (`protocol.md §6`–`§8`).

//! In-process MCP servers (`protocol.md §9`).

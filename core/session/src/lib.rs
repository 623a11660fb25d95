//! Hold a conversation with the Claude Code CLI: process, pipes, sessions.

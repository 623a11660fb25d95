//! Sessions with the real CLI in its sandbox. The main part runs on both pinned versions.

mod closing;
mod control;
mod custody;
mod event_loop;
mod failures;
mod hooks;
mod permissions;
mod pool;
mod prompts;
mod resuming;
mod saved;
mod stores;
mod subagents;
mod tools;
mod turns;

//! The connection by its rules: turns, requests, answers, deadlines, the end.

mod deadlines;
mod handshake;
mod lines;
mod one_shot;
mod requests;
mod servers;
mod support;
mod turns;
mod waiting;

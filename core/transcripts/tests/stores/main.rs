//! The stores that come with the crate: what each of them has to do, shared use, crashes.

mod conformance;
mod crash;
mod damage;
mod postgres;
mod shared;
mod support;
mod urls;

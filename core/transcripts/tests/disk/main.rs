//! Sessions in generated config directories.

mod listing;
mod places;
mod reading;
mod tree;

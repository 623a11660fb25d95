//! Sessions in generated config directories.

mod changing;
mod listing;
mod places;
mod reading;
mod tree;

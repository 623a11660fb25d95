//! Sessions in generated config directories.

mod changing;
mod documents;
mod listing;
mod places;
mod reading;
mod tree;

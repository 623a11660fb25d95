//! The C ABI of Towline.

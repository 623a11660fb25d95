//! Gives the shared library its soname: programs keep working with every `libtowline.so.0`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtowline.so.0");
}

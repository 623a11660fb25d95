//! How one option's value is read from JSON, with the shape it must have in words.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::de::DeserializeOwned;

use super::json::{Json, JsonObject};
use crate::json::Kind;

/// A type an option can have.
pub(super) trait Field: Sized {
    /// The shape, to stand after "must be".
    const SHAPE: &'static str;

    /// Reads validated JSON text other than `null`; the error says what was found.
    fn read(text: &str) -> Result<Self, String>;

    /// What `null` means: the default, for everything but what can be switched off.
    fn null(default: Self) -> Self {
        default
    }
}

pub(super) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

macro_rules! decoded {
    ($($type:ty: $shape:literal;)*) => {$(
        impl Field for $type {
            const SHAPE: &'static str = $shape;

            fn read(text: &str) -> Result<Self, String> {
                decode(text)
            }
        }
    )*};
}

decoded! {
    bool: "true or false";
    u64: "a whole number, 0 or more";
    String: "a string";
    Vec<String>: "a list of strings";
    BTreeMap<String, String>: "an object of strings";
}

impl Field for f64 {
    const SHAPE: &'static str = "a number, 0 or more";

    /// Exactly, which `serde_json` does not promise.
    fn read(text: &str) -> Result<Self, String> {
        if Kind::of(text) != Some(Kind::Number) {
            return Err("not a number".to_string());
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(text.to_string()),
        }
    }
}

impl<T: Field> Field for Option<T> {
    const SHAPE: &'static str = T::SHAPE;

    fn read(text: &str) -> Result<Self, String> {
        T::read(text).map(Some)
    }
}

impl Field for Json {
    const SHAPE: &'static str = "a JSON value";

    fn read(text: &str) -> Result<Self, String> {
        Json::parse(text).map_err(|error| error.to_string())
    }
}

impl Field for JsonObject {
    const SHAPE: &'static str = "an object";

    fn read(text: &str) -> Result<Self, String> {
        JsonObject::parse(text)
    }
}

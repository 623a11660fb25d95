//! Values inside a JSON text, by RFC 6901 pointer.

use towline_core::protocol::json::{self, Kind};

use crate::error::Failure;
use crate::status::towline_status::*;
use crate::text::{View, Views};

/// The JSON text of a value.
pub(crate) fn find<'a>(text: &'a str, pointer: &str) -> Result<&'a str, Failure> {
    match json::pointer(text, pointer) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(Failure::new(
            TOWLINE_ERR_ABSENT,
            format!("there is nothing at {pointer:?}"),
        )),
        Err(error) => Err(Failure::new(
            TOWLINE_ERR_POINTER,
            format!("pointer {pointer:?}: {error}"),
        )),
    }
}

fn wrong(pointer: &str, wanted: &str) -> Failure {
    Failure::new(
        TOWLINE_ERR_TYPE,
        format!("what stands at {pointer:?} is no {wanted}"),
    )
}

/// A string, decoded.
pub(crate) fn string(views: &Views, text: &str, pointer: &str) -> Result<View, Failure> {
    views.get(&format!("string {pointer}"), || {
        let value = find(text, pointer)?;
        let value = json::string(value).ok_or_else(|| wrong(pointer, "string"))?;
        Ok(value.into_owned())
    })
}

/// Any value, as JSON text.
pub(crate) fn raw(views: &Views, text: &str, pointer: &str) -> Result<View, Failure> {
    views.get(&format!("json {pointer}"), || {
        Ok(find(text, pointer)?.to_string())
    })
}

/// A whole number; one written as `1.0` or `1e3` is one too.
pub(crate) fn integer(text: &str, pointer: &str) -> Result<i64, Failure> {
    let value = find(text, pointer)?;
    if let Ok(number) = value.parse() {
        return Ok(number);
    }
    let number = double(text, pointer)?;
    // 2^63 is the first double that no i64 reaches.
    let limit = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && number >= -limit && number < limit {
        return Ok(number as i64);
    }
    Err(wrong(pointer, "whole number of 64 bits"))
}

/// A number.
pub(crate) fn double(text: &str, pointer: &str) -> Result<f64, Failure> {
    let value = find(text, pointer)?;
    match (Kind::of(value), value.parse::<f64>()) {
        (Some(Kind::Number), Ok(number)) if number.is_finite() => Ok(number),
        _ => Err(wrong(pointer, "number")),
    }
}

/// True or false.
pub(crate) fn boolean(text: &str, pointer: &str) -> Result<bool, Failure> {
    match find(text, pointer)? {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong(pointer, "true or false")),
    }
}

/// How many elements an array has, members an object, bytes a string.
pub(crate) fn length(text: &str, pointer: &str) -> Result<usize, Failure> {
    let value = find(text, pointer)?;
    let mut count = 0;
    let scanned = match Kind::of(value) {
        Some(Kind::Array) => json::elements(value, |_| count += 1),
        Some(Kind::Object) => json::members(value, |_, _| count += 1),
        Some(Kind::String) => {
            count = json::string(value).map_or(0, |text| text.len());
            Ok(())
        }
        _ => return Err(wrong(pointer, "array, object or string")),
    };
    match scanned {
        Ok(()) => Ok(count),
        Err(error) => Err(Failure::new(TOWLINE_ERR_JSON, error.to_string())),
    }
}

/// Whether `null` stands there, or nothing.
pub(crate) fn is_null(text: &str, pointer: &str) -> Result<bool, Failure> {
    match find(text, pointer) {
        Ok(value) => Ok(value == "null"),
        Err(failure) if failure.status == TOWLINE_ERR_ABSENT => Ok(true),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"s":"a\u00e9","n":-3,"f":2.5,"e":1e3,"big":1e400,"t":true,"z":null,"a":[1,2],"o":{"x":1}}"#;

    #[test]
    fn numbers() {
        assert_eq!(integer(TEXT, "/n").ok(), Some(-3));
        assert_eq!(integer(TEXT, "/e").ok(), Some(1000));
        assert_eq!(double(TEXT, "/f").ok(), Some(2.5));
        for (pointer, status) in [
            ("/f", TOWLINE_ERR_TYPE),
            ("/s", TOWLINE_ERR_TYPE),
            ("/big", TOWLINE_ERR_TYPE),
            ("/none", TOWLINE_ERR_ABSENT),
            ("n", TOWLINE_ERR_POINTER),
        ] {
            assert_eq!(integer(TEXT, pointer).unwrap_err().status, status);
        }
        assert_eq!(
            integer(r#"{"n":9223372036854775808}"#, "/n")
                .unwrap_err()
                .status,
            TOWLINE_ERR_TYPE
        );
        assert_eq!(
            integer(r#"{"n":-9223372036854775808}"#, "/n").ok(),
            Some(i64::MIN)
        );
    }

    #[test]
    fn other_kinds() {
        assert_eq!(boolean(TEXT, "/t").ok(), Some(true));
        assert_eq!(boolean(TEXT, "/z").unwrap_err().status, TOWLINE_ERR_TYPE);
        assert_eq!(is_null(TEXT, "/z").ok(), Some(true));
        assert_eq!(is_null(TEXT, "/none").ok(), Some(true));
        assert_eq!(is_null(TEXT, "/t").ok(), Some(false));
        assert_eq!(length(TEXT, "/a").ok(), Some(2));
        assert_eq!(length(TEXT, "/o").ok(), Some(1));
        assert_eq!(length(TEXT, "/s").ok(), Some(3));
        assert_eq!(length(TEXT, "/t").unwrap_err().status, TOWLINE_ERR_TYPE);
    }
}

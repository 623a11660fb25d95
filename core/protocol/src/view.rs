//! Structs that look at an object's text: each field read by name, borrowed where it can be.
//!
//! A text is scanned, never built into a tree. Strings borrow from it unless they have escapes, lone
//! surrogates read as U+FFFD, nesting is limited by memory only, and of duplicate members the last
//! one counts, as for `JSON.parse`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::control::RawJson;
use crate::json::{elements, members, scanned_string, string, JsonText, Kind};

/// A field's value from its validated JSON text; `None` when the text is of another kind.
pub(crate) trait Read<'a>: Sized {
    fn read(text: &'a str) -> Option<Self>;

    /// The same, told by the scanner whether the text is a string with escapes.
    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        let _ = escaped;
        Self::read(text)
    }
}

impl<'a> Read<'a> for Cow<'a, str> {
    fn read(text: &'a str) -> Option<Self> {
        string(text)
    }

    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        scanned_string(text, escaped)
    }
}

impl Read<'_> for String {
    fn read(text: &str) -> Option<Self> {
        string(text).map(Cow::into_owned)
    }
}

impl Read<'_> for RawJson {
    fn read(text: &str) -> Option<Self> {
        Some(RawJson::of(text))
    }
}

impl<'a> Read<'a> for bool {
    fn read(text: &'a str) -> Option<Self> {
        match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for u64 {
    /// JavaScript has one kind of number, so a whole one may also come as `1.0` or `1e3`.
    fn read(text: &'a str) -> Option<Self> {
        text.parse().ok().or_else(|| {
            f64::read(text)
                .filter(|number| (0.0..=MAX_SAFE_INTEGER).contains(number))
                .map(|number| number as u64)
        })
    }
}

impl<'a> Read<'a> for i64 {
    fn read(text: &'a str) -> Option<Self> {
        text.parse().ok().or_else(|| {
            f64::read(text)
                .filter(|number| (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(number))
                .map(|number| number as i64)
        })
    }
}

/// The largest number up to which every integer is a double.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

impl<'a> Read<'a> for f64 {
    fn read(text: &'a str) -> Option<Self> {
        match Kind::of(text)? {
            Kind::Number => text.parse().ok(),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for JsonText<'a> {
    fn read(text: &'a str) -> Option<Self> {
        Some(JsonText::of(text))
    }
}

impl<'a, T: Read<'a>> Read<'a> for Option<T> {
    fn read(text: &'a str) -> Option<Self> {
        Some(if text == "null" { None } else { T::read(text) })
    }

    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        Some(if text == "null" {
            None
        } else {
            T::read_member(text, escaped)
        })
    }
}

impl<'a, T: Read<'a>> Read<'a> for Box<T> {
    fn read(text: &'a str) -> Option<Self> {
        T::read(text).map(Box::new)
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(text: &'a str) -> Option<Self> {
        let mut list = Vec::new();
        elements(text, |element| list.extend(T::read(element))).ok()?;
        Some(list)
    }
}

impl<'a, T: Read<'a>> Read<'a> for BTreeMap<String, T> {
    fn read(text: &'a str) -> Option<Self> {
        let mut map = BTreeMap::new();
        members(text, |name, value| {
            if let Some(value) = T::read(value) {
                map.insert(name.into(), value);
            }
        })
        .ok()?;
        Some(map)
    }
}

/// Declares a struct that is decoded from an object's text.
///
/// A member of another kind than expected reads like an absent one: the CLI's next version must
/// not break a host that does not use that member. `get` reaches every member as it came.
///
/// `field [default]: T` is a field that is not always there although `T` is no `Option`: its JSON
/// Schema does not require it.
macro_rules! view {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)? $([$flag:ident])? : $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name<'a> {
            $(
                $(#[$field_meta])*
                $(#[cfg_attr(feature = "schema", schemars(rename = $wire))])?
                $(#[cfg_attr(feature = "schema", schemars($flag))])?
                pub $field: $type,
            )*
            #[cfg_attr(feature = "schema", schemars(skip))]
            json: &'a str,
        }

        impl<'a> $name<'a> {
            /// Reads the fields from the text of an object; an error when it is not one.
            pub fn decode(json: &'a str) -> Result<Self, $crate::json::ScanError> {
                let mut view = $name { json, ..Self::default() };
                $crate::json::members_and_escapes(json, |key, value, escaped| match key {
                    $(
                        $crate::view::wire!($field $(as $wire)?) => {
                            view.$field =
                                $crate::view::Read::read_member(value, escaped).unwrap_or_default();
                        }
                    )*
                    _ => {}
                })?;
                Ok(view)
            }

            /// The whole object as it came; empty for a default value.
            pub fn json(&self) -> &'a str {
                self.json
            }

            /// The JSON text of a member, listed here or not.
            pub fn get(&self, name: &str) -> Option<&'a str> {
                $crate::view::member(self.json, name)
            }
        }

        impl<'a> $crate::view::Read<'a> for $name<'a> {
            fn read(text: &'a str) -> Option<Self> {
                Self::decode(text).ok()
            }
        }
    };
}

macro_rules! wire {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident as $wire:literal) => {
        $wire
    };
}

pub(crate) use {view, wire};

/// The JSON text of an object's member; the last one when it stands twice.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    members(object, |key, value| {
        if key == name {
            found = Some(value);
        }
    })
    .ok()?;
    found
}

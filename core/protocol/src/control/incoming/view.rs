//! Structs that look at an object's text: each field read by name, borrowed where it can be.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::control::{JsonText, RawJson};
use crate::json::{elements, members, string, Kind};

/// A field's value from its validated JSON text; `None` when the text is of another kind.
pub(crate) trait Read<'a>: Sized {
    fn read(text: &'a str) -> Option<Self>;
}

impl<'a> Read<'a> for Cow<'a, str> {
    fn read(text: &'a str) -> Option<Self> {
        string(text)
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
    fn read(text: &'a str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Read<'_> for i64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

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
        Some(JsonText::new(text))
    }
}

impl<'a, T: Read<'a>> Read<'a> for Option<T> {
    fn read(text: &'a str) -> Option<Self> {
        Some(if text == "null" { None } else { T::read(text) })
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    fn read(text: &'a str) -> Option<Self> {
        let mut list = Vec::new();
        elements(text, |element| list.extend(T::read(element))).ok()?;
        Some(list)
    }
}

impl<T: for<'b> Read<'b>> Read<'_> for BTreeMap<String, T> {
    fn read(text: &str) -> Option<Self> {
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
macro_rules! view {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)? : $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name<'a> {
            $(
                $(#[$field_meta])*
                $(#[cfg_attr(feature = "schema", schemars(rename = $wire))])?
                pub $field: $type,
            )*
            #[cfg_attr(feature = "schema", schemars(skip))]
            text: &'a str,
        }

        impl<'a> $name<'a> {
            /// Reads the fields from the text of an object; an error when it is not one.
            pub fn decode(text: &'a str) -> Result<Self, crate::json::ScanError> {
                let mut view = $name { text, ..Self::default() };
                crate::json::members(text, |key, value| match key {
                    $(
                        $crate::control::incoming::view::wire!($field $(as $wire)?) => {
                            if let Some(value) =
                                $crate::control::incoming::view::Read::read(value)
                            {
                                view.$field = value;
                            }
                        }
                    )*
                    _ => {}
                })?;
                Ok(view)
            }

            /// The whole object as it came.
            pub fn text(&self) -> &'a str {
                self.text
            }

            /// The JSON text of a member, listed here or not.
            pub fn get(&self, name: &str) -> Option<&'a str> {
                $crate::control::incoming::view::member(self.text, name)
            }
        }

        impl<'a> $crate::control::incoming::view::Read<'a> for $name<'a> {
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
    crate::json::members(object, |key, value| {
        if key == name {
            found = Some(value);
        }
    })
    .ok()?;
    found
}

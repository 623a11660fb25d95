//! The language of the catalogue: one entry gives a struct and its description.
//!
//! A field is `name: presence kind`, or `name as "wireName": presence kind` where the wire has
//! another spelling. Kinds: `string`, `one_of("a", "b")`, `boolean`, `integer`, `number`,
//! `strings`, `string_map`, `object`, `array`, `any`; in answers also `list(Type)`.

/// The Rust type of a kind.
macro_rules! rust_type {
    (string) => { alloc::string::String };
    (one_of($($value:literal),*)) => { alloc::string::String };
    (boolean) => { bool };
    (integer) => { i64 };
    (number) => { f64 };
    (strings) => { alloc::vec::Vec<alloc::string::String> };
    (string_map) => {
        alloc::collections::BTreeMap<alloc::string::String, alloc::string::String>
    };
    (list($item:ty)) => { alloc::vec::Vec<$item> };
    (object) => { $crate::control::RawJson };
    (array) => { $crate::control::RawJson };
    (any) => { $crate::control::RawJson };
}

/// The description of a kind.
macro_rules! field_kind {
    (string) => { $crate::control::catalogue::FieldKind::String };
    (one_of($($value:literal),*)) => {
        $crate::control::catalogue::FieldKind::OneOf(&[$($value),*])
    };
    (boolean) => { $crate::control::catalogue::FieldKind::Boolean };
    (integer) => { $crate::control::catalogue::FieldKind::Integer };
    (number) => { $crate::control::catalogue::FieldKind::Number };
    (strings) => { $crate::control::catalogue::FieldKind::Strings };
    (string_map) => { $crate::control::catalogue::FieldKind::StringMap };
    (list($item:ty)) => { $crate::control::catalogue::FieldKind::Array };
    (object) => { $crate::control::catalogue::FieldKind::Object };
    (array) => { $crate::control::catalogue::FieldKind::Array };
    (any) => { $crate::control::catalogue::FieldKind::Any };
}

/// The Rust type of a field with a presence.
macro_rules! present_type {
    (required $($kind:tt)*) => { $crate::control::catalogue::macros::rust_type!($($kind)*) };
    (optional $($kind:tt)*) => {
        Option<$crate::control::catalogue::macros::rust_type!($($kind)*)>
    };
    (or_null $($kind:tt)*) => {
        Option<$crate::control::catalogue::macros::rust_type!($($kind)*)>
    };
    (nullable $($kind:tt)*) => {
        $crate::control::catalogue::value::Nullable<
            $crate::control::catalogue::macros::rust_type!($($kind)*)
        >
    };
}

/// The description of a presence.
macro_rules! presence {
    (required) => {
        $crate::control::catalogue::Presence::Required
    };
    (optional) => {
        $crate::control::catalogue::Presence::Optional
    };
    (or_null) => {
        $crate::control::catalogue::Presence::OrNull
    };
    (nullable) => {
        $crate::control::catalogue::Presence::Nullable
    };
}

macro_rules! since_older {
    (older) => {
        true
    };
    (newer) => {
        false
    };
}

macro_rules! requests {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($subtype:literal, $source:ident, $since:ident) -> $response:ty {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident $(as $wire:literal)? :
                    $presence:ident $kind:ident $(($($values:tt)*))?,
            )*
        }
    )*) => {
        /// Every request, in the order of `protocol.md §8`.
        pub static CATALOGUE: &[$crate::control::catalogue::RequestSpec] = &[$(
            $crate::control::catalogue::RequestSpec {
                subtype: $subtype,
                type_name: stringify!($name),
                doc: concat!($($doc),+).trim_ascii(),
                source: $crate::control::catalogue::Source::$source,
                since_older: $crate::control::catalogue::macros::since_older!($since),
                fields: &[$(
                    $crate::control::catalogue::FieldSpec {
                        wire: $crate::view::wire!($field $(as $wire)?),
                        name: stringify!($field),
                        kind: $crate::control::catalogue::macros::field_kind!(
                            $kind $(($($values)*))?
                        ),
                        presence: $crate::control::catalogue::macros::presence!($presence),
                        doc: concat!($($field_doc),+).trim_ascii(),
                    },
                )*],
                response: <$response as $crate::control::catalogue::ControlResponse>::FIELDS,
            },
        )*];

        $(
            $(#[doc = $doc])+
            #[doc = concat!("\n\n`", $subtype, "`")]
            #[derive(Debug, Clone, PartialEq, Default)]
            pub struct $name {
                $(
                    $(#[doc = $field_doc])+
                    pub $field: $crate::control::catalogue::macros::present_type!(
                        $presence $kind $(($($values)*))?
                    ),
                )*
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for $name {
                fn schema_name() -> alloc::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    $crate::control::catalogue::spec($subtype)
                        .map_or_else(Default::default, |spec| spec.payload_schema())
                }
            }

            impl $crate::control::catalogue::ControlRequest for $name {
                const SUBTYPE: &'static str = $subtype;
                type Response = $response;

                fn write_payload(&self, out: &mut alloc::string::String) {
                    out.push('{');
                    $(
                        $crate::control::catalogue::value::$presence(
                            out,
                            $crate::view::wire!($field $(as $wire)?),
                            &self.$field,
                        );
                    )*
                    out.push('}');
                }
            }
        )*
    };
}

macro_rules! responses {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident $(as $wire:literal)? : $kind:ident $(($($values:tt)*))?,
            )*
        }
    )*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Default)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[doc = $field_doc])+
                $(#[cfg_attr(feature = "schema", schemars(rename = $wire))])?
                pub $field: Option<
                    $crate::control::catalogue::macros::rust_type!($kind $(($($values)*))?)
                >,
            )*
        }

        impl $crate::control::catalogue::ControlResponse for $name {
            const FIELDS: &'static [$crate::control::catalogue::FieldSpec] = &[$(
                $crate::control::catalogue::FieldSpec {
                    wire: $crate::view::wire!($field $(as $wire)?),
                    name: stringify!($field),
                    kind: $crate::control::catalogue::macros::field_kind!(
                        $kind $(($($values)*))?
                    ),
                    presence: $crate::control::catalogue::Presence::Optional,
                    doc: concat!($($field_doc),+).trim_ascii(),
                },
            )*];

            fn read(payload: &str) -> Result<Self, $crate::json::ScanError> {
                let mut response = Self::default();
                $crate::json::members(payload, |name, value| match name {
                    $(
                        $crate::view::wire!($field $(as $wire)?) => {
                            response.$field =
                                $crate::view::Read::read(value).flatten();
                        }
                    )*
                    _ => {}
                })?;
                Ok(response)
            }
        }

        impl $crate::view::Read<'_> for $name {
            fn read(text: &str) -> Option<Self> {
                $crate::control::catalogue::ControlResponse::read(text).ok()
            }
        }
    )*};
}

pub(super) use {field_kind, presence, present_type, requests, responses, rust_type, since_older};

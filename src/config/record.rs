//! Mappings and words declared once: reader, schema and documentation from one table.

use serde_json::{Map, Value as Json, json};

/// Whether a field must be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Must be there.
    Required,
    /// May be left out.
    Optional,
    /// May be left out and is then this, as a person would write it.
    Default(String),
}

/// One field of a mapping, for references and `explain`.
#[derive(Debug, Clone)]
pub struct FieldDoc {
    /// The key.
    pub name: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// Whether it must be written.
    pub need: Need,
    /// JSON Schema of its value.
    pub schema: Json,
}

/// A mapping with a fixed set of keys.
pub trait Record {
    /// Its name in messages, with its article ("a file").
    const WHAT: &'static str;

    /// Documentation of the whole.
    fn doc() -> &'static str;

    /// Its fields in the order they are documented.
    fn fields() -> Vec<FieldDoc>;

    /// JSON Schema of the mapping.
    fn record_schema() -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in Self::fields() {
            let mut schema = field.schema;
            if let Some(object) = schema.as_object_mut() {
                object.insert("description".to_owned(), json!(field.doc));
            }
            properties.insert(field.name.to_owned(), schema);
            if field.need == Need::Required {
                required.push(json!(field.name));
            }
        }
        json!({
            "type": "object",
            "description": Self::doc(),
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// Joins the lines of a doc comment.
#[macro_export]
macro_rules! doc_text {
    ($($line:literal),*) => { concat!($($line, "\n"),*).trim() };
}

/// Declares a mapping of a user's file: a struct, its [`FromNode`](crate::config::FromNode)
/// and its [`Record`](crate::config::Record).
///
/// A field is `req` (must be written), `opt` (becomes an `Option`) or `def` (has a default). `as Host` behind the
/// name in messages is its [`Role`](crate::config::Role).
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($($derive:path),*)])?
        $name:ident ($what:literal $(as $role:ident)?) {
            $(
                $(#[doc = $field_doc:literal])*
                $need:ident $field:ident $(($key:literal))? : $type:ty $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, $($($derive),*)?)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $crate::record!(@type $need $type), )*
        }

        impl $crate::config::Record for $name {
            const WHAT: &'static str = $what;

            fn doc() -> &'static str {
                $crate::doc_text!($($doc),*)
            }

            fn fields() -> Vec<$crate::config::FieldDoc> {
                vec![$( $crate::config::FieldDoc {
                    name: $crate::record!(@key $field $($key)?),
                    doc: $crate::doc_text!($($field_doc),*),
                    need: $crate::record!(@need $need $($default)?),
                    schema: <$type as $crate::config::FromNode>::schema(),
                }, )*]
            }
        }

        impl $crate::config::FromNode for $name {
            fn from_node(node: &$crate::config::Node, diagnostics: &mut $crate::config::Diagnostics) -> Option<Self> {
                let mut map = $crate::config::MapReader::new(
                    node,
                    $what,
                    $crate::record!(@role $($role)?),
                    diagnostics,
                )?;
                $( let $field = $crate::record!(@read $need map diagnostics ($crate::record!(@key $field $($key)?)) $type $(, $default)?); )*
                let clean = map.finish(diagnostics);
                let read = Self { $( $field: $field?, )* };
                clean.then_some(read)
            }

            fn schema() -> serde_json::Value {
                <Self as $crate::config::Record>::record_schema()
            }
        }
    };
    (@role) => { $crate::config::Role::Other };
    (@role $role:ident) => { $crate::config::Role::$role };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@type opt $type:ty) => { Option<$type> };
    (@type $need:ident $type:ty) => { $type };
    (@need req) => { $crate::config::Need::Required };
    (@need opt) => { $crate::config::Need::Optional };
    (@need def $default:expr) => { $crate::config::Need::Default(stringify!($default).to_owned()) };
    (@read req $map:ident $diagnostics:ident ($key:expr) $type:ty) => { $map.required::<$type>($key, $diagnostics) };
    (@read opt $map:ident $diagnostics:ident ($key:expr) $type:ty) => { $map.optional::<$type>($key, $diagnostics) };
    (@read def $map:ident $diagnostics:ident ($key:expr) $type:ty, $default:expr) => {
        $map.optional::<$type>($key, $diagnostics).map(|read| read.unwrap_or_else(|| $default))
    };
}

/// Declares a word of a user's file that is one of a few: an enum, its
/// [`FromNode`](crate::config::FromNode) with "did you mean", its `Display` and `Serialize`.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        $name:ident { $( $(#[doc = $variant_doc:literal])* $variant:ident = $word:literal ),* $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[doc = $variant_doc])* $variant, )* }

        impl $name {
            /// The words.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word as written.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <String as serde::Deserialize>::deserialize(deserializer)?;
                match word.as_str() {
                    $( $word => Ok(Self::$variant), )*
                    other => Err(serde::de::Error::unknown_variant(other, Self::WORDS)),
                }
            }
        }

        impl $crate::config::FromNode for $name {
            fn from_node(node: &$crate::config::Node, diagnostics: &mut $crate::config::Diagnostics) -> Option<Self> {
                match node.as_str() {
                    $( Some($word) => return Some(Self::$variant), )*
                    Some(other) => diagnostics.push(
                        $crate::config::Diagnostic::error(node.span, format!("`{other}` is not one of `{}`", Self::WORDS.join("`, `")))
                            .maybe_help(
                                $crate::foreign::help(other, &[$crate::foreign::Place::Value])
                                    .or_else(|| $crate::config::did_you_mean_text(other, Self::WORDS.iter().copied())),
                            ),
                    ),
                    None => $crate::config::read::wrong_type(node, &format!("one of `{}`", Self::WORDS.join("`, `")), diagnostics),
                }
                None
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": Self::WORDS })
            }
        }
    };
}

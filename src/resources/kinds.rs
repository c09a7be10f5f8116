//! The resource keys of the language.
//!
//! A resource says in its own file what the rest of the program must know of it, with `kind!`; the
//! build script makes the table of the files that do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::context::Context;
use super::resource::Resource;
use crate::config::{Diagnostic, Diagnostics, FieldDoc, Node, Span, Yaml};
use crate::facts::{Family, Query};
use crate::placeholder;

/// A resource as it was read; none where its mapping is wrong.
pub type Built = Option<Arc<dyn Resource>>;

/// Reads a resource from a task's mapping.
pub type Read = fn(&Node, &dyn Context, &mut Diagnostics) -> Built;

/// One resource key of the language, and all that the rest of the program knows of its resource.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other, each is read in one place")]
pub struct Kind {
    /// The key of a task.
    pub name: &'static str,
    /// Reads it from a task's mapping; see [`read`](Self::read()).
    pub(crate) read: Read,
    /// Its purpose: the first lines of its page in `explain`.
    pub doc: fn() -> &'static str,
    /// Its fields.
    pub fields: fn() -> Vec<FieldDoc>,
    /// One or two tasks that use it; a test reads them.
    pub example: &'static str,
    /// Time limit of a task that sets none.
    pub timeout: Duration,
    /// Whether it needs facts of other hosts: all are gathered before it.
    pub fleet: bool,
    /// Whether it is done on the controller, once for all hosts.
    pub central: bool,
    /// Whether its `src` is a template.
    pub rendered: bool,
    /// Whether it runs in a unit of its own, because it takes so long.
    pub detached: bool,
    /// Whether it is the reboot of its host.
    pub reboots: bool,
    /// Whether it is tried again when a mirror or a network fails for a moment.
    pub retries: bool,
    /// Whether it runs what the playbook says: then its answer can be registered, and its page does not
    /// explain why it failed.
    pub runs_anything: bool,
    /// Its fields that are conditions, and no templates.
    pub conditions: &'static [&'static str],
    /// Its fields whose value no two hosts share.
    pub own: &'static [&'static str],
    /// Its fields that may hold a secret: what they say is in no argument list, and in no file that others than
    /// its owner may read. Every other field refuses one.
    pub secrets: &'static [&'static str],
    /// Keys of `expect:` that its tasks may fill in: `network.mtu`.
    pub promises: &'static [&'static str],
}

impl Kind {
    /// A resource of which nothing else need be known.
    pub const fn new(
        name: &'static str,
        read: Read,
        doc: fn() -> &'static str,
        fields: fn() -> Vec<FieldDoc>,
        example: &'static str,
    ) -> Self {
        Self {
            name,
            read,
            doc,
            fields,
            example,
            timeout: Duration::from_mins(10),
            fleet: false,
            central: false,
            rendered: false,
            detached: false,
            reboots: false,
            retries: false,
            runs_anything: false,
            conditions: &[],
            own: &[],
            secrets: &[],
            promises: &[],
        }
    }

    /// Reads the resource from a task's mapping whose templates are rendered.
    pub fn read(&self, node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
        let Yaml::Map(entries) = &node.value else { return (self.read)(node, context, diagnostics) };
        let mut good = true;
        let closed = entries.iter().filter(|(field, _)| !self.secrets.contains(&field.value.as_str()));
        for (field, place) in closed.filter_map(|(field, value)| Some((field, secret_in(value)?))) {
            good = false;
            let message =
                format!("`{}` of `{}` cannot hold a secret: others could read it", **field, self.name);
            diagnostics.push(Diagnostic::error(place, message).help(self.where_secrets_go()));
        }
        if good { (self.read)(node, context, diagnostics) } else { None }
    }

    /// The fields that a secret may be put into instead.
    fn where_secrets_go(&self) -> String {
        let of = |kind: &Self| {
            let fields: Vec<String> = kind.secrets.iter().map(|field| format!("`{field}`")).collect();
            format!("{} of `{}`", fields.join(" or "), kind.name)
        };
        if !self.secrets.is_empty() {
            return format!("put it into {}", of(self));
        }
        let all: Vec<String> = kinds().iter().filter(|kind| !kind.secrets.is_empty()).map(of).collect();
        format!("put it into {}", all.join(", or "))
    }
}

/// The first place in a value where a secret stands.
fn secret_in(node: &Node) -> Option<Span> {
    match &node.value {
        Yaml::Str(text) => placeholder::is_in(text).then_some(node.span),
        Yaml::List(items) => items.iter().find_map(secret_in),
        Yaml::Map(entries) => entries
            .iter()
            .find_map(|(key, value)| if placeholder::is_in(key) { Some(key.span) } else { secret_in(value) }),
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) => None,
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The [`Kind`] of the resource of a file: its key and its record, then what differs from
/// [`Kind::new`].
macro_rules! kind {
    ($name:literal, $record:ident $(, $field:ident: $value:expr)*) => {
        pub(in crate::resources) const KIND: $crate::resources::Kind = $crate::resources::Kind {
            $($field: $value,)*
            ..$crate::resources::Kind::new(
                $name,
                read,
                <$record as $crate::config::Record>::doc,
                <$record as $crate::config::Record>::fields,
                include_str!("example.yaml"),
            )
        };
    };
}

/// All resource keys, in order.
pub fn kinds() -> &'static [Kind] {
    include!(concat!(env!("OUT_DIR"), "/kinds.rs"))
}

/// The question that is written so; see [`Question::label`](crate::facts::Question::label).
pub fn question(label: &str) -> Option<Query> {
    let families: &[&Family] = include!(concat!(env!("OUT_DIR"), "/questions.rs"));
    families.iter().find_map(|family| (family.read_label)(label))
}

/// The resource of a key.
pub fn kind(name: &str) -> Option<&'static Kind> {
    kinds().iter().find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that is lost after an hour must not end what took it.
    #[test]
    fn what_takes_hours_runs_in_a_unit_of_its_own() {
        let hour = Duration::from_hours(1);
        assert!(kinds().iter().all(|kind| kind.detached == (kind.timeout > hour)));
        assert!(kinds().iter().any(|kind| kind.detached));
        // A server with much memory takes its time until it boots.
        assert!(kinds().iter().filter(|kind| kind.reboots).all(|kind| kind.timeout.as_secs() == 20 * 60));
    }
}

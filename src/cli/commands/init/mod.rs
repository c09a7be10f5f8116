//! `provision init`: from a list of hosts to a commented inventory that works.

mod first;
mod run;
mod text;
mod words;

pub(crate) use run::run;

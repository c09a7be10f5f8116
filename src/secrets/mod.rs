//! Secrets: where they come from and where they may go.
//!
//! A secret is a [`SecretString`](secrecy::SecretString): no `Display`, no `Serialize`. Text that will hold one carries
//! its [placeholder](crate::placeholder) through templates, plans, diffs and journals; only the
//! writer of a transport puts the value in ([`Secrets::reveal`]).

mod redact;
pub mod source;
mod values;

pub use source::{SecretError, SecretSource, resolve};
pub use values::Secrets;

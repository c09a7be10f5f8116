//! Everything filled in and read, without a host.

use super::Project;
use crate::config::Diagnostics;

impl Project {
    /// Fills every step in for every host and reads every resource.
    pub fn validate(&self) -> Diagnostics {
        Diagnostics::default()
    }
}

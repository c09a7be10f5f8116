//! Lines of `dkms status`, in both formats, of dkms 2 and of dkms 3.

use serde::{Deserialize, Serialize};

/// One line of `dkms status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dkms {
    /// `nvidia/580.105.08`.
    pub module: String,
    /// The kernel that it is built for; none when only added.
    pub kernel: Option<String>,
    /// `installed`, `built`, `added`, with what follows.
    pub state: String,
}

impl Dkms {
    /// Reads `nvidia/580.105.08, 5.15.0-113-generic, x86_64: installed`, or with commas only (dkms 2).
    pub(super) fn line(line: &str) -> Option<Self> {
        let (left, state) = line.split_once(": ")?;
        let mut words = left.split(',').map(str::trim);
        let first = words.next()?;
        let module =
            if first.contains('/') { first.to_owned() } else { format!("{first}/{}", words.next()?) };
        Some(Self { module, kernel: words.next().map(str::to_owned), state: state.trim().to_owned() })
    }

    /// Whether the module is in place for the kernel of this line.
    pub fn is_installed(&self) -> bool {
        self.state.starts_with("installed")
    }
}

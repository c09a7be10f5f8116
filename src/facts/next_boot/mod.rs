//! The next boot, looked at before it happens: what the kernel that boots next will find on disk.
//!
//! Formats: modprobe(8) `--show-depends`, modinfo(8), the warnings of depmod(8) with `-e -E` (`disagrees about version
//! of symbol`, `needs unknown symbol`), lsinitramfs(8) and lsinitrd(1), mokutil(1), `/proc/keys` (keyrings(7)),
//! `/run/systemd/netif/links` (sd-network), `nmcli -t`, interfaces(5), and our own
//! (`src/facts/next_boot/next_boot.sh`) around them. What fits a kernel is what its own loader takes
//! (`kernel/module/version.c`, `same_magic`): where both have symbol versions, those decide, not the release.

mod loader;
mod modules;
mod network;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::{Sections, pair};
use super::{Gap, GapKind, Seen, Touches};

/// Something that will not be as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Subject of the problem: a module, a link.
    pub of: String,
    /// Description of the problem.
    pub how: String,
    /// Steps that a person takes to solve it.
    pub todo: String,
    /// Command or file that shows it.
    pub from: String,
    /// Its line.
    pub line: String,
}

/// One thing that the next boot stands on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aspect {
    /// Problems of the next boot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<Problem>,
    /// Summary of what was seen, in words.
    #[serde(default)]
    pub seen: String,
}

/// Findings about the kernel that boots next. A gap of the kind [`GapKind::Absent`] is about what does not
/// apply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextBoot {
    /// Its release; `None` where this machine does not say what it boots.
    pub kernel: Option<String>,
    /// The modules that are wanted, on disk for it.
    pub modules: Seen<Aspect>,
    /// The versions of the symbols that they take from each other.
    pub symbols: Seen<Aspect>,
    /// Signers of the modules, where the kernel minds.
    pub signatures: Seen<Aspect>,
    /// The copies of them in the initramfs.
    pub initramfs: Seen<Aspect>,
    /// The way in.
    pub network: Seen<Aspect>,
    /// Entry and arguments that the boot loader gives.
    pub loader: Seen<Aspect>,
}

impl NextBoot {
    /// The same of an output that ends too soon: what is not in it may still apply.
    fn cut(mut self) -> Self {
        let aspects = [
            &mut self.modules,
            &mut self.symbols,
            &mut self.signatures,
            &mut self.initramfs,
            &mut self.network,
            &mut self.loader,
        ];
        for gap in aspects.into_iter().filter_map(|aspect| aspect.as_mut().err()) {
            if gap.kind == GapKind::Absent {
                *gap = Gap::new(GapKind::Hung, &gap.command, "the answer was cut short");
            }
        }
        self
    }

    /// All but the initramfs, which a reboot can mend by itself, in the order of importance.
    pub fn aspects(&self) -> [(&'static str, &Seen<Aspect>); 5] {
        [
            ("the modules", &self.modules),
            ("the versions of symbols", &self.symbols),
            ("the signatures", &self.signatures),
            ("the way in", &self.network),
            ("the boot loader", &self.loader),
        ]
    }
}

/// Findings about the kernel that boots next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NextBootQuery;

pub(crate) const FAMILY: &super::Family = <NextBootQuery as super::Question>::FAMILY;

impl Probe for NextBootQuery {
    type Shown = NextBoot;
    const NAME: &'static str = "next_boot";
    const SCRIPT: &'static str =
        crate::shell!("facts/probe/ask.sh", "facts/base/boot/next_kernel.sh", "facts/next_boot/next_boot.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(45));

    fn read(sections: &Sections<'_>) -> NextBoot {
        parse(sections)
    }

    /// Packages, files below /etc and /boot, modules: nearly everything.
    fn touched_by(_: &Touches) -> bool {
        true
    }
}

/// Values of the section `boot`.
#[derive(Debug, Default)]
struct Boot<'a> {
    running: &'a str,
    /// Kernel that the boot loader names; empty where it names none.
    next: &'a str,
    kernel: &'a str,
    /// Whether its image is in /boot.
    image: bool,
    /// Source of that: `grub`, `grubby`, `unreadable`.
    loader: &'a str,
    default: &'a str,
    astray: bool,
    args: &'a str,
    initrd: &'a str,
    /// Fault of the initramfs where there should be one: `missing`, `empty`.
    lacking: &'a str,
    secure: &'a str,
    /// File and line of each assignment to what becomes the command line.
    grub: Vec<(&'a str, &'a str)>,
    /// Modules of cards and disks, with the card.
    must: Vec<(&'a str, &'a str)>,
    /// Modules that may not be lost, with who wants them.
    keep: Vec<(&'a str, &'a str)>,
}

impl<'a> Boot<'a> {
    fn read(text: &'a str) -> Self {
        let mut boot = Self::default();
        for (key, value) in text.lines().filter_map(pair) {
            let two = || value.split_once(' ').unwrap_or((value, ""));
            match key {
                "running" => boot.running = value,
                "next" => boot.next = value,
                "kernel" => boot.kernel = value,
                "image" => boot.image = true,
                "loader" => boot.loader = value,
                "default" => boot.default = value,
                "astray" => boot.astray = !value.is_empty(),
                "args" => boot.args = value,
                "initrd" => boot.initrd = value,
                "lacking" => boot.lacking = value,
                "secure" => boot.secure = value,
                "grub" => boot.grub.push(two()),
                "must" => boot.must.push(two()),
                "keep" => boot.keep.push(two()),
                _ => {}
            }
        }
        boot
    }
}

fn parse(sections: &Sections<'_>) -> NextBoot {
    let boot = match sections.read("boot", "the list was cut short", |text| Ok(Boot::read(text))) {
        Ok(boot) if boot.image => boot,
        Ok(boot) => {
            let reason = format!("/boot has no kernel {}: it is booted by somebody else", boot.kernel);
            return nothing(&Gap::new(GapKind::Absent, "/boot", &reason));
        }
        Err(gap) => return nothing(&Gap { kind: GapKind::Hung, ..gap }),
    };
    let cut = sections.get("complete").is_none();
    let files = modules::files(sections);
    let found = modules::found(sections, &boot, &files);
    let next = NextBoot {
        kernel: Some(boot.kernel.to_owned()),
        symbols: match &found {
            Ok(_) => modules::symbols(sections, &boot, &files),
            Err(gap) => Err(gap.clone()),
        },
        signatures: modules::signatures(sections, &boot, &files),
        initramfs: modules::initramfs(sections, &boot, &files),
        modules: found,
        network: network::way_in(sections),
        loader: loader::entry(&boot),
    };
    if cut { next.cut() } else { next }
}

fn nothing(gap: &Gap) -> NextBoot {
    let gap = || Err(gap.clone());
    NextBoot {
        kernel: None,
        modules: gap(),
        symbols: gap(),
        signatures: gap(),
        initramfs: gap(),
        network: gap(),
        loader: gap(),
    }
}

/// Returns the gap for what does not apply, with the reason.
fn absent<T>(command: &str, reason: impl AsRef<str>) -> Seen<T> {
    Err(Gap::new(GapKind::Absent, command, reason.as_ref()))
}

#[cfg(test)]
mod tests;

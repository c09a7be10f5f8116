//! Kernel modules: loaded, built in, or on disk for the running kernel.
//!
//! Formats: `/sys/module/NAME` (`initstate` only for loadable ones), depmod's `modules.dep`
//! (`path.ko[.xz]: dependencies`) and `modules.builtin` (one path a line).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// A kernel module.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Module {
    /// Whether it is loaded.
    pub loaded: bool,
    /// Whether it is part of the kernel image: always there, never unloaded.
    pub builtin: bool,
    /// Whether the running kernel has a file for it; also true when it is loaded or built in.
    pub available: bool,
    /// Release of the running kernel.
    pub kernel: String,
}

/// A module's name as the kernel writes it.
pub fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

pub(super) fn script(queries: &[Query]) -> Script {
    let mut script = Script::new(crate::shell!("facts/module.sh"));
    for query in queries {
        if let Query::Module(name) = query {
            script = script.arg(name.as_str());
        }
    }
    script
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let (mut loaded, mut builtin, mut files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut kernel, mut in_builtin, mut ended, mut modprobe) = ("", false, false, true);
    for line in lines(&output) {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("kernel", release) => kernel = release,
            ("loaded", name) => drop(loaded.insert(name.to_owned())),
            ("builtin", name) => drop(builtin.insert(name.to_owned())),
            ("modules.dep", "") => in_builtin = false,
            ("modules.builtin", "") => in_builtin = true,
            ("no", "modprobe") => modprobe = false,
            ("end", "") => ended = true,
            ("directory", _) => {}
            _ => {
                let path = line.split(':').next().unwrap_or(line);
                let file = path.rsplit('/').next().unwrap_or(path);
                if let Some((name, _)) = file.split_once(".ko") {
                    let set = if in_builtin { &mut builtin } else { &mut files };
                    set.insert(canonical(name));
                }
            }
        }
    }
    if !ended {
        return Vec::new();
    }
    queries
        .iter()
        .filter_map(|query| {
            let Query::Module(name) = query else { return None };
            let module = Module {
                loaded: loaded.contains(name),
                builtin: builtin.contains(name),
                available: loaded.contains(name) || builtin.contains(name) || files.contains(name),
                kernel: kernel.to_owned(),
            };
            let answer = if modprobe || module.loaded || module.builtin {
                Answer::Module(module)
            } else {
                Answer::Unknown("no modprobe on the host".to_owned())
            };
            Some((query.clone(), answer))
        })
        .collect()
}

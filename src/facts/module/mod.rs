//! Kernel modules: loaded, built in, or on disk for the running kernel.
//!
//! Formats: `/sys/module/NAME` (`initstate` only for loadable ones), depmod's `modules.dep`
//! (`path.ko[.xz]: dependencies`) and `modules.builtin` (one path a line).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Answers, Cost, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
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

/// A kernel module, with underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleQuery(pub String);

impl Question for ModuleQuery {
    type Answer = Module;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("module {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.meets(&Object::Module(self.0.clone())) || touches.module_files()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    tools: "`modprobe` and `modinfo`",
    output: 4 << 10,
    ..Family::new("module", script, parse, |label| {
        Some(ModuleQuery(after("module", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let names = of_type(queries).map(|ModuleQuery(name)| name.as_str());
    Script::new(crate::shell!("facts/module/module.sh")).args(names)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let (mut loaded, mut builtin, mut files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut kernel, mut in_builtin, mut ended, mut modprobe) = ("", false, false, true);
    for line in lines(output) {
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
    answers(queries, |ModuleQuery(name)| {
        let module = Module {
            loaded: loaded.contains(name),
            builtin: builtin.contains(name),
            available: loaded.contains(name) || builtin.contains(name) || files.contains(name),
            kernel: kernel.to_owned(),
        };
        let known = modprobe || module.loaded || module.builtin;
        Some(if known { Ok(module) } else { Err("modprobe is not installed".to_owned()) })
    })
}

//! Settings of the kernel: small files of `/proc/sys` and `/sys`; one `grep` for all of a host.
//!
//! Format: our own (`src/facts/setting/setting.sh`), then `PATH:LINE` as grep writes it; the values are
//! what proc(5) and sysfs give.

use serde::{Deserialize, Serialize};

use super::{Answers, Cost, Family, Object, Query, Question, Touches, after, answers, lines, of_type};
use crate::transport::Script;

/// State of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Its value, with white space made single; `None` when it can only be written.
    pub value: Option<String>,
    /// Whether it can be written: not on a read-only `/proc/sys`, as containers have it.
    pub writable: bool,
}

/// A value with its white space made single, for comparing: `net.ipv4.tcp_rmem` has tabs.
pub fn plain(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A setting of the kernel, by its path below `/proc/sys` or `/sys`; `None` when it has none of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingQuery(pub String);

impl Question for SettingQuery {
    type Answer = Option<Setting>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("setting {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        // A module brings settings, and units such as systemd-sysctl write them.
        touches.meets(&Object::Path(self.0.clone())) || touches.modules() || touches.units()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    cost: Cost::Files,
    tools: "the files of `/proc/sys`",
    output: 8 << 10,
    ..Family::new("setting", script, parse, |label| {
        Some(SettingQuery(after("setting", label)?.to_owned()).into())
    })
};

fn script(queries: &[Query]) -> Script {
    let paths = of_type(queries).map(|SettingQuery(path)| path.as_str());
    Script::new(crate::shell!("facts/setting/setting.sh")).args(paths)
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    let (heads, values) = output.split_once("values\n").unwrap_or((output, ""));
    let ended = values.trim_end().rsplit('\n').next().and_then(|line| line.strip_prefix("end "));
    let says = |word: &str, path: &str| lines(heads).any(|line| line.strip_prefix(word) == Some(path));
    let value = |path: &str| -> String {
        let lines = lines(values).filter_map(|line| line.strip_prefix(path)?.strip_prefix(':'));
        plain(&lines.collect::<Vec<_>>().join(" "))
    };
    answers(queries, |SettingQuery(path)| {
        if says("absent ", path) {
            return Some(Ok(None));
        }
        let writable = says("rw ", path);
        if !writable && !says("ro ", path) {
            return None;
        }
        if !says("read ", path) {
            return Some(Ok(Some(Setting { value: None, writable })));
        }
        Some(match ended? {
            "127" => Err("grep is not installed".to_owned()),
            // With 2 it could not read all of them; one that was read has a line at least.
            status if !matches!(status, "0" | "1") && value(path).is_empty() => {
                Err("grep could not read it".to_owned())
            }
            _ => Ok(Some(Setting { value: Some(value(path)), writable })),
        })
    })
}

//! Settings of the kernel: small files of `/proc/sys` and `/sys`; one `grep` for all of a host.
//!
//! Format: our own (`src/shell/facts/setting.sh`), then `PATH:LINE` as grep writes it; the values are
//! what proc(5) and sysfs give.

use serde::{Deserialize, Serialize};

use super::{Answer, Answers, Query, lines};
use crate::transport::Script;

/// What a setting is.
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

pub(super) fn script(queries: &[Query]) -> Script {
    let paths = queries.iter().filter_map(|query| {
        let Query::Setting(path) = query else { return None };
        Some(path.as_str())
    });
    Script::new(crate::shell!("facts/setting.sh")).args(paths)
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let output = String::from_utf8_lossy(output);
    let (heads, values) = output.split_once("values\n").unwrap_or((&output, ""));
    let ended = values.trim_end().rsplit('\n').next().and_then(|line| line.strip_prefix("end "));
    let says = |word: &str, path: &str| lines(heads).any(|line| line.strip_prefix(word) == Some(path));
    let value = |path: &str| -> String {
        let lines = lines(values).filter_map(|line| line.strip_prefix(path)?.strip_prefix(':'));
        plain(&lines.collect::<Vec<_>>().join(" "))
    };
    let answer = |path: &str| -> Option<Answer> {
        if says("absent ", path) {
            return Some(Answer::Setting(None));
        }
        let writable = says("rw ", path);
        if !writable && !says("ro ", path) {
            return None;
        }
        if !says("read ", path) {
            return Some(Answer::Setting(Some(Setting { value: None, writable })));
        }
        match ended? {
            "127" => Some(Answer::Unknown("no grep on the host".to_owned())),
            _ => Some(Answer::Setting(Some(Setting { value: Some(value(path)), writable }))),
        }
    };
    queries
        .iter()
        .filter_map(|query| {
            let Query::Setting(path) = query else { return None };
            Some((query.clone(), answer(path)?))
        })
        .collect()
}

//! The boot loader: which entry is the default one, and whether it has the parameters.

use std::collections::BTreeMap;

use super::{Aspect, Boot, Problem, absent};
use crate::facts::{Gap, GapKind, Seen};

const CFG: &str = "grub.cfg";

pub(super) fn entry(boot: &Boot<'_>) -> Seen<Aspect> {
    match boot.loader {
        "" => return absent("/boot", "neither grub nor grubby is here"),
        "unreadable" => return Err(Gap::new(GapKind::Failed, CFG, "only root may read grub.cfg")),
        _ if boot.next.is_empty() => {
            let reason = format!("{} does not say which kernel it boots", boot.loader);
            return Err(Gap::new(GapKind::Failed, boot.loader, &reason));
        }
        _ => {}
    }
    let kernel = boot.kernel;
    let mut wrong = Vec::new();
    if boot.astray {
        wrong.push(Problem {
            of: "grub".to_owned(),
            how: format!("its default `{}` is no entry: it boots the first one, {kernel}", boot.default),
            todo: "set GRUB_DEFAULT in /etc/default/grub and run `update-grub`, or `grub-set-default 0`"
                .to_owned(),
            from: CFG.to_owned(),
            line: format!("set default=\"{}\"", boot.default),
        });
    }
    for (file, argument) in declared(&boot.grub) {
        if boot.args.split_whitespace().any(|given| given == argument) {
            continue;
        }
        wrong.push(Problem {
            of: argument.clone(),
            how: "not in the entry that grub boots".to_owned(),
            todo: "run `update-grub`".to_owned(),
            from: file,
            line: argument,
        });
    }
    Ok(Aspect { wrong, seen: format!("{kernel} {}", boot.args).trim().to_owned() })
}

/// Each argument that the files of grub end up with, and the file that has it. Text that a shell would have to run is
/// left out.
fn declared(lines: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut values: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for (file, line) in lines {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        let quoted = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
        let mut words = Vec::new();
        for word in quoted.unwrap_or(value).split_whitespace() {
            match word.strip_prefix('$').map(|name| name.trim_matches(['{', '}'])) {
                Some(name) => words.extend(values.get(name).cloned().unwrap_or_default()),
                None if word.contains(['$', '`', '\\', '"', '\'', '#', '(']) => {}
                None => words.push(((*file).to_owned(), word.to_owned())),
            }
        }
        values.insert(key, words);
    }
    let mut all = values.remove("GRUB_CMDLINE_LINUX").unwrap_or_default();
    all.extend(values.remove("GRUB_CMDLINE_LINUX_DEFAULT").unwrap_or_default());
    all
}

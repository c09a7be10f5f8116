//! Bounds on what a host may say of itself. Templates write facts of one host into files of others, so each
//! field has a bound: a number that no machine has is no answer, and a text is a word where it is one, and
//! one line in any case.

use serde_json::Value as Json;

use crate::facts::bounds::{INSTANCES, MOST_CPUS};

/// Replacement for a character that is not allowed.
const OTHER: char = '\u{fffd}';
/// The longest list: its answer is bounded by the bytes of its output before.
const LIST: usize = 1 << 16;
/// The longest line.
const LINE: usize = 8192;
/// The longest word, where nothing else is said: names of hosts and files.
const NAME: usize = 255;

/// Values that a field may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// A number from the first to the last.
    Number(i128, i128),
    /// So many characters at most that no file, shell or template reads as more than a word.
    Word(usize),
    /// One line for people.
    Line,
    /// True or false.
    Flag,
    /// So many entries at most.
    List(usize),
}

use Bound::{Flag, Line, List, Number, Word};

/// Bytes and what is counted in them: 1 EiB.
const SIZE: Bound = Number(0, 1 << 60);
/// Accounts and groups.
const ID: Bound = Number(0, u32::MAX as i128);
/// Nodes of memory: `MAX_NUMNODES` of the kernel is 1024 at most; -1 is none.
const NODE: Bound = Number(-1, 1023);
/// MiB of memory: 4 PiB, all that a processor of x86 can address.
const MIB: Bound = Number(0, 1 << 32);
/// GPUs of one host.
const GPUS: usize = 256;

/// Fields of the facts, `*` for each entry of a list.
const TABLE: &[(&str, Bound)] = &[
    ("arch", Word(NAME)),
    ("boot.id", Word(NAME)),
    ("boot.kernel", Word(NAME)),
    ("boot.next_kernel", Word(NAME)),
    ("boot.problems.*", Line),
    ("boot.reasons.*", Line),
    ("boot.secure_boot", Flag),
    ("boot.dkms_key_enrolled", Flag),
    ("boot.stale_initramfs", Line),
    ("boot.stale_modules.*", Word(NAME)),
    ("busy.containers.*", Line),
    ("busy.gpu.*", Line),
    ("busy.partial", Flag),
    ("busy.rdma.*", Line),
    ("busy.slurm.*", Line),
    ("cpu.count", Number(1, MOST_CPUS as i128)),
    ("cpu.model", Line),
    ("cpu.sockets", Number(1, 1024)),
    ("cpu.threads_per_core", Number(1, 64)),
    ("hostname", Word(NAME)),
    ("ids.boot_id", Word(NAME)),
    ("ids.machine_id", Word(NAME)),
    ("ids.product_uuid", Word(NAME)),
    ("init.name", Word(NAME)),
    ("init.state", Word(NAME)),
    ("kernel.cmdline", Line),
    ("kernel.headers", Flag),
    ("kernel.lockdown", Word(NAME)),
    ("kernel.release", Word(NAME)),
    ("kernel.version", Line),
    ("memory.hugepages.free", SIZE),
    ("memory.hugepages.size_kib", Number(0, 1 << 32)),
    ("memory.hugepages.total", SIZE),
    ("memory.swap_mib", MIB),
    ("memory.total_mib", MIB),
    ("mig", List(GPUS * INSTANCES)),
    ("mig.*.compute", Number(0, INSTANCES as i128)),
    ("mig.*.devices", List(2)),
    ("mig.*.devices.*", Number(0, 1 << 20)),
    ("mig.*.gpu", Number(0, GPUS as i128)),
    ("mig.*.instance", Number(0, INSTANCES as i128)),
    ("modules.loaded.*", Word(NAME)),
    ("mounts.*.free_bytes", SIZE),
    ("mounts.*.local", Flag),
    ("mounts.*.path", Line),
    ("mounts.*.read_only", Flag),
    ("mounts.*.source", Line),
    ("mounts.*.total_bytes", SIZE),
    ("mounts.*.type", Word(NAME)),
    ("network.default_device", Word(NAME)),
    ("network.links.*.addresses.*", Word(64)),
    ("network.links.*.bond", Word(NAME)),
    ("network.links.*.bond_link", Line),
    ("network.links.*.driver", Word(NAME)),
    ("network.links.*.kind", Word(NAME)),
    ("network.links.*.mac", Word(NAME)),
    ("network.links.*.mtu", Number(0, 1 << 20)),
    ("network.links.*.name", Word(NAME)),
    ("network.links.*.pci", Word(NAME)),
    ("network.links.*.speed_mbps", Number(0, 10_000_000)),
    ("network.links.*.state", Word(NAME)),
    ("numa", List(1024)),
    ("numa.*.cores", Word(LIST)),
    ("numa.*.cpus", Word(LIST)),
    ("numa.*.node", NODE),
    ("nvlinks", List(GPUS)),
    ("nvlinks.*.gpu", Number(0, GPUS as i128)),
    ("nvlinks.*.links", List(GPUS)),
    ("nvlinks.*.links.*", Number(-1, 1024)),
    ("os.codename", Word(NAME)),
    ("os.el", Word(NAME)),
    ("os.family", Word(NAME)),
    ("os.id", Word(NAME)),
    ("os.name", Line),
    ("os.package_manager", Word(NAME)),
    ("os.version_id", Word(NAME)),
    ("pci.accelerators", List(GPUS)),
    ("pci.accelerators.*.address", Word(NAME)),
    ("pci.accelerators.*.device", Word(NAME)),
    ("pci.accelerators.*.driver", Word(NAME)),
    ("pci.accelerators.*.numa_node", NODE),
    ("pci.accelerators.*.vendor", Word(NAME)),
    ("pci.gencode", Line),
    ("pci.gpus", List(GPUS)),
    ("pci.gpus.*.address", Word(NAME)),
    ("pci.gpus.*.device", Word(NAME)),
    ("pci.gpus.*.driver", Word(NAME)),
    ("pci.gpus.*.model", Line),
    ("pci.gpus.*.numa_node", NODE),
    ("pci.gpus.*.vendor", Word(NAME)),
    ("pci.nics.*.address", Word(NAME)),
    ("pci.nics.*.device", Word(NAME)),
    ("pci.nics.*.driver", Word(NAME)),
    ("pci.nics.*.netdevs.*", Word(NAME)),
    ("pci.nics.*.numa_node", NODE),
    ("pci.nics.*.rdma_devices.*", Word(NAME)),
    ("pci.nics.*.vendor", Word(NAME)),
    ("pci.nvswitches", List(GPUS)),
    ("pci.nvswitches.*.address", Word(NAME)),
    ("pci.nvswitches.*.device", Word(NAME)),
    ("pci.nvswitches.*.driver", Word(NAME)),
    ("pci.nvswitches.*.numa_node", NODE),
    ("pci.nvswitches.*.vendor", Word(NAME)),
    ("selinux", Word(NAME)),
    ("ssh.host_keys", List(64)),
    ("ssh.host_keys.*.key", Word(4096)),
    ("ssh.host_keys.*.type", Word(64)),
    ("users.list.*.gid", ID),
    ("users.list.*.home", Line),
    ("users.list.*.name", Word(NAME)),
    ("users.list.*.shell", Line),
    ("users.list.*.uid", ID),
    ("users.login.home", Line),
    ("users.login.name", Word(NAME)),
    ("users.login.uid", ID),
    ("virtualization.container", Flag),
    ("virtualization.kind", Word(NAME)),
];

fn bound(path: &str) -> Option<Bound> {
    TABLE.iter().find(|(known, _)| *known == path).map(|(_, bound)| *bound)
}

/// The value of a fact within its bounds.
///
/// # Errors
/// A text for the user where it is beyond them.
pub(super) fn held(fact: &str, mut value: Json) -> Result<Json, String> {
    hold(fact, &mut value)?;
    Ok(value)
}

fn hold(path: &str, value: &mut Json) -> Result<(), String> {
    match value {
        Json::Object(map) => {
            map.iter_mut().try_for_each(|(key, value)| hold(&format!("{path}.{key}"), value))
        }
        Json::Array(items) => {
            let most = if let Some(List(most)) = bound(path) { most } else { LIST };
            if items.len() > most {
                return Err(format!(
                    "the host says that `{path}` has {} entries, and {most} are possible",
                    items.len()
                ));
            }
            let below = format!("{path}.*");
            items.iter_mut().try_for_each(|item| hold(&below, item))
        }
        Json::Number(number) => {
            let said = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            match (bound(path), said) {
                (Some(Number(least, most)), Some(said)) if (least..=most).contains(&said) => Ok(()),
                (Some(Number(least, most)), _) => Err(format!(
                    "the host says that `{path}` is {number}, and {least} to {most} are possible"
                )),
                _ => Err(format!("the host says that `{path}` is {number}, which is no number elsewhere")),
            }
        }
        Json::String(text) => {
            let (most, is_allowed): (usize, fn(char) -> bool) = match bound(path) {
                Some(Word(most)) => (most, is_of_a_word),
                _ => (LINE, |c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')),
            };
            if text.chars().count() > most {
                return Err(format!(
                    "the host says a `{path}` of {} characters, and {most} are possible",
                    text.chars().count()
                ));
            }
            if !text.chars().all(is_allowed) {
                *text = text.chars().map(|c| if is_allowed(c) { c } else { OTHER }).collect();
            }
            Ok(())
        }
        Json::Null | Json::Bool(_) => Ok(()),
    }
}

/// Whether a character is part of a word wherever a word may stand: in a file with columns, a list with commas, a text
/// in quotes.
fn is_of_a_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._:+@/,=%~^-".contains(c)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::specimens;

    /// Paths of all leaves of a value.
    fn leaves(path: &str, value: &Json, found: &mut Vec<(String, Json)>) {
        match value {
            Json::Object(map) => {
                for (key, value) in map {
                    leaves(&format!("{path}.{key}"), value, found);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| leaves(&format!("{path}.*"), item, found)),
            leaf @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
                found.push((path.to_owned(), leaf.clone()));
            }
        }
    }

    #[test]
    fn each_field_has_a_bound_of_its_type() {
        let mut seen = std::collections::BTreeSet::new();
        for (_, facts) in specimens() {
            for (name, fact) in facts.as_object().unwrap() {
                let mut found = Vec::new();
                leaves(name, fact, &mut found);
                for (path, leaf) in found {
                    let of_its_type = matches!(
                        (bound(&path), &leaf),
                        (Some(Number(..)), Json::Number(_))
                            | (Some(Word(_) | Line), Json::String(_))
                            | (Some(Flag), Json::Bool(_))
                    );
                    assert!(of_its_type, "{path} is {leaf}, and its bound is {:?}", bound(&path));
                    seen.insert(path);
                }
                assert_eq!(held(name, fact.clone()).as_ref(), Ok(fact), "{name}");
            }
        }
        let unused: Vec<&str> = TABLE
            .iter()
            .filter(|(path, bound)| !matches!(bound, List(_)) && !seen.contains(*path))
            .map(|(path, _)| *path)
            .collect();
        assert_eq!(unused, Vec::<&str>::new(), "no fact has these");
    }

    #[test]
    fn what_no_machine_has_is_no_answer() {
        for (fact, value, said) in [
            ("cpu", json!({ "count": 100_000 }), "`cpu.count` is 100000, and 1 to 8192 are possible"),
            ("cpu", json!({ "sockets": 0 }), "`cpu.sockets` is 0"),
            ("memory", json!({ "total_mib": u64::MAX }), "`memory.total_mib` is 18446744073709551615"),
            ("network", json!({ "links": [{ "mtu": -1 }] }), "`network.links.*.mtu` is -1"),
            ("pci", json!({ "gpus": vec![json!({}); 300] }), "`pci.gpus` has 300 entries"),
            ("nvlinks", json!([{ "gpu": 9999 }]), "`nvlinks.*.gpu` is 9999"),
            ("hostname", json!("x".repeat(256)), "`hostname` of 256 characters"),
            ("cpu", json!({ "what_comes_next": 1 }), "`cpu.what_comes_next` is 1"),
        ] {
            let error = held(fact, value).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_word_is_a_word_and_a_line_is_a_line() {
        for (text, want) in [
            ("gpu0\n10.0.0.1 gpu1", "gpu0\u{fffd}10.0.0.1\u{fffd}gpu1"),
            ("a#b", "a\u{fffd}b"),
            ("{{ secrets.x }}", "\u{fffd}\u{fffd}\u{fffd}secrets.x\u{fffd}\u{fffd}\u{fffd}"),
            ("\"'`$\\;", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            ("a\u{202e}b", "a\u{fffd}b"),
            ("gpu-0.example.org", "gpu-0.example.org"),
        ] {
            assert_eq!(held("hostname", json!(text)), Ok(json!(want)));
        }
        let line = |text: &str| held("cpu", json!({ "model": text })).unwrap()["model"].clone();
        assert_eq!(line("Intel(R) \"Xeon\" #1"), "Intel(R) \"Xeon\" #1");
        assert_eq!(
            line("a\r\nSlurmUser=root\u{1b}[2J\u{2028}"),
            "a\u{fffd}\u{fffd}SlurmUser=root\u{fffd}[2J\u{fffd}"
        );
    }
}

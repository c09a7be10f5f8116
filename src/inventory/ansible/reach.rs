//! Ansible's variables of a connection, as what an inventory here says of a host.

use indexmap::IndexMap;

use super::losses::Losses;
use super::model::Var;
use super::text::quoted;
use crate::config::yaml::in_quotes;
use crate::inventory::{Endpoint, address};

/// The variables that this file knows. Where two mean the same, the first one is stronger.
const ADDRESS: &[&str] = &["ansible_ssh_host", "ansible_host"];
const PORT: &[&str] = &["ansible_ssh_port", "ansible_port"];
const USER: &[&str] = &["ansible_ssh_user", "ansible_user"];
const KEY: &[&str] = &["ansible_ssh_private_key_file", "ansible_private_key_file"];
const CONNECTION: &[&str] = &["ansible_connection"];
const ARGUMENTS: &[&str] = &["ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args"];
const BECOME: &[&str] = &["ansible_become"];
const METHOD: &[&str] = &["ansible_become_method"];
const BECOME_USER: &[&str] = &["ansible_sudo_user", "ansible_become_user"];
/// Variables that Ansible needs on a host, and nothing here does.
const NEEDLESS: &[&str] =
    &["ansible_python_interpreter", "ansible_group_priority", "ansible_pipelining", "ansible_ssh_pipelining"];

/// Variables that have to do with a connection at all.
const KNOWN: &[&[&str]] =
    &[ADDRESS, PORT, USER, KEY, CONNECTION, ARGUMENTS, BECOME, METHOD, BECOME_USER, NEEDLESS];

/// The way to reach a host, as it is written. The values of `ssh` are YAML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Reach {
    pub(super) address: Option<String>,
    /// Reason why it is not reached at all.
    pub(super) offline: Option<String>,
    pub(super) transport: Option<&'static str>,
    /// `user`, `port`, `identity_file`, `jump` and `become`, in this order.
    pub(super) ssh: [Option<String>; FIELDS.len()],
}

/// Keys of `ssh:`, in the order of [`Reach::ssh`].
pub(super) const FIELDS: [&str; 5] = ["user", "port", "identity_file", "jump", "become"];

/// Their values where nothing is said.
pub(super) const DEFAULTS: [Option<&str>; FIELDS.len()] = [None, None, None, Some(DIRECT), Some("none")];

/// No jump host.
pub(super) const DIRECT: &str = "[]";

/// Told of a variable that has no place here; nothing when it is taken over or needless.
pub(super) fn loss_of(key: &str) -> Option<String> {
    if KNOWN.iter().any(|keys| keys.contains(&key)) {
        return None;
    }
    Some(if is_secret(key) {
        format!("`{key}`: a secret is never copied; see `secrets:` and --ask-become-pass")
    } else if key.starts_with("ansible_") {
        format!("`{key}`: there is nothing like it here")
    } else {
        format!("`{key}`: a variable; set it under `vars:` when a playbook here knows it")
    })
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["pass", "pwd", "secret", "token", "vault", "credential", "api_key", "apikey", "private_key"]
        .iter()
        .any(|word| key.contains(word))
}

/// A value of a variable.
enum Value {
    None,
    Text(String),
    /// A template that only Ansible fills in, or no text.
    Unknown,
}

/// Looks up the variables of one host or group.
pub(super) struct Reader<'a> {
    pub(super) get: &'a dyn Fn(&str) -> Option<&'a Var>,
    /// The host; `None` for a group, for which templates are not filled in and nothing is told.
    pub(super) host: Option<&'a str>,
}

impl Reader<'_> {
    /// Reads how it is reached.
    pub(super) fn reach(&self, losses: &mut Losses) -> Reach {
        let mut reach = Reach::default();
        if let Some(host) = self.host {
            match self.value(ADDRESS) {
                Value::None => {}
                Value::Text(address) if address::is_address(&address) => {
                    reach.address = Some(in_quotes(&address)).filter(|_| address != host);
                }
                Value::Text(_) => {
                    self.lost(ADDRESS, "is no address: the host is offline here", losses);
                    reach.offline = Some("its address in Ansible is none for ssh".to_owned());
                }
                Value::Unknown => {
                    self.lost(ADDRESS, "is filled in by Ansible alone: the host is offline here", losses);
                    reach.offline = Some("only Ansible knows its address".to_owned());
                }
            }
        }
        self.connection(&mut reach, losses);
        reach.ssh = [
            self.checked(USER, "is no user name", losses, |user| {
                (address::is_user(user) && !user.contains(':')).then(|| quoted(user))
            }),
            self.checked(PORT, "is no port", losses, |port| {
                port.parse::<u16>().ok().filter(|port| *port > 0).map(|port| port.to_string())
            }),
            self.checked(KEY, "is no path", losses, |path| Some(quoted(path))),
            self.jump(losses),
            self.become_root(losses),
        ];
        reach
    }

    fn connection(&self, reach: &mut Reach, losses: &mut Losses) {
        match self.value(CONNECTION) {
            Value::None => {}
            Value::Text(kind) => match kind.strip_prefix("ansible.builtin.").unwrap_or(&kind) {
                "ssh" | "smart" | "paramiko" | "paramiko_ssh" => reach.transport = Some("ssh"),
                "local" => reach.transport = Some("local"),
                other => {
                    let other: String = other.chars().filter(|c| !c.is_control()).take(60).collect();
                    let what = format!("there is no connection `{other}` here: the host is offline");
                    self.lost(CONNECTION, &what, losses);
                    reach.offline = Some(format!("Ansible reaches it by {other}"));
                }
            },
            Value::Unknown => {
                self.lost(CONNECTION, "is filled in by Ansible alone: the host is offline here", losses);
                reach.offline = Some("only Ansible knows how it is reached".to_owned());
            }
        }
    }

    /// A value that has to have a form.
    fn checked(
        &self,
        keys: &[&'static str],
        not: &str,
        losses: &mut Losses,
        form: impl Fn(&str) -> Option<String>,
    ) -> Option<String> {
        match self.value(keys) {
            Value::None => None,
            Value::Text(text) => {
                let value = form(&text);
                if value.is_none() {
                    self.lost(keys, not, losses);
                }
                value
            }
            Value::Unknown => {
                self.lost(keys, "is filled in by Ansible alone", losses);
                None
            }
        }
    }

    /// The jump hosts that arguments of ssh name. Arguments without one lead there directly, whatever is said of
    /// other hosts.
    fn jump(&self, losses: &mut Losses) -> Option<String> {
        let written = ARGUMENTS.iter().any(|key| (self.get)(key).is_some());
        let mut jump = written.then(|| DIRECT.to_owned());
        for key in ARGUMENTS {
            let keys = std::slice::from_ref(key);
            let text = match self.value(keys) {
                Value::None => continue,
                Value::Text(text) => text,
                Value::Unknown => {
                    self.lost(keys, "is filled in by Ansible alone", losses);
                    continue;
                }
            };
            let mut words = shlex::split(&text).unwrap_or_default().into_iter();
            let mut all = words.len() > 0;
            while let Some(word) = words.next() {
                let option = match word.as_str() {
                    "-o" => words.next().unwrap_or_default(),
                    "-J" => format!("ProxyJump={}", words.next().unwrap_or_default()),
                    word => word.strip_prefix("-o").unwrap_or_default().to_owned(),
                };
                // As ssh_config(5) has it.
                if option == "ProxyJump=none" {
                    jump = Some(DIRECT.to_owned());
                    continue;
                }
                let hops = option.strip_prefix("ProxyJump=").map(|hops| hops.split(',').collect::<Vec<_>>());
                match hops.filter(|hops| hops.iter().all(|hop| is_jump(hop))) {
                    Some(hops) => {
                        let hops: Vec<String> = hops.into_iter().map(in_quotes).collect();
                        jump = Some(format!("[{}]", hops.join(", ")));
                    }
                    None => all = false,
                }
            }
            if !all {
                let what = "has options of ssh that are left out: your ssh_config may have them, \
                            and host keys are always checked here";
                self.lost(keys, what, losses);
            }
        }
        jump
    }

    fn become_root(&self, losses: &mut Losses) -> Option<String> {
        let yes = match self.value(BECOME) {
            Value::None => return None,
            Value::Text(text) => {
                ["true", "yes", "1", "on", "t", "y"].contains(&text.to_ascii_lowercase().as_str())
            }
            Value::Unknown => {
                self.lost(BECOME, "is filled in by Ansible alone", losses);
                return None;
            }
        };
        let is = |keys, word: &str| match self.value(keys) {
            Value::None => true,
            Value::Text(text) => text.strip_prefix("ansible.builtin.").unwrap_or(&text) == word,
            Value::Unknown => false,
        };
        if !yes {
            return Some("none".to_owned());
        }
        if !is(METHOD, "sudo") {
            self.lost(METHOD, "only `sudo` is known here: `become` is left out", losses);
            return Some("none".to_owned());
        }
        if !is(BECOME_USER, "root") {
            self.lost(BECOME_USER, "only root is become here: `become` is left out", losses);
            return Some("none".to_owned());
        }
        Some("sudo".to_owned())
    }

    fn lost(&self, keys: &[&'static str], what: &str, losses: &mut Losses) {
        if self.host.is_none() {
            return;
        }
        if let Some((key, var)) = keys.iter().find_map(|key| Some((key, (self.get)(key)?))) {
            losses.add(var.span, format!("`{key}`: {what}"));
        }
    }

    fn value(&self, keys: &[&'static str]) -> Value {
        let Some(var) = keys.iter().find_map(|key| (self.get)(key)) else { return Value::None };
        let Some(text) = &var.text else { return Value::Unknown };
        if text.is_empty() {
            return Value::None;
        }
        self.fill(text, &mut 32).map_or(Value::Unknown, Value::Text)
    }

    /// Fills in templates that are a variable of the host and nothing else. `left` bounds the work.
    fn fill(&self, text: &str, left: &mut usize) -> Option<String> {
        if text.starts_with("$ANSIBLE_VAULT;") {
            return None;
        }
        if !text.contains("{{") && !text.contains("{%") && !text.contains("{#") {
            return Some(text.to_owned());
        }
        let host = self.host?;
        let mut out = String::new();
        let mut rest = text;
        while let Some((head, after)) = rest.split_once("{{") {
            let (name, tail) = after.split_once("}}")?;
            *left = left.checked_sub(1)?;
            out.push_str(head);
            match name.trim() {
                "inventory_hostname" => out.push_str(host),
                "inventory_hostname_short" => out.push_str(host.split('.').next().unwrap_or(host)),
                name if is_secret(name) => return None,
                name => out.push_str(&self.fill((self.get)(name)?.text.as_ref()?, left)?),
            }
            rest = tail;
        }
        out.push_str(rest);
        (out.len() <= 4096 && !out.contains("{%") && !out.contains("{#")).then_some(out)
    }
}

fn is_jump(hop: &str) -> bool {
    let login = Endpoint::jump(hop).ok().and_then(|jump| jump.user).unwrap_or_default();
    address::jump(hop).is_ok() && !login.contains(':')
}

/// Reaches of hosts by what is written, to write those that are alike on one line.
pub(super) type Alike<'a> = IndexMap<Reach, Vec<&'a str>>;

//! Words of other tools: what Ansible calls a thing, and what is written here instead.
//!
//! Asked where a name is not known, and shown as a whole by `provision explain from-ansible`.

/// Place in which such a word is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A key of a playbook.
    Playbook,
    /// A key of a task that says how it is carried out.
    Task,
    /// A key of a task that says what it does.
    Module,
    /// A field of a module.
    Field,
    /// A value that is one of a few words.
    Value,
    /// A key or a variable of an inventory.
    Inventory,
    /// A name in a template or a condition.
    Name,
    /// A part of what is registered.
    Answer,
    /// A filter.
    Filter,
}

impl Place {
    /// All of them, each with a heading and in a sentence.
    pub const ALL: [(Self, &'static str, &'static str); 9] = [
        (Self::Inventory, "The inventory", "in an inventory"),
        (Self::Playbook, "A playbook", "in a playbook"),
        (Self::Task, "A task", "in a task"),
        (Self::Module, "What a task does", "as what a task does"),
        (Self::Field, "Fields", "as a field"),
        (Self::Value, "Values", "as a value"),
        (Self::Name, "Names in templates and conditions", "in templates and conditions"),
        (Self::Answer, "What is registered", "in what is registered"),
        (Self::Filter, "Filters", "as a filter"),
    ];
}

/// A word of Ansible.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// Place in which it is met.
    pub place: Place,
    /// Its spellings. One that ends in `*` stands for all that begin so.
    pub words: &'static [&'static str],
    /// Its replacement here: a fragment of a sentence.
    pub here: &'static str,
    /// Keys of the same mapping that it stands for.
    pub keys: &'static [&'static str],
    /// Whether another resource has such a field.
    pub is_of_another: bool,
}

impl Word {
    const fn of_keys(self, keys: &'static [&'static str]) -> Self {
        Self { keys, ..self }
    }
}

const fn word(place: Place, words: &'static [&'static str], here: &'static str) -> Word {
    Word { place, words, here, keys: &[], is_of_another: false }
}

/// The table. A spelling that ends in `*` stands behind those that it would hide.
pub const TABLE: &[Word] = &[
    word(Place::Inventory, &["ansible_host", "ansible_ssh_host"], "`address: NAME_OR_IP` of the host"),
    word(Place::Inventory, &["ansible_port", "ansible_ssh_port"], "`ssh: { port: 22 }`"),
    word(Place::Inventory, &["ansible_user", "ansible_ssh_user", "remote_user"], "`ssh: { user: NAME }`"),
    word(
        Place::Inventory,
        &["ansible_ssh_private_key_file", "ansible_private_key_file"],
        "`ssh: { identity_file: PATH }`",
    ),
    word(Place::Inventory, &["ansible_connection"], "`transport: ssh` or `transport: local`"),
    word(
        Place::Inventory,
        &["ansible_become_pass", "ansible_become_password", "ansible_sudo_pass"],
        "a secret under `secrets:`, and `ssh: { become: { method: sudo, password: { secret: NAME } } }`; or --ask-become-pass",
    ),
    word(
        Place::Inventory,
        &["ansible_password", "ansible_ssh_pass", "ansible_ssh_password"],
        "logins are by key; `provision init --ask-pass` puts it on the hosts by one password",
    ),
    word(Place::Inventory, &["become", "ansible_become*"], "`ssh: { become: sudo }`"),
    word(
        Place::Inventory,
        &["ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args"],
        "`ssh: { jump: [HOST] }` for a jump host; the rest belongs into your ssh_config",
    ),
    word(Place::Inventory, &["ansible_python_interpreter"], "leave it out; hosts need no Python"),
    word(
        Place::Inventory,
        &["all"],
        "`groups:` and `hosts:` stand at the top, and `vars:` there is for all hosts; `provision inventory import FILE` makes an inventory of Ansible's",
    ),
    word(
        Place::Inventory,
        &["ansible_*"],
        "`provision inventory import FILE` takes over what has a place here",
    ),
    word(
        Place::Playbook,
        &["hosts"],
        "the inventory says where a playbook runs: `playbooks: [{ use: ./site.yaml, hosts: gpu }]`; without `hosts` on all hosts. A task is narrowed by its own `hosts`",
    ),
    word(
        Place::Playbook,
        &["gather_facts", "gather_subset"],
        "leave it out; hosts are asked for what tasks read",
    ),
    word(
        Place::Playbook,
        &["roles", "import_playbook"],
        "another playbook in `playbooks:` of the inventory, or a task with `include: ./other.yaml`",
    ),
    word(Place::Playbook, &["pre_tasks", "post_tasks"], "all tasks stand in `tasks`, and run in that order")
        .of_keys(&["tasks"]),
    word(
        Place::Playbook,
        &["vars", "vars_files", "vars_prompt"],
        "`params: { NAME: { type: string, default: VALUE } }`; values are set under `vars:` of the inventory",
    ),
    word(Place::Playbook, &["serial", "strategy"], "`rollout: { canary: 1, batch: 8 }` of the inventory"),
    word(
        Place::Playbook,
        &["max_fail_percentage", "any_errors_fatal"],
        "`rollout: { max_failed: \"5%\" }` of the inventory",
    ),
    word(
        Place::Playbook,
        &["become", "become_user", "become_method", "remote_user"],
        "tasks run as root: `ssh: { user: NAME, become: sudo }` in the inventory says how; `become_user: NAME` of a task runs it as somebody else",
    ),
    word(Place::Playbook, &["environment"], "`env` of a `command`"),
    word(Place::Playbook, &["collections"], "all resources are built in: leave it out"),
    word(
        Place::Task,
        &["become", "become_method", "sudo"],
        "tasks run as root: `ssh: { become: sudo }` in the inventory says how; `become_user: NAME` runs a task as somebody else",
    ),
    word(
        Place::Task,
        &["delegate_to", "delegate_facts", "local_action", "connection"],
        "a task runs on its own host: `run_once: { host: NAME }` takes one host; the resource `render` writes files on this machine",
    ),
    word(
        Place::Task,
        &["rescue"],
        "`always` of a `block` for what is done in any case, `on_failure: continue` of it to go on behind it; `validate` and `retries` for what may fail",
    ),
    word(
        Place::Task,
        &["with_dict"],
        "`loop: [{ key: a, value: 1 }, { key: b, value: 2 }]`; `{{ item }}` is one of these maps",
    ),
    word(
        Place::Task,
        &["with_nested", "with_cartesian"],
        "`loop: { product: { user: [a, b], share: [/c, /d] } }`; `{{ item }}` has the elements by these names",
    ),
    word(Place::Task, &["with_*", "loop_control"], "`loop: [a, b]`, and `{{ item }}` in the task"),
    word(
        Place::Task,
        &["ignore_errors", "ignore_unreachable"],
        "`on_failure: continue` goes on, and the host still counts as failed; a command that may fail is a script that ends with `exit 0`",
    ),
    word(
        Place::Task,
        &["changed_when", "failed_when"],
        "a `command` says what it is for with `creates`, `unless` or `check`; one that only asks has `changes: false`",
    ),
    word(
        Place::Task,
        &["until", "delay"],
        "`retries: { attempts: 5, delay: 10s }`, or the resource `wait_for`",
    ),
    word(Place::Task, &["no_log"], "secrets under `secrets:` are hidden in all output: leave it out"),
    word(Place::Task, &["environment"], "`env` of a `command`"),
    word(
        Place::Task,
        &["async", "poll"],
        "`timeout: 2h`, and `detach: true` for what has to outlive a connection",
    ),
    word(Place::Task, &["listen"], "`notify` names a handler by its `name`"),
    word(Place::Task, &["check_mode", "diff"], "`provision plan` shows what would change"),
    word(Place::Task, &["throttle"], "`rollout: { parallel: 8 }` of the inventory"),
    word(Place::Task, &["args"], "all fields stand under the resource"),
    word(
        Place::Task,
        &["import_tasks", "include_tasks", "import_role", "include_role", "import_playbook", "role"],
        "`include: ./other.yaml`, with values for its parameters under `with`",
    ),
    word(
        Place::Module,
        &["apt", "yum", "dnf", "dnf5", "zypper", "pacman", "apk"],
        "`package: { names: [jq] }`",
    ),
    word(
        Place::Module,
        &["apt_repository", "apt_key", "deb822_repository", "yum_repository", "rpm_key"],
        "the resource `repository`, which has the key as well",
    ),
    word(
        Place::Module,
        &["shell", "script", "expect"],
        "`command: { script: \"...\" }` with `creates`, `unless` or `check`, so that it runs when it is needed",
    ),
    word(Place::Module, &["lineinfile", "replace"], "the resource `line`, or `template` for the whole file"),
    word(
        Place::Module,
        &["blockinfile", "ini_file"],
        "the resource `file` or `template` with the whole content",
    ),
    word(Place::Module, &["systemd", "systemd_service"], "the resource `service`"),
    word(
        Place::Module,
        &["set_fact", "include_vars"],
        "`params` of the playbook, `vars` of the task, or `register` of a `command` with `changes: false`",
    ),
    word(
        Place::Module,
        &["debug"],
        "`provision facts INVENTORY` shows facts, `provision inventory show INVENTORY` variables",
    ),
    word(
        Place::Module,
        &["fail"],
        "`assert: { that: [CONDITION], message: TEXT }`, a task that fails where a condition is false",
    ),
    word(
        Place::Module,
        &["stat", "package_facts", "service_facts", "setup", "gather_facts"],
        "`facts.NAME` (`provision explain facts`), or `register` of a `command` with `changes: false`",
    ),
    word(Place::Module, &["get_url"], "the resource `download`"),
    word(Place::Module, &["unarchive"], "the resource `archive`"),
    word(Place::Module, &["uri"], "the resource `download`, or `wait_for`"),
    word(Place::Module, &["modprobe"], "the resource `kernel_module`"),
    word(Place::Module, &["pam_limits"], "the resource `limits`"),
    word(Place::Module, &["firewalld", "ufw", "iptables", "nftables"], "the resource `firewall`"),
    word(Place::Module, &["synchronize"], "the resource `copy`, or `distribute` for what is large"),
    word(Place::Module, &["openssh_keypair"], "the resource `ssh_key`"),
    word(Place::Module, &["known_hosts"], "the resource `ssh_mesh`"),
    word(Place::Module, &["pause"], "`wait_for` waits for something; the program asks before a run"),
    word(
        Place::Module,
        &["add_host", "group_by"],
        "hosts and groups stand in the inventory, or come from `hosts_from:`; a `when` narrows a task",
    ),
    word(
        Place::Module,
        &["find", "tempfile", "getent"],
        "a `command` with `changes: false` and `register`; a script has `mktemp -d`",
    ),
    word(
        Place::Module,
        &["selinux", "seboolean", "alternatives"],
        "`command: { run: [setsebool, -P, NAME, \"on\"], unless: ... }`, and the like",
    ),
    word(Place::Module, &["parted", "lvg", "lvol"], "the resources `filesystem` and `raid` take whole disks"),
    word(Place::Module, &["nmcli"], "the resource `netdev`"),
    word(
        Place::Module,
        &["docker_container", "docker_image", "podman_container"],
        "a unit of systemd that starts it: the resources `file` and `service`",
    ),
    word(Place::Module, &["cron"], "the resource `file` in /etc/cron.d"),
    word(Place::Module, &["ping", "wait_for_connection"], "hosts are waited for: leave it out"),
    word(Place::Module, &["slurp"], "`provision exec INVENTORY -- cat PATH`, or the resource `fetch`"),
    word(Place::Module, &["meta"], "handlers run once after all tasks of a stage: leave it out"),
    word(Place::Field, &["dest"], "`path`; of a `fetch`, `to`").of_keys(&["path", "to"]),
    word(Place::Field, &["regexp"], "`match` of a `line`").of_keys(&["match"]),
    word(Place::Field, &["insertafter"], "`after` of a `line`; for EOF leave it out").of_keys(&["after"]),
    word(
        Place::Field,
        &["insertbefore"],
        "`before` of a `line`, which means the first line that it finds; for BOF `before: \"^\"`",
    )
    .of_keys(&["before"]),
    word(
        Place::Field,
        &["firstmatch"],
        "`after` means the last line that it finds, `before` the first: leave it out",
    ),
    Word {
        is_of_another: true,
        ..word(Place::Field, &["content"], "the resource `file`, which has `content`")
    },
    word(Place::Field, &["cmd"], "`script: LINE`, or `run: [PROGRAM, ARGUMENT]`, of a `command`"),
    word(
        Place::Field,
        &["password"],
        "no password is set for a user: `authorized_key` lets somebody log in, and sudo without a password is a file in /etc/sudoers.d",
    ),
    word(Place::Field, &["fail_on_missing"], "`required`").of_keys(&["required"]),
    word(Place::Field, &["flat"], "each host has a directory of its own: leave it out"),
    word(Place::Field, &["fail_msg", "msg"], "`message`").of_keys(&["message"]),
    word(Place::Field, &["virtualenv"], "`venv`").of_keys(&["venv"]),
    word(Place::Field, &["requirements"], "its lines as a list under `packages`").of_keys(&["packages"]),
    word(Place::Field, &["fstype"], "`type`").of_keys(&["type"]),
    word(Place::Field, &["opts"], "`options`").of_keys(&["options"]),
    word(Place::Field, &["repo"], "`url`").of_keys(&["url"]),
    word(Place::Field, &["checksum"], "`sha256`").of_keys(&["sha256"]),
    word(Place::Field, &["reboot_timeout"], "`timeout` of the task"),
    word(
        Place::Field,
        &["recurse"],
        "owner and mode of what is in a directory are not touched: leave it out",
    ),
    word(
        Place::Field,
        &["remote_src"],
        "`src` is a file of this machine; a `command` with `creates` copies on the host",
    )
    .of_keys(&["src"]),
    word(Place::Field, &["backup", "force"], "`provision plan` shows what would be replaced: leave it out"),
    word(Place::Field, &["removes"], "`unless` with the opposite, as in `unless: \"[ ! -e PATH ]\"`")
        .of_keys(&["unless"]),
    word(Place::Field, &["stdin"], "a `script` with a text behind `<<`").of_keys(&["script"]),
    word(Place::Field, &["append"], "groups that are not named are kept: leave it out"),
    word(
        Place::Field,
        &["create_home", "createhome"],
        "a new user gets a home directory, and one with `system: true` gets none: leave it out",
    ),
    word(Place::Field, &["daemon_reload"], "systemd reads units that changed by itself: leave it out"),
    word(
        Place::Field,
        &["update_cache", "cache_valid_time"],
        "lists of packages are fetched when they are needed: leave it out",
    ),
    word(
        Place::Value,
        &["touch"],
        "`content: \"\"` for an empty file; one that is made only where there is none: `command: { run: [touch, PATH], creates: PATH }`",
    ),
    word(Place::Value, &["str"], "`string`"),
    word(Place::Value, &["dict"], "`map`"),
    word(Place::Value, &["directory"], "the resource `directory`"),
    word(Place::Value, &["link", "hard"], "the resource `symlink`"),
    word(Place::Value, &["installed"], "`state: present`"),
    word(Place::Value, &["removed", "uninstalled"], "`state: absent`"),
    word(Place::Value, &["mounted", "unmounted", "remounted"], "`state: present` or `state: absent`"),
    word(Place::Name, &["inventory_hostname", "inventory_hostname_short"], "`host.name`"),
    word(Place::Name, &["hostvars"], "`hosts[\"gpu0\"]`, as in `hosts[\"gpu0\"].address`"),
    word(Place::Name, &["group_names"], "`host.groups`"),
    word(Place::Name, &["play_hosts", "ansible_play_hosts", "ansible_play_batch"], "`hosts`"),
    word(Place::Name, &["ansible_hostname", "ansible_fqdn", "ansible_nodename"], "`facts.hostname`"),
    word(
        Place::Name,
        &["ansible_os_family", "ansible_distribution*"],
        "`facts.os.family`, `facts.os.id`, `facts.os.version_id`, in small letters",
    ),
    word(Place::Name, &["ansible_architecture"], "`facts.arch`"),
    word(Place::Name, &["ansible_kernel"], "`facts.kernel.release`"),
    word(Place::Name, &["ansible_host", "ansible_default_ipv4"], "`host.address`"),
    word(Place::Name, &["ansible_facts", "ansible_*"], "`facts.NAME`; `provision explain facts` lists them"),
    word(
        Place::Name,
        &["lookup", "query", "q"],
        "`src` of a `file` or a `template` reads a file of this machine, `secrets:` of the inventory what is secret",
    ),
    word(Place::Name, &["groups.all"], "`hosts`, as in `hosts[\"gpu0\"].address`"),
    word(Place::Name, &["omit"], "a parameter with `default: null`"),
    word(Place::Answer, &["stdout"], "the registered name itself is the output"),
    word(
        Place::Answer,
        &["stdout_lines"],
        "`parse: lines` of the `command`; the registered name is the list",
    ),
    word(
        Place::Answer,
        &["rc", "failed"],
        "`parse: status` of the `command`; the registered name is the number",
    ),
    word(Place::Filter, &["to_yaml", "to_nice_yaml"], "`json`, which is YAML as well"),
    word(Place::Filter, &["bool"], "what is true or false needs no filter: leave it out"),
    word(Place::Filter, &["to_json", "to_nice_json"], "`json`, or `json(pretty=true)`"),
    word(
        Place::Filter,
        &["dict2items"],
        "a list of maps in its place: `[{ key: a, value: 1 }, { key: b, value: 2 }]`",
    ),
    word(Place::Filter, &["list"], "what is a list needs no filter: leave it out"),
    word(Place::Filter, &["map", "selectattr", "rejectattr"], "`{% for %}` and `{% if %}` of a template"),
    word(Place::Filter, &["ternary"], "`{% if CONDITION %}a{% else %}b{% endif %}`"),
    word(
        Place::Filter,
        &["hash", "b64encode", "b64decode"],
        "a `command` with `changes: false` and `register`",
    ),
    word(Place::Filter, &["quote"], "`sq`"),
    word(Place::Filter, &["d"], "`default(value=...)`"),
    word(Place::Filter, &["regex_replace"], "`replace(from=\"a\", to=\"b\")`"),
    word(Place::Filter, &["product"], "`loop: { product: { NAME: LIST, NAME: LIST } }`"),
    word(Place::Filter, &["count"], "`length`"),
];

/// Names that other tools and people use for a key, with its name here where there is such a key.
pub const KEYS: &[(&str, &str)] = &[
    ("array", "list"),
    ("bastion", "jump"),
    ("baseurl", "url"),
    ("cwd", "chdir"),
    ("description", "doc"),
    ("ensure", "state"),
    ("exec", "command"),
    ("filename", "path"),
    ("for_each", "loop"),
    ("host", "address"),
    ("hostname", "address"),
    ("if", "when"),
    ("ip", "address"),
    ("items", "loop"),
    ("key", "identity_file"),
    ("members", "hosts"),
    ("mirrors", "sources"),
    ("nodes", "hosts"),
    ("object", "map"),
    ("on_error", "on_failure"),
    ("only_if", "when"),
    ("onlyif", "unless"),
    ("permissions", "mode"),
    ("pkg", "package"),
    ("private_key", "identity_file"),
    ("proxy", "sources"),
    ("proxy_jump", "jump"),
    ("ProxyJump", "jump"),
    ("ref", "branch"),
    ("retry", "retries"),
    ("running", "started"),
    ("serial", "batch"),
    ("source", "src"),
    ("steps", "tasks"),
    ("to", "target"),
    ("variables", "params"),
    ("verify", "expect"),
];

/// Returns the replacement for a word that is met at one of these places.
pub fn here(word: &str, places: &[Place]) -> Option<&'static str> {
    find(word, places).map(|row| row.here)
}

/// Finds a word that is met at one of these places.
pub fn find(word: &str, places: &[Place]) -> Option<&'static Word> {
    let fits = |known: &str| match known.strip_suffix('*') {
        Some(begin) => word.starts_with(begin),
        None => known == word,
    };
    // Modules are also called by the name of their collection: `ansible.builtin.apt`.
    let plain = word.rsplit('.').next().unwrap_or(word);
    let find = |fits: &dyn Fn(&str) -> bool| {
        let mut rows = TABLE.iter().filter(|row| places.contains(&row.place));
        rows.find(|row| row.words.iter().any(|known| fits(known)))
    };
    find(&fits).or_else(|| find(&|known| plain != word && known == plain))
}

/// The same as a line of help.
pub fn help(word: &str, places: &[Place]) -> Option<String> {
    here(word, places).map(|here| format!("a word of Ansible; here: {here}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_hidden_by_an_earlier_one() {
        for row in TABLE {
            for word in row.words {
                let sample = word.replace('*', "x");
                assert_eq!(here(&sample, &[row.place]), Some(row.here), "{word}");
            }
        }
        assert_eq!(here("community.general.ufw", &[Place::Module]), Some("the resource `firewall`"));
        assert_eq!(here("jq", &[Place::Module, Place::Task]), None);
    }
}

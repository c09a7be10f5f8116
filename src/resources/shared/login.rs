//! Effect of a change on logins: whether only a new session sees it, and how a host takes it back by itself
//! when it cuts the way in.

use crate::facts::unit::UnitQuery;
use crate::facts::{Facts, Object, Touches};
use crate::transport::Script;

/// Effect of the changes of a task on logins to its host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::large_enum_variant, reason = "one is made for each task, and most are compared at once")]
pub enum LoginEffect {
    /// Nothing.
    #[default]
    Same,
    /// Only a new session sees them: limits, groups. The next task runs in one.
    Fresh,
    /// They may cut the way in: sshd, sudoers, PAM, firewall, the management interface, the key in
    /// use. The host takes them back unless a new login, become included, confirms them.
    Guarded(Undo),
}

/// Rollback of changes by the host itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    /// Its subject, `[a-z]+`: changes of one name are taken back and confirmed together.
    pub name: &'static str,
    /// Files, links and directories that are kept before the change and put back as they were;
    /// one that is not there before is taken away.
    pub paths: Vec<String>,
    /// Runs before the change, for a state that is in no file. Its directory is a private one, where
    /// `restore` finds what it wrote.
    pub save: Option<Script>,
    /// Runs in the same directory when the paths are back: puts them in force.
    pub restore: Option<Script>,
    /// Whether the change is in force at once. One that is not (a file of sshd) is only kept, until a
    /// change of the same name that puts it in force (a reload of sshd) starts the timer.
    pub in_force: bool,
}

impl Undo {
    /// Of a change that is in force at once.
    pub fn new(name: &'static str) -> Self {
        Self { name, paths: Vec::new(), save: None, restore: None, in_force: true }
    }

    /// Of a change that waits for another one to be in force.
    pub fn later(name: &'static str) -> Self {
        Self { in_force: false, ..Self::new(name) }
    }

    /// Keeps a path.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Runs this before the change.
    #[must_use]
    pub fn save(mut self, script: Script) -> Self {
        self.save = Some(script);
        self
    }

    /// Runs this when the paths are back.
    #[must_use]
    pub fn restore(mut self, script: Script) -> Self {
        self.restore = Some(script);
        self
    }
}

impl LoginEffect {
    /// Combines the effects of two changes of one task.
    #[must_use]
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Guarded(mut one), Self::Guarded(two)) if one.name == two.name => {
                one.paths.extend(two.paths);
                one.save = one.save.or(two.save);
                one.restore = one.restore.or(two.restore);
                one.in_force |= two.in_force;
                Self::Guarded(one)
            }
            (guarded @ Self::Guarded(_), _) | (_, guarded @ Self::Guarded(_)) => guarded,
            (Self::Fresh, _) | (_, Self::Fresh) => Self::Fresh,
            (Self::Same, Self::Same) => Self::Same,
        }
    }
}

/// Returns the effect of a change of these things on logins.
pub(in crate::resources) fn of_touches(touches: &Touches, facts: &Facts) -> LoginEffect {
    let Touches::Objects(objects) = touches else { return LoginEffect::Same };
    let of = |object: &Object| match object {
        Object::Path(path) => of_path(path),
        Object::Unit(unit) => {
            let found = facts.get(&UnitQuery(unit.clone())).answer();
            of_unit(unit, found.is_none_or(|found| found.active == "active"))
        }
        Object::User(_) | Object::Group(_) => LoginEffect::Fresh,
        Object::Package(_) | Object::Module(_) | Object::Host => LoginEffect::Same,
    };
    objects.iter().map(of).fold(LoginEffect::Same, LoginEffect::and)
}

/// Makes sshd read its files again, whatever its unit is called.
pub(in crate::resources) fn reload_sshd() -> Script {
    Script::new(crate::shell!("resources/shared/sshd_reload.sh"))
}

/// Returns the effect of a change of this path on logins.
fn of_path(path: &str) -> LoginEffect {
    let below = |directory: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
    let one_of = |paths: &[&str]| paths.iter().any(|one| *one == path || below(one));
    if one_of(&["/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d"]) {
        return LoginEffect::Guarded(Undo::later("sshd").path(path).restore(reload_sshd()));
    }
    if one_of(&["/etc/sudoers", "/etc/sudoers.d"]) {
        return LoginEffect::Guarded(Undo::new("sudo").path(path));
    }
    let login = [
        "/etc/pam.d",
        // pam_limits refuses a login whose limits the kernel refuses, such as a `nofile` above fs.nr_open.
        "/etc/security",
        "/etc/nsswitch.conf",
        "/etc/hosts.allow",
        "/etc/hosts.deny",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/group",
        "/etc/shells",
    ];
    if one_of(&login) || path.ends_with("/.ssh/authorized_keys") {
        return LoginEffect::Guarded(Undo::new("login").path(path));
    }
    if one_of(&["/etc/environment"]) {
        return LoginEffect::Fresh;
    }
    let network = [
        "/etc/netplan",
        "/etc/systemd/network",
        "/etc/NetworkManager/system-connections",
        "/etc/network/interfaces",
        "/etc/network/interfaces.d",
        "/etc/sysconfig/network-scripts",
    ];
    if one_of(&network) {
        return LoginEffect::Guarded(Undo::later("network").path(path));
    }
    LoginEffect::Same
}

/// Returns the effect on logins of starting, stopping, reloading or restarting a unit. `active` says whether
/// it runs before the change: that is what is put back.
fn of_unit(unit: &str, active: bool) -> LoginEffect {
    let name = match unit {
        "ssh.service" | "sshd.service" | "ssh.socket" | "sshd.socket" => "sshd",
        "NetworkManager.service" | "systemd-networkd.service" | "networking.service" | "network.service" => {
            "network"
        }
        "nftables.service" | "firewalld.service" | "ufw.service" | "iptables.service" => "firewall",
        "systemd-logind.service" | "sssd.service" | "nslcd.service" => "login",
        _ => return LoginEffect::Same,
    };
    let script = Script::new(crate::shell!("resources/shared/unit_restore.sh"));
    let state = if active { "restart" } else { "stop" };
    LoginEffect::Guarded(Undo::new(name).restore(script.named("action", state).named("unit", unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_way_in() {
        let name = |path: &str| match of_path(path) {
            LoginEffect::Same => "same".to_owned(),
            LoginEffect::Fresh => "fresh".to_owned(),
            LoginEffect::Guarded(undo) => format!("{} {}", undo.name, undo.in_force),
        };
        for (path, expected) in [
            ("/etc/ssh/sshd_config", "sshd false"),
            ("/etc/ssh/sshd_config.d/50-x.conf", "sshd false"),
            ("/etc/ssh/ssh_config", "same"),
            ("/etc/sudoers.d/ops", "sudo true"),
            ("/etc/sudoers.old", "same"),
            ("/etc/pam.d/sshd", "login true"),
            ("/home/ops/.ssh/authorized_keys", "login true"),
            ("/etc/security/limits.d/90-rdma.conf", "login true"),
            ("/etc/environment", "fresh"),
            ("/etc/netplan/50.yaml", "network false"),
            ("/etc/hosts", "same"),
        ] {
            assert_eq!(name(path), expected, "{path}");
        }
    }
}

//! `init --ask-pass`: one login by password, which leaves the key of this controller there.
//!
//! What is done on the hosts are tasks of a playbook as any other, carried out by the engine: nothing is written
//! that is there already, and each change is proven. Then a login by key shows that it was enough.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use futures::future::join_all;
use serde_json::{Map, Value as Json, json};

use crate::engine::Mode;
use crate::events::HostStatus;
use crate::exit::{self, Exit};
use crate::inventory::{Become, Host};
use crate::launch::{self, Launch};
use crate::process::this_program;
use crate::project::{self, LoadOptions};
use crate::report::log;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{
    CONNECT, ConnectKind, PasswordLogins, Ssh, SshSettings, Transport as _, TransportError, ssh_home,
};
use crate::trust::Contact;

/// Name of the secret that holds the password, for sudo.
const SECRET: &str = "login";
/// Keys of a user that `ssh` tries by itself, the best first.
const KEYS: [&str; 3] = ["id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub"];

/// Changes that the first login makes on the hosts.
#[derive(Debug)]
pub struct FirstLogin {
    cluster: String,
    account: Option<String>,
    /// The line for `authorized_keys`.
    key: String,
    /// The file that it is from.
    file: Utf8PathBuf,
}

impl FirstLogin {
    /// Finds the key: the one beside `identity`, else the first of the user's own.
    ///
    /// # Errors
    /// When there is no public key.
    pub async fn new(
        cluster: &str,
        account: Option<&str>,
        identity: Option<&Utf8Path>,
    ) -> Result<Self, Exit> {
        let (file, text) = public_key(identity).await?;
        let mut words = text.split_whitespace();
        let (Some(kind), Some(blob)) = (words.next(), words.next()) else {
            return Err(Exit::new(exit::CONFIG, format!("{file} is no public key")));
        };
        // A comment may hold anything, also a template.
        let key = format!("{kind} {blob} provision");
        Ok(Self { cluster: cluster.to_owned(), account: account.map(str::to_owned), key, file })
    }

    /// The file of the key that each host gets.
    pub fn key_file(&self) -> &Utf8Path {
        &self.file
    }

    /// Logs in by password where no key is accepted, or where the account is to be made, and then by key. Gives
    /// the names of hosts of which was said already why that failed.
    ///
    /// # Errors
    /// When no password is given, or this machine is not able to log in.
    pub async fn log_in(&self, settings: &Settings, seen: &mut [Contact]) -> Result<BTreeSet<String>, Exit> {
        let mut methods = BTreeMap::new();
        let mut hosts = Vec::new();
        for contact in seen.iter_mut() {
            match &mut contact.login {
                Ok(remote) if self.account.is_some() => remote.close().await,
                Err(TransportError::Connect { kind: ConnectKind::KeyRefused, message }) => {
                    let Some(method) = PasswordLogins::method(message) else {
                        message.push_str("; its sshd takes no password");
                        continue;
                    };
                    methods.insert(contact.host.name.clone(), method);
                }
                Ok(_) | Err(_) => continue,
            }
            hosts.push(contact.host.clone());
        }
        if hosts.is_empty() {
            return Ok(BTreeSet::new());
        }
        let password = launch::ask_password(settings, "password of all these logins")?;
        let secrets = Secrets::default().with(SECRET, password.clone());
        log::hide(&secrets);
        let program =
            this_program().map_err(|error| Exit::caused("cannot tell where this program is", error))?;
        let passwords = PasswordLogins { password, program, methods };
        let failed = self.apply(settings, &hosts, secrets, passwords).await?;
        let names: BTreeSet<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        let told = failed.keys().cloned().collect();
        self.by_key(settings, seen.iter_mut().filter(|it| names.contains(it.host.name.as_str())), failed)
            .await?;
        Ok(told)
    }

    /// Carries out the tasks; the hosts where they failed, and why.
    async fn apply(
        &self,
        settings: &Settings,
        hosts: &[Host],
        secrets: Secrets,
        passwords: PasswordLogins,
    ) -> Result<BTreeMap<String, String>, Exit> {
        let folder = tempfile::tempdir()
            .map_err(|error| Exit::caused("cannot make a directory for the first login", error))?;
        let folder = Utf8Path::from_path(folder.path())
            .ok_or_else(|| Exit::new(exit::BUG, "the temporary directory is no UTF-8"))?;
        let playbook = match self.account {
            Some(_) => include_str!("account.yaml"),
            None => include_str!("key.yaml"),
        };
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text);
        write("first.yaml", playbook)
            .and_then(|()| write("inventory.yaml", &self.inventory(hosts).to_string()))
            .map_err(|error| Exit::caused(format!("cannot write to {folder}"), error))?;
        let options = LoadOptions { home: settings.home.clone(), ..LoadOptions::default() };
        let mut project = project::load(&folder.join("inventory.yaml"), &options)
            .map_err(|error| Exit::new(exit::CONFIG, error.render(false)))?;
        let found = project.validate();
        if found.has_errors() {
            return Err(Exit::new(exit::CONFIG, found.render(&project.sources, false)));
        }
        for host in &mut project.hosts {
            // Sudo asks for the same password; who is root already needs none.
            if self.account.is_some() && host.ssh.user.as_deref() != Some("root") {
                host.ssh.become_method = Become::Sudo { password: Some(SECRET.to_owned()) };
            }
        }
        let launch = Launch {
            recorded: false,
            secrets: Some(secrets),
            passwords: Some(passwords),
            ..Launch::new("init", Mode::Apply)
        };
        let (finished, _) = launch::run(settings, project, launch, |_, _| Vec::new()).await?;
        let mut failed = BTreeMap::new();
        for session in &finished.report.sessions {
            let why = match session.result().0 {
                HostStatus::Ok => continue,
                HostStatus::Unreachable { reason, .. }
                | HostStatus::Quarantined { reason }
                | HostStatus::NotStarted(reason)
                | HostStatus::Offline(reason) => reason,
                HostStatus::Failed => "a task of the first login failed, see above".to_owned(),
            };
            failed.insert(session.name().to_owned(), why);
        }
        Ok(failed)
    }

    /// The inventory of the first login. JSON is YAML, and quotes all.
    fn inventory(&self, hosts: &[Host]) -> Json {
        let entry = |host: &Host| {
            let mut ssh = Map::new();
            let mut set = |key: &str, value: Option<Json>| {
                if let Some(value) = value {
                    ssh.insert(key.to_owned(), value);
                }
            };
            set("user", host.ssh.user.clone().map(Json::from));
            set("port", host.ssh.port.map(Json::from));
            set("identity_file", host.ssh.identity_file.as_ref().map(|path| json!(path)));
            set("known_hosts", host.ssh.known_hosts.as_ref().map(|path| json!(path)));
            (host.name.clone(), json!({ "address": host.address, "ssh": ssh }))
        };
        let mut vars = json!({ "controller_key": self.key });
        if let (Some(account), Some(vars)) = (&self.account, vars.as_object_mut()) {
            vars.insert("controller_account".to_owned(), json!(account));
        }
        json!({
            "cluster": self.cluster,
            "playbooks": ["./first.yaml"],
            "vars": vars,
            "hosts": hosts.iter().map(entry).collect::<Map<_, _>>(),
        })
    }

    /// Logs in by key, as every later command does.
    async fn by_key(
        &self,
        settings: &Settings,
        contacts: impl Iterator<Item = &mut Contact>,
        mut failed: BTreeMap<String, String>,
    ) -> Result<(), Exit> {
        let mut ready = Vec::new();
        for contact in contacts {
            if let Some(why) = failed.remove(&contact.host.name) {
                contact.login = Err(TransportError::Connect { kind: ConnectKind::Other, message: why });
                continue;
            }
            if let Some(account) = &self.account {
                contact.host.ssh.user = Some(account.clone());
            }
            ready.push(contact);
        }
        let hosts: Vec<Host> = ready.iter().map(|contact| contact.host.clone()).collect();
        if hosts.is_empty() {
            return Ok(());
        }
        let ssh = SshSettings { runtime_dir: settings.runtime_dir.clone(), ..SshSettings::default() };
        let ssh = Ssh::start(ssh, &hosts, Secrets::default()).await;
        let ssh = ssh.map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?;
        let logins = join_all(hosts.iter().map(|host| ssh.open(host, CONNECT))).await;
        for (contact, login) in ready.into_iter().zip(logins) {
            contact.login = login;
        }
        ssh.close().await;
        Ok(())
    }
}

/// The public key beside `--identity-file`, else the first of the user's own, and its text.
async fn public_key(identity: Option<&Utf8Path>) -> Result<(Utf8PathBuf, String), Exit> {
    if let Some(identity) = identity {
        if identity.extension() == Some("pub") {
            let private = identity.with_extension("");
            return Err(Exit::new(exit::USAGE, format!("{identity} is the public key"))
                .hint(format!("`-i` names the private one: -i {private}")));
        }
        let file = Utf8PathBuf::from(format!("{identity}.pub"));
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Exit::new(exit::CONFIG, format!("cannot read the public key {file}: {error}"))
                .hint(format!("make it from the private one: ssh-keygen -y -f {identity} >{file}"))
        })?;
        return Ok((file, text));
    }
    let folder = ssh_home().await.unwrap_or_default().join(".ssh");
    let found = KEYS.iter().find_map(|name| {
        let file = folder.join(name);
        std::fs::read_to_string(&file).ok().map(|text| (file, text))
    });
    found.ok_or_else(|| {
        Exit::new(exit::CONFIG, format!("there is no public key in {folder} that the hosts could get"))
            .hint("make one: ssh-keygen -t ed25519; or name the private key of another: --identity-file FILE")
    })
}

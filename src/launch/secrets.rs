//! Values of secrets for a run, and passwords that are asked for.

use std::io;

use secrecy::SecretString;

use crate::exit::{self, Exit};
use crate::inventory::Become;
use crate::project::Project;
use crate::report::style::{CHANGE, paint};
use crate::report::{log, output, prompt};
use crate::secrets::Secrets;
use crate::settings::Settings;

/// Name of the secret that `--ask-become-pass` fills.
const ASKED: &str = "become";

/// Values of the secrets that logins need, and tasks where `tasks` says so, and the password that was
/// asked for.
pub fn secrets(project: &mut Project, ask: bool, tasks: bool, settings: &Settings) -> Result<Secrets, Exit> {
    if ask {
        for host in &mut project.hosts {
            if let Become::Sudo { password } = &mut host.ssh.become_method {
                *password = Some(ASKED.to_owned());
            }
        }
    }
    let mut needed = project.needed_secrets(tasks);
    let given: Vec<String> =
        needed.keys().filter(|name| project.given.get(name).is_some()).cloned().collect();
    needed.retain(|name, _| !given.contains(name));
    let mut resolved =
        crate::secrets::resolve(&needed).map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?;
    for (name, source) in &needed {
        if let Some(path) = source.lies_open() {
            let warning = paint(CHANGE, "warning");
            output::say(&format!(
                "{warning}: every user of this machine can read the secret `{name}`: chmod 600 {path}"
            ));
        }
    }
    for name in given {
        if let Some(value) = project.given.get(&name) {
            resolved = resolved.with(&name, value.clone());
        }
    }
    log::hide(&resolved);
    if !ask {
        return Ok(resolved);
    }
    let password = ask_password(settings, "sudo password")?;
    let secrets = resolved.with(ASKED, password);
    log::hide(&secrets);
    Ok(secrets)
}

/// Asks for a password, or reads a line where nobody types. One that is empty is none: it would be
/// refused by every host, and counted there.
///
/// # Errors
/// When it cannot be read, or is empty.
pub fn ask_password(settings: &Settings, what: &str) -> Result<SecretString, Exit> {
    let password = if settings.typed {
        prompt::password(&format!("{what}: ")).map_err(|error| {
            // Whoever starts this may ignore the signal.
            if error.kind() == io::ErrorKind::Interrupted {
                return Exit::new(exit::INTERRUPTED, "stopped at the password");
            }
            Exit::caused("cannot read the password", error)
        })?
    } else {
        let mut line = String::new();
        io::stdin()
            .read_line(&mut line)
            .map_err(|error| Exit::caused(format!("cannot read the {what} from standard input"), error))?;
        line.trim_end_matches(['\n', '\r']).to_owned()
    };
    if password.is_empty() {
        return Err(Exit::new(exit::CONFIG, format!("the {what} is empty; nothing was sent")));
    }
    Ok(password.into())
}

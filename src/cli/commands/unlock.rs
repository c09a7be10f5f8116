//! `provision unlock`: who has the locks of hosts, and taking them away.

use std::time::Duration;

use anyhow::Context as _;
use futures::stream::{self, StreamExt as _};

use crate::cli::args::UnlockArgs;
use crate::cli::load::{load, reachable};
use crate::engine::state::{self, HeldLock, LockOwner};
use crate::exit::{self, Exit};
use crate::inventory::Host;
use crate::launch;
use crate::report::style::safe_line;
use crate::report::{output, prompt};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::transport::{CONNECT, Frame, Part, Script, Transport};

/// Time limit of a script.
const DEADLINE: Duration = Duration::from_secs(30);

/// State of a host's lock: free, held by somebody, or the reason why that is not known.
type Lock = Result<Option<HeldLock>, String>;

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps it from starting; that nobody agreed.
pub(crate) async fn run(settings: &Settings, args: UnlockArgs) -> anyhow::Result<u8> {
    let mut project = reachable(settings, &args.target, load(settings, &args.target)?)?;
    let parallel = args.connect.parallel.unwrap_or(project.rollout.parallel).max(1);
    let secrets = launch::secrets(&mut project, args.connect.ask_become_pass, false, settings)?;
    let hosts: Vec<Host> = project.online().cloned().collect();
    let transport = launch::open_transport(settings, &project.cluster, &hosts, &secrets, parallel).await?;
    let shared = (transport.as_ref(), &secrets, parallel);
    let result = take(settings, &args, shared, &hosts).await;
    transport.close().await;
    result
}

async fn take(
    settings: &Settings,
    args: &UnlockArgs,
    shared: (&dyn Transport, &Secrets, usize),
    hosts: &[Host],
) -> anyhow::Result<u8> {
    let mut codes = Vec::new();
    let asked = hosts.iter().map(|host| (host, vec![]));
    let mut held = Vec::new();
    for (host, lock) in ask(shared, asked.collect()).await {
        output::say(&format!("{}: {}", host.name, told(&lock)));
        match lock {
            Ok(Some(lock)) if LockOwner::parse(&lock.owner).is_some() => held.push((host, lock)),
            Ok(Some(_)) => codes.push(exit::LOCKED),
            Ok(None) => {}
            Err(_) => codes.push(exit::UNREACHABLE),
        }
    }
    if held.is_empty() {
        return Ok(exit::choose(&codes));
    }
    agreed(settings, args)?;
    let controller = launch::controller(settings);
    let taken = held.iter().map(|(host, lock)| (*host, vec![state::unlock(&lock.owner, &controller)]));
    for (host, lock) in ask(shared, taken.collect()).await {
        let text = match &lock {
            Ok(None) => "taken; it is free".to_owned(),
            Ok(Some(lock)) if is_taken(lock) && !lock.tasks.is_empty() => {
                format!("taken; the next run follows {}", tasks(lock))
            }
            Ok(Some(_)) => {
                codes.push(exit::LOCKED);
                format!("not taken: {}", told(&lock))
            }
            Err(_) => {
                codes.push(exit::UNREACHABLE);
                told(&lock)
            }
        };
        output::say(&format!("{}: {text}", host.name));
    }
    Ok(exit::choose(&codes))
}

/// # Errors
/// When the answer is no, or nobody can be asked.
fn agreed(settings: &Settings, args: &UnlockArgs) -> anyhow::Result<()> {
    if args.yes {
        return Ok(());
    }
    if !settings.interactive {
        let error =
            Exit::new(exit::USAGE, "no lock is taken: there is no terminal to ask whether that is right");
        return Err(error.hint("the same command with `--yes` takes these locks").into());
    }
    let question = "Take these locks? The runs stop at these hosts, what they started goes on.";
    if prompt::confirm(question).context("cannot read the answer")? {
        Ok(())
    } else {
        Err(Exit::new(exit::USAGE, "no lock is taken").into())
    }
}

/// Whether the host has it written down that the lock was taken from its run.
fn is_taken(lock: &HeldLock) -> bool {
    LockOwner::parse(&lock.owner).is_some_and(|owner| owner.is_unlock())
}

fn told(lock: &Lock) -> String {
    match lock {
        Ok(None) => "free".to_owned(),
        Ok(Some(lock)) => {
            let since = safe_line(&lock.since);
            let who = match LockOwner::parse(&lock.owner) {
                Some(owner) if owner.is_unlock() => format!("taken from its run at {since}"),
                Some(owner) => {
                    let (run, controller) = (safe_line(&owner.run), safe_line(&owner.controller));
                    format!("run {run} of controller {controller} has it since {since}")
                }
                None => "a process has it that is of no run".to_owned(),
            };
            if lock.tasks.is_empty() { who } else { format!("{who}; now runs {}", tasks(lock)) }
        }
        Err(reason) => safe_line(reason),
    }
}

fn tasks(lock: &HeldLock) -> String {
    let names: Vec<String> = lock.tasks.iter().map(|name| format!("`{}`", safe_line(name))).collect();
    names.join(", ")
}

/// Runs scripts on hosts and tells who has their locks then; in the order of the inventory.
async fn ask<'a>(
    (transport, secrets, parallel): (&dyn Transport, &Secrets, usize),
    scripts: Vec<(&'a Host, Vec<Script>)>,
) -> Vec<(&'a Host, Lock)> {
    let asked = scripts.into_iter().map(|(host, scripts)| {
        let script = scripts.into_iter().chain([state::lock_owner()]);
        let parts = script.map(|script| Part {
            name: "lock-owner".to_owned(),
            script,
            deadline: DEADLINE,
            limit: 1 << 16,
        });
        let prelude = state::FUNCTIONS.to_owned();
        let frame = Frame {
            prelude,
            parts: parts.collect(),
            secrets: secrets.clone(),
            last: true,
            ..Frame::default()
        };
        async move { (host, on_host(transport, host, &frame).await) }
    });
    stream::iter(asked).buffered(parallel).collect().await
}

async fn on_host(transport: &dyn Transport, host: &Host, frame: &Frame) -> Lock {
    let mut remote = transport.open(host, CONNECT).await.map_err(|error| error.to_string())?;
    let mut said = String::new();
    let result = remote.run(frame, &mut |end| said = String::from_utf8_lossy(&end.output).into_owned()).await;
    remote.close().await;
    result.map_err(|error| error.to_string())?;
    Ok(HeldLock::parse(&said))
}

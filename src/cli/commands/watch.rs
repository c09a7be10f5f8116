//! `provision watch`: look at the hosts again and again, and tell what has changed.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use futures::future::join_all;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use tokio::time::Instant;

use super::verify::{self, Kept, Look};
use crate::cli::args::{Connect, Reports, ThisMachine, WatchArgs};
use crate::cli::load;
use crate::cli::settings::today;
use crate::events::now;
use crate::exit::Exit;
use crate::inventory::{Watch, Webhook};
use crate::launch::Signals;
use crate::process::this_program;
use crate::project::Project;
use crate::report::output;
use crate::report::screen::Verbosity;
use crate::report::style::{BAD, CALM, CHANGE, GOOD, paint, safe_line};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::watch::{Delivery, Memory, Message, Reply, Request, Round, Unit, post, request, unit};
use crate::words::count;
use crate::{disk, exit, journal};

/// Time for which `--once` goes on with messages that wait.
const ONCE: Duration = Duration::from_mins(5);

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps it from beginning. A round that cannot be made is told like any other finding.
pub(crate) async fn run(settings: &Settings, args: WatchArgs) -> anyhow::Result<u8> {
    let project = load::load_checked(settings, &args.target)?;
    if args.systemd {
        let text = systemd(settings, &args, &project)?;
        output::data(&text).context("cannot write to stdout")?;
        return Ok(exit::OK);
    }
    let secrets = secrets(&project)?;
    if args.test {
        return test(&project, &secrets).await;
    }
    let directory = settings.cluster_dir(&project.cluster);
    for path in [&settings.state, &directory] {
        disk::private_directory(path).map_err(|error| {
            Exit::new(exit::CONFIG, format!("cannot keep what is told in {path}: {error}"))
                .hint("set XDG_STATE_HOME to keep it in another directory")
        })?;
    }
    let _lock = alone(&directory)?;
    let file = directory.join("watch.json");
    let mut watcher = Watcher {
        settings: Settings {
            verbosity: Verbosity::Quiet,
            progress: false,
            interactive: false,
            ..settings.clone()
        },
        args: &args,
        cluster: project.cluster.clone(),
        inventory: absolute(&args.target.inventory),
        watch: project.watch.clone(),
        secrets,
        memory: journal::read_state::<Memory>(&file).understood(),
        directory,
        file,
    };
    let names: Vec<&str> = watcher.watch.webhooks.iter().map(|webhook| webhook.name.as_str()).collect();
    for (name, number) in watcher.memory.outbox.keep(&names) {
        let lost = count(number as u64, "message");
        say(
            CHANGE,
            "Dropped",
            &format!("{lost} for `{name}`, which is no webhook of the inventory any more"),
        );
    }
    if args.once { watcher.once().await } else { watcher.forever().await }
}

/// One line of what this command does.
fn say(style: anstyle::Style, verb: &str, text: &str) {
    output::say(&format!("{}  {}", paint(style, &format!("{verb:>10}")), safe_line(text)));
}

fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// The values of all secrets of webhooks, and that each URL is one.
fn secrets(project: &Project) -> anyhow::Result<Secrets> {
    let wanted =
        project.watch.secrets().filter_map(|name| Some((name.clone(), project.secrets.get(name)?.clone())));
    let secrets = crate::secrets::resolve(&wanted.collect::<BTreeMap<_, _>>())
        .map_err(|error| Exit::new(exit::CONFIG, error.to_string()))?;
    crate::report::log::hide(&secrets);
    for webhook in &project.watch.webhooks {
        let url = secrets.get(&webhook.url).map_or("", |url| url.expose_secret());
        let plain = url.chars().all(|c| c.is_ascii_graphic());
        if !plain || !(url.starts_with("https://") || url.starts_with("http://")) {
            let message = format!(
                "the secret `{}` is no URL of a webhook: it begins with `https://` and has no space",
                webhook.url
            );
            return Err(Exit::new(exit::CONFIG, message).into());
        }
    }
    Ok(secrets)
}

/// The unit that starts this watch.
fn systemd(settings: &Settings, args: &WatchArgs, project: &Project) -> anyhow::Result<String> {
    // The unit may write there, so it must be there.
    disk::private_directory(&settings.state).with_context(|| format!("cannot use {}", settings.state))?;
    let mut arguments = args.target.lasting();
    if let Some(hosts) = &args.target.hosts {
        arguments.extend(["--hosts".to_owned(), hosts.clone()]);
    }
    if let Some(every) = &args.every {
        arguments.extend(["--every".to_owned(), every.to_string()]);
    }
    if let Some(parallel) = args.parallel {
        arguments.extend(["--parallel".to_owned(), parallel.to_string()]);
    }
    Ok(unit(&Unit {
        cluster: &project.cluster,
        program: &this_program().context("the system does not say where this program is")?,
        inventory: &absolute(&args.target.inventory),
        arguments: &arguments,
        user: &settings.user,
        state: &settings.state,
        local: project.is_local(),
    }))
}

/// Only one watch of a cluster: two would tell everything twice.
fn alone(directory: &Utf8Path) -> anyhow::Result<File> {
    let path = directory.join("watch.lock");
    let file = disk::open_lock(&path).with_context(|| format!("cannot use {path}"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Exit::new(exit::LOCKED, "another watch of this cluster runs already").into())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {path}")),
    }
}

/// The request that brings a message to a webhook.
fn letter(webhook: &Webhook, secrets: &Secrets, message: &Message, now: Timestamp) -> Request {
    let value = |name: &String| secrets.get(name).map(secrecy::SecretString::expose_secret);
    let sign = webhook.sign.as_ref().and_then(value);
    request(webhook.kind, value(&webhook.url).unwrap_or_default(), sign, message, now)
}

/// Sends one message to each webhook, and keeps nothing.
async fn test(project: &Project, secrets: &Secrets) -> anyhow::Result<u8> {
    if project.watch.webhooks.is_empty() {
        return Err(Exit::new(exit::CONFIG, "the inventory has no webhook")
            .hint("name one under `watch:`; `provision explain watch` shows how")
            .into());
    }
    let at = now();
    let message = Message::test(&project.cluster, at);
    let replies = project
        .watch
        .webhooks
        .iter()
        .map(|webhook| post(webhook.kind, letter(webhook, secrets, &message, at)));
    let mut good = true;
    for (webhook, reply) in project.watch.webhooks.iter().zip(join_all(replies).await) {
        let failure = match reply {
            Reply::Answer(Delivery::Delivered) => None,
            Reply::Answer(Delivery::Later { reason, .. } | Delivery::Never(reason))
            | Reply::Silence(reason) => Some(reason),
        };
        match failure {
            None => say(GOOD, "Told", &webhook.name),
            Some(reason) => {
                good = false;
                say(BAD, "Not told", &secrets.redact(&format!("{}: {reason}", webhook.name)));
            }
        }
    }
    Ok(if good { exit::OK } else { exit::CONFIG })
}

/// Result of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// It was made, or is to be made at the next time.
    Done,
    /// A signal ended it.
    Stopped(u8),
}

struct Watcher<'a> {
    settings: Settings,
    args: &'a WatchArgs,
    cluster: String,
    /// Path of the inventory, for messages.
    inventory: Utf8PathBuf,
    watch: Watch,
    secrets: Secrets,
    memory: Memory,
    directory: Utf8PathBuf,
    file: Utf8PathBuf,
}

impl Watcher<'_> {
    async fn once(mut self) -> anyhow::Result<u8> {
        if let Made::Stopped(code) = self.round().await? {
            return Ok(code);
        }
        self.tell()?;
        let until = Instant::now() + ONCE;
        while self.deliver().await? == 0 && self.memory.outbox.waiting() > 0 && Instant::now() < until {
            tokio::time::sleep(self.wait()).await;
        }
        let waiting = self.memory.outbox.waiting();
        if waiting > 0 {
            say(CHANGE, "Kept", &format!("{} for later", count(waiting as u64, "message")));
        }
        Ok(exit::OK)
    }

    async fn forever(mut self) -> anyhow::Result<u8> {
        let mut signals = Signals::new()?;
        let every = self.args.every.map_or(self.watch.every, |every| every.0);
        loop {
            let next = Instant::now() + every;
            if let Made::Stopped(code) = self.round().await? {
                return Ok(code);
            }
            loop {
                self.tell()?;
                self.deliver().await?;
                let wake = next.min(Instant::now() + self.wait());
                tokio::select! {
                    () = tokio::time::sleep_until(wake) => {}
                    code = signals.any() => return Ok(code),
                }
                if Instant::now() >= next {
                    break;
                }
            }
        }
    }

    /// Returns the time until a message may be told or delivered.
    fn wait(&self) -> Duration {
        let now = now();
        let waits = !self.memory.changes(&self.watch).is_empty();
        let free = self.memory.free_at(&self.watch).filter(|_| waits);
        let next = [free, self.memory.outbox.next()].into_iter().flatten().min();
        let wait = next
            .map_or(Duration::MAX, |next| Duration::try_from(next.duration_since(now)).unwrap_or_default());
        // A clock that was set back must not keep messages for long.
        wait.clamp(Duration::from_millis(100), Duration::from_mins(10))
    }

    fn save(&self) -> anyhow::Result<()> {
        journal::write_state(&self.file, &self.memory)?;
        Ok(())
    }

    /// Looks at the hosts. While another run of this controller works on the cluster, hosts are half done: such a
    /// round says nothing.
    async fn round(&mut self) -> anyhow::Result<Made> {
        if let Some(run) = journal::running(&self.directory) {
            say(CHANGE, "Skipped", &format!("this round: run {run} works on the cluster"));
            return Ok(Made::Done);
        }
        // It goes on for months, and what somebody acknowledged ends on a day.
        self.settings.today = today();
        let before = journal::last_run(&self.directory);
        let connect = Connect { parallel: self.args.parallel, ask_become_pass: false, allow_unreachable: 0 };
        let made = verify::once(
            &self.settings,
            (&self.args.target, &ThisMachine::default()),
            &connect,
            &Reports::default(),
            Look::NOTHING,
            Kept::Watched,
        )
        .await;
        // Those of the round were hidden meanwhile.
        crate::report::log::hide(&self.secrets);
        if let Ok((_, code @ (exit::INTERRUPTED | exit::TERMINATED))) = made {
            return Ok(Made::Stopped(code));
        }
        let after = journal::last_run(&self.directory).filter(|after| before.as_ref() != Some(after));
        if let Some(run) = journal::running(&self.directory).or(after) {
            say(CHANGE, "Skipped", &format!("this round: run {run} began meanwhile"));
            return Ok(Made::Done);
        }
        let (round, hosts) = match &made {
            Ok((finished, _)) => (Round::of(&finished.record), finished.record.hosts.len()),
            Err(error) => {
                let reason = self.secrets.redact(&format!("{error:#}"));
                say(BAD, "Failed", &reason);
                (Round::broken(&reason), 0)
            }
        };
        self.memory.learn(&round, now());
        self.save()?;
        let findings = count(self.memory.findings() as u64, "finding");
        say(CALM, "Watched", &format!("{}: {findings}", count(hosts as u64, "host")));
        Ok(Made::Done)
    }

    /// Makes one message of all that is to be told, unless the last one was a short time ago.
    fn tell(&mut self) -> anyhow::Result<()> {
        let now = now();
        let changes = self.memory.changes(&self.watch);
        // After a clock was set back, the last message may seem to be in the future.
        let told = self.memory.told().filter(|told| *told <= now);
        let free = told.and_then(|_| self.memory.free_at(&self.watch)).is_none_or(|free| free <= now);
        if changes.is_empty() || !free {
            return Ok(());
        }
        let message = Message::of(&self.cluster, self.inventory.as_str(), &changes, now);
        self.memory.tell(&changes, now);
        for webhook in &self.watch.webhooks {
            self.memory.outbox.add(&webhook.name, message.clone());
        }
        self.save()?;
        output::data(&format!("{}\n", self.secrets.redact(&message.text(usize::MAX))))
            .context("cannot write to stdout")
    }

    /// Delivers what is due to all webhooks at once; how many tries failed.
    async fn deliver(&mut self) -> anyhow::Result<usize> {
        let at = now();
        let due: Vec<(String, Message, _)> = self
            .watch
            .webhooks
            .iter()
            .filter_map(|webhook| {
                let message = self.memory.outbox.due(&webhook.name, at)?;
                let sent = post(webhook.kind, letter(webhook, &self.secrets, &message, at));
                Some((webhook.name.clone(), message, sent))
            })
            .collect();
        let tries = due.into_iter().map(async |(name, message, sent)| (name, message, sent.await));
        let mut failed = 0;
        for (name, message, reply) in join_all(tries).await {
            match self.memory.outbox.take(&name, &message.id, reply, now()) {
                None => say(GOOD, "Told", &name),
                Some(reason) => {
                    failed += 1;
                    say(BAD, "Not told", &self.secrets.redact(&format!("{name}: {reason}")));
                }
            }
            self.save()?;
        }
        Ok(failed)
    }
}

//! Hosts over SSH: one login each, which is the master and the first session at once.
//!
//! ```text
//!   ssh -M -S SOCKET ... host 'exec /bin/sh -s'    the login; its first session is the host shell
//!     └ mux ── exec /bin/sh -s                     a second shell, when the first one hangs
//!     └ mux ── exec /bin/sh -s                     and for each stream
//! ```
//!
//! With `ssh.persist` the master stays in the background, and the first session of the next run is one over
//! mux, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::AsyncRead;
use tokio::sync::Semaphore;

use super::askpass::{Answer, PasswordLogins};
use super::bastion::Bastions;
use super::escalation::Way;
use super::launch::{self, Launch};
use super::login::{self, Login, NotResumed, Session};
use super::password_trial::{Trial, Trials, Turn};
use super::persistent::{Kept, Place, Warm};
use super::run_dir::RunDir;
use super::shell::ShellError;
use super::ssh_config::{self, Client, File};
use super::ssh_settings::SshSettings;
use super::wire::Expected;
use super::{
    ConnectKind, Frame, OnPart, Remote, Transport, TransportError, classify, process, rescue, stream,
};
use crate::backoff::Backoff;
use crate::disk;
use crate::inventory::Host;
use crate::secrets::Secrets;

/// Time limit for a second session or a new login when a shell hangs.
const REVIVE: Duration = Duration::from_secs(20);
/// Number of retries of a login whose `ssh` somebody ended.
const KILLED: u32 = 2;
/// Time limit for the orderly end of a login.
const GRACE: Duration = Duration::from_secs(1);

/// Opens hosts by the `ssh` program.
#[derive(Debug)]
pub struct Ssh {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: SshSettings,
    secrets: Secrets,
    /// Knowledge of the passwords of sudo.
    trials: Trials,
    /// And of the one of logins.
    trial: Trial,
    client: Client,
    config: Utf8PathBuf,
    /// Before `dir`: its sockets are in there.
    bastions: Bastions,
    /// The number of a host's jump host, by the host's name.
    jumps: BTreeMap<String, usize>,
    logins: Semaphore,
    /// User of the first shell of a host that does not become root, by the host's name.
    users: Mutex<BTreeMap<String, u64>>,
    /// `None` where no login stays.
    warm: Option<Warm>,
    dir: RunDir,
}

fn local(message: impl std::fmt::Display) -> TransportError {
    classify::connect(ConnectKind::Other, message.to_string())
}

/// The name of a host and what `ssh` is called with for it.
fn names(host: &Host) -> Result<(&str, &str), TransportError> {
    let checked = |word| ssh_config::name(word).map_err(local);
    Ok((checked(&host.name)?, checked(&host.address)?))
}

impl Ssh {
    /// Prepares a run over these hosts: writes its `ssh_config`, cleans up after killed runs.
    ///
    /// # Errors
    /// When a value of the inventory cannot stand in an `ssh_config`, or nothing can be written.
    pub async fn start(
        settings: SshSettings,
        hosts: &[Host],
        secrets: Secrets,
    ) -> Result<Self, TransportError> {
        let dir = RunDir::create(settings.runtime_dir.as_deref()).map_err(local)?;
        login::end_leftovers(&dir).await;
        let session_type = process::ssh_has_session_type().map_err(|error| {
            local(format!("cannot start `ssh`: {error}; it must be installed on this machine"))
        })?;
        let stays = hosts.iter().any(|host| host.transport.is_ssh() && host.ssh.persist.is_some());
        let warm = settings.keep.clone().filter(|_| stays).and_then(|keep| {
            let warm = Warm::open(settings.runtime_dir.as_deref(), keep);
            warm.inspect_err(|error| tracing::warn!(%error, "no login stays")).ok()
        });
        let mut shared = Shared {
            warm,
            logins: Semaphore::new(settings.logins.max(1)),
            users: Mutex::default(),
            config: settings.config_dir.as_deref().unwrap_or(dir.path()).join("ssh_config"),
            client: Client {
                connect_timeout: settings.connect_timeout,
                session_type,
                accept_new: settings.accept_new,
            },
            settings,
            secrets,
            trials: Trials::default(),
            trial: Trial::default(),
            bastions: Bastions::default(),
            jumps: BTreeMap::new(),
            dir,
        };
        shared.write_configs(hosts)?;
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The file that a login to the host looks for keys in first, as `ssh` words it: `~` and tokens
    /// are as they were written.
    pub async fn known_hosts(&self, host: &Host) -> Option<String> {
        let answer = process::ask_ssh(&self.shared.arguments(host).ok()?).await.ok()?;
        let files = answer.lines().find_map(|line| line.strip_prefix("userknownhostsfile "))?;
        files.split(' ').next().map(str::to_owned)
    }

    /// Starts a launcher on a host, as who logs in there. Where it gives no shell, it is ended.
    pub(super) async fn launch(
        &self,
        place: &Host,
        launch: Launch,
        deadline: Duration,
    ) -> Result<Box<dyn Remote>, TransportError> {
        let mut remote = SshRemote::open(&self.shared, place, Way::None, deadline, None).await?;
        if let Err(error) = remote.enter(&launch).await {
            remote.end_launcher().await;
            remote.close().await;
            return Err(error);
        }
        remote.launch = Some(launch);
        Ok(Box::new(remote))
    }

    /// The file that reproduces a login by hand: `ssh -F FILE HOST`.
    pub fn config(&self) -> &Utf8Path {
        &self.shared.config
    }
}

impl Shared {
    fn write_configs(&mut self, hosts: &[Host]) -> Result<(), TransportError> {
        let settings = &self.settings;
        let common = self.client.common();
        let finish = |file: &mut File| -> Result<(), ssh_config::ConfigError> {
            file.block("*", &common);
            for path in &settings.user_files {
                file.include(path)?;
            }
            file.block("*", &ssh_config::last());
            Ok(())
        };
        let mut shared = File::new("What all hosts share; the lines of a host are given as options.");
        finish(&mut shared).map_err(local)?;
        disk::replace(&self.common(), shared.text().as_bytes()).map_err(local)?;
        let mut all = File::new(
            "`ssh -F THIS_FILE ADDRESS` logs in as the run did. A name of the inventory does, too, where your own\n\
             # files say the same of the name and the address.",
        );
        let over_ssh = || hosts.iter().filter(|host| host.transport.is_ssh());
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for host in over_ssh() {
            for word in BTreeSet::from([host.address.as_str(), host.name.as_str()]) {
                *uses.entry(word).or_default() += 1;
            }
        }
        for host in over_ssh() {
            let dir = self.config.parent().unwrap_or(self.dir.path());
            let jump = self.bastions.plan(host, hosts, dir, &self.dir, &self.settings, self.client)?;
            if let Some(jump) = jump {
                self.jumps.insert(host.name.clone(), jump);
            }
            let proxy = jump.and_then(|jump| self.bastions.proxy(jump));
            let lines = self.client.host(&host.ssh, proxy.as_deref()).map_err(local)?;
            let (name, address) = names(host)?;
            if name == address {
                all.block(name, &lines);
                continue;
            }
            all.block(name, &[ssh_config::alias(address).map_err(local)?]);
            // An address that several have is known by their names only.
            let only = uses.get(address).is_some_and(|uses| *uses == 1);
            all.block(&if only { format!("{name} {address}") } else { name.to_owned() }, &lines);
        }
        finish(&mut all).map_err(local)?;
        disk::replace(&self.config, all.text().as_bytes())
            .map_err(|error| local(format!("cannot write {}: {error}", self.config)))
    }

    /// The file with what all hosts share.
    fn common(&self) -> Utf8PathBuf {
        self.dir.path().join("common")
    }

    /// Arguments of `ssh` for a host, without the command.
    fn arguments(&self, host: &Host) -> Result<Vec<String>, TransportError> {
        let mut arguments = vec!["-F".to_owned(), self.common().into_string()];
        let proxy = self.jumps.get(&host.name).and_then(|jump| self.bastions.proxy(*jump));
        for (key, value) in self.client.host(&host.ssh, proxy.as_deref()).map_err(local)? {
            arguments.extend(["-o".to_owned(), format!("{key} {value}")]);
        }
        arguments.push(names(host)?.1.to_owned());
        Ok(arguments)
    }

    /// Returns the user that the host shell has to be: root where the login becomes root or says that it is,
    /// else the one that it was before.
    fn expected(&self, host: &Host, way: &Way) -> Expected {
        if way.becomes_root() || host.ssh.user.as_deref() == Some("root") {
            return Expected::Root;
        }
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.get(&host.name).map_or(Expected::Anyone, |uid| Expected::User(*uid))
    }

    /// Logs in and greets the host shell; again where sshd has too many logins under way: such a one
    /// ends before anything is sent, so nothing is done twice. Again, too, where somebody on this machine
    /// ended the `ssh`: what rides along are questions.
    #[tracing::instrument(name = "login", level = "debug", skip_all, err(level = "debug"), fields(host = host.name))]
    async fn log_in(
        self: &Arc<Self>,
        host: &Host,
        way: &Way,
        deadline: Duration,
        ahead: Option<&Frame>,
    ) -> Result<(Login, Session), TransportError> {
        let mut place = self.place(host).await;
        if let Some(there) = place.as_mut().and_then(|place| place.there.take())
            && let Some(opened) = self.resume(host, way, deadline, &there).await
        {
            return Ok(opened);
        }
        let mut ramp = Ramp::new();
        let mut killed = 0;
        let mut refused = None;
        loop {
            match self.log_in_once(host, way, ramp.left(deadline), ahead, place.as_ref()).await {
                Err(error) if classify::is_crowded(&error) => match ramp.pause(deadline) {
                    Some(pause) => {
                        tracing::debug!(%error, ?pause, "too many logins there");
                        refused = Some(error);
                        tokio::time::sleep(pause).await;
                    }
                    None => return Err(error),
                },
                // The last login may have had a moment only.
                Err(error) if classify::is_timed_out(&error) => return Err(refused.unwrap_or(error)),
                Err(error) if classify::is_killed(&error) && killed < KILLED => {
                    killed += 1;
                    tracing::debug!(%error, "logs in again");
                }
                Err(error) if classify::is_killed(&error) => {
                    return Err(classify::connect(ConnectKind::Other, error.to_string()));
                }
                result => return result,
            }
        }
    }

    /// Returns the place where the login of a host stays; `None` where it ends with the run.
    async fn place(&self, host: &Host) -> Option<Place> {
        let (warm, persist) = (self.warm.as_ref()?, host.ssh.persist.as_ref()?);
        // The way through a jump host ends with the run.
        if self.jumps.contains_key(&host.name) {
            return None;
        }
        let _turn = self.logins.acquire().await.ok()?;
        let asked = process::ask_ssh(&self.arguments(host).ok()?).await.ok()?;
        warm.place(host, &asked, persist.value)
    }

    /// A session over a login that has stayed. `None` where a new login is needed: that one then says what is wrong.
    async fn resume(
        &self,
        host: &Host,
        way: &Way,
        deadline: Duration,
        there: &Utf8Path,
    ) -> Option<(Login, Session)> {
        // Whoever ended it has removed its note.
        let kept = Kept::use_it(there).ok()?;
        let resumed =
            Login::resume(kept, self.dir.socket('s'), way, self.expected(host, way), deadline).await;
        let (kept, why) = match resumed {
            Ok((login, session)) => {
                self.note_user(host, way, &session);
                return Some((login, session));
            }
            Err(NotResumed::Dead(kept)) => {
                tracing::debug!("the login that stayed does not answer and is ended");
                kept.kill();
                return None;
            }
            // Another run has the sessions; it is as good as before.
            Err(NotResumed::Full) => return None,
            Err(NotResumed::Silent(kept, why)) => (kept, why),
        };
        tracing::debug!(%why, "the login that stayed is used no more");
        kept.retire();
        kept.release().await;
        None
    }

    /// A login that becomes root is held against root; one beside it is its user's.
    fn note_user(&self, host: &Host, way: &Way, session: &Session) {
        if !way.becomes_root() {
            let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
            users.entry(host.name.clone()).or_insert(session.shell.identity().uid);
        }
    }

    async fn log_in_once(
        self: &Arc<Self>,
        host: &Host,
        way: &Way,
        deadline: Duration,
        ahead: Option<&Frame>,
        place: Option<&Place>,
    ) -> Result<(Login, Session), TransportError> {
        let mut arguments = self.arguments(host)?;
        // Waiting for one's turn is no delay of the host.
        let jump = self.jumps.get(&host.name).copied();
        let _ramp = match jump {
            Some(jump) => {
                self.bastions.open(jump, &self.settings).await?;
                match self.bastions.ramp(jump) {
                    Some(ramp) => Some(ramp.acquire().await.map_err(local)?),
                    None => None,
                }
            }
            None => None,
        };
        let passwords = self.settings.passwords.as_ref();
        let by_password = passwords.and_then(|all| Some((all, *all.methods.get(&host.name)?)));
        let mut trial = match by_password {
            Some(_) => Some(self.trial.turn().await.map_err(|first| untried(&first))?),
            None => None,
        };
        let _turn = self.logins.acquire().await.map_err(local)?;
        let mut answer = None;
        let mut environment = None;
        if let Some((all, method)) = by_password {
            arguments.splice(0..0, PasswordLogins::options(method));
            let giver = Answer::new(self.dir.socket('a'), all.password.clone()).map_err(local)?;
            environment = Some(giver.environment(&all.program));
            answer = Some(giver);
        }
        let asking = environment.as_ref().map(<[_; 4]>::as_slice);
        let (login, session) = Login::start(self.dir.socket('s'), arguments, way.login(), place, asking)
            .map_err(|error| local(format!("cannot start `ssh`: {error}")))?;
        let expected = self.expected(host, way);
        let greet = login.greet(session, way, expected, deadline, ahead, jump.is_some());
        let mut greeted = match answer {
            Some(answer) => tokio::select! {
                greeted = greet => greeted,
                never = answer.give() => match never {},
            },
            None => greet.await,
        };
        if let Some(trial) = &mut trial {
            greeted = settle(trial, &host.name, greeted);
        }
        match (greeted, jump) {
            (Err(error), Some(jump)) => Err(self.bastions.explain(jump, error).await),
            (Err(error), None) => Err(error),
            (Ok((mut login, session)), _) => {
                if let Some(place) = place {
                    login.stay(place);
                }
                self.note_user(host, way, &session);
                Ok((login, session))
            }
        }
    }
}

/// Takes note of how a login by password ended. What comes after the password, such as sudo, tells that it
/// was accepted.
fn settle<T>(
    trial: &mut Turn<'_>,
    host: &str,
    greeted: Result<T, TransportError>,
) -> Result<T, TransportError> {
    match greeted {
        Err(TransportError::Connect { kind: ConnectKind::KeyRefused, message }) => {
            trial.refused(host);
            let message = format!("the password was refused: {message}");
            Err(classify::connect(ConnectKind::PasswordRefused, message))
        }
        Err(TransportError::Connect {
            kind:
                kind @ (ConnectKind::NoShell
                // Here that of sudo.
                | ConnectKind::PasswordRefused
                | ConnectKind::SudoPassword
                | ConnectKind::SudoRefused
                | ConnectKind::PasswordUntried
                | ConnectKind::WrongUser),
            message,
        }) => {
            trial.accepted();
            Err(classify::connect(kind, message))
        }
        Ok(opened) => {
            trial.accepted();
            Ok(opened)
        }
        Err(error) => Err(error),
    }
}

fn untried(first: &str) -> TransportError {
    let message = format!("{first} refused the password, so it is not tried here");
    classify::connect(ConnectKind::PasswordUntried, message)
}

/// Pauses between logins to a server that refuses them for a while (`MaxStartups`): longer and longer,
/// each of another length, so that those who were refused together do not come back together.
#[derive(Debug)]
struct Ramp {
    began: Option<tokio::time::Instant>,
    backoff: Backoff,
}

impl Ramp {
    fn new() -> Self {
        Self { began: None, backoff: Backoff::new(Duration::from_millis(100), Duration::from_millis(1600)) }
    }

    /// Returns the rest of the time that a login may take.
    fn left(&self, deadline: Duration) -> Duration {
        self.began.map_or(deadline, |began| deadline.saturating_sub(began.elapsed()))
    }

    /// Returns the time to wait before the next one; `None` when the time is up.
    fn pause(&mut self, deadline: Duration) -> Option<Duration> {
        // Waiting for one's turn before the first answer was no delay of the host.
        self.began.get_or_insert_with(tokio::time::Instant::now);
        let longest = self.backoff.pause();
        // The last bits of such an id are random.
        let random = uuid::Uuid::now_v7().as_u128() & 0xff;
        let pause = longest / 2 + longest * u32::try_from(random).unwrap_or(0) / 255;
        (pause < self.left(deadline)).then_some(pause)
    }
}

#[async_trait]
impl Transport for Ssh {
    async fn open(&self, host: &Host, deadline: Duration) -> Result<Box<dyn Remote>, TransportError> {
        let way = Way::new(host, &self.shared.secrets, &self.shared.trials);
        Ok(Box::new(SshRemote::open(&self.shared, host, way, deadline, None).await?))
    }

    async fn open_and_run(
        &self,
        host: &Host,
        deadline: Duration,
        frame: &Frame,
        on_part: OnPart<'_>,
    ) -> Result<(Box<dyn Remote>, Result<(), TransportError>), TransportError> {
        let way = Way::new(host, &self.shared.secrets, &self.shared.trials);
        let mut remote = SshRemote::open(&self.shared, host, way, deadline, Some(frame)).await?;
        let result = remote.run(frame, on_part).await;
        Ok((Box::new(remote), result))
    }

    async fn close(&self) {
        self.shared.bastions.close().await;
    }
}

struct SshRemote {
    shared: Arc<Shared>,
    host: Host,
    way: Way,
    /// Launcher that the shell is behind.
    launch: Option<Launch>,
    // Dropped before the login that carries it.
    session: Option<Session>,
    login: Option<Login>,
}

fn closed() -> TransportError {
    TransportError::Lost { message: "the login is closed".to_owned() }
}

#[async_trait]
impl Remote for SshRemote {
    #[tracing::instrument(
        name = "exec", level = "debug", skip_all, err(level = "debug"),
        fields(what = frame.name(), parts = frame.parts.len(), sent, received)
    )]
    async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), TransportError> {
        let session = self.session.as_mut().ok_or_else(closed)?;
        match session.shell.run(frame, on_part).await {
            Ok(()) => Ok(()),
            Err(ShellError::Other(error)) => Err(error),
            Err(ShellError::Ended) => Err(self.ended().await),
        }
    }

    async fn revive(&mut self) -> Result<(), TransportError> {
        let login = self.login.as_ref().ok_or_else(closed)?;
        // It stays until its processes are killed: whoever gives up meanwhile may try again.
        let stuck = self.session.as_ref().map(|session| session.shell.process());
        let expected = self.shared.expected(&self.host, &self.way);
        let limit = REVIVE.max(self.host.ssh.login_timeout.unwrap_or_default());
        let (fresh, mut session) = match login.session(&self.way, expected, limit).await {
            Ok(session) => (None, session),
            // MaxSessions 1, or a server that takes no more: a login of its own.
            Err(None) => {
                let (login, session) = self.shared.log_in(&self.host, &self.way, limit, None).await?;
                (Some(login), session)
            }
            Err(Some(error)) => return Err(error),
        };
        if let Some(stuck) = stuck {
            match rescue::kill(&mut session.shell, stuck).await {
                Ok(()) => {}
                Err(ShellError::Other(error)) => return Err(error),
                Err(ShellError::Ended) => return Err(closed()),
            }
        }
        // The stuck session goes before the login that carries it.
        drop(self.session.take());
        if let Some(fresh) = fresh {
            self.login = Some(fresh);
        }
        self.session = Some(session);
        match self.launch.take() {
            Some(launch) => {
                let entered = self.enter(&launch).await;
                self.launch = Some(launch);
                entered
            }
            None => Ok(()),
        }
    }

    async fn stream(
        &mut self,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<(), TransportError> {
        if self.launch.is_some() {
            return Err(launch::no_streams());
        }
        stream::check_path(path)?;
        let login = self.login.as_ref().ok_or_else(closed)?;
        let expected = self.shared.expected(&self.host, &self.way);
        match login.stream(&self.way, expected, path, content).await {
            Some(result) => result,
            // No second session: in pieces through the host shell.
            None => stream::stream_in_frames(self, path, content).await,
        }
    }

    async fn close(&mut self) {
        if let Some(mut session) = self.session.take() {
            session.shell.end().await;
            if let Some(mut login) = self.login.take() {
                login.end(session, GRACE).await;
            }
        }
        self.login = None;
    }

    async fn leave(&mut self) {
        if let (Some(session), Some(login)) = (&self.session, &self.login) {
            login.hang_up(session);
        }
        self.close().await;
    }
}

impl SshRemote {
    async fn open(
        shared: &Arc<Shared>,
        host: &Host,
        way: Way,
        deadline: Duration,
        ahead: Option<&Frame>,
    ) -> Result<Self, TransportError> {
        let deadline = host.ssh.login_timeout.unwrap_or(deadline);
        let (login, session) = shared.log_in(host, &way, deadline, ahead).await?;
        let shared = Arc::clone(shared);
        Ok(Self { shared, host: host.clone(), way, launch: None, session: Some(session), login: Some(login) })
    }

    /// Goes through a launcher.
    async fn enter(&mut self, launch: &Launch) -> Result<(), TransportError> {
        let session = self.session.as_mut().ok_or_else(closed)?;
        let Err(why) = launch.enter(&mut session.shell).await else { return Ok(()) };
        let mut said = self.session_words().await;
        if let Some(login) = &mut self.login {
            said.push_str(&login.last_words().await);
        }
        Err(launch.error(why, &said))
    }

    /// Ends a launcher that gave no shell: it would wait on the host for what nobody wants any more.
    async fn end_launcher(&mut self) {
        let (Some(login), Some(session)) = (&self.login, &self.session) else { return };
        let process = session.shell.process();
        if let Ok(mut beside) = login.session(&self.way, Expected::Anyone, REVIVE).await {
            // What cannot be ended now ends with its own limits.
            drop(rescue::kill(&mut beside.shell, process).await);
        }
    }

    async fn session_words(&mut self) -> String {
        match self.session.as_mut().and_then(|session| session.stderr.as_mut()) {
            Some(stderr) => stderr.last_words().await,
            None => String::new(),
        }
    }

    async fn ended(&mut self) -> TransportError {
        let mut words = self.session_words().await;
        if let Some(login) = &mut self.login {
            words.push_str(&login.last_words().await);
            if let Some(signal) = login.signal().await {
                return classify::killed(signal);
            }
            if login.is_gone().await {
                return classify::ended(&words, "the login that stays (`ssh.persist`) ended");
            }
        }
        classify::ended(&words, classify::SHELL_ENDED)
    }
}

#[cfg(test)]
#[path = "oracle.rs"]
mod oracle;

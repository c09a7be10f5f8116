//! The run as a person watches it: folded lines on stderr, one bar and at most eight rows.

use std::collections::BTreeSet;
use std::time::Instant;

use indexmap::IndexMap;

use super::Reporter;
use super::bars::{BESIDE, Bars};
use super::fold::{Folder, fold};
use super::interrupts::Interrupts;
use super::leftovers::Leftovers;
use super::line::{Line, OUTPUT, Tone};
use super::progress::Progress;
use super::recap::{Recap, Row, verb};
use super::rows;
use super::screen::{Screen, TerminalSettings, Verbosity};
use super::style::{VERB, safe, safe_line, seconds};
use super::unreachable::{self, Away};
use super::wording::{details, failure_lines, prefixed, sum_of_hosts, sum_of_tasks, summary, task_of};
use crate::events::{
    ChangeView, Event, EventKind, HostStatus, MaintenancePhase, Outcome, PlannedTask, PlannedVerdict,
    RunStats, TaskCounts,
};
use crate::exit;
use crate::inventory::RECORDED;
use crate::put;
use crate::transport::{ConnectKind, quote, without_host};
use crate::words::count;

/// Seconds that a line waits for other hosts to say the same.
const PATIENCE: f64 = 2.5;

/// Seconds that bad news waits for that.
const URGENT: f64 = 0.5;

/// Seconds that a host which was not reached waits for others, while some are still logged in to: somewhat
/// longer than a login may take.
const AWAY: f64 = 20.0;

/// Shows a run on stderr.
#[derive(Debug)]
pub struct Terminal {
    screen: Screen,
    now: f64,
    steps: IndexMap<String, u64>,
    connected: usize,
    gathered: usize,
    queries: u64,
    most_execs: u64,
    away: usize,
    said_connect: bool,
    said_gather: bool,
    folder: Folder<Line>,
    progress: Progress,
    connected_at: f64,
    /// Reasons why hosts are away.
    reasons: Away,
    recap: Recap,
    leftovers: Leftovers,
    failed: BTreeSet<String>,
    /// Hosts on which nothing failed and something is blocked.
    blocked: u64,
    /// Failures whose output and hint were shown, and of whom.
    told: IndexMap<Line, String>,
    /// Names behind `--hosts @NAME` that select the hosts for another run.
    again: BTreeSet<&'static str>,
    /// Whether sudo on one of them wants a password that nobody was asked for.
    needs_password: bool,
    interrupts: Interrupts,
    command: String,
    inventory: String,
    options: Vec<String>,
    log: Option<String>,
    bars: Option<Bars>,
    /// When it began to draw.
    began: Option<Instant>,
}

impl Terminal {
    /// A display.
    pub fn new(settings: TerminalSettings) -> Self {
        Self {
            screen: Screen::new(settings),
            now: 0.0,
            steps: IndexMap::new(),
            connected: 0,
            gathered: 0,
            queries: 0,
            most_execs: 0,
            away: 0,
            said_connect: false,
            said_gather: false,
            folder: Folder::default(),
            progress: Progress::default(),
            connected_at: 0.0,
            reasons: Away::default(),
            recap: Recap::default(),
            interrupts: Interrupts::default(),
            leftovers: Leftovers::default(),
            failed: BTreeSet::new(),
            blocked: 0,
            told: IndexMap::new(),
            again: BTreeSet::new(),
            needs_password: false,
            command: String::new(),
            inventory: String::new(),
            options: Vec::new(),
            log: None,
            bars: None,
            began: None,
        }
    }

    /// A display that writes nowhere: [`Self::kept`] has its lines, with colour.
    pub fn keeping(settings: TerminalSettings) -> Self {
        let settings = TerminalSettings { progress: false, ..settings };
        Self { screen: Screen::keeping(settings), ..Self::new(settings) }
    }

    /// Names the log of the run where it ends badly.
    pub fn name_log(&mut self, path: &camino::Utf8Path) {
        self.log = Some(path.to_string());
    }

    /// Returns the lines that were shown, when the display keeps them.
    pub fn kept(&self) -> &str {
        self.screen.kept()
    }

    /// Says what is to be said so far and draws nothing until [`Self::resume`]: somebody is asked.
    pub fn pause(&mut self) {
        self.flush(true);
        self.bars = None;
    }

    /// Draws, where the terminal is one to draw on.
    pub fn resume(&mut self) {
        if self.screen.settings.progress {
            let began = *self.began.get_or_insert_with(Instant::now);
            self.bars = Some(Bars::new(began.elapsed()));
            self.draw();
        }
    }

    /// The line that a task of a host printed last: its row shows that.
    pub fn says(&mut self, host: &str, line: &str) {
        if !line.is_empty() {
            self.progress.says(host, line);
        }
    }

    fn flush(&mut self, all: bool) {
        let now = self.now;
        let steps = &self.steps;
        let lost = self.away + self.failed.len();
        let awaited = self.connected + self.away < self.progress.hosts;
        let ready = |line: &Line, hosts: usize, since: f64| {
            let due = steps.get(&line.step).map_or(usize::MAX, |n| usize::try_from(*n).unwrap_or(usize::MAX));
            let patience = match line.tone {
                _ if line.verb == "Unreached" && awaited => AWAY,
                Tone::Bad => URGENT,
                Tone::Good | Tone::Change | Tone::Calm | Tone::Dim => PATIENCE,
            };
            all || hosts >= due.saturating_sub(lost) || now - since >= patience
        };
        // Bad news does not overtake what led to it.
        let urgent = self
            .folder
            .lines()
            .filter(|(line, hosts, since)| line.tone == Tone::Bad && ready(line, *hosts, *since))
            .map(|(_, _, since)| since)
            .fold(f64::NEG_INFINITY, f64::max);
        // Nor does a handler overtake the change that notified it, which waits for other hosts.
        let held = self
            .folder
            .lines()
            .filter(|(line, hosts, since)| line.verb != "Unreached" && !ready(line, *hosts, *since))
            .map(|(_, _, since)| since)
            .fold(f64::INFINITY, f64::min);
        let lines = self
            .folder
            .take(|line, hosts, since| since <= urgent || since <= held && ready(line, hosts, since));
        if lines.iter().any(|(line, ..)| line.verb != "Unreached") {
            self.so_far();
        }
        // Lines that are printed together stand in the same columns.
        for (_, hosts, _) in &lines {
            self.screen.columns.fit_hosts(hosts);
        }
        for (mut line, hosts, first) in lines {
            if matches!(line.verb, "Left" | "Unreached" | "Quarantine")
                && let Some((reason, hint)) = self.reasons.told(&hosts)
            {
                reason.lines().next().unwrap_or("").clone_into(&mut line.task);
                line.more = reason.lines().skip(1).map(str::to_owned).collect();
                line.more.extend(hint.map(|hint| format!("{}{hint}", rows::HINT)));
            }
            if line.tone == Tone::Bad {
                self.recap.shows(self.screen.shown);
                let printed = line.more.iter().any(|line| line.starts_with(OUTPUT));
                if let Some(before) = self.told.get(&line).filter(|_| printed) {
                    // A screen full of the same says less.
                    line.more = vec![format!("see {before} above, which failed with the same message")];
                } else {
                    if printed {
                        self.told.insert(line.clone(), hosts.clone());
                    }
                    line.of(&first, &hosts);
                }
            }
            self.screen.line(&hosts, &line);
        }
    }

    fn add(&mut self, host: &str, line: Line) {
        self.folder.add(line, host, self.now);
        self.flush(false);
    }

    fn task_finished(
        &mut self,
        host: &str,
        task: &crate::events::TaskRef,
        outcome: &Outcome,
        attached: bool,
    ) {
        self.progress.rests(host);
        self.interrupts.finished(host, task);
        if !matches!(outcome, Outcome::Unchanged | Outcome::Skipped(_)) {
            self.progress.did(host);
        }
        let verbose = self.screen.settings.verbosity == Verbosity::Verbose;
        let (verb, tone, text, more) = match outcome {
            Outcome::Unchanged => return,
            Outcome::Changed { changes, output, .. } => {
                self.progress.changed();
                let text = if changes.is_empty() && attached {
                    "done by an earlier run".to_owned()
                } else {
                    summary(changes)
                };
                ("Changed", Tone::Change, text, self.detail(changes, output))
            }
            Outcome::Ran { changes, output } => {
                ("Ran", Tone::Change, summary(changes), self.detail(changes, output))
            }
            Outcome::Skipped(_) if !verbose => return,
            Outcome::Skipped(reason) => ("Skipped", Tone::Dim, reason.clone(), Vec::new()),
            Outcome::Blocked(reason) => ("Blocked", Tone::Change, reason.clone(), Vec::new()),
            Outcome::Failed(failure) => {
                self.progress.failed(host);
                let first = failure.message.lines().next().unwrap_or("").to_owned();
                self.recap.failed(host, &task.name, &first);
                ("Failed", Tone::Bad, first, failure_lines(failure))
            }
        };
        if self.screen.settings.verbosity == Verbosity::Quiet && tone != Tone::Bad {
            return;
        }
        let line = |verb, tone, text, more| Line {
            verb,
            tone,
            task: task.name.clone(),
            step: task.id.clone(),
            text,
            more,
        };
        self.add(host, line(verb, tone, text, more));
        if let Outcome::Changed { blocked: Some(reason), .. } = outcome {
            self.add(host, line("Blocked", Tone::Change, reason.clone(), Vec::new()));
        }
    }

    fn detail(&self, changes: &[ChangeView], output: &str) -> Vec<String> {
        if self.screen.settings.verbosity != Verbosity::Verbose {
            return Vec::new();
        }
        let details = changes.iter().map(details).filter(|text| !text.is_empty());
        let mut lines: Vec<String> = details.map(str::to_owned).collect();
        if !output.trim().is_empty() {
            lines.push(prefixed(output.trim_end(), "| ", 40));
        }
        lines
    }

    fn host_finished(&mut self, host: &str, status: &HostStatus, tasks: &TaskCounts) {
        self.progress.finished(host, status);
        self.blocked += u64::from(*status == HostStatus::Ok && tasks.blocked > 0);
        self.again.extend(status.again());
        match status {
            HostStatus::Ok | HostStatus::Offline(_) => return,
            HostStatus::Failed => {
                self.failed.insert(host.to_owned());
                return;
            }
            HostStatus::NotStarted(_) => {}
            HostStatus::Unreachable { kind, .. } => {
                self.away += 1;
                self.needs_password |= *kind == ConnectKind::SudoPassword;
            }
            HostStatus::Quarantined { .. } => self.away += 1,
        }
        self.reasons.add(host, status);
        let verb = verb(status.word());
        let task = unreachable::reason(status).map(without_host).unwrap_or_default();
        self.add(host, Line::new(verb, Tone::Bad, task));
        self.phases();
    }

    /// Says that everybody who answers is connected or gathered.
    fn phases(&mut self) {
        if !self.said_connect && self.connected > 0 && self.connected + self.away >= self.progress.hosts {
            self.connect_line();
        }
        if self.said_connect
            && !self.said_gather
            && self.gathered > 0
            && self.gathered + self.away >= self.progress.hosts
        {
            self.gather_line();
        }
    }

    /// Says how many are connected and gathered by now: what comes of it is about to be shown, and stands below.
    fn so_far(&mut self) {
        if !self.said_connect && self.connected > 0 {
            self.connect_line();
        }
        if self.said_connect && !self.said_gather && self.gathered > 0 {
            self.gather_line();
        }
    }

    /// So many hosts, and of how many where others are still to come.
    fn of_all(&self, number: usize) -> String {
        let all = self.progress.hosts;
        if number + self.away < all {
            format!("{number} of {}", count(all as u64, "host"))
        } else {
            count(number as u64, "host")
        }
    }

    fn connect_line(&mut self) {
        self.said_connect = true;
        self.connected_at = self.now;
        let text = self.of_all(self.connected);
        self.screen.phase("Connect", Tone::Good, &text, Some(self.now));
    }

    fn gather_line(&mut self) {
        self.said_gather = true;
        // Where the exec that logs in gathers as well, its time stands there.
        let (execs, time) = match self.most_execs {
            0 | 1 => ("asked with the login".to_owned(), None),
            most => (format!("up to {most} execs each"), Some(self.now - self.connected_at)),
        };
        let text = format!("{}, {}, {execs}", self.of_all(self.gathered), count_queries(self.queries));
        self.screen.phase("Gather", Tone::Good, &text, time);
    }

    fn finish(&mut self, stats: &RunStats, exit_code: u8, time: f64) {
        self.flush(true);
        self.bars = None;
        let bad = stats.failed > 0 || stats.unreachable > 0 || stats.not_started > 0;
        let tone = match exit_code {
            exit::OK => Tone::Good,
            exit::DRIFT | exit::PENDING if !bad => Tone::Change,
            _ => Tone::Bad,
        };
        let mut text = sum_of_hosts(&self.command, stats, self.blocked, self.reasons.quarantined());
        // Facts are no matter of tasks.
        if !self.steps.is_empty() && self.command != "facts" {
            text = format!("{text}; {}", sum_of_tasks(&self.command, stats));
        }
        if exit_code == exit::INTERRUPTED && !bad && self.command == "apply" {
            text.push_str("; all was done before the stop");
        }
        // The names of hosts are those of the last run that was recorded: these are not.
        let recorded = !matches!(self.command.as_str(), "plan" | "facts" | "init" | "expect");
        // Below a plan stands who has none.
        let failures = match self.command.as_str() {
            "plan" => Vec::new(),
            _ => self.recap.rows(&self.reasons, self.screen.shown),
        };
        if !failures.is_empty() {
            self.screen.print("");
        }
        for Row { verb, hosts, task, text } in &failures {
            let line = Line { text: text.clone(), ..Line::new(verb, Tone::Bad, task.clone()) };
            self.screen.line(hosts, &line);
        }
        self.leftovers.show(&mut self.screen);
        self.screen.phase("Finished", tone, &text, Some(time));
        let again: Vec<_> = RECORDED.iter().filter(|name| self.again.contains(*name)).collect();
        if recorded && !failures.is_empty() {
            let text = safe(&format!("provision report show {} --failed", quote(&self.inventory)));
            self.screen.whole("details: ", &text);
        }
        if recorded && !again.is_empty() && exit_code != 0 {
            let hosts = again.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(",");
            let hosts = if again.len() > 1 { format!("'{hosts}'") } else { hosts };
            // There is one host where this machine is meant.
            let here = self.options.iter().any(|option| option == "--here");
            let hosts = if here { String::new() } else { format!(" --hosts {hosts}") };
            let (lead, command, options) = self.next();
            let words = std::iter::once(&self.inventory).chain(&options);
            let words = words.map(|word| quote(word)).collect::<Vec<_>>().join(" ");
            let more = if self.needs_password { " --ask-become-pass" } else { "" };
            let text = safe(&format!("provision {command} {words}{more}{hosts}"));
            self.screen.whole(lead, &text);
        }
        if let Some(log) = self.log.take().filter(|_| bad) {
            self.screen.whole("log: ", &safe(&log));
        }
    }

    /// Returns the command that continues with hosts that are not done: a lead, the command and its options.
    /// The rest of a plan that was begun is not that of its file, so such a run goes on with another look.
    fn next(&self) -> (&'static str, String, Vec<String>) {
        let Some(at) = self.options.iter().position(|option| option == "--plan") else {
            return ("continue with: ", self.command.clone(), self.options.clone());
        };
        let (before, rest) = self.options.split_at(at);
        let file = rest.get(1).cloned().unwrap_or_default();
        let kept = before.iter().chain(rest.iter().skip(2)).filter(|option| *option != "--yes").cloned();
        ("look again with: ", "plan".to_owned(), kept.chain(["--out".to_owned(), file]).collect())
    }

    fn maintenance(&mut self, host: &str, phase: MaintenancePhase, why: &str, by_hand: Option<&str>) {
        self.leftovers.drained.remove(host);
        let (verb, tone, doing) = match phase {
            MaintenancePhase::Waiting => ("Waiting", Tone::Calm, "waiting for its turn"),
            MaintenancePhase::Draining => ("Draining", Tone::Calm, "draining"),
            MaintenancePhase::Changing => ("Changing", Tone::Calm, "changing"),
            MaintenancePhase::Verifying => ("Verifying", Tone::Calm, "verifying"),
            MaintenancePhase::Back => ("Back", Tone::Good, ""),
            MaintenancePhase::LeftDrained => {
                self.leftovers.drained.insert(host.to_owned(), (why.to_owned(), by_hand.map(str::to_owned)));
                ("Drained", Tone::Bad, "")
            }
        };
        if doing.is_empty() {
            self.progress.rests(host);
        } else {
            self.progress.begins(host, doing, self.now);
        }
        // Hosts are connected batch by batch.
        (self.said_connect, self.said_gather) = (true, true);
        if self.screen.settings.verbosity > Verbosity::Quiet || tone == Tone::Bad {
            let line = Line::new(verb, tone, why.lines().next().unwrap_or_default().to_owned());
            // What led to it stands before it.
            if !self.folder.lines().any(|(other, ..)| *other == line) {
                self.flush(true);
            }
            self.add(host, line);
        }
    }

    fn draw(&mut self) {
        let Some(bars) = &mut self.bars else { return };
        let columns = self.screen.settings.width.unwrap_or(80);
        let width = columns.saturating_sub(VERB + 3);
        let (done, all, message) = self.progress.bar(columns.saturating_sub(BESIDE));
        bars.show(done, all, message, self.progress.rows(self.now, width));
    }

    /// Learns from a plan how much there is to do and how wide its names are.
    fn planned(&mut self, host: &str, tasks: &[PlannedTask]) {
        let mut number = 0;
        for planned in tasks {
            match planned.verdict {
                PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_) => {}
                PlannedVerdict::Changes(_)
                | PlannedVerdict::Runs(_)
                | PlannedVerdict::KnownAfter(_)
                | PlannedVerdict::Blocked(_)
                | PlannedVerdict::Failed(_) => {
                    number += 1;
                    self.screen.columns.fit_task(&planned.task.name);
                }
            }
        }
        if matches!(self.command.as_str(), "apply" | "init") {
            self.progress.planned(host, number);
            self.interrupts.planned(host, tasks);
        }
    }

    /// Changes that interrupt something and are still to be made, one line each, as far as they are planned.
    pub fn interrupting(&self) -> Vec<String> {
        let lines = self.interrupts.lines();
        lines.iter().map(|line| rows::hanging(line, 4, self.screen.settings.width)).collect()
    }
}

impl Reporter for Terminal {
    fn event(&mut self, event: &Event) {
        self.now = event.elapsed;
        match &event.kind {
            EventKind::RunStarted {
                command,
                inventory,
                options,
                hosts,
                playbooks,
                tasks,
                steps,
                offline,
                ..
            } => {
                self.command.clone_from(command);
                self.options.clone_from(options);
                self.inventory.clone_from(inventory);
                self.progress.hosts = hosts.len();
                self.steps.clone_from(steps);
                self.screen.columns.fit_hosts(&fold(hosts));
                if !steps.is_empty() {
                    let mut text = count(hosts.len() as u64, "host");
                    // The tasks of `init` are its own: nobody wrote a playbook.
                    if command != "init" {
                        put!(text, ", {}, {}", count(*playbooks, "playbook"), count(*tasks, "task"));
                    }
                    self.screen.phase("Validate", Tone::Good, &text, None);
                }
                for (host, reason) in offline {
                    self.screen.phase("Offline", Tone::Dim, &format!("{host}: {reason}"), None);
                }
                self.resume();
            }
            EventKind::HostConnecting { host } => {
                self.progress.begins(host, "connecting", self.now);
            }
            EventKind::HostConnected { host, .. } => {
                self.connected += 1;
                self.progress.begins(host, "gathering", self.now);
                self.phases();
            }
            EventKind::HostGathered { host, queries, execs, .. } => {
                self.gathered += 1;
                self.queries = self.queries.max(*queries);
                self.most_execs = self.most_execs.max(*execs);
                self.progress.rests(host);
                self.phases();
            }
            EventKind::BatchStarted { name, hosts } => {
                // What led to it stands before it.
                self.flush(true);
                self.screen.phase("Rollout", Tone::Calm, &format!("{name}: {}", fold(hosts)), None);
            }
            EventKind::HostLost { host, reason, within } => {
                self.progress.begins(host, "reconnecting", self.now);
                // A record of an earlier version does not say it.
                let most =
                    if *within > 0.0 { format!(", for at most {}", seconds(*within)) } else { String::new() };
                let line = Line::new("Lost", Tone::Change, format!("reconnecting{most}: {reason}"));
                self.add(host, line);
            }
            EventKind::HostRebooted { host, before, after } => {
                let line = Line {
                    text: format!("boot {before} -> {after}"),
                    ..Line::new("Rebooted", Tone::Change, "during the run".to_owned())
                };
                self.add(host, line);
            }
            EventKind::Attached { host, task } => {
                self.progress.begins(host, task, self.now);
                let line = Line {
                    text: "still going on; following it".to_owned(),
                    ..Line::new("Attached", Tone::Calm, task_of(task))
                };
                self.add(host, line);
            }
            EventKind::TaskStarted { host, task, .. } => {
                self.progress.begins(host, &task.name, self.now);
            }
            EventKind::TaskFinished { host, task, outcome, attached, .. } => {
                self.task_finished(host, task, outcome, *attached);
            }
            EventKind::Warning { host, message } => {
                let first = message.lines().next().unwrap_or("").to_owned();
                match host {
                    Some(host) => {
                        let line = Line {
                            more: message.lines().skip(1).map(str::to_owned).collect(),
                            ..Line::new("Warning", Tone::Change, first)
                        };
                        self.add(host, line);
                    }
                    None => self.screen.phase("Warning", Tone::Change, &safe(message), None),
                }
            }
            EventKind::HostMaintenance { host, phase, why, by_hand } => {
                self.maintenance(host, *phase, why, by_hand.as_deref());
            }
            EventKind::RebootPending { host, reasons } => {
                self.leftovers.reboots.entry(safe_line(&reasons.join("; "))).or_default().push(host.clone());
            }
            EventKind::Stopping { reason } => {
                // What led to it stands before it.
                self.flush(true);
                self.screen.phase("Stopping", Tone::Bad, &safe(reason), None);
            }
            EventKind::JournalLost { reason } => self.screen.phase("Journal", Tone::Bad, &safe(reason), None),
            EventKind::HandlersPending { host, handlers } => {
                for handler in handlers {
                    self.leftovers.handlers.entry(handler.clone()).or_default().push(host.clone());
                }
            }
            EventKind::HostFinished { host, status, tasks, .. } => self.host_finished(host, status, tasks),
            EventKind::RunFinished { stats, exit_code, seconds } => self.finish(stats, *exit_code, *seconds),
            EventKind::HostPlanned { host, tasks } => self.planned(host, tasks),
            // Findings are data: the command shows them on stdout.
            EventKind::HostChecked { .. }
            | EventKind::HostFacts { .. }
            | EventKind::PairsTested { .. }
            | EventKind::HostSeenThrough { .. }
            | EventKind::CommandEnded { .. }
            | EventKind::TasksUnchanged { .. } => {}
        }
        if self.progress.is_done() {
            self.flush(true);
        }
    }

    fn tick(&mut self) {
        self.now += 0.25;
        self.flush(false);
        self.draw();
    }
}

fn count_queries(queries: u64) -> String {
    if queries == 1 { "1 query".to_owned() } else { format!("{queries} queries") }
}

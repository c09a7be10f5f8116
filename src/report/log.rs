//! The program's own log, one line for each event and for each span that ended: on stderr as `-v` and
//! `RUST_LOG` ask, and in the log of the run. No line holds a secret.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, SpanRef};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use super::output;
use super::style::{DIM, paint, safe};
use crate::journal::RunLog;
use crate::put;
use crate::secrets::Secrets;

/// Filter of the events in a run's log.
const KEPT: &str = "provision=debug,openssh=debug";

/// State that lines need and that is known only while the program runs.
struct State {
    secrets: Option<Secrets>,
    log: Option<RunLog>,
}

static STATE: Mutex<State> = Mutex::new(State { secrets: None, log: None });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to say what happens. What `RUST_LOG` wants is stronger than the number of `-v`.
pub fn start(verbose: u8, wanted: Option<&str>) {
    // What the reporter shows anyway is not said twice.
    let shown = match verbose {
        0 => "off",
        1 => "provision=info",
        2 => "provision=debug,provision::events=off",
        _ => "provision=trace,provision::events=off,openssh=trace",
    };
    let wanted = wanted.and_then(|wanted| EnvFilter::try_new(wanted).ok());
    let shown = wanted.unwrap_or_else(|| EnvFilter::new(shown));
    let started = Instant::now();
    tracing_subscriber::registry()
        .with(Lines { started, to: say }.with_filter(shown))
        .with(Lines { started, to: keep }.with_filter(EnvFilter::new(KEPT)))
        .init();
}

/// Takes the values of these secrets out of every line from now on.
pub fn hide(secrets: &Secrets) {
    state().secrets = Some(secrets.clone());
}

/// Keeps the lines in a log from now on, or no longer.
pub fn keep_in(log: Option<RunLog>) {
    state().log = log;
}

fn say(line: &str) {
    let line = safe(&redact(&state(), line));
    output::say(&paint(DIM, &line));
}

fn keep(line: &str) {
    let mut state = state();
    let line = redact(&state, line);
    if let Some(log) = &mut state.log {
        log.add(&safe(&line));
    }
}

fn redact(state: &State, line: &str) -> String {
    // Without a secret there is still what stands for one.
    state.secrets.as_ref().map_or_else(|| Secrets::default().redact(line), |secrets| secrets.redact(line))
}

/// Makes lines of events and of spans that ended.
struct Lines {
    started: Instant,
    to: fn(&str),
}

/// Data that is kept with an open span.
struct Open {
    since: Instant,
    fields: Fields,
}

/// The fields of an event or a span.
#[derive(Default)]
struct Fields {
    message: String,
    list: Vec<(&'static str, String)>,
}

impl Fields {
    fn put(&mut self, name: &'static str, value: String) {
        match self.list.iter_mut().find(|(known, _)| *known == name) {
            _ if name == "message" => self.message = value,
            Some((_, known)) => *known = value,
            None => self.list.push((name, value)),
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.list.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }
}

/// Fields that say where something happens; they stand at the beginning of a line. Spans of these names
/// are the places themselves.
const PLACES: [&str; 3] = ["host", "stage", "task"];

impl Lines {
    fn line<'a, S: for<'b> LookupSpan<'b> + 'a>(
        &self,
        within: Option<SpanRef<'a, S>>,
        what: &str,
        own: &Fields,
    ) {
        let mut line = format!("{:10.3} ", self.started.elapsed().as_secs_f64());
        let above: Vec<_> = within.into_iter().flat_map(|span| span.scope()).collect();
        for place in PLACES {
            let inherited = || {
                above.iter().find_map(|span| {
                    let extensions = span.extensions();
                    extensions.get::<Open>().and_then(|open| open.fields.get(place).map(str::to_owned))
                })
            };
            if let Some(value) = own.get(place).map(str::to_owned).or_else(inherited) {
                put!(line, " {}{value}", if place == "stage" { "stage " } else { "" });
            }
        }
        let what = if PLACES.contains(&what) { "" } else { what };
        for text in [what, &own.message].into_iter().filter(|text| !text.is_empty()) {
            put!(line, " {text}");
        }
        for (name, value) in own.list.iter().filter(|(name, _)| !PLACES.contains(name)) {
            put!(line, " {name}={value}");
        }
        // What has several lines is one entry.
        (self.to)(&line.trim_end().replace('\r', "").replace('\n', "\n            "));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        // The other output may have been here before.
        drop(span.extensions_mut().replace(Open { since: Instant::now(), fields }));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            values.record(&mut open.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.line(context.event_span(event), "", &fields);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let fields = span.extensions().get::<Open>().map(|open| {
            let took = format!("{:.3}s", open.since.elapsed().as_secs_f64());
            let list = open.fields.list.iter().cloned().chain([("took", took)]);
            Fields { message: String::new(), list: list.collect() }
        });
        self.line(span.parent(), span.name(), &fields.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Whatever names the values: the one place through which every line goes hides them.
    #[test]
    fn no_line_holds_a_secret() {
        let directory = tempfile::tempdir().unwrap();
        let directory = camino::Utf8Path::from_path(directory.path()).unwrap();
        keep_in(RunLog::create(directory));
        let value = "p01son-w1th-'quote";
        hide(&Secrets::new(BTreeMap::from([("token".to_owned(), value.to_owned().into())])));
        let lines = tracing_subscriber::registry().with(Lines { started: Instant::now(), to: keep });
        let (said, lines) = (value, lines);
        tracing::subscriber::with_default(lines, || {
            let host = tracing::info_span!("host", host = "gpu0", %said);
            let _entered = host.entered();
            let _exec = tracing::info_span!("exec", said = tracing::field::Empty).entered();
            tracing::Span::current().record("said", said);
            tracing::info!(text = ?said, "it said {said}\nand {}", crate::placeholder::of("token"));
            tracing::warn!(output = "cDAxc29uLXcxdGgtJ3F1b3Rl");
        });
        keep_in(None);
        let text = std::fs::read_to_string(directory.join("log")).unwrap();
        assert!(
            !text.contains("p01son") && !text.contains("cDAx") && !text.contains("provision-secret"),
            "{text}"
        );
        assert_eq!(text.matches("(secret token)").count(), 6, "{text}");
        let ended: Vec<_> = text.lines().filter(|line| line.contains("took=")).collect();
        assert!(ended[0].contains("gpu0 exec said=") && ended[1].contains("gpu0 said="), "{text}");
    }
}

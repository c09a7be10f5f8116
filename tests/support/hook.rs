//! A webhook of this machine: it keeps what it gets, and answers what it is told to.

#![allow(unreachable_pub, dead_code, reason = "shared by test binaries")]
#![allow(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// One request.
#[derive(Debug, Clone)]
pub struct Got {
    /// Path with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub text: String,
}

impl Got {
    /// The body.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

#[derive(Debug, Default)]
struct State {
    got: Vec<Got>,
    status: u16,
    headers: String,
    body: String,
    stop: bool,
}

/// The server; it goes with its value.
#[derive(Debug)]
pub struct Hook {
    pub port: u16,
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

impl Hook {
    /// Begins to listen, on a port of its choice for 0.
    pub fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { status: 200, body: "ok".to_owned(), ..State::default() }));
        let shared = state.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if lock(&shared).stop {
                    return;
                }
                let mut stream = stream;
                drop(stream.set_read_timeout(Some(Duration::from_secs(10))));
                let Some(got) = read(&mut stream) else { continue };
                let (status, headers, body) = {
                    let mut state = lock(&shared);
                    state.got.push(got);
                    (state.status, state.headers.clone(), state.body.clone())
                };
                drop(write!(
                    stream,
                    "HTTP/1.1 {status} Word\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                ));
            }
        });
        Self { port, state, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook/token-{}", self.port, self.port)
    }

    /// Answers this from now on.
    pub fn answer(&self, status: u16, body: &str) {
        let mut state = lock(&self.state);
        (state.status, state.body) = (status, body.to_owned());
    }

    /// Sends everybody elsewhere from now on.
    pub fn redirect(&self, status: u16, to: &str) {
        let mut state = lock(&self.state);
        (state.status, state.headers) = (status, format!("Location: {to}\r\n"));
    }

    /// What it got so far.
    pub fn got(&self) -> Vec<Got> {
        lock(&self.state).got.clone()
    }

    /// Waits for so many requests.
    #[track_caller]
    pub fn wait_for(&self, number: usize) -> Vec<Got> {
        let until = Instant::now() + Duration::from_mins(1);
        while self.got().len() < number {
            assert!(Instant::now() < until, "{number} requests did not come: {:#?}", self.got());
            std::thread::sleep(Duration::from_millis(50));
        }
        self.got()
    }

    /// Stops listening; its port.
    pub fn stop(mut self) -> u16 {
        self.end();
        self.port
    }

    fn end(&mut self) {
        lock(&self.state).stop = true;
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end();
        }
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(stream: &mut TcpStream) -> Option<Got> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Got { path, headers, text: String::from_utf8(body).ok()? })
}

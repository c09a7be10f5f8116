//! Requests to the host with Slurm: to start the job, to report its state, to end it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use secrecy::{ExposeSecret as _, SecretString};

use super::lines::{NODE, labelled};
use crate::hostlist;
use crate::inventory::Host;
use crate::placeholder;
use crate::scheduler::slurm::Known;
use crate::secrets::Secrets;
use crate::transport::{CONNECT, Frame, Part, Remote, Script, Transport, TransportError};

/// Time limit of an answer of the host.
const ANSWER: Duration = Duration::from_secs(30);
/// Bytes of output that are taken at once.
const PIECE: usize = 2 << 20;
/// Bytes of a node that are kept on the host with Slurm: more than are taken, so that it is seen who says too much.
const MOST: u64 = NODE + (1 << 20);
/// The name of the secret that holds all others on their way.
const ALL: &str = "all secrets of the run";

/// Reason why Slurm cannot reach a host.
pub(super) const NO_NODE: &str = "Slurm has no node of this name";

/// A job that carries a run.
#[derive(Debug)]
pub struct Job {
    /// The host that has Slurm's commands.
    pub at: Host,
    /// The command for each node, with its options.
    pub words: Vec<String>,
    /// The program that nodes get.
    pub program: Utf8PathBuf,
    /// The bundle that nodes get.
    pub bundle: Utf8PathBuf,
    /// Values of the secrets that tasks need.
    pub secrets: BTreeMap<String, SecretString>,
    /// By host: the names of those that its own tasks need. No other node is in a job with them.
    pub needs: BTreeMap<String, BTreeSet<String>>,
    /// Whether nodes must be free of other jobs.
    pub exclusive: bool,
}

impl Job {
    /// The values of these secrets, as nodes read them.
    fn values(&self, names: &BTreeSet<String>) -> String {
        let values = self.secrets.iter().filter(|(name, _)| names.contains(*name));
        let values: BTreeMap<&str, &str> =
            values.map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
        serde_json::to_string(&values).unwrap_or_default()
    }
}

/// Parts the hosts into those that Slurm can start a job on now, and the others with the reasons. `alone`:
/// whether nothing else may run there, as on nodes with GPUs in any case: beside other jobs Slurm shows none
/// of them.
pub fn sort<'a>(
    hosts: impl IntoIterator<Item = &'a str>,
    known: &BTreeMap<String, Known>,
    alone: bool,
) -> (Vec<String>, BTreeMap<String, String>) {
    let (mut nodes, mut refused) = (Vec::new(), BTreeMap::new());
    for host in hosts {
        let reason = match known.get(host) {
            None => Some(NO_NODE.to_owned()),
            Some(known) if known.node.state.ends_with('*') => {
                Some(format!("Slurm has the node as {}: it does not answer", known.node.state))
            }
            Some(known) if known.node.is("completing") => {
                Some("Slurm has the node as completing: it still clears away a job that has ended".to_owned())
            }
            // One that is busy would have all the others wait.
            Some(known)
                if known.node.is("allocated")
                    || known.node.is("mixed") && (alone || known.node.gpus() > 0) =>
            {
                Some(format!("Slurm has the node as {}: jobs run on it", known.node.state))
            }
            // A job for all would wait for one that is reserved, or that Slurm has turned off.
            Some(known) => (!known.node.is_usable()).then(|| known.told()),
        };
        match reason {
            Some(reason) => drop(refused.insert(host.to_owned(), reason)),
            None => nodes.push(host.to_owned()),
        }
    }
    (nodes, refused)
}

/// Properties that all nodes of one job have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alike {
    /// Number of GPUs of each.
    pub gpus: u64,
    /// The partition that the job has to name; `None` for the default one.
    pub partition: Option<String>,
    /// The secrets that each gets: srun gives its input to all.
    pub secrets: BTreeSet<String>,
}

impl Alike {
    /// Returns the properties of a node, with the secrets that it needs.
    pub(super) fn of(known: &Known, secrets: BTreeSet<String>) -> Self {
        Self { gpus: known.node.gpus(), partition: known.partition().map(str::to_owned), secrets }
    }
}

/// State of the job.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// Its status, where it has ended.
    pub ended: Option<i32>,
    /// Its number, where Slurm has given it nodes.
    pub number: Option<String>,
    /// Last messages of Slurm.
    pub said: Vec<String>,
}

/// The open host with Slurm.
pub(super) struct Place {
    transport: std::sync::Arc<dyn Transport>,
    host: Host,
    remote: Box<dyn Remote>,
    directory: String,
    /// Bytes of the output that were taken.
    offset: u64,
}

impl Place {
    /// Opens the host and gives it what nodes need.
    pub(super) async fn open(
        transport: std::sync::Arc<dyn Transport>,
        job: &Job,
    ) -> Result<Self, TransportError> {
        let remote = transport.open(&job.at, CONNECT).await?;
        let mut place = Self { transport, host: job.at.clone(), remote, directory: String::new(), offset: 0 };
        let made = place.ask("directory", Script::new(crate::shell!("relay/directory.sh")), 4096).await?;
        place.directory = made.trim().to_owned();
        for (name, file) in [("program", &job.program), ("bundle", &job.bundle)] {
            let unread = |error: std::io::Error| TransportError::Protocol {
                message: format!("cannot read {file}: {}", crate::disk::short(&error)),
            };
            let mut content = tokio::fs::File::open(file).await.map_err(unread)?;
            place.remote.stream(&format!("{}/{name}", place.directory), &mut content).await?;
        }
        let script = Script::new("cd \"$1\" && chmod 700 program").arg(place.directory.as_str());
        place.ask("program", script, 4096).await?;
        Ok(place)
    }

    /// Starts the job on some nodes that are alike; the first task is on the first of them.
    /// `target`: how the names of its files on nodes begin, another one for each try.
    pub(super) async fn start(
        &mut self,
        job: &Job,
        (nodes, alike): (&[String], &Alike),
        target: &str,
    ) -> Result<(), TransportError> {
        let Alike { gpus, partition, secrets } = alike;
        let values = job.values(secrets);
        let script = Script::new(crate::shell!("relay/start.sh"))
            .named("DIRECTORY", self.directory.as_str())
            .named("NUMBER", nodes.len().to_string())
            .named("NODES", hostlist::fold(nodes.iter().map(String::as_str)))
            .named("ORDER", nodes.join("\n"))
            .named("SECRETS", placeholder::of(ALL))
            .named("TARGET", format!("/var/lib/.provision-{target}"))
            .named("EXCLUSIVE", if job.exclusive || *gpus > 0 { "yes" } else { "no" })
            .named("GPUS", gpus.to_string())
            .named("PARTITION", partition.as_deref().unwrap_or_default())
            .named("MOST", MOST.to_string())
            .list("WORD", job.words.iter().map(String::as_str));
        let part = Part { name: "start".to_owned(), script, deadline: ANSWER, limit: 4096 };
        let secrets = Secrets::default().with(ALL, values.into());
        self.offset = 0;
        self.send(Frame { parts: vec![part], secrets, ..Frame::default() }).await.map(drop)
    }

    /// Asks for the state of the job, and for more of its output.
    pub(super) async fn poll(&mut self) -> Result<(Standing, Vec<u8>), TransportError> {
        let script = Script::new(crate::shell!("relay/poll.sh"))
            .named("DIRECTORY", self.directory.as_str())
            .named("OFFSET", self.offset.to_string())
            .named("MOST", PIECE.to_string());
        let part = Part { name: "poll".to_owned(), script, deadline: ANSWER, limit: PIECE + (64 << 10) };
        let answer = self.send(Frame { parts: vec![part], ..Frame::default() }).await?;
        let (standing, output) = standing(&answer);
        self.offset += output.len() as u64;
        Ok((standing, output))
    }

    /// Logs in anew after a lost connection.
    pub(super) async fn again(&mut self) -> Result<(), TransportError> {
        self.remote = self.transport.open(&self.host, CONNECT).await?;
        Ok(())
    }

    /// Sends the processes of the job a signal.
    pub(super) async fn signal(&mut self, number: &str, signal: &str) -> Result<(), TransportError> {
        let script = Script::new("scancel --signal=\"$2\" \"$1\" 2>&1").arg(number).arg(signal);
        self.ask("signal", script, 4096).await.map(drop)
    }

    /// Takes away what was written there.
    pub(super) async fn close(mut self) {
        let script = Script::new("rm -rf -- \"$1\"").arg(self.directory.as_str());
        let asked = self.ask("clean", script, 4096).await;
        if let Err(error) = asked {
            tracing::debug!(%error, "files of the job");
        }
        self.remote.close().await;
    }

    async fn ask(&mut self, name: &str, script: Script, limit: usize) -> Result<String, TransportError> {
        let part = Part { name: name.to_owned(), script, deadline: ANSWER, limit };
        let output = self.send(Frame { parts: vec![part], ..Frame::default() }).await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// The output of a frame of one part; one that fails is an error with its last line.
    async fn send(&mut self, frame: Frame) -> Result<Vec<u8>, TransportError> {
        let mut ended = None;
        self.remote.run(&frame, &mut |end| ended = Some(end)).await?;
        let message = |text: String| TransportError::Protocol { message: text };
        let end = ended.ok_or_else(|| message(format!("{} gave no answer", self.host.name)))?;
        if end.status == 0 {
            return Ok(end.output);
        }
        let said = end.last_line().unwrap_or_else(|| "without a word".to_owned());
        Err(message(format!("on {}: {said}", self.host.name)))
    }
}

/// Reads what `poll.sh` prints.
fn standing(answer: &[u8]) -> (Standing, Vec<u8>) {
    let mut standing = Standing::default();
    let mut rest = answer;
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let Some((line, after)) = end.and_then(|end| rest.split_at_checked(end)) else { break };
        rest = after.get(1..).unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        match line.split_once('=') {
            None => return (standing, rest.to_owned()),
            Some(("ended", value)) => standing.ended = value.parse().ok(),
            Some(("job", value)) if !value.is_empty() => standing.number = Some(value.to_owned()),
            // What a node says with a label is not said by Slurm.
            Some(("error", value)) if !value.trim().is_empty() && labelled(value.as_bytes()).is_none() => {
                standing.said.push(value.trim().to_owned());
            }
            Some(_) => {}
        }
    }
    (standing, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_runs_and_one_that_has_ended() {
        let text = b"ended=\njob=\n\nprovision-event a";
        assert_eq!(standing(text), (Standing::default(), b"provision-event a".to_vec()));
        let text =
            b"ended=1\njob=17\nerror=srun: error: x=y\nerror=  7: sbcast: error: REQUEST_FILE_BCAST(gpu1)\n\n";
        let ended = Standing {
            ended: Some(1),
            number: Some("17".to_owned()),
            said: vec!["srun: error: x=y".to_owned()],
        };
        assert_eq!(standing(text), (ended, Vec::new()));
    }

    #[test]
    fn a_job_is_given_the_secrets_of_its_nodes_alone() {
        let text = "--- inventory.yaml\ncluster: c\nhosts: { n0: }\n";
        let host = crate::project::testing::load(text).unwrap().hosts.remove(0);
        let secrets = [("a", "first"), ("b", "second")];
        let job = Job {
            at: host,
            words: Vec::new(),
            program: Utf8PathBuf::new(),
            bundle: Utf8PathBuf::new(),
            secrets: secrets.map(|(name, value)| (name.to_owned(), value.into())).into(),
            needs: BTreeMap::new(),
            exclusive: true,
        };
        assert_eq!(job.values(&["b".to_owned()].into()), r#"{"b":"second"}"#);
        assert_eq!(job.values(&BTreeSet::new()), "{}");
    }

    #[test]
    fn slurm_says_which_nodes_it_reaches() {
        let known = crate::scheduler::slurm::nodes(
            "gpu0|idle|gpu:2|c|none\ngpu1|drained|gpu:2|c|cable\ngpu3|idle*|gpu:2|c|none\ngpu4|mixed|gpu:2|c|none\ncpu0|mixed|(null)|c|none\n\
             gpu5|reserved|gpu:2|c|none\ngpu6|allocated+|gpu:2|c|none\ngpu7|mixed-|gpu:2|c|none\n",
        );
        let hosts = ["cpu0", "gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"];
        let (nodes, refused) = sort(hosts, &known, true);
        assert_eq!(nodes, ["gpu0"]);
        assert_eq!(refused["gpu1"], "Slurm has the node as drained: cable");
        assert_eq!(refused["gpu2"], "Slurm has no node of this name");
        assert_eq!(refused["gpu3"], "Slurm has the node as idle*: it does not answer");
        assert_eq!(refused["gpu4"], "Slurm has the node as mixed: jobs run on it");
        assert_eq!(refused["cpu0"], refused["gpu4"]);
        assert_eq!(refused["gpu5"], "Slurm has the node as reserved");
        // A plus: another job ends there. A minus: the next one is planned already.
        assert_eq!(refused["gpu6"], "Slurm has the node as allocated+: jobs run on it");
        assert_eq!(refused["gpu7"], "Slurm has the node as mixed-: jobs run on it");
        let (nodes, refused) = sort(hosts, &known, false);
        assert_eq!(nodes, ["cpu0", "gpu0"]);
        assert_eq!(refused["gpu4"], "Slurm has the node as mixed: jobs run on it");
    }
}

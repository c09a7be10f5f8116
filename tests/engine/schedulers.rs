//! Kubernetes, and any other scheduler by commands: what is asked, and what is made of the answers. No cluster of either
//! is there: the answers are those of kubectl's documented columns.

use std::sync::Mutex;

use super::maintenance::{BOOT, live, stop_after};
use super::*;
use provision::events::MaintenancePhase::{Back, Changing, Draining, LeftDrained, Verifying};
use provision::transport::Sent;

/// The data of a script that is a file without empty lines.
fn data(sent: &Sent) -> Vec<&str> {
    sent.text.split_once("\n\n").map(|(_, data)| data.lines().collect()).unwrap_or_default()
}

/// Answers of the scheduler on `login0`: by part, and by its parameters.
fn hosts(answer: impl Fn(&Sent, &[&str]) -> Option<Reply> + Send + Sync + 'static) -> Scripted {
    interrupts::kernels(move |sent| {
        if sent.host != "login0" {
            return None;
        }
        let args = data(sent);
        answer(sent, &args)
    })
}

/// Kubernetes with two pods on gpu1: one of a job, which ends, and one of a deployment, which is evicted.
#[derive(Debug, Default)]
struct Kubernetes {
    reasons: BTreeMap<String, String>,
    job_ends: Option<tokio::time::Instant>,
    evicted: u32,
    stubborn: bool,
    told: Vec<String>,
}

impl Kubernetes {
    fn answer(&mut self, sent: &Sent, args: &[&str]) -> Option<Reply> {
        let busy = self.job_ends.is_some_and(|end| tokio::time::Instant::now() < end);
        let mut output = String::new();
        match sent.part.as_str() {
            "nodes" => {
                for name in ["gpu0", "gpu1", "gpu2", "gpu3"] {
                    let reason = self.reasons.get(name);
                    let held = if reason.is_some() { "true" } else { "<none>" };
                    let reason = reason.map_or("<none>", String::as_str);
                    provision::put!(output, "{name}   {held}   True     {reason}\n");
                }
                output.push_str("node/gpu0\nnode/gpu1\nnode/gpu2\nnode/gpu3\n");
            }
            "pods" => {
                for name in args {
                    provision::put!(output, "{name}   Running   DaemonSet   kube-system   proxy-{name}\n");
                }
                if args.contains(&"gpu1") {
                    output.push_str("gpu1   Succeeded   Job   train   old\n");
                    if busy {
                        output.push_str("gpu1   Running   Job   train   bert-0\n");
                    }
                    if self.stubborn || self.evicted < 2 {
                        output.push_str("gpu1   Running   ReplicaSet   web   front-1\n");
                    }
                }
            }
            "drain" | "resume" | "reason" => {
                let patch: serde_json::Value = serde_json::from_str(args[1]).unwrap();
                for name in &args[2..] {
                    self.told.push(format!("{} {name}", sent.part));
                    match patch["metadata"]["annotations"]["provision"].as_str() {
                        Some(reason) => drop(self.reasons.insert((*name).to_owned(), reason.to_owned())),
                        None => drop(self.reasons.remove(*name)),
                    }
                }
            }
            "evict" => {
                assert!(!busy, "a pod of a job would be evicted");
                self.evicted += 1;
                self.told.push(format!("evict {}", args[1..].join(" ")));
                if self.stubborn {
                    output.push_str("gpu1|error when evicting pods/\"front-1\": disruption budget\n");
                }
            }
            _ => return None,
        }
        Some(Reply::default().output(output))
    }
}

const KUBERNETES: &str = "{ kubernetes: { at: login0, selector: gpu=yes, wait: 2h, evict: 5m }, keep_up: 2 }";

#[tokio::test(start_paused = true)]
async fn kubernetes_waits_for_jobs_and_moves_what_is_started_elsewhere() {
    let soon = tokio::time::Instant::now() + Duration::from_mins(30);
    let cluster = Arc::new(Mutex::new(Kubernetes { job_ends: Some(soon), ..Kubernetes::default() }));
    let own = cluster.clone();
    let transport = hosts(move |sent, args| own.lock().unwrap().answer(sent, args));
    let ran = apply(&live(KUBERNETES, "{}", BOOT), &transport).await;
    assert_eq!(ran.report.stats.ok, 5, "{:?}", ran.record);
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Verifying, Back]);
    assert_eq!(ran.why("gpu1", Draining), ["pod train/bert-0", "pod web/front-1"]);
    let cluster = cluster.lock().unwrap();
    assert!(cluster.reasons.is_empty(), "{:?}", cluster.reasons);
    assert_eq!(cluster.evicted, 2);
    let of_gpu1: Vec<&String> = cluster.told.iter().filter(|told| told.ends_with("gpu1")).collect();
    assert_eq!(of_gpu1, ["drain gpu1", "evict gpu1", "evict gpu1", "resume gpu1"]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_leave_in_time_is_named_and_the_node_is_given_back() {
    let cluster = Arc::new(Mutex::new(Kubernetes { stubborn: true, ..Kubernetes::default() }));
    let own = cluster.clone();
    let transport = hosts(move |sent, args| own.lock().unwrap().answer(sent, args));
    let began = tokio::time::Instant::now();
    let ran = apply(&live(KUBERNETES, "{}", BOOT), &transport).await;
    let why = "not left within 5m: pod web/front-1: error when evicting pods/\"front-1\": disruption budget";
    assert_eq!(ran.left("gpu1"), why);
    assert!(began.elapsed() < Duration::from_mins(15), "{:?}", began.elapsed());
    assert_eq!(ran.phases("gpu1"), [Draining, Back]);
    assert!(cluster.lock().unwrap().reasons.is_empty());
    assert_eq!(ran.report.stats.ok, 4);
}

#[tokio::test(start_paused = true)]
async fn a_node_of_kubernetes_that_fails_stays_cordoned_with_the_reason() {
    let cluster = Arc::new(Mutex::new(Kubernetes { evicted: 2, ..Kubernetes::default() }));
    let own = cluster.clone();
    let transport = interrupts::kernels(move |sent| {
        if sent.part == "reboot" && sent.host == "gpu1" {
            return Some(Reply::default().status(1));
        }
        let args = data(sent);
        (sent.host == "login0").then(|| own.lock().unwrap().answer(sent, &args)).flatten()
    });
    let ran = apply(&live(KUBERNETES, "{}", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, LeftDrained]);
    let reasons = cluster.lock().unwrap().reasons.clone();
    assert_eq!(reasons.keys().collect::<Vec<_>>(), ["gpu1"]);
    assert!(reasons["gpu1"].starts_with("provision: run1: `boot`: it does not reboot"), "{reasons:?}");
    let by_hand = "kubectl uncordon gpu1 && kubectl annotate node gpu1 provision-";
    assert!(ran.watched().contains(by_hand), "{}", ran.watched());
}

/// A scheduler of one's own: who is out of service is in files on its host.
#[derive(Debug, Default)]
struct Own {
    marks: BTreeMap<String, String>,
    told: Vec<String>,
    job_ends: Option<tokio::time::Instant>,
    refuses: &'static str,
    begin_takes: Duration,
}

impl Own {
    fn answer(&mut self, sent: &Sent, args: &[&str]) -> Option<Reply> {
        let mut output = String::new();
        let mut return_after = Duration::ZERO;
        match sent.part.as_str() {
            "marks" => {
                for (host, reason) in &self.marks {
                    provision::put!(output, "{host}|{reason}\n");
                }
            }
            "idle" => {
                assert_eq!(args[..2], ["empty", "my-jobs"]);
                let busy = self.job_ends.is_some_and(|end| tokio::time::Instant::now() < end);
                if busy && args[2] == "gpu1" {
                    output.push_str("17 ann\n18 bob\n");
                }
            }
            "drain" => {
                let before = self.marks.insert(args[0].to_owned(), args[1].to_owned());
                if let Some(words) = args.get(2..).filter(|words| !words.is_empty()) {
                    self.told.push(words.join(" "));
                    return_after = self.begin_takes;
                }
                if args[0] == self.refuses && args.len() > 2 {
                    if before.is_none() {
                        self.marks.remove(args[0]);
                    }
                    return Some(Reply::default().status(3).output("no such queue\n"));
                }
            }
            "resume" => {
                self.told.push(args[1..].join(" "));
                self.marks.remove(args[0]);
            }
            _ => return None,
        }
        Some(Reply::default().output(output).after(return_after))
    }
}

const OWN: &str = "{ at: login0, begin: [my-drain, \"{{ host.name }}\"], \
                   idle: { run: [my-jobs, \"{{ host.name }}\"], timeout: 2h }, \
                   end: [my-resume, \"{{ host.name }}\"] }";

#[tokio::test(start_paused = true)]
async fn another_scheduler_is_driven_by_its_commands() {
    let soon = tokio::time::Instant::now() + Duration::from_mins(30);
    let site = Arc::new(Mutex::new(Own { job_ends: Some(soon), refuses: "gpu2", ..Own::default() }));
    let own = site.clone();
    let transport = hosts(move |sent, args| own.lock().unwrap().answer(sent, args));
    let ran = apply(&live(OWN, "{}", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu1"), [Draining, Changing, Verifying, Back], "{:?}", ran.record);
    assert_eq!(ran.why("gpu1", Draining), ["17 ann; 18 bob"]);
    // One that cannot be drained keeps nobody else, and is left alone: an operator may have drained it.
    assert_eq!(ran.left("gpu2"), "it cannot be drained: login0: no such queue");
    assert_eq!((ran.report.stats.ok, ran.report.stats.not_started), (4, 1));
    let site = site.lock().unwrap();
    assert!(site.marks.is_empty(), "{:?}", site.marks);
    for host in ["gpu0", "gpu1", "gpu2", "gpu3"] {
        let told: Vec<&str> = site.told.iter().filter_map(|told| told.strip_suffix(host)).collect();
        assert_eq!(told, if host == "gpu2" { vec!["my-drain "] } else { vec!["my-drain ", "my-resume "] });
    }
}

/// What was taken out of service before the stop is given back, and nothing is taken out after it.
#[tokio::test(start_paused = true)]
async fn a_stop_begins_no_further_drain() {
    let site = Arc::new(Mutex::new(Own { begin_takes: Duration::from_mins(1), ..Own::default() }));
    let own = site.clone();
    let transport = hosts(move |sent, args| own.lock().unwrap().answer(sent, args));
    let stop = stop_after(Duration::from_secs(90));
    let ran = run(&live(OWN, "{}", BOOT), &transport, Mode::Apply, stop).await;
    let site = site.lock().unwrap();
    assert!(site.marks.is_empty(), "{:?}", site.marks);
    assert_eq!(site.told, ["my-drain gpu0", "my-drain gpu1", "my-resume gpu0", "my-resume gpu1"]);
    assert!(ran.record.left_drained.is_empty(), "{:?}", ran.record);
}

#[tokio::test(start_paused = true)]
async fn what_a_killed_run_left_of_another_scheduler_is_known_by_its_file() {
    let marks = BTreeMap::from([("gpu1".to_owned(), "provision: run0: is to be changed".to_owned())]);
    let site = Arc::new(Mutex::new(Own { marks, ..Own::default() }));
    let own = site.clone();
    let transport = interrupts::kernels(move |sent| {
        let args = data(sent);
        match (sent.host.as_str(), sent.part.as_str()) {
            ("login0", _) => own.lock().unwrap().answer(sent, &args),
            (_, "base.boot") => Some(Reply::default().output(interrupts::boot("two", "6.1"))),
            _ => None,
        }
    });
    let ran = apply(&live(OWN, "{}", BOOT), &transport).await;
    assert_eq!(ran.phases("gpu1"), [Changing, Verifying, Back], "{:?}", ran.record);
    assert_eq!(site.lock().unwrap().told, ["my-resume gpu1"]);
    assert!(site.lock().unwrap().marks.is_empty());
}

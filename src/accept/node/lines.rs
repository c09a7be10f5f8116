//! Lines that `follow.sh` prints, which are those of `tests.sh` and `gpu.cu`.

use std::collections::BTreeMap;

/// How the tests of a host stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// They go on.
    #[default]
    Going,
    /// They ended before their time, as with a reboot.
    Died,
    /// The host knows nothing of them.
    Gone,
    /// They are over, with this status.
    Ended(String),
}

/// A GPU that the driver has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Its UUID.
    pub uuid: String,
    /// Its number on the host.
    pub index: String,
    /// Its PCI address.
    pub pci: String,
    /// Its model.
    pub name: String,
}

/// One look at a GPU under load; of what it does not tell there is no number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Seconds since the host's boot.
    pub at: f64,
    /// Clock of its processors, in MHz.
    pub mhz: Option<f64>,
    /// Power, in W.
    pub watts: Option<f64>,
    /// Temperature, in °C.
    pub celsius: Option<f64>,
    /// Reasons to hold the clock back, as bits.
    pub reasons: u64,
}

/// What the tests of a host said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// How they stand.
    pub state: State,
    /// Last lines of what went wrong with the tests themselves.
    pub errors: Vec<String>,
    /// The last step that was begun.
    pub step: String,
    /// Steps that were begun.
    pub steps: usize,
    /// GPUs, in the driver's order.
    pub gpus: Vec<Gpu>,
    /// Users of GPUs that were left out, by UUID.
    pub busy: BTreeMap<String, String>,
    /// What could not be tested on the host, and why.
    pub skipped: Vec<String>,
    /// What a GPU calls itself and its libraries, by UUID.
    pub about: BTreeMap<String, BTreeMap<String, String>>,
    /// Figures: UUID, name, value, unit.
    pub figures: Vec<(String, String, f64, String)>,
    /// Digests of results by UUID and name.
    pub digests: Vec<(String, String, String)>,
    /// Results that are wrong: UUID and a text.
    pub wrong: Vec<(String, String)>,
    /// Tests that did not come to their end: UUID and a text.
    pub failed: Vec<(String, String)>,
    /// Samples by UUID.
    pub samples: BTreeMap<String, Vec<Sample>>,
    /// Tests that came to their end, by UUID and name.
    pub ends: BTreeMap<(String, String), usize>,
    /// What a GPU or its libraries cannot do: UUID and a text.
    pub unable: Vec<(String, String)>,
    /// What somebody else than our program said in its place: UUID and a text.
    pub strange: Vec<(String, String)>,
    /// Lines of the kernel's log from meanwhile.
    pub kernel: Vec<String>,
    /// Whether the host was started anew meanwhile.
    pub rebooted: bool,
    /// Whether all was told that the host wrote; only where the tests are over.
    pub whole: bool,
}

impl Report {
    /// Reads what a host printed; a line that is not known is left out.
    pub fn read(text: &str) -> Self {
        let mut report = Self::default();
        let (mut behind, mut is_head) = (0_usize, true);
        for line in text.lines() {
            if line.is_empty() && is_head {
                is_head = false;
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "state" => report.state = state(rest),
                "error" => report.errors.push(rest.to_owned()),
                "step" => {
                    rest.clone_into(&mut report.step);
                    report.steps += 1;
                }
                "gpu" => report.gpus.extend(gpu(rest)),
                "busy" => {
                    if let Some((uuid, who)) = rest.split_once(' ') {
                        report.busy.insert(uuid.to_owned(), process(who));
                    }
                }
                "skip" => report.skipped.push(rest.to_owned()),
                "test" => {
                    if let Some((uuid, said)) = rest.split_once(' ') {
                        report.test(uuid, said);
                    }
                }
                "sample" => {
                    if let Some((uuid, values)) = rest.split_once(' ')
                        && let Some(sample) = sample(values)
                    {
                        report.samples.entry(uuid.to_owned()).or_default().push(sample);
                    }
                }
                "kernel" => report.kernel.push(rest.to_owned()),
                "rebooted" => report.rebooted = true,
                // Of output that is too long the middle is cut out.
                "all" => report.whole = rest.trim().parse() == Ok(behind),
                _ => {}
            }
            behind += usize::from(!is_head);
        }
        // After a restart the host tells them again.
        let mut seen = Vec::new();
        report.gpus.retain(|gpu| {
            let new = !seen.contains(&gpu.uuid);
            seen.push(gpu.uuid.clone());
            new
        });
        report
    }

    /// A line of the program that loads a GPU.
    fn test(&mut self, uuid: &str, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let uuid = uuid.to_owned();
        match word {
            "about" => {
                if let Some((key, value)) = rest.split_once(' ') {
                    self.about.entry(uuid).or_default().insert(key.to_owned(), value.to_owned());
                }
            }
            "figure" => {
                let words: Vec<&str> = rest.split(' ').collect();
                if let [name, value, unit] = words.as_slice()
                    && let Some(value) = value.parse().ok().filter(|value: &f64| value.is_finite())
                {
                    self.figures.push((uuid, (*name).to_owned(), value, (*unit).to_owned()));
                }
            }
            "digest" => {
                if let Some((name, sum)) = rest.split_once(' ') {
                    self.digests.push((uuid, name.to_owned(), sum.to_owned()));
                }
            }
            "wrong" => self.wrong.push((uuid, rest.replacen(' ', ": ", 1))),
            "end" => *self.ends.entry((uuid, rest.to_owned())).or_default() += 1,
            "skip" => self.unable.push((uuid, rest.replacen(' ', ": ", 1))),
            "failed" => self.failed.push((uuid, rest.replacen(' ', ": ", 1))),
            // What the loader or the system says in place of the program.
            _ => self.strange.push((uuid, line.to_owned())),
        }
    }
}

fn state(text: &str) -> State {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("ended", status) => State::Ended(status.to_owned()),
        ("died", _) => State::Died,
        ("gone", _) => State::Gone,
        _ => State::Going,
    }
}

/// `UUID INDEX PCI NAME`
fn gpu(text: &str) -> Option<Gpu> {
    let mut words = text.splitn(4, ' ').map(str::to_owned);
    Some(Gpu { uuid: words.next()?, index: words.next()?, pci: words.next()?, name: words.next()? })
}

/// `PID PROGRAM` as a person says it.
fn process(text: &str) -> String {
    let (pid, program) = text.split_once(' ').unwrap_or((text, "another program"));
    let name = program.rsplit('/').next().unwrap_or(program);
    format!("process {pid} ({name})")
}

/// `SECONDS MHZ, MHZ, W, °C, °C, REASONS`
fn sample(text: &str) -> Option<Sample> {
    let (at, values) = text.split_once(' ')?;
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    let [mhz, _memory, watts, celsius, _of_memory, reasons] = values.as_slice() else { return None };
    let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
    let reasons = u64::from_str_radix(reasons.trim_start_matches("0x"), 16).unwrap_or(0);
    Some(Sample {
        at: number(at)?,
        mhz: number(mhz),
        watts: number(watts),
        celsius: number(celsius),
        reasons,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "state ended 0
error gpu: killed

step compile
gpu GPU-95265bd3 0 00000000:00:06.0 NVIDIA H200
gpu GPU-5 1 00000000:00:07.0 NVIDIA H200
busy GPU-5 4711 /opt/torch/bin/python3
step matmul.bf16.1
test GPU-95265bd3 about name NVIDIA H200
test GPU-95265bd3 about cublas 130100
test GPU-95265bd3 figure matmul.bf16 666.7 TFLOP/s
test GPU-95265bd3 digest matmul.bf16 7a3347099024648b
test GPU-95265bd3 wrong memory 3 words differ from what was written
test GPU-95265bd3 failed copy CUDA(x): out of memory
test GPU-95265bd3 skip peers there is one GPU
test GPU-95265bd3 end matmul.bf16
test GPU-95265bd3 figure copy.to inf GB/s
sample GPU-95265bd3 4711.20 1380, 3201, 680.69, 59, 46, 0x0000000000000004
sample GPU-95265bd3 4712.20 [N/A], 3201, [N/A], 59, 46, 0x0000000000000000
sample GPU-95265bd3 nonsense
kernel [ 4711.0] NVRM: Xid (PCI:0000:00:06): 31, pid=1
skip there is no fio
";

    #[test]
    fn what_a_host_says_is_read() {
        let report = Report::read(TEXT);
        assert_eq!(report.state, State::Ended("0".to_owned()));
        assert_eq!(report.errors, ["gpu: killed"]);
        assert_eq!((report.step.as_str(), report.steps), ("matmul.bf16.1", 2));
        assert_eq!(report.gpus.len(), 2);
        assert_eq!(report.gpus[1].pci, "00000000:00:07.0");
        assert_eq!(report.gpus[1].name, "NVIDIA H200");
        assert_eq!(report.busy["GPU-5"], "process 4711 (python3)");
        assert_eq!(report.about["GPU-95265bd3"]["cublas"], "130100");
        assert_eq!(report.figures.len(), 1);
        assert!((report.figures[0].2 - 666.7).abs() < 1e-9);
        assert_eq!(report.digests[0].2, "7a3347099024648b");
        assert_eq!(report.wrong[0].1, "memory: 3 words differ from what was written");
        assert_eq!(report.failed[0].1, "copy: CUDA(x): out of memory");
        let samples = &report.samples["GPU-95265bd3"];
        assert_eq!(samples.len(), 2);
        assert_eq!((samples[0].mhz, samples[0].reasons), (Some(1380.0), 4));
        assert_eq!(samples[1].watts, None);
        assert_eq!(report.kernel.len(), 1);
        assert_eq!(report.skipped, ["there is no fio"]);
        assert_eq!(report.unable[0].1, "peers: there is one GPU");
        assert_eq!(report.ends[&("GPU-95265bd3".to_owned(), "matmul.bf16".to_owned())], 1);
        assert!(!report.whole && !report.rebooted);
        let lines = TEXT.lines().count() - 3;
        assert!(Report::read(&format!("{TEXT}all {lines}\n")).whole);
        assert!(!Report::read(&format!("{TEXT}all {}\n", lines + 1)).whole, "a line is missing");
    }

    #[test]
    fn no_text_is_a_reason_to_panic() {
        for cut in 0..TEXT.len() {
            let _read = Report::read(&TEXT[..cut]);
        }
        assert_eq!(Report::read("state died\n").state, State::Died);
        assert_eq!(Report::read("").state, State::Going);
    }
}

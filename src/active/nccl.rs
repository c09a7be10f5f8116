//! nccl-tests: tables of three generations, and the log lines that prove the path.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::events::CheckResult;

/// One half of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Side {
    /// Microseconds.
    pub time_us: f64,
    /// GB/s of the algorithm.
    pub algbw: f64,
    /// GB/s of the bus.
    pub busbw: f64,
    /// Wrong values; none where the version does not count them, or was told not to.
    pub wrong: Option<u64>,
}

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Bytes.
    pub size: u64,
    /// Out of place.
    pub out_of_place: Side,
    /// In place; none in a replay.
    pub in_place: Option<Side>,
}

/// Parsed output of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// Of nccl-tests, where it says so.
    pub version: Option<String>,
    /// The library that was used.
    pub nccl: Option<String>,
    /// Ranks: hosts and devices of the list.
    pub ranks: usize,
    /// Hosts of the list.
    pub hosts: BTreeSet<String>,
    /// Sizes, in the order of the table.
    pub rows: Vec<Row>,
    /// `# Out of bounds values`: how many, and whether that is `OK`.
    pub out_of_bounds: Option<(u64, bool)>,
    /// `# Avg bus bandwidth`.
    pub average: Option<f64>,
    /// `IB`, `IBext`, `Socket`: the network that was chosen.
    pub network: Option<String>,
    /// RDMA devices that NCCL used.
    pub devices: Vec<String>,
    /// Channels between hosts over RDMA.
    pub net_ib: usize,
    /// Of these, straight into GPU memory.
    pub gdr: usize,
    /// Channels between hosts over sockets.
    pub net_socket: usize,
    /// Lines that report a failure.
    pub trouble: Vec<String>,
    /// Warnings of NCCL.
    pub warnings: Vec<String>,
}

/// Reason why a run gave no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoTable {
    /// The best reason that it gave.
    pub message: String,
    /// The lines that tell more: of the loader, the tests and NCCL.
    pub lines: Vec<String>,
}

/// Reads what a run printed, log lines of NCCL in between.
///
/// # Errors
/// That there is no table.
pub fn parse(output: &str) -> Result<Run, NoTable> {
    let mut run = Run::default();
    let mut header: Option<Header> = None;
    for line in output.lines() {
        let line = unprefixed(line);
        let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
        if line.starts_with('#') {
            if words.contains(&"size") && words.contains(&"busbw") {
                header = Header::of(&words);
            } else {
                run.comment(line, &words);
            }
        } else if line.contains("NCCL INFO") || line.contains("NCCL WARN") {
            run.log(line);
        } else if let Some(version) = line.trim().strip_prefix("NCCL version ") {
            run.nccl = Some(version.trim().to_owned());
        } else if let Some(row) = header.as_ref().and_then(|header| header.row(&words)) {
            run.rows.push(row);
        } else if TROUBLE.iter().any(|sign| line.contains(sign)) {
            run.trouble.push(line.trim().to_owned());
        }
    }
    if run.rows.is_empty() { Err(run.no_table(output)) } else { Ok(run) }
}

/// Messages of failing runs: of the loader, of the tests, of the program that starts them.
const TROUBLE: &[&str] = &[
    "error while loading shared libraries",
    "symbol lookup error",
    "relocation error",
    "' not found (required by",
    "Test NCCL failure",
    "Test CUDA failure",
    "Test failure common.cu",
    "Invalid number of GPUs",
    "There are not enough slots available",
    "unable to complete a TCP connection",
    "Permission denied",
    "mpirun was unable",
];

/// The same with what to do, where NCCL found no way from one card to another. The kernel gives up when it asks for
/// the other's address, so that nothing was sent yet.
pub(super) fn explained(result: CheckResult) -> CheckResult {
    const NO_WAY: &[&str] =
        &["Connection timed out", "ETIMEDOUT", "No route to host", "Network is unreachable"];
    let has_none =
        |line: &str| line.contains("ibv_modify_qp failed") && NO_WAY.iter().any(|why| line.contains(why));
    let is_told = has_none(&result.message) || result.evidence.iter().any(|seen| has_none(&seen.line));
    let hint = "NCCL has no way from a card to one of another host: where the two are of different rails, `active.rails` tells, and NCCL_CROSS_NIC=0 or routes between the rails mend it; where they are of one rail, see `active.rping`";
    CheckResult { hint: if is_told { Some(hint.to_owned()) } else { result.hint }, ..result }
}

/// `2.30.7` of 23007, `2.8.4` of 2804: NCCL's codes before 2.9 have one digit less.
fn version_of(code: &str) -> Option<String> {
    let code: u32 = code.parse().ok()?;
    let base = if code < 10_000 { 1000 } else { 10_000 };
    Some(format!("{}.{}.{}", code / base, code % base / 100, code % 100))
}

/// `[1,0]<stdout>:` of mpirun and `0: ` of srun are not of the tool.
fn unprefixed(line: &str) -> &str {
    if let Some((head, rest)) = line.split_once(">:")
        && head.starts_with('[')
        && (head.ends_with("<stdout") || head.ends_with("<stderr"))
    {
        return rest.strip_prefix(' ').filter(|rest| rest.starts_with('#')).unwrap_or(rest);
    }
    match line.split_once(": ") {
        Some((head, rest)) if !head.is_empty() && head.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    }
}

/// Columns of a table: those before the first time, and those of each half.
struct Header {
    columns: usize,
    first: usize,
    second: Option<usize>,
    names: Vec<String>,
}

impl Header {
    fn of(words: &[&str]) -> Option<Self> {
        let names: Vec<String> = words.iter().map(|word| word.trim_start_matches('#').to_owned()).collect();
        let mut times = names
            .iter()
            .enumerate()
            .filter(|(_, name)| matches!(name.as_str(), "time" | "cputime"))
            .map(|(at, _)| at);
        let (first, second) = (times.next()?, times.next());
        Some(Self { columns: names.len(), first, second, names })
    }

    fn row(&self, words: &[&str]) -> Option<Row> {
        let size = words.first()?.parse().ok()?;
        // What reduces nothing, such as alltoall, leaves that column empty in old versions.
        let filled;
        let words = match self.names.iter().position(|name| name == "redop") {
            Some(at) if [Some(self.columns), self.second].contains(&Some(words.len() + 1)) => {
                let (before, behind) = words.split_at_checked(at)?;
                filled = [before, &[""], behind].concat();
                &filled
            }
            _ => words,
        };
        // A replay has no in-place half.
        if words.len() != self.columns && Some(words.len()) != self.second {
            return None;
        }
        let end = self.second.unwrap_or(self.columns);
        let out_of_place = self.side(words, self.first, end)?;
        let in_place = self.second.and_then(|start| self.side(words, start, self.columns));
        Some(Row { size, out_of_place, in_place })
    }

    fn side(&self, words: &[&str], start: usize, end: usize) -> Option<Side> {
        let value = |name: &[&str]| {
            let at =
                (start..end).find(|at| self.names.get(*at).is_some_and(|it| name.contains(&it.as_str())))?;
            words.get(at).copied()
        };
        let number = |name: &str| value(&[name]).and_then(|word| word.parse::<f64>().ok());
        Some(Side {
            time_us: value(&["time", "cputime"])?.parse().ok()?,
            algbw: number("algbw")?,
            busbw: number("busbw")?,
            // The first generation has an error instead of a count: any but nothing is wrong.
            wrong: match (value(&["wrong"]), value(&["error"])) {
                (Some(word), _) => word.parse().ok(),
                (None, Some(word)) => word.parse::<f64>().ok().map(|error| u64::from(error > 1e-2)),
                (None, None) => None,
            },
        })
    }
}

impl Run {
    fn comment(&mut self, line: &str, words: &[&str]) {
        match words {
            ["nccl-tests", "version", version, rest @ ..] => {
                self.version = Some((*version).to_owned());
                let code = rest.iter().find_map(|word| word.strip_prefix("nccl-library="));
                self.nccl = self.nccl.take().or_else(|| code.and_then(version_of));
            }
            ["Rank", _, rest @ ..] => {
                self.ranks += 1;
                let host = rest.iter().skip_while(|word| **word != "on").nth(1);
                self.hosts.extend(host.map(|host| (*host).to_owned()));
            }
            ["Out", "of", "bounds", "values", ":", count, rest @ ..] => {
                self.out_of_bounds = count.parse().ok().map(|count| (count, rest.first() == Some(&"OK")));
            }
            ["Avg", "bus", "bandwidth", ":", value, ..] => self.average = value.parse().ok(),
            ["error:", ..] => self.trouble.push(line.trim_start_matches(['#', ' ']).to_owned()),
            _ => {}
        }
    }

    fn log(&mut self, line: &str) {
        if line.contains("NCCL WARN") {
            let (_, text) = line.split_once("NCCL WARN").unwrap_or(("", line));
            self.warnings.push(text.trim().to_owned());
            return;
        }
        let (_, text) = line.split_once("NCCL INFO").unwrap_or(("", line));
        let text = text.trim();
        if let Some(version) = text.strip_prefix("NCCL version ") {
            self.nccl = Some(version.trim().to_owned());
        } else if let Some(network) = text.strip_prefix("Using network ") {
            self.network = Some(network.trim().to_owned());
        } else if let Some(plugin) = text.strip_prefix("Initialized NET plugin ") {
            self.network.get_or_insert_with(|| plugin.trim().to_owned());
        } else if let Some((_, list)) = text.split_once("NET/IB : Using ") {
            self.devices(list);
        } else if let Some((_, way)) = text.strip_prefix("Channel ").and_then(|rest| rest.split_once(" via "))
        {
            // Names of plugins have blanks: `NET/AWS Libfabric/0/GDRDMA`.
            if way.starts_with("NET/Socket") {
                self.net_socket += 1;
            } else if way.starts_with("NET/") {
                self.net_ib += 1;
                self.gdr += usize::from(way.contains("/GDRDMA"));
            }
        }
    }

    /// `[0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.4.19<0>`.
    fn devices(&mut self, list: &str) {
        let list = list.split(';').next().unwrap_or("");
        for word in list.split_whitespace() {
            let Some((_, name)) = word.split_once(']') else { continue };
            let name = name.split(':').next().unwrap_or("");
            if !name.is_empty() && !self.devices.iter().any(|known| known == name) {
                self.devices.push(name.to_owned());
            }
        }
    }

    /// Returns the reason why the run has no rows. Messages of the loader and the tests come before warnings
    /// of NCCL; the last line is better than nothing.
    fn no_table(mut self, output: &str) -> NoTable {
        let last = output.lines().map(str::trim).rfind(|line| !line.trim_matches('-').is_empty());
        let first = self.trouble.first().or(self.warnings.first()).cloned();
        let message = first.unwrap_or_else(|| match last {
            Some(last) => format!("it printed no table; its last line is: {last}"),
            None => "it printed nothing".to_owned(),
        });
        // Every rank says the same.
        let mut lines = Vec::new();
        for line in self.trouble.drain(..).chain(self.warnings.drain(..)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        NoTable { message, lines }
    }

    /// The row that is judged: averages over all sizes say nothing.
    pub fn largest(&self) -> Option<&Row> {
        self.rows.iter().max_by_key(|row| row.size)
    }

    /// The better half of the largest size in GB/s.
    pub fn busbw(&self) -> Option<f64> {
        let row = self.largest()?;
        let in_place = row.in_place.map_or(0.0, |side| side.busbw);
        Some(row.out_of_place.busbw.max(in_place))
    }

    /// Wrong values of all sizes; none when nothing was compared.
    pub fn wrong(&self) -> Option<u64> {
        let sides = self.rows.iter().flat_map(|row| [Some(row.out_of_place), row.in_place]);
        let counted: Vec<u64> = sides.flatten().filter_map(|side| side.wrong).collect();
        (!counted.is_empty()).then(|| counted.into_iter().fold(0, u64::saturating_add))
    }
}

/// GB/s of the bus at the largest size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Busbw {
    /// Bandwidth that healthy hosts show: 95 % of it pass, 85 % warn.
    Expected(f64),
    /// Bandwidth that any healthy host exceeds, where nothing better is known: less is a warning.
    Floor(f64),
}

/// Requirements of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// Ranks that must take part.
    pub ranks: usize,
    /// Bandwidth that it must reach; `None` when nothing is known of the hardware.
    pub busbw: Option<Busbw>,
    /// Whether channels between hosts must go straight into GPU memory.
    pub gdr: bool,
    /// Whether there are channels between hosts.
    pub between_hosts: bool,
}

/// Judgement of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Failures.
    pub fails: Vec<String>,
    /// Warnings.
    pub warns: Vec<String>,
}

impl Judgement {
    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        self.fails.is_empty()
    }
}

/// Of what is expected of GPUs and their network less than this fails.
pub(super) const PASSES: f64 = 0.85;

/// Judges a run: 95 % of what is expected pass, 85 % warn.
pub fn judge(run: &Run, gate: &Gate) -> Judgement {
    let mut judged = Judgement::default();
    judged.fails.extend(run.trouble.iter().cloned());
    judged.warns.extend(run.warnings.iter().cloned());
    if run.ranks != gate.ranks {
        // A binary without MPI runs once per host, and each run passes.
        judged.fails.push(format!("{} ranks, expected {}", run.ranks, gate.ranks));
    }
    match (run.out_of_bounds, run.wrong()) {
        (Some((count, false)), _) => judged.fails.push(format!("{count} values out of bounds")),
        (_, Some(count)) if count > 0 => judged.fails.push(format!("{count} wrong values")),
        (None, _) => judged.fails.push("the run did not end: no count of values out of bounds".to_owned()),
        (Some(_), None) => judged.warns.push("results were not compared".to_owned()),
        (Some(_), Some(_)) => {}
    }
    match (gate.busbw, run.busbw()) {
        (Some(Busbw::Expected(wanted)), Some(seen)) if seen < wanted * PASSES => {
            judged.fails.push(format!("{seen:.1} GB/s at the largest size, expected {wanted:.1}"));
        }
        (Some(Busbw::Expected(wanted)), Some(seen)) if seen < wanted * 0.95 => {
            judged.warns.push(format!("{seen:.1} GB/s at the largest size, expected {wanted:.1}"));
        }
        (Some(Busbw::Floor(least)), Some(seen)) if seen < least => {
            judged.warns.push(format!(
                "{seen:.1} GB/s at the largest size, these GPUs are known to reach more than {least:.1}"
            ));
        }
        _ => {}
    }
    if gate.between_hosts {
        path(run, gate, &mut judged);
    }
    judged
}

fn path(run: &Run, gate: &Gate, judged: &mut Judgement) {
    if run.net_socket > 0 || run.network.as_deref() == Some("Socket") {
        judged.fails.push("NCCL went over sockets, not over RDMA".to_owned());
    } else if run.net_ib == 0 {
        judged.warns.push("no line of NCCL tells the way: NCCL_DEBUG=INFO was not in effect".to_owned());
    } else if run.gdr < run.net_ib && gate.gdr {
        let text = format!("{} of {} channels go straight into GPU memory", run.gdr, run.net_ib);
        if run.gdr == 0 { judged.fails.push(text) } else { judged.warns.push(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = include_str!("../../tests/cases/active/nccl-2.0-a100.txt");
    const MIDDLE: &str = include_str!("../../tests/cases/active/nccl-2.13-a100-2x8.txt");
    const NEW: &str = include_str!("../../tests/cases/active/nccl-2.19-h200.txt");
    const INTERLEAVED: &str = include_str!("../../tests/cases/active/nccl-irdma-interleaved.txt");
    const SLOTS: &str = include_str!("../../tests/cases/active/mpirun-slots.txt");
    /// A row and a footer in the form of `MIDDLE`, for what must follow the lines of `INTERLEAVED`.
    const TABLE: &str = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n 10737418240    2684354560     float     sum      -1  3821000    2.81    2.81      0  3821000    2.81    2.81      0\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.81\n";

    fn gate(ranks: usize, busbw: f64) -> Gate {
        Gate { ranks, busbw: Some(Busbw::Expected(busbw)), gdr: true, between_hosts: false }
    }

    #[test]
    fn a_floor_only_warns() {
        let run = parse(MIDDLE).unwrap();
        let floor = |least: f64| Gate { busbw: Some(Busbw::Floor(least)), ..gate(2, 0.0) };
        assert_eq!(judge(&run, &floor(180.0)), Judgement::default());
        let judged = judge(&run, &floor(600.0));
        assert!(judged.passed());
        assert_eq!(
            judged.warns,
            ["182.8 GB/s at the largest size, these GPUs are known to reach more than 600.0"]
        );
    }

    #[test]
    fn the_first_generation_has_no_root_and_an_error() {
        let run = parse(OLD).unwrap();
        assert_eq!((run.rows.len(), run.ranks, run.version.as_deref()), (3, 1, None));
        assert_eq!(run.busbw(), Some(235.26));
        assert_eq!(run.wrong(), None, "N/A is not a count");
        assert_eq!(judge(&run, &gate(1, 230.0)).warns, ["results were not compared"]);
    }

    #[test]
    fn the_second_generation_counts_wrong_values() {
        let run = parse(MIDDLE).unwrap();
        assert_eq!((run.rows.len(), run.nccl.as_deref()), (6, Some("2.12.12+cuda11.6")));
        assert_eq!(run.hosts.iter().map(String::as_str).collect::<Vec<_>>(), ["hostA", "hostB"]);
        assert_eq!((run.busbw(), run.wrong(), run.out_of_bounds), (Some(182.8), Some(0), Some((0, true))));
        // The footer averages unrounded numbers.
        let all: Vec<f64> =
            run.rows.iter().flat_map(|row| [row.out_of_place.busbw, row.in_place.unwrap().busbw]).collect();
        let mean = all.iter().sum::<f64>() / 12.0;
        assert!((mean - run.average.unwrap()).abs() < 0.01, "{mean}");
        assert!(judge(&run, &gate(2, 185.0)).passed());
        assert_eq!(judge(&run, &gate(2, 200.0)).warns, ["182.8 GB/s at the largest size, expected 200.0"]);
        assert!(!judge(&run, &gate(2, 480.0)).passed());
        assert_eq!(judge(&run, &gate(16, 185.0)).fails, ["2 ranks, expected 16"]);
    }

    #[test]
    fn the_third_generation_tells_its_version() {
        let run = parse(NEW).unwrap();
        assert_eq!((run.version.as_deref(), run.rows.len()), (Some("2.19.6"), 2));
        assert_eq!((run.largest().unwrap().size, run.busbw()), (17_179_869_184, Some(478.75)));
        assert!(judge(&run, &gate(1, 480.0)).warns.is_empty());
        // Statistics of each iteration stand behind each count of wrong values.
        let wider: String = NEW
            .lines()
            .filter(|line| !line.starts_with("  8589934592"))
            .map(|line| {
                let line = line.replace("#wrong", "#wrong  i_min  i_max  i_p99  i_cv%");
                line.replace("478.66       0", "478.66       0  1.0 2.0 3.0 0.4") + "\n"
            })
            .collect::<String>()
            .replace("478.75       0", "478.75       3  1.0 2.0 3.0 0.4");
        let run = parse(&wider).unwrap();
        assert_eq!((run.rows.len(), run.wrong(), run.busbw()), (1, Some(3), Some(478.75)));
    }

    /// Checks that a run which reduces nothing is read: the first two generations leave the column of the
    /// reduction empty then.
    #[test]
    fn a_table_without_a_reduction() {
        let text = "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n\
            #        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n\
            \x20          0             0   float             1.63    0.00    0.00    N/A     1.38    0.00    0.00    N/A\n\
            \x20  67108864       8388608   float           1568.3   21.40   18.72  0e+00   1560.9   21.50   18.81  0e+00\n";
        let run = parse(text).unwrap();
        assert_eq!((run.rows.len(), run.busbw(), run.wrong()), (2, Some(18.81), Some(0)));
        assert_eq!(run.largest().unwrap().out_of_place.wrong, Some(0));
        assert_eq!(run.rows[0].out_of_place.wrong, None);
    }

    #[test]
    fn lines_of_launchers_are_no_part_of_it() {
        let tagged =
            MIDDLE.lines().map(|line| format!("[1,0]<stdout>:{line}")).collect::<Vec<_>>().join("\n");
        assert_eq!(parse(&tagged).unwrap(), parse(MIDDLE).unwrap());
        let labelled = MIDDLE.lines().map(|line| format!("0: {line}")).collect::<Vec<_>>().join("\n");
        assert_eq!(parse(&labelled).unwrap(), parse(MIDDLE).unwrap());
    }

    #[test]
    fn the_path_is_in_the_log() {
        let run = parse(&format!("{INTERLEAVED}{TABLE}")).unwrap();
        assert_eq!(run.network.as_deref(), Some("IBext"));
        assert_eq!((run.net_ib, run.gdr, run.net_socket), (4, 0, 0));
        assert_eq!(run.devices, ["irdma0"]);
        let between = Gate { between_hosts: true, ..gate(2, 2.9) };
        assert_eq!(judge(&run, &between).fails, ["0 of 4 channels go straight into GPU memory"]);
        assert!(judge(&run, &Gate { gdr: false, ..between }).passed());

        let gdr = INTERLEAVED.replace("via NET/IBext/0", "via NET/IB/0/GDRDMA");
        assert!(judge(&parse(&format!("{gdr}{TABLE}")).unwrap(), &between).passed());
        let socket = INTERLEAVED.replace("via NET/IBext/0", "via NET/Socket/0");
        let judged = judge(&parse(&format!("{socket}{TABLE}")).unwrap(), &between);
        assert_eq!(judged.fails, ["NCCL went over sockets, not over RDMA"]);
    }

    #[test]
    fn without_a_table_the_best_reason_is_told() {
        let symbol = "/opt/nccl-tests/build/all_reduce_perf: symbol lookup error: /opt/nccl-tests/build/all_reduce_perf: undefined symbol: ncclCommQueryProperties";
        let library = "/opt/nccl-tests/build/all_reduce_perf: error while loading shared libraries: libnccl.so.2: cannot open shared object file: No such file or directory";
        for line in [symbol, library] {
            let text =
                format!("{line}\n{line}\n-----\nPrimary job  terminated normally, but 1 process returned\n");
            let failed = parse(&text).unwrap_err();
            assert_eq!(
                (failed.message.as_str(), failed.lines.as_slice()),
                (line, [line.to_owned()].as_slice())
            );
        }
        // NCCL's own words stay, and are the message where nothing else is.
        let warning = "gpu0:91:91 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_open_device failed";
        let failure = "gpu0: Test NCCL failure common.cu:958 'unhandled system error'";
        let failed = parse(&format!("{warning}\n{failure}\n")).unwrap_err();
        assert_eq!(failed.message, failure);
        assert_eq!(failed.lines, [failure, "Call to ibv_open_device failed"]);
        assert_eq!(parse(warning).unwrap_err().message, "Call to ibv_open_device failed");
        // Plugins that are not there are no trouble.
        let plugin = "vm:1:1 [0] NCCL INFO ncclOsDlopen(libnccl-env.so) failed: libnccl-env.so: cannot open shared object file: No such file or directory";
        assert!(parse(&format!("{plugin}\n{NEW}")).unwrap().trouble.is_empty());
        assert_eq!(
            parse("# Collective test starting: all_reduce_perf\n").unwrap_err().message,
            "it printed no table; its last line is: # Collective test starting: all_reduce_perf"
        );
    }

    #[test]
    fn the_library_that_was_loaded_is_told() {
        let header = "# nccl-tests version 2.19.6 nccl-headers=23007 nccl-library=22803\n";
        let nccl = |text: String| parse(&text).unwrap().nccl;
        assert_eq!(nccl(format!("{header}{TABLE}")).as_deref(), Some("2.28.3"));
        let log = "vm:15175:15175 [0] NCCL INFO NCCL version 2.30.7+cuda13.0\n";
        assert_eq!(nccl(format!("{header}{log}{TABLE}")).as_deref(), Some("2.30.7+cuda13.0"));
        assert_eq!(nccl(format!("{log}{header}{TABLE}")).as_deref(), Some("2.30.7+cuda13.0"));
        assert_eq!(version_of("2804").as_deref(), Some("2.8.4"));
    }

    #[test]
    fn failures_are_never_a_pass() {
        assert_eq!(parse(SLOTS).unwrap_err().message, SLOTS.lines().nth(1).unwrap());
        assert_eq!(parse("").unwrap_err().message, "it printed nothing");
        let wrong =
            MIDDLE.replace("96.74  181.39      0", "96.74  181.39     12").replace(": 0 OK", ": 12 FAILED");
        let run = parse(&wrong).unwrap();
        assert_eq!(judge(&run, &gate(2, 180.0)).fails, ["12 values out of bounds"]);
        let cut = MIDDLE.lines().take(12).collect::<Vec<_>>().join("\n");
        assert!(judge(&parse(&cut).unwrap(), &gate(2, 1.0)).fails[0].contains("did not end"));
        let broken = format!("{MIDDLE}a: Test NCCL failure common.cu:1005 'unhandled system error'\n");
        assert!(!judge(&parse(&broken).unwrap(), &gate(2, 1.0)).passed());
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::accept::judge::Past;
use crate::accept::placed::Placed;
use crate::accept::placed::tests::on_leaves;
use crate::active::testing::{Asked, fleet};
use crate::active::{Measure, Meeting, Port, Trial, seconds};

fn port(rail: usize) -> Port {
    Port {
        device: format!("mlx5_{rail}"),
        number: 1,
        pci: format!("0000:0{rail}:00.0"),
        rate: Some(400.0),
        is_fast: true,
        has_gpu: false,
    }
}

fn entrants(hosts: usize, rails: usize) -> Vec<Entrant> {
    let entrant =
        |placed: Placed| Entrant::new(placed, (0..rails).map(port).collect(), None, limits(None, None));
    on_leaves(hosts, 8).into_iter().map(entrant).collect()
}

/// One line of the cases: how many hosts and rails, what is wrong, and what is said.
///
/// The fault: `slow H`, `sends-slow H`, `late H`, `dead H`, `dead H/R`, `cut H-H`, `thin H-H` (slow on this pair),
/// `once H-H` (slow on this pair, but not when it is tested once more). The answer: `H figure` of a finding, `H silent`,
/// `between H-H`, `once H-H`, `either H-H`; `nothing`.
const CASES: &str = include_str!("../../../tests/cases/acceptance/pairs.txt");

struct Case<'c> {
    faults: Vec<(&'c str, &'c str)>,
}

impl Case<'_> {
    fn has(&self, kind: &str, what: &str) -> bool {
        self.faults.contains(&(kind, what))
    }

    fn result(&self, trial: (usize, usize, usize, Measure), is_again: bool) -> Result<f64, String> {
        let (from, to, rail, measure) = trial;
        let (one, other) = (from.min(to).to_string(), from.max(to).to_string());
        let link = format!("{one}-{other}");
        let any = |kind: &str| self.has(kind, &from.to_string()) || self.has(kind, &to.to_string());
        let of_rail = |host: usize| self.has("dead", &format!("{host}/{rail}"));
        if any("dead") || of_rail(from) || of_rail(to) || self.has("cut", &link) {
            return Err("it printed no result, after 50 s".to_owned());
        }
        // Figures differ a little, as those of real links do.
        let near = f64::from(u32::try_from((from * 7 + to * 3 + rail) % 5).unwrap()) * 0.4;
        let is_slow = any("slow")
            || self.has("sends-slow", &from.to_string())
            || self.has("thin", &link)
            || (self.has("once", &link) && !is_again);
        Ok(match measure {
            Measure::Latency if any("late") => 9.0,
            Measure::Latency => 2.0 + near / 50.0,
            Measure::Write | Measure::GpuWrite if is_slow => 190.0 + near,
            Measure::Write | Measure::GpuWrite => 388.0 + near,
        })
    }

    fn met(&self, meetings: &[Meeting], is_again: bool) -> Vec<Trial> {
        let mut trials = Vec::new();
        for meeting in meetings {
            let (one, other) = meeting.hosts;
            for rail in &meeting.rails {
                let number: usize = rail.trim_start_matches("mlx5_").parse().unwrap();
                let tests = [
                    (one, other, Measure::Write),
                    (other, one, Measure::Write),
                    (one, other, Measure::Latency),
                ];
                for (from, to, measure) in tests {
                    let result = self.result((from, to, number, measure), is_again);
                    let is_silent = result.is_err();
                    trials.push(Trial { from, to, rail: rail.clone(), measure, result });
                    if is_silent {
                        break;
                    }
                }
            }
        }
        trials
    }
}

/// All that is said of a tour, in words.
fn said(hosts: usize, rails: usize, is_short: bool, case: &Case<'_>) -> BTreeSet<String> {
    let entrants = entrants(hosts, rails);
    let mut tour = Tour::new(&entrants, is_short);
    let (planned, most) = tour.rounds();
    let mut trials = Vec::new();
    let mut rounds = 0;
    while let Some(meetings) = tour.next_round() {
        rounds += 1;
        let met = case.met(&meetings, false);
        tour.take(&met);
        trials.extend(met);
    }
    assert!(rounds <= planned);
    let first = verdict(&entrants, &trials, &[], &Past::new());
    let mut again = Vec::new();
    for meetings in tour.again(first.suspects.iter().map(|pair| (pair.hosts, pair.rail.as_str()))) {
        rounds += 1;
        again.extend(case.met(&meetings, true));
    }
    assert!(rounds <= most, "{rounds} rounds, {most} were said");
    let last = verdict(&entrants, &trials, &again, &Past::new());
    let mut said = BTreeSet::new();
    for judged in last.judged.iter().filter(|judged| judged.finding.is_some()) {
        said.insert(format!("{} {}", judged.host.trim_start_matches('h'), judged.figure.name));
    }
    for (host, finding) in &last.silent {
        let host = host.trim_start_matches('h');
        if let Some((_, other)) =
            finding.text.split_once(" gave no figure with h").filter(|_| finding.text.contains("nobody else"))
        {
            let other = other.split(' ').next().unwrap();
            let (one, other): (usize, usize) = (host.parse().unwrap(), other.parse().unwrap());
            said.insert(format!("either {}-{}", one.min(other), one.max(other)));
        } else {
            said.insert(format!("{host} silent"));
        }
    }
    for pair in &last.suspects {
        said.insert(format!("between {}-{}", pair.hosts.0, pair.hosts.1));
    }
    let is_left = |pair: &&Suspect| !last.suspects.iter().any(|last| last.hosts == pair.hosts);
    for pair in first.suspects.iter().filter(is_left) {
        said.insert(format!("once {}-{}", pair.hosts.0, pair.hosts.1));
    }
    said
}

#[test]
fn the_port_is_named_and_nobody_else() {
    let mut number = 0;
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        number += 1;
        let [size, faults, wanted] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let mut size = size.split(' ');
        let mut next = || size.next().unwrap().parse::<usize>().unwrap();
        let (hosts, rails) = (next(), next());
        let is_short = size.next() == Some("short");
        let faults = faults.split(',').filter_map(|fault| fault.trim().split_once(' ')).collect();
        let wanted: BTreeSet<String> =
            wanted.split(',').map(|text| text.trim().to_owned()).filter(|text| text != "nothing").collect();
        assert_eq!(said(hosts, rails, is_short, &Case { faults }), wanted, "{line}");
    }
    assert!(number > 12, "{number}");
}

#[test]
fn a_host_that_keeps_silent_is_not_asked_by_everybody() {
    let entrants = entrants(16, 8);
    let case = Case { faults: vec![("dead", "5")] };
    let mut tour = Tour::new(&entrants, false);
    let mut asked = 0;
    while let Some(meetings) = tour.next_round() {
        asked += meetings.iter().filter(|pair| pair.hosts.0 == 5 || pair.hosts.1 == 5).count();
        tour.take(&case.met(&meetings, false));
    }
    assert_eq!((asked, tour.out()), (2, BTreeSet::from([5])));
}

#[test]
fn the_inventory_has_the_last_word() {
    let mut entrants = entrants(4, 1);
    let case = Case { faults: vec![("slow", "2")] };
    let trials = |entrants: &[Entrant]| {
        let mut tour = Tour::new(entrants, false);
        let mut trials = Vec::new();
        while let Some(meetings) = tour.next_round() {
            trials.extend(case.met(&meetings, false));
        }
        trials
    };
    let trials = trials(&entrants);
    let text = |entrants: &[Entrant]| {
        let found = verdict(entrants, &trials, &[], &Past::new());
        let texts = found.judged.into_iter().filter_map(|judged| judged.finding).map(|finding| finding.text);
        texts.collect::<Vec<String>>()
    };
    let texts = text(&entrants);
    assert!(
        texts[0].starts_with("mlx5_0 port 1 (nic h2 mlx5_0, 0000:00:00.0) reached 19")
            && texts[0].contains(
                "Gb/s in write.in: 360 is the least for a port at 400 Gb/s (90 % of the 400 Gb/s of the link)"
            ),
        "{texts:?}"
    );
    let declared = crate::inventory::expect::ExpectActive { ib_write_bw: Some(150), ..Default::default() };
    let own = crate::inventory::expect::ExpectAccept { behind_fleet: Some(100), ..Default::default() };
    for entrant in &mut entrants {
        entrant.limits = limits(Some(&declared), Some(&own));
    }
    assert_eq!(text(&entrants), Vec::<String>::new());
}

#[test]
fn what_is_between_two_ports_is_in_the_record_with_both_ends() {
    let entrants = entrants(4, 2);
    let case = Case { faults: vec![("cut", "0-3")] };
    let mut tour = Tour::new(&entrants, false);
    let mut trials = Vec::new();
    while let Some(meetings) = tour.next_round() {
        trials.extend(case.met(&meetings, false));
    }
    let found = verdict(&entrants, &trials, &[], &Past::new());
    assert_eq!(
        found.suspects[0].text,
        "h0 mlx5_0 port 1 to h3 mlx5_0 port 1 gave no figure in write: it printed no result, after 50 s"
    );
    let pair = found.pairs.iter().find(|pair| pair.from == "h0" && pair.to == "h3").unwrap();
    assert_eq!((pair.from_port.as_str(), pair.to_port.as_str()), ("mlx5_0/1", "mlx5_0/1"));
    assert_eq!(
        (pair.value, pair.holds, pair.said.as_str()),
        (0.0, Some(false), "it printed no result, after 50 s")
    );
    // Of the others each figure is there: both ways and the latency.
    assert_eq!(found.pairs.iter().filter(|pair| pair.said.is_empty()).count(), 5 * 2 * 3);
    assert!(found.pairs.iter().filter(|pair| pair.said.is_empty()).all(|pair| pair.holds == Some(true)));
}

/// The whole of it over the transport: one host is slow, one hangs on each test, a counter rises, and it ends within the
/// time that was said.
#[tokio::test(start_paused = true)]
async fn hosts_are_tested_within_the_time_that_was_said() {
    let tests: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let seen = tests.clone();
    let played = fleet(5, 1, move |asked: &Asked<'_>| {
        *seen.lock().unwrap().entry(asked.host.to_owned()).or_default() += 1;
        let hosts = [Some(asked.host), asked.server];
        if hosts.contains(&Some("h4")) {
            return None;
        }
        let is_slow = hosts.contains(&Some("h2"));
        Some(match (asked.is_latency, is_slow) {
            (true, _) => 2.31,
            (false, true) => 92.1,
            (false, false) => 391.0,
        })
    })
    .await;
    let names: Vec<Placed> = on_leaves(5, 8);
    let entrants: Vec<Entrant> = names
        .into_iter()
        .enumerate()
        .map(|(at, placed)| Entrant::new(placed, played.ports(at).unwrap(), None, limits(None, None)))
        .collect();
    assert_eq!(entrants[0].ports["mlx5_0"], Port { pci: "0000:00:00.0".to_owned(), ..port(0) });
    let mut tour = Tour::new(&entrants, false);
    let began = tokio::time::Instant::now();
    let (mut trials, mut rounds) = (Vec::new(), Vec::new());
    while let Some(meetings) = tour.next_round() {
        let met = played.meet(&meetings).await;
        assert_eq!(met.uncounted, Vec::<usize>::new());
        tour.take(&met.trials);
        trials.extend(met.trials);
        rounds.push((meetings, met.grown));
    }
    let (_, longest) = seconds(1);
    let bound = Duration::from_secs(longest) * u32::try_from(tour.rounds().0).unwrap();
    assert!(began.elapsed() <= bound, "{:?} of {bound:?}", began.elapsed());
    assert!(began.elapsed() >= Duration::from_mins(3), "it hung twice: {:?}", began.elapsed());
    let found = verdict(&entrants, &trials, &[], &Past::new());
    let slow: BTreeSet<&str> = found
        .judged
        .iter()
        .filter(|judged| judged.finding.is_some())
        .map(|judged| judged.host.as_str())
        .collect();
    assert_eq!(slow, BTreeSet::from(["h2"]));
    let silent: Vec<(&str, &str)> =
        found.silent.iter().map(|(host, finding)| (host.as_str(), finding.text.as_str())).collect();
    assert!(
        matches!(silent[..], [("h4", text)] if text.starts_with("mlx5_0 port 1 gave no figure with") || text.starts_with("h4 mlx5_0 port 1 gave no figure with")),
        "{silent:?}"
    );
    assert!(found.suspects.is_empty(), "{:?}", found.suspects);
    // Each test of two sides, and of the host that hangs two tests alone.
    assert_eq!(tests.lock().unwrap()["h4"], 2);
    let (findings, notes) = counted(&entrants, &rounds);
    assert!(
        notes.iter().any(|note| note.starts_with("h1: symbol_error of mlx5_0 port 1 rose by ")),
        "{notes:?}"
    );
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn a_device_whose_name_no_other_host_has_is_told() {
    let mut entrants = entrants(4, 2);
    let named = |names: &[&str]| -> BTreeMap<String, Port> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), Port { device: (*name).to_owned(), ..port(0) }))
            .collect()
    };
    entrants[1].ports = named(&["mlx5_bond_0"]);
    entrants[2].ports = named(&["mlx5_0", "mlx5_9"]);
    entrants[3].ports = BTreeMap::new();
    let mut tour = Tour::new(&entrants, false);
    while tour.next_round().is_some() {}
    let unmet = tour.unmet();
    let told = |host: usize| unmet.get(&host).map(|unmet| (unmet.text(), unmet.is_all));
    let alone =
        |names: &str| format!("{names} was tested with nobody: no other host has a device of that name");
    // The second device of h0 has lost its partners as well.
    assert_eq!(told(0), Some((alone("mlx5_1"), false)));
    assert_eq!(told(1), Some((alone("mlx5_bond_0"), true)));
    assert_eq!(told(2), Some((alone("mlx5_9"), false)));
    assert_eq!(unmet.len(), 3, "a host without a device is told by who asks for devices");

    // Nobody is met before the first round, though all have the same devices.
    let tour = Tour::new(&self::entrants(4, 1), true);
    assert!(tour.unmet().values().all(|unmet| unmet.is_all && unmet.is_shared));
}

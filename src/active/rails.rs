//! Rails against each other: whether the card of one rail reaches that of another.
//!
//! Each rail is tried with the next one, the last with the first, between the hosts that are neighbours in the other
//! tests. Where no host of a round gets through, the rails are networks of their own, and further rounds say the same.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::PairEnded;
use super::member::{Participant, skipped, untold};
use super::pair_test::{Tool, pair_of};
use super::pairs::{Pair, Round, neighbours};
use crate::checks;
use crate::checks::active::RAILS;
use crate::events::{CheckResult, CheckStatus, Evidence};
use crate::inventory::expect::Rails;
use crate::secrets::Secrets;

/// The rail of the host that sends, and that of the host that serves.
type Crossing = (String, String);
/// The end of each crossing between two hosts; the first of them serves.
type Trials = BTreeMap<(Crossing, Pair), PairEnded>;

/// Most crossings that a message tells.
const TOLD: usize = 4;

/// Each rail with the next one, the last with the first.
fn crossings(rails: &BTreeSet<String>) -> Vec<Crossing> {
    let rails: Vec<&String> = rails.iter().collect();
    let next = rails.iter().skip(1).chain(rails.first().filter(|_| rails.len() > 2));
    rails.iter().zip(next).map(|(one, other)| ((*one).clone(), (*other).clone())).collect()
}

/// The reason not to try a host; none where it is tried.
fn reason(member: &Participant, is_unfit: bool) -> Option<CheckResult> {
    if let Some(result) = member.left_out(RAILS) {
        return Some(result);
    }
    let rails = match &member.rails {
        Ok(rails) => rails,
        Err(reason) => return Some(untold(RAILS, reason)),
    };
    let tools = ["ib_read_lat", "timeout"];
    if rails.len() < 2 {
        Some(skipped(RAILS, "fewer than two rails"))
    } else if member.thresholds.rails.is_none() && member.keeps_rails {
        Some(skipped(RAILS, "NCCL_CROSS_NIC=0 keeps jobs on their rails"))
    } else if let Some(tool) = tools.into_iter().find(|tool| !member.tools.contains(*tool)) {
        Some(untold(RAILS, &format!("{tool} is not installed")))
    } else {
        is_unfit
            .then(|| skipped(RAILS, "a rail of it fails by itself: see active.rping and active.ib_write_bw"))
    }
}

/// Tries rails against each other; `unfit` are hosts whose rails do not work by themselves.
pub(super) async fn crossed(
    members: &[Participant],
    unfit: &BTreeSet<usize>,
    secrets: &Secrets,
    say: &(dyn Fn(&str) + Send + Sync),
) -> BTreeMap<usize, CheckResult> {
    let left_out = |place: usize, member| Some((place, reason(member, unfit.contains(&place))?));
    let mut all: BTreeMap<usize, CheckResult> =
        members.iter().enumerate().filter_map(|(place, member)| left_out(place, member)).collect();
    let ready: Vec<usize> = (0..members.len()).filter(|place| !all.contains_key(place)).collect();
    let rails = ready.iter().filter_map(|place| members.get(*place)).flat_map(Participant::rails);
    let mut trials = Trials::new();
    for crossing in crossings(&rails.cloned().collect()) {
        for round in rounds(&crossing, &ready, members) {
            say(&format!("{} to {}: {} pairs", crossing.0, crossing.1, round.len()));
            let ended = tried(&crossing, &round, members, secrets).await;
            let is_apart = ended.values().all(Result::is_err);
            trials.extend(ended);
            if is_apart {
                break;
            }
        }
    }
    for place in ready {
        let member = members.get(place);
        let wanted = member.and_then(|member| member.thresholds.rails);
        let told = judged(place, wanted, &trials, members);
        all.insert(place, told.unwrap_or_else(|| skipped(RAILS, "no other host to test it with")));
    }
    all
}

/// Rounds of hosts that have both rails.
fn rounds(crossing: &Crossing, ready: &[usize], members: &[Participant]) -> Vec<Round> {
    let has =
        |place: &usize, rail: &str| members.get(*place).is_some_and(|member| member.end(rail).is_some());
    let on: Vec<usize> =
        ready.iter().copied().filter(|place| has(place, &crossing.0) && has(place, &crossing.1)).collect();
    let place = |at: usize| on.get(at).copied().unwrap_or_default();
    let placed = |round: Round| round.into_iter().map(|(one, other)| (place(one), place(other))).collect();
    neighbours(on.len()).into_iter().map(placed).collect()
}

/// One crossing between the pairs of a round, all at the same time.
async fn tried(crossing: &Crossing, round: &Round, members: &[Participant], secrets: &Secrets) -> Trials {
    let tests = round.iter().map(|pair| async move {
        let ended = match members.get(pair.0).zip(members.get(pair.1)) {
            Some(sides) => {
                let rails = (crossing.1.as_str(), crossing.0.as_str());
                pair_of(Tool::Reach, rails, sides, secrets, &mut None).await
            }
            None => Err("no such host".to_owned()),
        };
        ((crossing.clone(), *pair), ended)
    });
    futures::future::join_all(tests).await.into_iter().collect()
}

/// The verdict on one host; none where it was tried with nobody.
fn judged(
    host: usize,
    wanted: Option<Rails>,
    trials: &Trials,
    members: &[Participant],
) -> Option<CheckResult> {
    let own: Vec<_> = trials.iter().filter(|((_, pair), _)| pair.0 == host || pair.1 == host).collect();
    let apart = wanted == Some(Rails::Apart);
    let wrong: Vec<_> = own.iter().filter(|(_, ended)| ended.is_ok() == apart).collect();
    let name = |place: usize| members.get(place).map_or("?", |member| member.name.as_str());
    let way = |((from, to), (server, client)): &(Crossing, Pair)| {
        (format!("{from} of {}", name(*client)), format!("{to} of {}", name(*server)))
    };
    if own.is_empty() {
        return None;
    }
    if wrong.is_empty() {
        let told = if apart { "they are apart, as declared" } else { "each reaches the next one" };
        return Some(CheckResult { status: CheckStatus::Pass, ..skipped(RAILS, told) });
    }
    let text = |(crossing, ended): &(&(Crossing, Pair), &PairEnded)| {
        let (from, to) = way(crossing);
        match ended {
            Ok(_) => format!("{from} reaches {to}, and the inventory says that rails are apart"),
            Err(why) => format!("{from} does not reach {to}: {why}"),
        }
    };
    let mut told: Vec<String> = wrong.iter().take(TOLD).map(|trial| text(trial)).collect();
    if wrong.len() > TOLD {
        told.push(format!("and {} more", wrong.len() - TOLD));
    }
    let none =
        if wrong.len() == own.len() && !apart && own.len() > 1 { "no rail reaches another: " } else { "" };
    let evidence = wrong.iter().take(8).map(|(crossing, ended)| {
        let (from, to) = way(crossing);
        let line = ended.as_ref().unwrap_or_else(|why| why).clone();
        Evidence { from: format!("ib_read_lat ({from} - {to})"), line }
    });
    Some(CheckResult {
        check: RAILS.to_owned(),
        // Rings stay on their rail: without a word of the site it is not known whether anything crosses.
        status: if wanted.is_some() { CheckStatus::Fail } else { CheckStatus::Warn },
        message: format!("{none}{}", told.join("; ")),
        evidence: evidence.collect(),
        hint: Some(checks::hint(RAILS).to_owned()),
        because: None,
        acknowledged: None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;

    use super::super::member::RailEnd;
    use super::*;
    use crate::inventory::expect::ExpectActive;
    use crate::transport::{Arg, Frame, OnPart, PartEnd, Remote, TransportError};

    const TABLE: &str = include_str!("../../tests/cases/active/ib_read_lat-rxe.txt");
    /// perftest 4.5, `ctx_connect()`.
    const REFUSED: &str = "Failed to modify QP 72 to RTR\n Unable to Connect the HCA's through the link\n";

    /// Cards that do not reach each other: the device that sends, and the rail in the address that it sends to.
    type Cut = fn(&str, &str) -> bool;

    /// A host on which `ib_read_lat` says what a fabric lets it.
    struct Played(Cut, Arc<Mutex<usize>>);

    #[async_trait]
    impl Remote for Played {
        async fn run(&mut self, frame: &Frame, on_part: OnPart<'_>) -> Result<(), TransportError> {
            let args = &frame.parts[0].script.args;
            let word = |at: usize| if let Arg::Word(word) = &args[at] { word.as_str() } else { "" };
            assert_eq!((word(4), word(5)), ("latency", "4"));
            let mut output = TABLE;
            if args.len() > 6 {
                *self.1.lock().unwrap() += 1;
                // 10.RAIL.0.HOST
                let rail = word(6).split('.').nth(1).unwrap();
                if (self.0)(word(1), rail) {
                    output = REFUSED;
                }
            }
            on_part(PartEnd { index: 0, status: 0, output: output.into(), gap: None });
            Ok(())
        }
        async fn revive(&mut self) -> Result<(), TransportError> {
            Ok(())
        }
        async fn stream(
            &mut self,
            _: &str,
            _: &mut (dyn tokio::io::AsyncRead + Send + Unpin),
        ) -> Result<(), TransportError> {
            Ok(())
        }
        async fn close(&mut self) {}
    }

    fn member(host: usize, rails: usize, cut: Cut, tries: &Arc<Mutex<usize>>) -> Participant {
        let end = |rail: usize| RailEnd::played(rail, format!("10.{rail}.0.{host}"));
        Participant {
            name: format!("gpu{host}"),
            hostname: format!("gpu{host}"),
            fabric: None,
            rails: Ok((0..rails).map(|rail| (format!("mlx5_{rail}"), end(rail))).collect()),
            gpus: Ok(Vec::new()),
            tools: ["ib_read_lat", "timeout"].map(str::to_owned).into(),
            software: None,
            expect: crate::inventory::expect::ExpectSoftware::default(),
            thresholds: ExpectActive::default(),
            keeps_rails: false,
            gdr: None,
            ignore: Vec::new(),
            remote: tokio::sync::Mutex::new(Box::new(Played(cut, tries.clone()))),
        }
    }

    async fn told(members: &[Participant]) -> Vec<CheckResult> {
        crossed(members, &BTreeSet::new(), &Secrets::default(), &|_| {}).await.into_values().collect()
    }

    #[tokio::test]
    async fn rails_that_do_not_reach_each_other_are_named_with_their_hosts() {
        use CheckStatus::{Fail, Pass, Skip, Warn};
        let tries = Arc::new(Mutex::new(0));
        let all = |cut: Cut, wanted: Option<Rails>| {
            let mut members: Vec<Participant> = (0..4).map(|host| member(host, 4, cut, &tries)).collect();
            for member in &mut members {
                member.thresholds.rails = wanted;
            }
            members
        };
        let reached: Cut = |_, _| false;
        let apart: Cut = |device, rail| device != format!("mlx5_{rail}");
        let one_cut: Cut = |device, rail| (device, rail) == ("mlx5_1", "2");
        for (cut, wanted, status, says) in [
            (reached, None, Pass, "each reaches the next one"),
            (reached, Some(Rails::Together), Pass, "each reaches the next one"),
            (reached, Some(Rails::Apart), Fail, "mlx5_0 of gpu1 reaches mlx5_1 of gpu0, and"),
            (apart, Some(Rails::Apart), Pass, "they are apart, as declared"),
            (
                apart,
                None,
                Warn,
                "no rail reaches another: mlx5_0 of gpu1 does not reach mlx5_1 of gpu0: Failed to modify QP",
            ),
            (apart, Some(Rails::Together), Fail, "no rail reaches another: "),
            (
                one_cut,
                None,
                Warn,
                "mlx5_1 of gpu1 does not reach mlx5_2 of gpu0: Failed to modify QP 72 to RTR",
            ),
        ] {
            let results = told(&all(cut, wanted)).await;
            assert_eq!(results.len(), 4);
            for result in &results {
                assert_eq!(result.status, status, "{result:?}");
                assert_eq!(result.hint.is_some(), status != Pass, "{result:?}");
            }
            assert!(results[0].message.starts_with(says), "{says}: {}", results[0].message);
            assert!(status == Pass || results[0].evidence[0].from.starts_with("ib_read_lat (mlx5_"));
        }
        // Where jobs keep to their rails, nothing is tried.
        *tries.lock().unwrap() = 0;
        let mut members = all(apart, None);
        for member in &mut members {
            member.keeps_rails = true;
        }
        assert!(told(&members).await.iter().all(|result| result.status == Skip));
        assert_eq!(*tries.lock().unwrap(), 0);
    }

    #[tokio::test]
    async fn rails_apart_take_one_round_of_hosts() {
        let count = async |cut: Cut| {
            let tries = Arc::new(Mutex::new(0));
            let members: Vec<Participant> = (0..6).map(|host| member(host, 3, cut, &tries)).collect();
            told(&members).await;
            *tries.lock().unwrap()
        };
        assert_eq!(count(|_, _| false).await, 3 * 6);
        assert_eq!(count(|device, rail| device != format!("mlx5_{rail}")).await, 3 * 3);
    }

    #[tokio::test]
    async fn a_host_that_cannot_be_tried_says_why() {
        let tries = Arc::new(Mutex::new(0));
        let mut members: Vec<Participant> =
            (0..4).map(|host| member(host, 2, |_, _| false, &tries)).collect();
        members[0].rails.as_mut().unwrap().pop_last();
        members[1].tools.remove("ib_read_lat");
        members[2].ignore = vec![RAILS.to_owned()];
        let results = told(&members).await;
        let said: Vec<&str> = results.iter().map(|result| result.message.as_str()).collect();
        assert_eq!(
            said,
            [
                "fewer than two rails",
                "ib_read_lat is not installed",
                checks::LEFT_OUT,
                "no other host to test it with"
            ]
        );
        let unfit = BTreeSet::from([3]);
        let results = crossed(&members, &unfit, &Secrets::default(), &|_| {}).await;
        assert!(results[&3].message.starts_with("a rail of it fails by itself"), "{results:?}");
    }

    /// NCCL 2.27 on a fabric whose rails are networks of their own, with other names.
    #[test]
    fn what_nccl_says_of_it_is_known() {
        let hint = |line: &str| {
            let evidence =
                vec![Evidence { from: "all_reduce_perf on gpu0".to_owned(), line: line.to_owned() }];
            super::super::nccl::explained(CheckResult {
                evidence,
                ..untold("active.all_reduce", "it failed")
            })
            .hint
        };
        let warn = "gpu0:81:99 [5] ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with";
        let no_way = hint(&format!(
            "{warn} 110 Connection timed out, on dev mlx5_3:1, curr state INIT, next state RTR"
        ));
        assert!(no_way.unwrap().contains("`active.rails`"));
        let other =
            hint(&format!("{warn} 22 Invalid argument, on dev mlx5_3:1, curr state INIT, next state RTR"));
        assert_eq!(other, None);
    }

    #[test]
    fn each_rail_meets_the_next() {
        let of = |rails: &[&str]| {
            crossings(&rails.iter().map(|rail| (*rail).to_owned()).collect())
                .into_iter()
                .map(|(one, other)| format!("{one}{other}"))
                .collect::<Vec<String>>()
        };
        assert_eq!(of(&["a", "b", "c"]), ["ab", "bc", "ca"]);
        assert_eq!(of(&["a", "b"]), ["ab"]);
        assert!(of(&["a"]).is_empty() && of(&[]).is_empty());
    }
}

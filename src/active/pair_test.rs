//! A test of one pair: what is run on its two sides, and whether that is enough.

use std::collections::BTreeMap;
use std::time::Duration;

use super::judge::PairEnded;
use super::member::{LIMIT, Participant, RailEnd, said, skipped};
use super::perftest::{self, Way};
use super::rping;
use crate::checks::active::{BANDWIDTH, BOTH_WAYS, GPU_BANDWIDTH, LATENCY, RAILS, RPING};
use crate::events::CheckResult;
use crate::secrets::Secrets;
use crate::shell;
use crate::transport::Script;

/// Pings of one test.
const PINGS: usize = 5;
/// Seconds that one bandwidth test sends.
pub(super) const SECONDS: u64 = 3;
/// Longest time for one test with all that may go wrong.
pub(super) const DEADLINE: Duration = Duration::from_secs(90);
/// A test between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Rping,
    Bandwidth(Way),
    Latency,
    /// Whether a read arrives at all.
    Reach,
}

impl Tool {
    pub(super) fn check(self) -> &'static str {
        match self {
            Self::Rping => RPING,
            Self::Bandwidth(Way::One) => BANDWIDTH,
            Self::Bandwidth(Way::Both) => BOTH_WAYS,
            Self::Bandwidth(Way::Gpu) => GPU_BANDWIDTH,
            Self::Latency => LATENCY,
            Self::Reach => RAILS,
        }
    }

    /// As people would type it.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Rping => "rping",
            Self::Bandwidth(Way::One) => "ib_write_bw",
            Self::Bandwidth(Way::Both) => "ib_write_bw -b",
            Self::Bandwidth(Way::Gpu) => "ib_write_bw --use_cuda",
            Self::Latency | Self::Reach => "ib_read_lat",
        }
    }

    /// Returns the threshold that the inventory declares for a host.
    pub(super) fn declared(self, member: &Participant) -> Option<f64> {
        let thresholds = &member.thresholds;
        let declared = match self {
            Self::Rping | Self::Reach => None,
            Self::Bandwidth(Way::One) => thresholds.ib_write_bw,
            Self::Bandwidth(Way::Both) => thresholds.ib_write_bw_both,
            Self::Bandwidth(Way::Gpu) => thresholds.gpu_write_bw,
            Self::Latency => thresholds.ib_read_lat,
        };
        declared.map(f64::from)
    }

    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Rping => "rping",
            Self::Bandwidth(_) => "ib_write_bw",
            Self::Latency | Self::Reach => "ib_read_lat",
        }
    }

    /// Whether its number differs from site to site, so that missing an undeclared threshold only warns.
    pub(super) fn only_warns(self) -> bool {
        matches!(self, Self::Bandwidth(Way::Both | Way::Gpu) | Self::Latency)
    }
}

/// Returns the reason why a host does not take part in a test from GPU to GPU.
pub(super) fn without_gpu(test: Tool, member: &Participant) -> Option<CheckResult> {
    if test != Tool::Bandwidth(Way::Gpu) {
        return None;
    }
    let has_gpus = member.gpus.as_ref().is_ok_and(|gpus| !gpus.is_empty());
    let why = match member.idle_gpus() {
        _ if has_gpus && member.gdr == Some(false) => "`expect.rdma.gdr` is false".to_owned(),
        Err(why) => why,
        Ok(_) if member.rails.iter().flat_map(BTreeMap::values).all(|end| end.gpu.is_none()) => {
            "no RDMA device has a GPU under its PCIe switch".to_owned()
        }
        Ok(_) if member.tools.contains("ib_write_bw") && !member.tools.contains("use_cuda") => {
            "its `ib_write_bw` cannot use GPU memory: build perftest with CUDA, and load nvidia_peermem or build it with DMA-BUF".to_owned()
        }
        Ok(_) => return None,
    };
    Some(skipped(GPU_BANDWIDTH, &why))
}

/// Tests one pair on these rails of its sides; what it measures goes into `figure`.
pub(super) async fn pair_of(
    test: Tool,
    rails: (&str, &str),
    (server, client): (&Participant, &Participant),
    secrets: &Secrets,
    figure: &mut Option<f64>,
) -> PairEnded {
    let (Some(here), Some(there)) = (server.end(rails.0), client.end(rails.1)) else {
        return Err("the rail is gone".to_owned());
    };
    let (serve, send) = match test {
        Tool::Rping => {
            let args = [here.address.clone(), PINGS.to_string()];
            (
                Script::new(shell!("active/rping_server.sh")).args(args.clone()),
                Script::new(shell!("active/rping_client.sh")).args(args),
            )
        }
        Tool::Bandwidth(_) | Tool::Latency | Tool::Reach => {
            // That of the server is where both sides meet.
            let family = if here.meet.contains(':') { "6" } else { "4" };
            let script = |end: &RailEnd| {
                let gid = end.gid.map(|gid| gid.to_string()).unwrap_or_default();
                let way = match (test, end.gpu) {
                    (Tool::Latency | Tool::Reach, _) => "latency".to_owned(),
                    (Tool::Bandwidth(Way::Gpu), Some(gpu)) => gpu.to_string(),
                    (Tool::Bandwidth(Way::Both), _) => "both".to_owned(),
                    (Tool::Bandwidth(Way::One | Way::Gpu) | Tool::Rping, _) => "one".to_owned(),
                };
                let args = [SECONDS.to_string(), end.device.clone(), end.port.to_string(), gid, way];
                Script::new(shell!("active/perftest.sh")).args(args).arg(family)
            };
            (script(here), script(there).arg(here.meet.clone()))
        }
    };
    let (served, sent) = futures::join!(
        said(server, serve, DEADLINE, LIMIT, secrets),
        said(client, send, DEADLINE, LIMIT, secrets)
    );
    let text = sent?;
    // Where the client says nothing of use, the server may.
    let or_server = |error: String| {
        let said = match (&served, test) {
            (Err(reason), _) => Some(reason.clone()),
            (Ok(text), Tool::Bandwidth(_) | Tool::Latency | Tool::Reach) => perftest::trouble(text),
            (Ok(_), Tool::Rping) => None,
        };
        said.map_or(error.clone(), |said| format!("{error}; {}: {said}", server.name))
    };
    match test {
        Tool::Rping => rping::client(&text, PINGS).map(|()| format!("{PINGS} pings")).map_err(or_server),
        Tool::Bandwidth(way) => {
            let seen = perftest::bandwidth(&text).map_err(or_server)?;
            *figure = Some(seen.average_gbps);
            let told = format!("{:.1} Gb/s", seen.average_gbps);
            let rate = here.rate.zip(there.rate).map(|(one, other)| one.min(other));
            let declared = [client, server].iter().filter_map(|end| test.declared(end)).reduce(f64::min);
            match (declared, rate) {
                (Some(wanted), _) if seen.average_gbps < wanted => {
                    Err(format!("{told}, at least {wanted} expected"))
                }
                (None, Some(rate)) if seen.average_gbps < perftest::threshold(way, rate) => Err(format!(
                    "{told} over a link of {rate} Gb/s, at least {:.0} expected",
                    perftest::threshold(way, rate)
                )),
                _ => Ok(told),
            }
        }
        Tool::Reach => perftest::latency(&text).map(|took| format!("{took:.1} µs")).map_err(or_server),
        Tool::Latency => {
            let took = perftest::latency(&text).map_err(or_server)?;
            *figure = Some(took);
            let declared = [client, server].iter().filter_map(|end| test.declared(end)).reduce(f64::max);
            let known = (here.fast && there.fast).then_some(perftest::LATENCY_US);
            match declared.or(known) {
                Some(most) if took > most => Err(format!("{took:.1} µs, at most {most} expected")),
                _ => Ok(format!("{took:.1} µs")),
            }
        }
    }
}

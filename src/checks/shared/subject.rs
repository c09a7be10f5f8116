//! One host as checks see it.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::baseline::Baseline;
use super::compare::Comparison;
use super::verdict::Verdict;
use crate::facts::base::network::mtu;
use crate::facts::clock::{Offset, OffsetQuery};
use crate::facts::driver::{Driver, DriverQuery, Loaded};
use crate::facts::driver_upkeep::{Peermem, Upkeep, UpkeepQuery};
use crate::facts::fabric::{Fabric, FabricQuery};
use crate::facts::firewall::{Firewall, FirewallQuery};
use crate::facts::log::{Log, LogQuery};
use crate::facts::login::{LoginFacts, LoginQuery};
use crate::facts::next_boot::{NextBoot, NextBootQuery};
use crate::facts::nvidia::{Gpu, Nvidia, NvidiaQuery, Smi};
use crate::facts::rdma::{Device, Rdma, RdmaQuery};
use crate::facts::software::{Software, SoftwareQuery};
use crate::facts::system::{System, SystemQuery};
use crate::facts::view::{View, ViewQuery};
use crate::facts::{Facts, Gap, GapKind, Known, Question, Seen};
use crate::inventory::expect::{Expect, ExpectDriver, ExpectGpu, ExpectNetwork, ExpectRdma, ExpectSystem};
use crate::inventory::host::is_compute;
use crate::inventory::{Host, Promises};

/// The view of a host behind a launcher, and that of a new login to compare it with.
#[derive(Debug)]
pub struct JobView {
    /// The command line that started it.
    pub launcher: String,
    /// View of a new login.
    pub login: Seen<View>,
    /// View of the job.
    pub view: Seen<View>,
    /// Answers of the probes in the job, or the reason why there are none.
    pub facts: Result<Facts, String>,
}

impl JobView {
    /// With what was answered in both, or why there was no answer.
    pub fn new(launcher: String, login: Result<&Facts, &str>, job: Result<&Facts, &str>) -> Self {
        let view = |facts: Result<&Facts, &str>| match facts.map(|facts| facts.get(&ViewQuery)) {
            Ok(Known::Answer(view)) => view.clone(),
            Ok(Known::Unknown(reason) | Known::Unreadable(reason)) | Err(reason) => {
                Err(Gap::new(GapKind::Hung, "view", reason))
            }
            Ok(Known::NoUser(_) | Known::NotAsked) => {
                Err(Gap::new(GapKind::Failed, "view", "the host was not asked"))
            }
        };
        Self { launcher, login: view(login), view: view(job), facts: job.cloned().map_err(str::to_owned) }
    }
}

/// One host as checks see it.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The host as the inventory has it.
    pub host: &'a Host,
    /// Declared expectations: by `expect:`, else by tasks.
    pub expect: Expect,
    /// The basic facts.
    pub facts: Json,
    /// Tasks of the inventory that need no change on it.
    pub proven_tasks: u64,
    /// Tasks of the inventory that are to change, failed or are blocked on it.
    pub open_tasks: u64,
    /// The other hosts of the run.
    pub fleet: Option<std::sync::Arc<Comparison>>,
    /// Counters at the last `verify`.
    pub baseline: Option<&'a Baseline>,
    /// The view behind a launcher.
    pub job: Option<&'a JobView>,
    answers: &'a Facts,
    promises: Option<&'a Promises>,
}

impl<'a> Subject<'a> {
    /// A host with what is known of it.
    ///
    /// # Errors
    /// When its `expect:` cannot be read, which validation of the inventory finds first.
    pub fn new(host: &'a Host, answers: &'a Facts, proven_tasks: u64) -> Result<Self, serde_json::Error> {
        let expect = if host.expect.is_null() {
            Expect::default()
        } else {
            serde_json::from_value(host.expect.clone())?
        };
        let facts = answers.view();
        Ok(Self {
            host,
            expect,
            facts,
            proven_tasks,
            open_tasks: 0,
            baseline: None,
            job: None,
            fleet: None,
            answers,
            promises: None,
        })
    }

    /// The same host as a job sees it; `None` where no job started.
    pub fn in_job(&self) -> Option<Self> {
        let answers = self.job?.facts.as_ref().ok()?;
        Some(Self {
            host: self.host,
            expect: self.expect.clone(),
            facts: answers.view(),
            proven_tasks: 0,
            open_tasks: 0,
            fleet: None,
            baseline: None,
            job: None,
            answers,
            promises: self.promises,
        })
    }

    /// The same with what its tasks promise, where `expect:` says nothing.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn promised(mut self, promises: &'a Promises) -> Result<Self, serde_json::Error> {
        if !promises.is_empty() {
            self.expect = serde_json::from_value(promises.complete(&self.host.expect))?;
            self.promises = Some(promises);
        }
        Ok(self)
    }

    /// Returns the value that tasks promise for a network link; `expect:` and `nics:` take precedence.
    pub fn promised_of<T: serde::de::DeserializeOwned>(&self, key: &str, link: &str) -> Option<T> {
        serde_json::from_value(self.promises?.of_link(key, link)?.clone()).ok()
    }

    /// Whether a key below `expect:` is filled in by the tasks, not by the inventory itself.
    pub fn is_promised(&self, key: &str) -> bool {
        let pointer = format!("/{}", key.replace('.', "/"));
        self.host.expect.pointer(&pointer).is_none_or(Json::is_null)
            && self.promises.is_some_and(|promises| promises.of_host(key).is_some())
    }

    /// Explains where the expectations of some keys come from, in a sentence for each.
    pub fn origins(&self, keys: &[&str]) -> Vec<String> {
        let none = Promises::default();
        let promises = self.promises.unwrap_or(&none);
        let origins = |key: &&str| {
            self.of_nics(key).into_iter().chain(promises.origins(key, &self.host.expect)).collect::<Vec<_>>()
        };
        keys.iter().flat_map(origins).collect()
    }

    /// Explains the value that `nics:` gives a key, which takes precedence for these cards over anything
    /// else.
    fn of_nics(&self, key: &str) -> Option<String> {
        let field = match key {
            "network.mtu" => "mtu",
            "rdma.rate_gbps" => "rate_gbps",
            _ => return None,
        };
        let nics = self.host.nics.as_array().into_iter().flatten();
        let values: BTreeSet<String> =
            nics.filter_map(|nic| Some(nic.get(field)?.as_u64()?.to_string())).collect();
        let values = values.into_iter().collect::<Vec<_>>().join(", ");
        (!values.is_empty()).then(|| format!("{key} {values}: by `{field}` of nics in the inventory"))
    }

    /// Returns the reason why nothing is expected of some keys although tasks promise something.
    pub fn at_odds(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.promises?.at_odds(key))
    }

    /// Returns the declared expectations of GPUs.
    pub fn expect_gpu(&self) -> ExpectGpu {
        self.expect.gpu.clone().unwrap_or_default()
    }

    /// Returns the declared expectations of RDMA devices.
    pub fn expect_rdma(&self) -> ExpectRdma {
        self.expect.rdma.clone().unwrap_or_default()
    }

    /// Returns the declared expectations of networks.
    pub fn expect_network(&self) -> ExpectNetwork {
        self.expect.network.clone().unwrap_or_default()
    }

    /// Returns the host's answer to a question, or the gap that stands in its place.
    fn answer<Q: Question>(&self, question: &Q) -> Result<&'a Q::Answer, Gap> {
        let gap = |kind, reason: &str| Err(Gap::new(kind, &question.label(), reason));
        match self.answers.get(question) {
            Known::Answer(answer) => Ok(answer),
            Known::Unknown(reason) => gap(GapKind::Hung, reason),
            Known::Unreadable(reason) => gap(GapKind::Failed, reason),
            Known::NoUser(_) | Known::NotAsked => gap(GapKind::Failed, "the host was not asked"),
        }
    }

    /// Returns the answers of `nvidia-smi` and the driver.
    pub fn nvidia(&self) -> Result<&'a Nvidia, Gap> {
        self.answer(&NvidiaQuery)
    }

    /// Returns the state of RDMA in sysfs.
    pub fn rdma(&self) -> Result<&'a Rdma, Gap> {
        self.answer(&RdmaQuery)
    }

    /// The driver in its layers.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn driver(&self) -> Result<&'a Driver, Verdict> {
        self.answer(&DriverQuery { whole: false }).map_err(|gap| Verdict::gap(&gap, None))
    }

    /// The module that is loaded, when one is.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn loaded(&self) -> Result<Option<&'a Loaded>, Verdict> {
        Ok(self.driver()?.loaded.as_ref())
    }

    /// Returns the facts about the driver's surroundings.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn upkeep(&self) -> Result<&'a Upkeep, Verdict> {
        self.answer(&UpkeepQuery).map_err(|gap| Verdict::gap(&gap, None))
    }

    /// Returns the facts about the kernel that boots next.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn next_boot(&self) -> Result<&'a NextBoot, Verdict> {
        self.answer(&NextBootQuery).map_err(|gap| Verdict::gap(&gap, None))
    }

    /// Peer memory.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn peermem(&self) -> Result<&'a Peermem, Verdict> {
        self.seen(Ok(&self.upkeep()?.peermem), None)
    }

    /// Returns the facts about the links between GPUs, cards and the fabric.
    pub fn fabric(&self) -> Result<&'a Fabric, Gap> {
        self.answer(&FabricQuery)
    }

    /// The file and the value of a setting of NCCL that all jobs read; the last one counts.
    pub fn nccl_setting(&self, name: &str) -> Option<(&'a str, &'a str)> {
        let settings = self.fabric().ok()?.settings.as_ref().ok()?;
        let set = settings.nccl.iter().rfind(|(_, seen, _)| seen == name);
        set.map(|(file, _, value)| (file.as_str(), value.as_str()))
    }

    /// The system.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn system(&self) -> Result<&'a System, Verdict> {
        let seen = self.answer(&SystemQuery);
        seen.map_err(|gap| Verdict::gap(&gap, None))
    }

    /// Returns how far its clock is ahead of that of the machine that asks; `None` where that is not known.
    pub fn clock_offset(&self) -> Option<Offset> {
        self.answer(&OffsetQuery).ok().copied()
    }

    /// The firewall.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn firewall(&self) -> Result<&'a Firewall, Verdict> {
        self.answer(&FirewallQuery).map_err(|gap| Verdict::gap(&gap, None))
    }

    /// NCCL, Open MPI and their tests.
    pub fn software(&self) -> Result<&'a Software, Gap> {
        self.answer(&SoftwareQuery)
    }

    /// Returns the limits and settings that a new login of the user gets.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn login(&self) -> Result<&'a LoginFacts, Verdict> {
        let seen = self.answer(&LoginQuery);
        self.seen(seen, None)
    }

    /// Whether it has GPUs or RDMA devices, or should have: what jobs run on.
    ///
    /// # Errors
    /// The verdict on other hosts.
    pub fn is_of_cluster(&self) -> Result<(), Verdict> {
        match (self.has_gpus(), self.devices()) {
            (Ok(()), _) | (_, Ok(_)) => Ok(()),
            (Err(unknown @ Verdict::Unknown { .. }), _) | (_, Err(unknown @ Verdict::Unknown { .. })) => {
                Err(unknown)
            }
            (Err(_), Err(_)) => Err(Verdict::Skip("no GPU and no RDMA device".to_owned())),
        }
    }

    /// Whether what is seen of its system is its own: that of a container belongs to the machine around it, and
    /// counts only where the container stands for a host that jobs run on.
    ///
    /// # Errors
    /// The verdict on other hosts.
    pub fn has_own_system(&self) -> Result<(), Verdict> {
        if self.is_container() { self.is_of_cluster() } else { Ok(()) }
    }

    /// Returns the declared expectations of the system.
    pub fn expect_system(&self) -> ExpectSystem {
        self.expect.system.clone().unwrap_or_default()
    }

    /// The kernel's log.
    ///
    /// # Errors
    /// The verdict when it cannot be read: in a container it is that of the machine around it.
    pub fn log(&self) -> Result<&'a Log, Verdict> {
        let log = self.answer(&LogQuery);
        if self.is_container() && matches!(log, Ok(Err(_))) {
            return Err(Verdict::Skip("in a container the kernel's log cannot be read".to_owned()));
        }
        self.seen(log, None)
    }

    /// Whether it is a container: kernel, modules and clock are those of the machine around it.
    pub fn is_container(&self) -> bool {
        self.facts.pointer("/virtualization/container").and_then(Json::as_bool).unwrap_or(false)
    }

    /// Whether it is a virtual machine: its `PCIe` bridges are not those of the machine.
    pub fn is_guest(&self) -> bool {
        let kind = self.facts.pointer("/virtualization/kind").and_then(Json::as_str);
        kind.is_some_and(|kind| kind != "none") && !self.is_container()
    }

    /// The verdict on what belongs to the kernel, where that is somebody else's.
    ///
    /// # Errors
    /// The verdict in a container.
    pub fn has_own_kernel(&self) -> Result<(), Verdict> {
        if self.is_container() {
            return Err(Verdict::Skip(
                "in a container the kernel belongs to the machine that runs it".to_owned(),
            ));
        }
        Ok(())
    }

    /// A text of the facts.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn fact(&self, path: &str) -> Result<&str, Verdict> {
        let text = self.facts.pointer(path).and_then(Json::as_str).filter(|text| !text.is_empty());
        text.ok_or_else(|| {
            Verdict::unknown(
                "the host gave no answer",
                &format!("facts{}", path.replace('/', ".")),
                "no answer",
            )
        })
    }

    /// The MTU of a link.
    pub fn mtu(&self, link: &str) -> Option<u32> {
        mtu(self.facts.get("network")?, link)
    }

    /// Returns the declared expectations of the driver.
    pub fn expect_driver(&self) -> ExpectDriver {
        self.expect.driver.clone().unwrap_or_default()
    }

    /// GPUs on the PCI bus, whether or not a driver knows them; `None` when the bus is not readable.
    pub fn pci_gpus(&self) -> Option<Vec<(String, String)>> {
        let gpus = self.facts.pointer("/pci/gpus")?.as_array()?;
        let text = |gpu: &Json, key: &str| gpu.get(key).and_then(Json::as_str).unwrap_or("").to_owned();
        let nvidia = gpus.iter().filter(|gpu| text(gpu, "vendor") == "10de");
        Some(nvidia.map(|gpu| (text(gpu, "address"), text(gpu, "model"))).collect())
    }

    /// NVIDIA's GPUs on the PCI bus that have a driver, with its name.
    pub fn gpu_drivers(&self) -> impl Iterator<Item = (&str, &str)> {
        let gpus = self.facts.pointer("/pci/gpus").and_then(Json::as_array).into_iter().flatten();
        let of_nvidia = |gpu: &&Json| gpu.get("vendor").and_then(Json::as_str) == Some("10de");
        gpus.filter(of_nvidia).filter_map(|gpu| {
            let driver = gpu.get("driver")?.as_str().filter(|driver| !driver.is_empty())?;
            Some((gpu.get("address")?.as_str()?, driver))
        })
    }

    /// Whether its GPUs are a board of NVLink 5, whose switches are no PCI devices: HGX B200 and B300. Those of GB200
    /// and GB300 stand elsewhere.
    pub fn is_nvlink5_board(&self) -> bool {
        let gpus = self.pci_gpus().unwrap_or_default();
        gpus.len() >= 4 && gpus.iter().all(|(_, model)| matches!(model.as_str(), "B200" | "B300"))
    }

    /// Whether its GPUs need a fabric manager on this host.
    pub fn needs_fabric_manager(&self) -> bool {
        let switches = self.facts.pointer("/pci/nvswitches").and_then(Json::as_array);
        self.expect_driver().fabric_manager == Some(true)
            || switches.is_some_and(|list| !list.is_empty())
            || self.is_nvlink5_board()
    }

    /// Whether the list of loaded modules is known and has not this one.
    pub fn lacks_module(&self, name: &str) -> bool {
        let loaded = self.facts.pointer("/modules/loaded").and_then(Json::as_array);
        loaded.is_some_and(|list| !list.is_empty() && !list.iter().any(|module| module == name))
    }

    /// Whether accelerators are on the PCI bus that are not of NVIDIA.
    pub fn has_other_accelerators(&self) -> bool {
        let list = |path: &str| self.facts.pointer(path).and_then(Json::as_array);
        let others = |gpu: &&Json| gpu.get("vendor").and_then(Json::as_str) != Some("10de");
        list("/pci/gpus").into_iter().flatten().any(|gpu| others(&gpu))
            || list("/pci/accelerators").is_some_and(|list| !list.is_empty())
    }

    /// Whether it has one GPU and no more should be there.
    pub fn has_one_gpu(&self) -> bool {
        let wanted = self.expect_gpu().count.is_none_or(|count| count == 1);
        // One that fell off the bus is still listed by nvidia-smi.
        wanted
            && self.pci_gpus().is_some_and(|gpus| gpus.len() <= 1)
            && self.gpus().is_ok_and(|gpus| gpus.len() == 1)
    }

    /// Whether the host has GPUs or should have.
    ///
    /// # Errors
    /// The verdict when it has none and none is expected, or nobody can tell.
    pub fn has_gpus(&self) -> Result<(), Verdict> {
        let wanted = self.expect.gpu.as_ref().is_some_and(|gpu| gpu.count != Some(0));
        match self.pci_gpus() {
            _ if wanted => Ok(()),
            Some(gpus) if gpus.is_empty() => Err(Verdict::Skip("no NVIDIA GPU".to_owned())),
            Some(_) => Ok(()),
            None => Err(Verdict::unknown(
                "the PCI bus could not be read",
                "/sys/bus/pci/devices",
                "no list of devices",
            )),
        }
    }

    /// Returns the output of `nvidia-smi -q -x`, when the host has GPUs.
    ///
    /// # Errors
    /// The verdict when there is none.
    pub fn smi(&self) -> Result<&'a Smi, Verdict> {
        self.has_gpus()?;
        self.seen(self.nvidia().map(|nvidia| &nvidia.smi), Some("gpu.answers"))
    }

    /// The GPUs that the driver knows, with a name for messages: `GPU0`.
    ///
    /// # Errors
    /// The verdict when there is none.
    pub fn gpus(&self) -> Result<Vec<(String, &'a Gpu)>, Verdict> {
        let smi = self.smi()?;
        if smi.gpus.is_empty() {
            let line = "attached_gpus 0";
            return Err(Verdict::Unknown {
                message: "the driver lists no GPU".to_owned(),
                evidence: vec![super::verdict::evidence("nvidia-smi -q -x", line)],
                because: Some("gpu.count"),
            });
        }
        Ok(smi.gpus.iter().enumerate().map(|(index, gpu)| (format!("GPU{index}"), gpu)).collect())
    }

    /// Takes what was seen, or the verdict that it was not.
    ///
    /// # Errors
    /// The verdict.
    pub fn seen<T>(
        &self,
        seen: Result<&'a Seen<T>, Gap>,
        because: Option<&'static str>,
    ) -> Result<&'a T, Verdict> {
        match seen {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(gap)) => Err(Verdict::gap(gap, because)),
            Err(gap) => Err(Verdict::gap(&gap, because)),
        }
    }

    /// Whether RDMA devices are declared.
    pub fn wants_rdma(&self) -> bool {
        // Settings that tasks make for cards say nothing of whether there is one.
        let declared = self.host.expect.get("rdma").is_some_and(|rdma| !rdma.is_null());
        (declared || self.is_promised("rdma.devices")) && self.expect_rdma().count != Some(0)
            || self.compute_nics().next().is_some()
    }

    /// Selects the devices that are checked: leaves out those that the inventory ignores, and those through
    /// which the fabric manager reaches the switches of NVLink.
    pub fn checked<'d>(&self, devices: &'d [Device]) -> Vec<&'d Device> {
        let ignored = self.expect_rdma().ignore.unwrap_or_default();
        let counts = |device: &&Device| !device.manages_switch && !ignored.contains(&device.name);
        devices.iter().filter(counts).collect()
    }

    /// The RDMA devices that are checked.
    ///
    /// # Errors
    /// The verdict when there is none and none is expected, or nobody can tell.
    pub fn devices(&self) -> Result<Vec<&'a Device>, Verdict> {
        let all = self.seen(self.rdma().map(|rdma| &rdma.devices), None)?;
        let devices = self.checked(all);
        if !devices.is_empty() {
            return Ok(devices);
        }
        if self.wants_rdma() {
            return Err(Verdict::Unknown {
                message: "the host has no RDMA device".to_owned(),
                evidence: vec![super::verdict::evidence("/sys/class/infiniband", "no device")],
                because: Some("rdma.devices"),
            });
        }
        Err(Verdict::Skip("no RDMA device".to_owned()))
    }

    /// Entries of `nics:` that are not for storage or management.
    pub fn compute_nics(&self) -> impl Iterator<Item = &Json> {
        let nics = self.host.nics.as_array().map(Vec::as_slice).unwrap_or_default();
        nics.iter().filter(|nic| is_compute(nic))
    }

    /// The entry of `nics:` that a device is.
    pub fn nic_of(&self, device: &Device) -> Option<&Json> {
        let nics = self.host.nics.as_array()?;
        nics.iter().find(|nic| device.is(nic))
    }

    /// A number that `nics:` says of a device.
    pub fn nic_number(&self, device: &Device, key: &str) -> Option<u64> {
        self.nic_of(device)?.get(key)?.as_u64()
    }
}

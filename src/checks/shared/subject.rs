//! One host as checks see it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::verdict::Verdict;
use crate::facts::base::Fact;
use crate::facts::base::kernel::Kernel;
use crate::facts::base::modules::Modules;
use crate::facts::base::network::Network;
use crate::facts::base::pci::Pci;
use crate::facts::base::virtualization::Virtualization;
use crate::facts::card_settings::{CardSettings, CardSettingsQuery};
use crate::facts::clock::{Offset, OffsetQuery};
use crate::facts::containers::{self, ContainersQuery};
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
use crate::inventory::expect::{
    Expect, ExpectContainers, ExpectDriver, ExpectGpu, ExpectNetwork, ExpectRdma, ExpectSystem,
};
use crate::inventory::{Declared, Host, Nic, Promises};

/// Counters of one host at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// When.
    pub at: String,
    /// Of which boot: a reboot sets counters to nothing.
    pub boot: String,
    /// `rdma mlx5_0/1 symbol_error` to its value.
    pub counters: BTreeMap<String, u64>,
}

/// Counters of all hosts of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baselines(pub BTreeMap<String, Baseline>);

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
    /// `expect:` of the inventory.
    declared: Declared,
    answers: &'a Facts,
    promises: Option<&'a Promises>,
}

impl<'a> Subject<'a> {
    /// A host with what is known of it.
    pub fn new(host: &'a Host, answers: &'a Facts, proven_tasks: u64) -> Self {
        Self {
            host,
            expect: host.expect.clone(),
            declared: Declared::from(&host.expect),
            proven_tasks,
            open_tasks: 0,
            baseline: None,
            job: None,
            fleet: None,
            answers,
            promises: None,
        }
    }

    /// The same host as a job sees it; `None` where no job started.
    pub fn in_job(&self) -> Option<Self> {
        let answers = self.job?.facts.as_ref().ok()?;
        Some(Self {
            host: self.host,
            expect: self.expect.clone(),
            declared: Declared::from(&self.host.expect),
            proven_tasks: 0,
            open_tasks: 0,
            fleet: None,
            baseline: None,
            job: None,
            answers,
            promises: self.promises,
        })
    }

    /// The same with these expectations in place of those of the inventory and its tasks.
    #[must_use]
    pub fn expecting(&self, expect: Expect) -> Self {
        let mut other = Self::new(self.host, self.answers, 0);
        other.declared = Declared::from(&expect);
        other.expect = expect;
        other
    }

    /// The same with what its tasks promise, where `expect:` says nothing.
    #[must_use]
    pub fn promised(mut self, promises: &'a Promises) -> Self {
        if !promises.is_empty() {
            self.expect = promises.complete(&self.host.expect);
            self.promises = Some(promises);
        }
        self
    }

    /// Returns the value that tasks promise for a network link; `expect:` and `nics:` take precedence.
    pub fn promised_of<T: serde::de::DeserializeOwned>(&self, key: &str, link: &str) -> Option<T> {
        self.promises?.of_link(key, link)
    }

    /// Whether a key below `expect:` is filled in by the tasks, not by the inventory itself.
    pub fn is_promised(&self, key: &str) -> bool {
        self.declared.get(key).is_none() && self.promises.is_some_and(|promises| promises.has(key))
    }

    /// Explains where the expectations of some keys come from, in a sentence for each.
    pub fn origins(&self, keys: &[&str]) -> Vec<String> {
        let none = Promises::default();
        let promises = self.promises.unwrap_or(&none);
        let origins = |key: &&str| {
            self.of_nics(key).into_iter().chain(promises.origins(key, &self.declared)).collect::<Vec<_>>()
        };
        keys.iter().flat_map(origins).collect()
    }

    /// Explains the value that `nics:` gives a key, which takes precedence for these cards over anything
    /// else.
    fn of_nics(&self, key: &str) -> Option<String> {
        let (field, value): (_, fn(&Nic) -> Option<u32>) = match key {
            "network.mtu" => ("mtu", |nic| nic.mtu),
            "rdma.rate_gbps" => ("rate_gbps", |nic| nic.rate_gbps),
            _ => return None,
        };
        let values: BTreeSet<String> =
            self.host.nics.iter().filter_map(value).map(|value| value.to_string()).collect();
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

    /// Runtimes of containers, as files have them.
    ///
    /// # Errors
    /// The verdict when they are not known.
    pub fn container_files(&self) -> Result<&'a containers::Files, Verdict> {
        self.seen(self.answer(&ContainersQuery).map(|seen| &seen.files), None)
    }

    /// Versions of the tools of containers.
    ///
    /// # Errors
    /// The gap where they are not known.
    pub fn containers(&self) -> Result<&'a containers::Containers, Gap> {
        self.answer(&ContainersQuery)
    }

    /// Returns the declared expectations of containers.
    pub fn expect_containers(&self) -> ExpectContainers {
        self.expect.containers.clone().unwrap_or_default()
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

    /// Returns the settings in the firmware of cards.
    pub fn card_settings(&self) -> Result<&'a CardSettings, Gap> {
        self.answer(&CardSettingsQuery)
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
        self.base().is_some_and(|seen: &Virtualization| seen.container)
    }

    /// Whether it is a virtual machine: its `PCIe` bridges are not those of the machine.
    pub fn is_guest(&self) -> bool {
        self.base().is_some_and(Virtualization::is_guest)
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

    /// A basic fact.
    pub fn base<F: Fact>(&self) -> Option<&'a F> {
        self.answers.base()
    }

    /// A text of a basic fact; `name` is what templates call it.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn fact<F: Fact>(&self, name: &str, text: fn(&F) -> &str) -> Result<&'a str, Verdict> {
        let text = self.base().map(text).filter(|text| !text.is_empty());
        text.ok_or_else(|| Verdict::unknown("the host gave no answer", name, "no answer"))
    }

    /// The release of the kernel that runs.
    ///
    /// # Errors
    /// The verdict when it is not known.
    pub fn kernel(&self) -> Result<&'a str, Verdict> {
        self.fact("facts.kernel.release", |kernel: &Kernel| &kernel.release)
    }

    /// The MTU of a link.
    pub fn mtu(&self, link: &str) -> Option<u32> {
        self.base::<Network>()?.mtu(link)
    }

    /// Returns the declared expectations of the driver.
    pub fn expect_driver(&self) -> ExpectDriver {
        self.expect.driver.clone().unwrap_or_default()
    }

    /// GPUs on the PCI bus, whether or not a driver knows them; `None` when the bus is not readable.
    pub fn pci_gpus(&self) -> Option<Vec<(String, String)>> {
        let nvidia = self.base::<Pci>()?.gpus.iter().filter(|gpu| gpu.is_nvidia());
        Some(nvidia.map(|gpu| (gpu.address.clone(), gpu.model.clone())).collect())
    }

    /// The device of a GPU of NVIDIA that is newer than all that are known here.
    pub fn newer_gpu(&self) -> Option<&str> {
        self.base::<Pci>()?.newer_gpu()
    }

    /// NVIDIA's GPUs on the PCI bus that have a driver, with its name.
    pub fn gpu_drivers(&self) -> impl Iterator<Item = (&str, &str)> {
        let gpus = self.base::<Pci>().into_iter().flat_map(|pci| &pci.gpus);
        gpus.filter(|gpu| gpu.is_nvidia() && !gpu.driver.is_empty())
            .map(|gpu| (gpu.address.as_str(), gpu.driver.as_str()))
    }

    /// Whether its GPUs are a board of NVLink 5, whose switches are no PCI devices: HGX B200 and B300. Those of GB200
    /// and GB300 stand elsewhere.
    pub fn is_nvlink5_board(&self) -> bool {
        let gpus = self.pci_gpus().unwrap_or_default();
        gpus.len() >= 4 && gpus.iter().all(|(_, model)| matches!(model.as_str(), "B200" | "B300"))
    }

    /// Whether its GPUs need a fabric manager on this host.
    pub fn needs_fabric_manager(&self) -> bool {
        self.expect_driver().fabric_manager == Some(true)
            || self.base().is_some_and(|pci: &Pci| !pci.nvswitches.is_empty())
            || self.is_nvlink5_board()
    }

    /// Whether the list of loaded modules is known and has not this one.
    pub fn lacks_module(&self, name: &str) -> bool {
        let loaded = self.base().map(|modules: &Modules| &modules.loaded);
        loaded.is_some_and(|list| !list.is_empty() && !list.iter().any(|module| module == name))
    }

    /// Whether accelerators are on the PCI bus that are not of NVIDIA.
    pub fn has_other_accelerators(&self) -> bool {
        self.base().is_some_and(|pci: &Pci| {
            !pci.accelerators.is_empty() || pci.gpus.iter().any(|gpu| !gpu.is_nvidia())
        })
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
        (self.host.expect.rdma.is_some() || self.is_promised("rdma.devices"))
            && self.expect_rdma().count != Some(0)
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
    pub fn compute_nics(&self) -> impl Iterator<Item = &Nic> {
        self.host.nics.iter().filter(|nic| nic.is_compute())
    }

    /// The entry of `nics:` that a device is.
    pub fn nic_of(&self, device: &Device) -> Option<&Nic> {
        self.host.nics.iter().find(|nic| device.is(&nic.matching))
    }
}

//! `rdma_netns`: how RDMA devices and network namespaces go together.

use std::sync::Arc;

use super::modprobe_options::ModprobeOptions;
use super::value::Presence;
use super::{Context, Planned, Resource};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::{Facts, Object, Query, Touches};

crate::choice! {
    /// Who sees the RDMA devices.
    NetnsMode {
        /// Every network namespace sees all: MPI, Slurm, the shared device plugin of Kubernetes.
        Shared = "shared",
        /// A device is in one namespace: pods that get theirs by SR-IOV or host-device.
        Exclusive = "exclusive",
    }
}

crate::record! {
    /// Whether RDMA devices are seen by all network namespaces or belong to one:
    /// `/etc/modprobe.d/provision-ib_core.conf`, and the initramfs where `ib_core` is in it.
    ///
    /// `ibv_devinfo` that finds no device inside a pod is the sign of `shared` where `exclusive` is
    /// needed. At run time the kernel refuses the change once there are namespaces, so it waits for a
    /// reboot, which the run says and a `reboot` task does. In a container only the file is written.
    RdmaNetnsFields("a mode of RDMA namespaces") {
        /// The mode.
        req mode: NetnsMode,
    }
}

#[derive(Debug)]
struct RdmaNetns(ModprobeOptions);

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = RdmaNetnsFields::from_node(node, diagnostics)?;
    let value = match fields.mode {
        NetnsMode::Shared => "1",
        NetnsMode::Exclusive => "0",
    };
    let options = vec![("netns_mode".to_owned(), value.to_owned())];
    Some(Arc::new(RdmaNetns(ModprobeOptions::new("ib_core".to_owned(), options, false, Presence::Present))))
}

impl Resource for RdmaNetns {
    fn queries(&self) -> Vec<Query> {
        self.0.queries()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        self.0.plan(facts)
    }

    fn touches(&self) -> Touches {
        self.0.touches()
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.0.manages()
    }

    fn reboot(&self, facts: &Facts) -> Option<String> {
        self.0.reboot(facts)
    }

    fn leave(&self) -> bool {
        self.0.leave()
    }
}

//! `rdma_netns`: how RDMA devices and network namespaces go together.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::kernel::modprobe_options::ModprobeOptions;
use crate::resources::shared::value::Presence;
use crate::resources::{Built, Context, Planned, Resource};

crate::choice! {
    /// Namespaces that see the RDMA devices.
    NetnsMode {
        /// Every network namespace sees all: MPI, Slurm, the shared device plugin of Kubernetes.
        Shared = "shared",
        /// Each device is in one namespace: for pods that get a device by SR-IOV or host-device.
        Exclusive = "exclusive",
    }
}

crate::record! {
    /// Whether all network namespaces see the RDMA devices, or each device belongs to one namespace:
    /// `/etc/modprobe.d/provision-ib_core.conf`, and the initramfs if `ib_core` is in it.
    ///
    /// If `ibv_devinfo` finds no device inside a pod, the mode is `shared` but must be `exclusive`. The
    /// kernel refuses the change at run time once there are namespaces, so it waits for a reboot; the
    /// run reports that, and a `reboot` task does it. In a container only the file is written.
    RdmaNetnsFields("a mode of RDMA namespaces") {
        /// The mode.
        req mode: NetnsMode,
    }
}

kind! { "rdma_netns", RdmaNetnsFields }

#[derive(Debug)]
struct RdmaNetns(ModprobeOptions);

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
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

//! `hostfile`: the hosts and slots that an MPI launcher reads.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::{RegularFile, Want};
use crate::resources::shared::value::{FileMode, HostPath};
use crate::resources::{Built, Context, Planned, Resource};

crate::choice! {
    /// Form of a line.
    Format {
        /// `gpu0 slots=8`: Open MPI.
        OpenMpi = "openmpi",
        /// `gpu0:8`: MPICH, Intel MPI.
        Mpich = "mpich",
        /// `gpu0`: names only.
        Names = "names",
    }
}

crate::record! {
    /// The host file of MPI launchers: the hosts of the inventory, each with its slots.
    ///
    /// The inventory alone decides which hosts are listed, not whether they answer now; hosts marked
    /// `offline` are left out. If a line has no slots, `mpirun -np` fails as soon as there are more
    /// ranks than cores.
    HostfileFields("a host file of MPI") {
        /// Path of the file. Its directory is created.
        def path: HostPath = HostPath("/etc/provision/hostfile".to_owned()),
        /// Number of processes for each host. Left out: the number of GPUs that `expect` names for the
        /// host.
        opt slots: u32,
        /// Only hosts of these groups are listed. Left out: all.
        def groups: Vec<Sp<String>> = Vec::new(),
        /// Form of the lines, by the launcher that reads them.
        def format: Format = Format::OpenMpi,
    }
}

kind! { "hostfile", HostfileFields }

#[derive(Debug)]
struct Hostfile(RegularFile);

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = HostfileFields::from_node(node, diagnostics)?;
    let roster = context.roster().narrow(&fields.groups, diagnostics)?;
    let mut text = format!("# Hosts of {}, from the inventory.\n", roster.cluster);
    for member in roster.members.iter().filter(|member| !member.offline) {
        let name = &member.name;
        let slots = fields.slots.map(u64::from).or(member.gpus);
        // Writing to a string cannot fail.
        let _ = match (fields.format, slots) {
            (Format::Names, _) => writeln!(text, "{name}"),
            (Format::OpenMpi, Some(slots)) => writeln!(text, "{name} slots={slots}"),
            (Format::Mpich, Some(slots)) => writeln!(text, "{name}:{slots}"),
            (Format::OpenMpi | Format::Mpich, None) => {
                diagnostics.push(
                    Diagnostic::error(node.span, format!("the number of slots of {name} is not known")).help(
                        "give `slots`, `expect: { gpu: { count: 8 } }` of its group, or fewer `groups`",
                    ),
                );
                return None;
            }
        };
    }
    Some(Arc::new(Hostfile(RegularFile {
        path: fields.path,
        want: Want::Text(text),
        mode: Some(FileMode(0o644)),
        owner: None,
        group: None,
        check: None,
    })))
}

impl Resource for Hostfile {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.0.queries();
        let grandparent = crate::resources::shared::value::parent(self.0.path.parent());
        queries.push(PathQuery(grandparent.to_owned()).into());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        self.0.plan_with_directory(facts)
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::Path(self.0.path.parent().to_owned()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.0.manages()
    }
}

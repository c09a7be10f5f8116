//! `hostfile`: the hosts and slots that an MPI launcher reads.

use std::fmt::Write as _;
use std::sync::Arc;

use super::content::{RegularFile, Want};
use super::value::{FileMode, HostPath};
use super::{Context, Planned, Resource};
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches};

crate::choice! {
    /// How a line is written.
    Format {
        /// `gpu0 slots=8`: Open MPI.
        OpenMpi = "openmpi",
        /// `gpu0:8`: MPICH, Intel MPI.
        Mpich = "mpich",
        /// `gpu0`: names alone.
        Names = "names",
    }
}

crate::record! {
    /// The host file of MPI launchers: the hosts of the inventory, each with its slots.
    ///
    /// Membership comes from the inventory, not from who answers; offline hosts are left out. A line
    /// without slots makes `mpirun -np` fail as soon as there are more ranks than cores.
    HostfileFields("a host file of MPI") {
        /// Where the file is; its directory is made.
        def path: HostPath = HostPath("/etc/provision/hostfile".to_owned()),
        /// Processes that each host takes. Left out: as many as `expect` names GPUs for it.
        opt slots: u32,
        /// Only hosts of these groups.
        def groups: Vec<Sp<String>> = Vec::new(),
        /// Who reads it.
        def format: Format = Format::OpenMpi,
    }
}

#[derive(Debug)]
struct Hostfile(RegularFile);

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
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
                    Diagnostic::error(node.span, format!("how many slots has {name}?")).help(
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
    })))
}

impl Resource for Hostfile {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.0.queries();
        let grandparent = super::value::parent(self.0.path.parent());
        queries.push(Query::Path(grandparent.to_owned()));
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

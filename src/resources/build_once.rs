//! `build_once`: built on one host, fetched by the others of its kind.

use std::sync::Arc;

use super::build::{Build, BuildFields, build, found, inputs};
use super::distribute::plain;
use super::roster::fleet;
use super::value::AccountName;
use super::{Context, Planned, Resource, Spread};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::{Arg, Script};

crate::record! {
    /// A `build` that one host makes for all of its kind.
    ///
    /// The first host that needs it builds it; the others take the prefix from hosts that have it, over the
    /// SSH mesh (`ssh_mesh`, in a task before this one), each checked against the digests of what was
    /// built. Of one kind are hosts with the same system and version, machine, C library and everything that the
    /// stamp of the build names, such as compiler and CUDA; where these differ it is built there as well.
    /// Source and compiler must be on all hosts: what they are tells who is alike.
    BuildOnceFields("a build for all hosts") {
        /// What is built.
        req build: BuildFields,
        /// The user of the mesh; reads the prefix on the other hosts.
        def user: AccountName = AccountName("root".to_owned()),
    }
}

#[derive(Debug)]
struct BuildOnce {
    build: Build,
    user: String,
}

pub(super) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = BuildOnceFields::from_node(node, diagnostics)?;
    let build = build(fields.build, node.span, context, diagnostics)?;
    plain(build.prefix(), node.span, diagnostics)?;
    Some(Arc::new(BuildOnce { build, user: fields.user.0 }))
}

impl Resource for BuildOnce {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.build.queries();
        queries.extend(self.build.queries().into_iter().map(|query| Query::Fleet(Box::new(query))));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        self.build.plan(facts)
    }

    fn touches(&self) -> Touches {
        self.build.touches()
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.build.manages()
    }

    fn spread(&self, facts: &Facts) -> Option<Spread> {
        let query = self.build.query();
        let here = found(facts, &query).ok()?;
        let wanted = self.build.wanted(here).ok()?;
        let has = |answer: &Answer| {
            let Answer::Build(there) = answer else { return false };
            let same = there.stamp.as_deref().map(inputs) == Some(wanted.as_str());
            same && there.damaged.is_none() && there.platform == here.platform
        };
        let fleet = fleet(facts, Query::Build(Box::new(query))).ok();
        let holders = fleet.into_iter().flatten().filter(|(_, answer)| has(answer));
        let text = crate::shell!(
            "resources/reach.sh",
            "resources/over_mesh.sh",
            "resources/prefix.sh",
            "resources/build_fetch.sh"
        );
        Some(Spread {
            key: format!("{} {}\n{wanted}", self.build.prefix(), here.platform),
            holders: holders.map(|(host, _)| host.clone()).collect(),
            pull: Script::new(text)
                .arg(self.build.name())
                .arg(self.build.prefix())
                .arg(Arg::Packed(wanted.clone()))
                .arg(self.user.as_str()),
        })
    }
}

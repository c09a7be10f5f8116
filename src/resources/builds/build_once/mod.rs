//! `build_once`: built on one host, fetched by the others of its kind.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::build::Build as Found;
use crate::facts::{Facts, Object, Query, Touches};
use crate::inventory::Promise;
use crate::resources::builds::build::{Build, BuildFields, PROMISES, build, found, inputs};
use crate::resources::builds::distribute::plain;
use crate::resources::shared::value::AccountName;
use crate::resources::{Built, Context, Planned, Resource, Spread};
use crate::transport::{Arg, Script};

crate::record! {
    /// A `build` that one host makes for all hosts like it.
    ///
    /// The first host that needs the software builds it. The others copy the prefix from hosts that
    /// have it, over the SSH mesh (`ssh_mesh`, in an earlier task), and check every file against its
    /// digest. Hosts are alike if they have the same system and version, architecture and C library,
    /// and agree in everything that the stamp of the build names, such as compiler and CUDA. Each
    /// different kind of host builds its own. Source and compiler must be on all hosts, because they
    /// decide which hosts are alike.
    BuildOnceFields("a build for all hosts") {
        /// The software that is built, with the keys of a `build` task.
        req build: BuildFields,
        /// User of the SSH mesh; must be able to read the prefix on the other hosts.
        def user: AccountName = AccountName("root".to_owned()),
    }
}

kind! { "build_once", BuildOnceFields, fleet: true, timeout: Duration::from_hours(2), detached: true, promises: PROMISES }

#[derive(Debug)]
struct BuildOnce {
    build: Build,
    user: String,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = BuildOnceFields::from_node(node, diagnostics)?;
    let build = build(fields.build, node.span, context, diagnostics)?;
    plain(build.prefix(), node.span, diagnostics)?;
    Some(Arc::new(BuildOnce { build, user: fields.user.0 }))
}

impl Resource for BuildOnce {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.build.queries();
        queries.extend(self.build.queries().into_iter().map(Query::of_all));
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

    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        self.build.promises(facts)
    }

    fn spread(&self, facts: &Facts) -> Option<Spread> {
        let query = self.build.query();
        let here = found(facts, &query).ok()?;
        let wanted = self.build.wanted(here).ok()?;
        let has = |there: &Found| {
            let same = there.stamp.as_deref().map(inputs) == Some(wanted.as_str());
            same && there.damaged.is_none() && there.platform == here.platform
        };
        let holders = facts.of_all(&query).into_iter().flatten().filter(|(_, there)| has(there));
        let text = crate::shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/builds/over_mesh.sh",
            "resources/builds/prefix.sh",
            "resources/builds/build_once/build_fetch.sh"
        );
        Some(Spread {
            key: format!("{} {}\n{wanted}", self.build.prefix(), here.platform),
            holders: holders.map(|(host, _)| host.to_owned()).collect(),
            pull: Script::new(text)
                .named("name", self.build.name())
                .named("prefix", self.build.prefix())
                .named("stamp", Arg::Packed(wanted.clone()))
                .named("space", self.build.space().to_string())
                .named("user", self.user.as_str()),
        })
    }
}

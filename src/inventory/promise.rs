//! Promises of the tasks of a host, and how `expect:` and they together make what `verify` expects.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::expect::{
    Expect, ExpectDriver, ExpectGpu, ExpectNetwork, ExpectRdma, ExpectSoftware, ExpectSystem,
};
use crate::hostlist::fold;

/// State that a task keeps on its host, in the words of `expect:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// The network link that it is about; `None` where it is about the host.
    pub link: Option<String>,
    /// Values that can be expected.
    pub expect: Expect,
}

impl Promise {
    /// About the host.
    pub fn new(expect: impl Into<Expect>) -> Self {
        Self { link: None, expect: expect.into() }
    }

    /// About one of its network links.
    pub fn of_link(link: &str, network: ExpectNetwork) -> Self {
        Self { link: Some(link.to_owned()), expect: network.into() }
    }

    /// The keys below `expect:` with their values: `network.mtu` and 9000.
    pub fn values(&self) -> Vec<(String, Json)> {
        let mut values = Vec::new();
        for (section, fields) in sections(&self.expect) {
            for (field, value) in fields.as_object().into_iter().flatten() {
                values.push((format!("{section}.{field}"), value.clone()));
            }
        }
        values
    }
}

/// The sections of an `expect:`, without the fields that it leaves out.
fn sections(expect: &Expect) -> Map<String, Json> {
    let Ok(Json::Object(mut sections)) = serde_json::to_value(expect) else { return Map::new() };
    for section in sections.values_mut() {
        if let Json::Object(fields) = section {
            fields.retain(|_, value| !value.is_null());
        }
    }
    sections.retain(|_, section| !section.is_null());
    sections
}

/// An `expect:` by its keys, as promises are compared with it.
#[derive(Debug, Default)]
pub struct Declared(Map<String, Json>);

impl From<&Expect> for Declared {
    fn from(expect: &Expect) -> Self {
        Self(sections(expect))
    }
}

impl Declared {
    /// The value of `SECTION.FIELD`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let (section, field) = key.split_once('.')?;
        self.0.get(section)?.get(field)
    }

    /// The sections.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Json> {
        self.0.values()
    }
}

/// A section of `expect:` is an `expect:` with nothing else.
macro_rules! sections {
    ($($section:ident $kind:ident),+ $(,)?) => {
        $(impl From<$kind> for Expect {
            fn from(section: $kind) -> Self {
                Self { $section: Some(section), ..Self::default() }
            }
        })+
    };
}

sections! {
    gpu ExpectGpu,
    driver ExpectDriver,
    rdma ExpectRdma,
    network ExpectNetwork,
    system ExpectSystem,
    software ExpectSoftware,
}

/// One value that was promised.
#[derive(Debug, Clone, PartialEq)]
struct Promised {
    key: String,
    link: Option<String>,
    value: Json,
    /// Name of the task that promises it.
    by: String,
    /// Another promised value, which cannot be true at the same time, and the task that promises it.
    against: Option<String>,
}

/// Promises of the tasks of one host, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Promises(Vec<Promised>);

/// Keys whose values add up.
const LISTS: [&str; 1] = ["rdma.devices"];

/// Returns the name of a thing that is installed in more than one place without harm: the key of a version
/// and that of its place are one thing.
fn installed(key: &str) -> Option<&str> {
    key.starts_with("software.").then(|| key.strip_suffix("_prefix").unwrap_or(key))
}

/// A value as people write it.
fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Promises {
    /// Adds what a task promises. Of two places where something is installed the later one counts; of two
    /// values that cannot both be true none does.
    pub fn add(&mut self, by: &str, promise: &Promise) {
        let values = promise.values();
        for (key, _) in &values {
            if let Some(thing) = installed(key) {
                self.0.retain(|old| installed(&old.key) != Some(thing));
            }
        }
        for (key, value) in values {
            let Some(old) = self.0.iter_mut().find(|old| old.key == key && old.link == promise.link) else {
                let (link, by) = (promise.link.clone(), by.to_owned());
                self.0.push(Promised { key, link, value, by, against: None });
                continue;
            };
            match (&mut old.value, value) {
                (Json::Array(all), Json::Array(more)) if LISTS.contains(&key.as_str()) => all.extend(more),
                (old_value, value) if *old_value != value => {
                    old.against.get_or_insert_with(|| format!("{} by {by}", shown(&value)));
                }
                _ => {}
            }
        }
    }

    /// Whether nothing was promised.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the promises that count.
    fn sure(&self) -> impl Iterator<Item = &Promised> {
        self.0.iter().filter(|promised| promised.against.is_none())
    }

    /// Returns the value that is promised of a network link.
    pub fn of_link<T: DeserializeOwned>(&self, key: &str, link: &str) -> Option<T> {
        self.value(key, Some(link)).and_then(|value| T::deserialize(value).ok())
    }

    /// Returns the value that is promised of the host.
    pub fn of_host<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.value(key, None).and_then(|value| T::deserialize(value).ok())
    }

    /// Whether something is promised of the host.
    pub fn has(&self, key: &str) -> bool {
        self.value(key, None).is_some()
    }

    fn value(&self, key: &str, link: Option<&str>) -> Option<&Json> {
        let found = self.sure().find(|promised| promised.key == key && promised.link.as_deref() == link);
        found.map(|promised| &promised.value)
    }

    /// Whether a promise counts beside this `expect:`, which is stronger. The version of what is in one place
    /// says nothing of another place.
    fn counts(&self, promised: &Promised, declared: &Declared) -> bool {
        let elsewhere = installed(&promised.key).is_some_and(|thing| {
            let place = format!("{thing}_prefix");
            declared.get(&place).is_some_and(|wanted| {
                let own = self.value(&place, None).map(shown).unwrap_or_default();
                own.trim_end_matches('/') != shown(wanted).trim_end_matches('/')
            })
        });
        !elsewhere && declared.get(&promised.key).is_none()
    }

    /// `expect:` with what is promised of the host where it says nothing.
    pub fn complete(&self, expect: &Expect) -> Expect {
        let declared = Declared::from(expect);
        let mut all = declared.0.clone();
        for promised in self.sure().filter(|one| one.link.is_none() && self.counts(one, &declared)) {
            let Some((section, field)) = promised.key.split_once('.') else { continue };
            let section = all.entry(section).or_insert_with(|| Map::new().into());
            if let Some(fields) = section.as_object_mut() {
                fields.insert(field.to_owned(), promised.value.clone());
            }
        }
        // Both came from this type.
        serde_json::from_value(all.into()).unwrap_or_else(|_| expect.clone())
    }

    /// Returns the origins of the expectations of a key, each as a sentence:
    /// `network.mtu 9000: declared by ...`.
    pub fn origins(&self, key: &str, declared: &Declared) -> Vec<String> {
        if let Some(value) = declared.get(key) {
            return vec![format!("{key} {}: by expect.{key} of the inventory", shown(value))];
        }
        let mut links: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
        for promised in self.sure().filter(|one| one.key == key && self.counts(one, declared)) {
            let said = (shown(&promised.value), promised.by.as_str());
            links.entry(said).or_default().extend(promised.link.as_deref());
        }
        let said = links.into_iter().map(|((value, by), links)| {
            let of = if links.is_empty() { String::new() } else { format!(" of {}", fold(links)) };
            format!("{key} {value}{of}: declared by {by}")
        });
        said.chain(self.at_odds(key)).collect()
    }

    /// Returns the message about promises of a key that cannot all be true, so that nothing is expected.
    pub fn at_odds(&self, key: &str) -> Option<String> {
        let odd = self.0.iter().find(|promised| promised.key == key && promised.against.is_some())?;
        let (value, by) = (shown(&odd.value), &odd.by);
        let of = odd.link.as_ref().map(|link| format!(" of {link}")).unwrap_or_default();
        let against = odd.against.as_deref().unwrap_or_default();
        Some(format!(
            "the tasks disagree about {key}{of}, so nothing is expected: {value} by {by}, {against}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expect(json: Json) -> Expect {
        serde_json::from_value(json).unwrap()
    }

    fn nccl(version: Option<&str>, prefix: &str) -> Promise {
        Promise::new(ExpectSoftware {
            nccl: version.map(str::to_owned),
            nccl_prefix: Some(prefix.to_owned()),
            ..ExpectSoftware::default()
        })
    }

    fn nofile(number: u64) -> Promise {
        Promise::new(ExpectSystem { nofile: Some(number), ..ExpectSystem::default() })
    }

    #[test]
    fn expect_of_the_inventory_is_stronger_key_by_key() {
        let mut promises = Promises::default();
        promises.add("task `n` of playbook limits", &nofile(1024));
        promises.add(
            "task `c` of playbook chrony",
            &Promise::new(ExpectSystem { time_sync: Some(true), ..ExpectSystem::default() }),
        );
        let own = expect(json!({ "system": { "nofile": 4096 }, "unknown": "warn" }));
        assert_eq!(
            promises.complete(&own),
            expect(json!({ "system": { "nofile": 4096, "time_sync": true }, "unknown": "warn" }))
        );
        assert_eq!(
            promises.origins("system.nofile", &(&own).into()),
            ["system.nofile 4096: by expect.system.nofile of the inventory"]
        );
        assert_eq!(
            promises.origins("system.nofile", &Declared::default()),
            ["system.nofile 1024: declared by task `n` of playbook limits"]
        );
        assert_eq!(promises.origins("system.swap", &(&own).into()), Vec::<String>::new());
        assert_eq!(Promises::default().complete(&Expect::default()), Expect::default());
    }

    #[test]
    fn of_two_places_the_later_one_counts() {
        let mut promises = Promises::default();
        promises.add("a", &nccl(Some("2.26.2"), "/usr/local/nccl"));
        promises.add("b", &nccl(None, "/opt/nccl"));
        // The version was that of the first place.
        assert_eq!(
            promises.complete(&Expect::default()),
            expect(json!({ "software": { "nccl_prefix": "/opt/nccl" } }))
        );
        promises.add("c", &nccl(Some("2.30.7"), "/opt/nccl2"));
        assert_eq!(promises.of_host::<String>("software.nccl").as_deref(), Some("2.30.7"));
    }

    #[test]
    fn a_version_belongs_to_its_place() {
        let mut promises = Promises::default();
        promises.add("a", &nccl(Some("2.26.2"), "/usr/local/nccl"));
        let elsewhere = expect(json!({ "software": { "nccl_prefix": "/opt/nccl" } }));
        assert_eq!(promises.complete(&elsewhere), elsewhere);
        assert_eq!(promises.origins("software.nccl", &(&elsewhere).into()), Vec::<String>::new());
        let same = expect(json!({ "software": { "nccl_prefix": "/usr/local/nccl/" } }));
        assert_eq!(
            promises.complete(&same),
            expect(json!({ "software": { "nccl": "2.26.2", "nccl_prefix": "/usr/local/nccl/" } }))
        );
    }

    #[test]
    fn tasks_at_odds_expect_nothing_and_it_is_said() {
        let mut promises = Promises::default();
        promises.add("task `a` of playbook x", &nofile(1024));
        promises.add("task `b` of playbook y", &nofile(1024));
        assert_eq!(promises.of_host("system.nofile"), Some(1024_u64));
        assert_eq!(promises.at_odds("system.nofile"), None);
        promises.add("task `c` of playbook z", &nofile(4096));
        assert_eq!(promises.complete(&Expect::default()), Expect::default());
        let said = "the tasks disagree about system.nofile, so nothing is expected: 1024 by task `a` of playbook x, 4096 by task `c` of playbook z";
        assert_eq!(promises.at_odds("system.nofile").as_deref(), Some(said));
        assert_eq!(promises.origins("system.nofile", &Declared::default()), [said]);
        // What the inventory says ends it.
        let own = expect(json!({ "system": { "nofile": 4096 } }));
        assert_eq!(promises.complete(&own), own);
    }

    #[test]
    fn links_are_told_apart() {
        let mut promises = Promises::default();
        for (link, mtu) in [("rdma0", 9000), ("rdma1", 9000), ("eno1", 1500)] {
            let network = ExpectNetwork { mtu: Some(mtu), ..ExpectNetwork::default() };
            promises.add("task `mtu` of playbook network", &Promise::of_link(link, network));
        }
        assert_eq!(promises.complete(&Expect::default()), Expect::default());
        assert_eq!(promises.of_link("network.mtu", "eno1"), Some(1500_u32));
        assert_eq!(promises.of_link::<u32>("network.mtu", "eno2"), None);
        assert_eq!(
            promises.origins("network.mtu", &Declared::default()),
            [
                "network.mtu 1500 of eno1: declared by task `mtu` of playbook network",
                "network.mtu 9000 of rdma[0-1]: declared by task `mtu` of playbook network",
            ]
        );
    }

    #[test]
    fn devices_add_up() {
        let mut promises = Promises::default();
        for name in ["rxe0", "rxe1"] {
            let devices = Some(vec![name.to_owned()]);
            promises.add("a", &Promise::new(ExpectRdma { devices, ..ExpectRdma::default() }));
        }
        assert_eq!(promises.of_host::<Vec<String>>("rdma.devices").unwrap(), ["rxe0", "rxe1"]);
    }
}

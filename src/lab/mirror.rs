//! The mirror of a lab: a container that serves stand-ins for what vendors publish.
//!
//! The list is `mirror/stand-ins.txt`; `mirror/make.sh` makes packages, archives and repositories of it, signed with
//! a key made for them, as an image. Its container serves them over http below
//! `http://lab-mirror/`, each under the host and path it has in the world. Commands that work in the
//! lab put that in place of the real URLs, as `sources.mirrors` does at a site without a way out.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};

use super::engine::Engine;
use super::files;
use super::image::{self, RPM, Wanted};
use super::spec::LabSettings;
use super::state::{Folder, MirrorState};
use crate::sources::SiteSources;

/// Its name in the network of the lab.
pub(crate) const NAME: &str = "lab-mirror";
/// Packages that its image has besides those of a host.
const PACKAGES: [&str; 4] = ["apt-utils", "busybox", "git", "gnupg"];
/// Packages that it has besides for hosts of the RHEL family.
const RHEL_PACKAGES: [&str; 2] = ["rpm", "createrepo-c"];
/// The Debian packages that it serves where the lab has no way out, with what they need: those that the
/// built-in playbooks install.
pub(crate) const DEBIAN: [&str; 25] = [
    "chrony",
    "ethtool",
    "g++",
    "gcc",
    "git",
    "ibverbs-providers",
    "ibverbs-utils",
    "infiniband-diags",
    "iproute2",
    "libibumad3",
    "libibverbs1",
    "libnl-3-200",
    "libnl-route-3-200",
    "libopenmpi-dev",
    "librdmacm1",
    "make",
    "numactl",
    "openmpi-bin",
    "pciutils",
    "perftest",
    "perl",
    "prometheus-node-exporter",
    "python3-venv",
    "rdma-core",
    "rdmacm-utils",
];
/// Source of apt for hosts without a way out. Its packages are Debian's, only the index is the mirror's.
pub(crate) const SOURCE: &str = "deb [trusted=yes] http://lab-mirror/debian ./";

const LIST: &str = include_str!("mirror/stand-ins.txt");
/// The same for hosts of the RHEL family.
const RHEL_LIST: &str = include_str!("mirror/rhel.txt");
const MAKE: &str = include_str!("mirror/make.sh");

/// The kinds of lines that name a place, and how many words stand before it.
fn places(line: &str) -> impl Iterator<Item = &str> {
    let mut words = line.split_whitespace();
    let (skip, take) = match words.next() {
        Some("repo") => (2, usize::MAX),
        Some("yum") => (1, usize::MAX),
        Some("git" | "tar" | "build" | "script") => (0, 1),
        _ => (0, 0),
    };
    words.skip(skip).take(take)
}

/// The hosts of the world that the mirror stands in for.
fn hosts() -> BTreeSet<&'static str> {
    LIST.lines()
        .chain(RHEL_LIST.lines())
        .flat_map(places)
        .filter_map(|place| place.split('/').next())
        .collect()
}

/// The image of the mirror, with all that it serves: also what hosts of the RHEL family fetch, if there are some, and
/// the Debian packages `fetched`.
pub(crate) fn image(
    engine: &Engine,
    lab: &LabSettings,
    rhel: bool,
    fetched: &'static [&'static str],
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let (more, list) = if rhel { (&RHEL_PACKAGES[..], RHEL_LIST) } else { (&[][..], "") };
    let packages = PACKAGES.iter().chain(more).map(|name| (*name).to_owned()).collect();
    let LabSettings { image, release, .. } = lab.clone();
    let settings = LabSettings { image, release, packages: Some(packages), ..LabSettings::default() };
    let host = image::ensure(engine, &Wanted::of(&settings), fetched, progress)?;
    let script = format!(
        "set -eu\nmirror() {{\n{RPM}\n{MAKE}\n}}\nmirror <<'LAB-FILE-END'\n{LIST}{list}LAB-FILE-END\n"
    );
    image::derive(engine, &host, &script, "making the stand-ins of the mirror", progress)
}

/// Has the mirror's container serve, and takes down its key and what it serves.
pub(crate) fn serve(engine: &Engine, container: &str, folder: &Folder) -> Result<MirrorState> {
    let serves = "systemctl -q start lab-mirror.service && cat /srv/sums /srv/key.asc";
    let answer = engine.run(["exec", container, "sh", "-c", serves]).context("the mirror does not serve")?;
    let Some(start) = answer.find("-----BEGIN PGP") else { bail!("the mirror gave no key") };
    let (sums, key) = answer.split_at(start);
    let digests = sums
        .lines()
        .filter_map(|line| {
            let (kind, rest) = line.split_once(' ')?;
            ["sha256", "commit"].contains(&kind).then(|| rest.split_once(' ')).flatten()
        })
        .map(|(place, digest)| (place.to_owned(), digest.to_owned()))
        .collect();
    let file = folder.file("mirror.asc");
    files::write(&file, &format!("{}\n", key.trim_end()), 0o644)?;
    Ok(MirrorState { container: container.to_owned(), key: file, digests })
}

impl MirrorState {
    /// Puts the mirror in place of the vendors; what the inventory says of a URL is stronger.
    ///
    /// # Errors
    /// When the key of the mirror cannot be read.
    pub fn stand_in(&self, sources: &mut SiteSources) -> Result<()> {
        let key = std::fs::read_to_string(&self.key).with_context(|| format!("cannot read {}", self.key))?;
        for host in hosts() {
            for scheme in ["https", "http"] {
                sources.add(&format!("{scheme}://{host}"), &format!("http://{NAME}/{host}"), Some(&key));
            }
        }
        for (place, digest) in &self.digests {
            for scheme in ["https", "http"] {
                sources.add_stand_in(&format!("{scheme}://{place}"), digest);
            }
        }
        sources.without_proxy();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn every_line_of_the_list_is_one_that_the_script_knows() {
        let mut repositories = BTreeSet::new();
        for line in
            LIST.lines().chain(RHEL_LIST.lines()).filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["repo", name, _, _, ..] | ["yum", name, _, ..] => drop(repositories.insert(*name)),
                ["deb" | "rpm" | "stream", repository, _, _]
                | ["deb" | "nvcc" | "rpm" | "nvcc-rpm", repository, _, _, _] => {
                    assert!(repositories.contains(repository), "{line}");
                }
                ["git" | "tar", _, _, ..] | ["build", _, _, _] | ["installer", _, _] | ["script", _] => {}
                _ => panic!("{line}"),
            }
        }
        assert!(hosts().contains("developer.download.nvidia.com"));
        assert!(hosts().iter().all(|host| host.contains('.')), "{:?}", hosts());
    }

    #[test]
    fn urls_lead_to_the_mirror_and_keep_their_path() {
        let folder = tempfile::tempdir().expect("folder");
        let key = Utf8PathBuf::from_path_buf(folder.path().join("key")).expect("UTF-8");
        std::fs::write(&key, "KEY\n").expect("key");
        let place = "download.open-mpi.org/release/open-mpi/v5.0/openmpi-5.0.11.tar.gz";
        let state = MirrorState {
            container: String::new(),
            key,
            digests: BTreeMap::from([(place.to_owned(), "ab".to_owned())]),
        };
        let mut sources = SiteSources::default();
        sources.add("https://github.com/own", "http://own", None);
        state.stand_in(&mut sources).expect("sources");
        assert_eq!(sources.rewrite(&format!("https://{place}")), format!("http://lab-mirror/{place}"));
        assert_eq!(sources.digest(&format!("https://{place}"), "pinned"), "ab");
        assert_eq!(sources.rewrite("https://github.com/own/x"), "http://own/x");
        assert_eq!(sources.stand_in(&format!("http://{place}")), Some("ab"));
        assert_eq!(sources.key("https://developer.download.nvidia.com/compute"), Some("KEY\n"));
    }
}

//! The image of a lab host: built once, found again by the digest of its recipe.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use camino::Utf8Path;
use sha2::{Digest as _, Sha256};

use super::apt::Apt;
use super::engine::{self, Engine};
use super::files::lock;
use super::spec::{Coreutils, LabFamily, LabRelease, LabSettings, SudoProgram};
use crate::disk;
use crate::process::heard;
use crate::words::short_hex;

/// Makes a base image from a mirror.
const BASE: &str = include_str!("base.sh");
/// Makes a lab host of a base image.
const CONFIGURE: &str = include_str!("image.sh");
/// Builds stand-ins as RPM packages.
pub(super) const RPM: &str = include_str!("rpm.sh");
/// Makes a host of the RHEL family of a lab host.
const RHEL: &str = include_str!("el/image.sh");
/// Content of the repositories of such a host.
const RHEL_LIST: &str = include_str!("el/packages.txt");
/// Packages that such a host has of Debian besides: dnf, what makes its repositories, and the programs whose
/// packages are stand-ins there.
const RHEL_TOOLS: [&str; 18] = [
    "chrony",
    "curl",
    "dnf",
    "rpm",
    "createrepo-c",
    "dnf-plugins-core",
    "pciutils",
    "g++",
    "git",
    "make",
    "ethtool",
    "ibverbs-providers",
    "ibverbs-utils",
    "infiniband-diags",
    "numactl",
    "perftest",
    "rdma-core",
    "rdmacm-utils",
];
/// Makes a host that passes for Ubuntu of a lab host.
const UBUNTU: &str = include_str!("ubuntu/image.sh");
/// Content of the repository of such a host.
const UBUNTU_LIST: &str = include_str!("ubuntu/packages.txt");
/// Packages that such a host has besides, as Ubuntu's servers do: netplan, what upgrades by itself, and what asks for restarts
/// after each upgrade. The first makes its repository.
const UBUNTU_TOOLS: [&str; 4] = ["apt-utils", "needrestart", "netplan.io", "unattended-upgrades"];
/// Packages that every lab host has, container or virtual machine.
pub(super) const PACKAGES: [&str; 12] = [
    "systemd-sysv",
    "dbus",
    "openssh-server",
    "sudo",
    "iproute2",
    "kmod",
    "procps",
    "ca-certificates",
    "netbase",
    "iputils-ping",
    "less",
    "bash",
];
/// Longest that a build may take.
const BUILD: Duration = Duration::from_mins(20);

/// Demands of settings on an image.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wanted {
    image: Option<String>,
    release: Option<LabRelease>,
    family: Option<LabFamily>,
    packages: Vec<String>,
    sudo: Option<SudoProgram>,
    coreutils: Option<Coreutils>,
    without: Vec<String>,
}

impl Wanted {
    /// Returns the demands of a host.
    pub(crate) fn of(settings: &LabSettings) -> Self {
        Self {
            image: settings.image.clone(),
            release: settings.release,
            family: settings.passes_for(),
            packages: settings.packages.clone().unwrap_or_default(),
            sudo: settings.sudo_program.filter(|program| *program != SudoProgram::Sudo),
            coreutils: settings.coreutils.filter(|coreutils| *coreutils != Coreutils::Gnu),
            without: settings.without.clone().unwrap_or_default(),
        }
    }

    /// Packages whose programs stand in the place of the usual ones.
    fn instead(&self) -> impl Iterator<Item = &'static str> {
        self.sudo.map(SudoProgram::as_str).into_iter().chain(self.coreutils.map(Coreutils::as_str))
    }
}

/// Everything that decides what is in an image.
#[derive(Debug)]
struct Recipe {
    /// A registry's image; `None` is the mirror.
    from: Option<String>,
    apt: Apt,
    packages: Vec<String>,
    /// Packages among them whose programs take the place of the usual ones.
    instead: Vec<&'static str>,
    /// Programs that are taken away.
    without: Vec<String>,
    /// Debian packages that are fetched for others and not installed.
    fetched: &'static [&'static str],
}

/// Gives the name of the image for these settings and builds it when it is not there. It holds the
/// packages `fetched` in `/srv/debian`.
pub(crate) fn ensure(
    engine: &Engine,
    wanted: &Wanted,
    fetched: &'static [&'static str],
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    if let Some(family) = wanted.family {
        let tools = if family.is_ubuntu() { &UBUNTU_TOOLS[..] } else { &RHEL_TOOLS };
        let packages =
            wanted.packages.iter().cloned().chain(tools.iter().map(|tool| (*tool).to_owned())).collect();
        let debian = Wanted { family: None, packages, ..wanted.clone() };
        let debian = ensure(engine, &debian, fetched, progress)?;
        return of_family(engine, &debian, family, progress);
    }
    let recipe = Recipe::new(engine, wanted, fetched);
    let name = format!("provision-lab:{}", recipe.digest());
    once(engine, &name, progress, |progress| build(engine, &recipe, &name, progress))
        .with_context(|| format!("cannot build the lab image {name}"))?;
    Ok(name)
}

/// Makes an image where it is not there. Labs of a user share what they build: one of them makes it, and others make
/// other images meanwhile.
fn once(
    engine: &Engine,
    name: &str,
    progress: &mut dyn FnMut(&str),
    make: impl FnOnce(&mut dyn FnMut(&str)) -> Result<()>,
) -> Result<()> {
    let there = || engine.answers(["image", "inspect", name]);
    if there() {
        return Ok(());
    }
    let temp = std::env::temp_dir();
    let temp = Utf8Path::from_path(&temp).context("the temporary directory is not UTF-8")?;
    let file = format!("{}-{}.lock", name.replace(':', "-"), disk::user()?);
    let _lock = lock(&temp.join(file), "another lab builds its image", progress)?;
    if there() { Ok(()) } else { make(progress) }
}

/// The image of a host that passes for another distribution than Debian.
fn of_family(
    engine: &Engine,
    debian: &str,
    family: LabFamily,
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let (script, list) = if family.is_ubuntu() {
        (UBUNTU.to_owned(), UBUNTU_LIST)
    } else {
        (format!("{RPM}\n{RHEL}"), RHEL_LIST)
    };
    let script =
        format!("set -eu\nmake() {{\n{script}\n}}\nmake {family} <<'LAB-FILE-END'\n{list}LAB-FILE-END\n");
    derive(engine, debian, &script, &format!("making a host of {family} of the lab image"), progress)
}

/// Returns the image that a script makes of another one; builds it where it is not there.
pub(super) fn derive(
    engine: &Engine,
    from: &str,
    script: &str,
    what: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let mut hash = Sha256::new();
    for text in [from, script] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let name = format!("provision-lab:{}", short_hex(&hash.finalize()));
    once(engine, &name, progress, |progress| {
        progress(&format!("{what} (once; cached by its recipe)"));
        commit(engine, from, &name, script)
    })
    .with_context(|| format!("cannot build the lab image {name}"))?;
    Ok(name)
}

impl Recipe {
    fn new(engine: &Engine, wanted: &Wanted, fetched: &'static [&'static str]) -> Self {
        let release = wanted.release.map(LabRelease::as_str);
        let pulled = || format!("debian:{}", release.unwrap_or(LabRelease::Bookworm.as_str()));
        let from = wanted.image.clone().or_else(|| (!can_debootstrap(engine)).then(pulled));
        let suite = from.as_deref().and_then(|image| image.strip_prefix("debian:")).filter(|tag| {
            // Tags such as `12-slim` or `bookworm-20250520` are no suite.
            tag.chars().all(|letter| letter.is_ascii_lowercase())
        });
        let suite = release.or(suite);
        let dump = engine::output(heard("apt-config").arg("dump"), b"", engine::USUAL)
            .map(|done| String::from_utf8_lossy(&done.stdout).into_owned())
            .unwrap_or_default();
        let mut packages: Vec<String> = PACKAGES.map(str::to_owned).to_vec();
        packages.extend(wanted.instead().map(str::to_owned));
        packages.extend(wanted.packages.iter().cloned());
        Self {
            apt: Apt::read(Utf8Path::new("/"), suite, &dump),
            from,
            packages,
            instead: wanted.instead().collect(),
            without: wanted.without.clone(),
            fetched,
        }
    }

    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let base = self.from.as_deref().unwrap_or(BASE);
        let certificates: Vec<_> =
            self.apt.certificates.iter().map(|path| std::fs::read(path).unwrap_or_default()).collect();
        let texts = [base, CONFIGURE, &self.apt.suite, &self.apt.sources, &self.apt.conf];
        for text in texts.iter().map(|text| text.as_bytes()).chain(certificates.iter().map(Vec::as_slice)) {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
        for words in self.lists() {
            hash.update(words);
            hash.update("\n");
        }
        short_hex(&hash.finalize())
    }

    /// The arguments of [`CONFIGURE`].
    fn lists(&self) -> [String; 4] {
        [self.packages.join(" "), self.fetched.join(" "), self.instead.join(" "), self.without.join(" ")]
    }

    /// Shell text that puts apt's configuration into the image and then runs [`CONFIGURE`].
    fn script(&self) -> Result<String> {
        let mut files = vec![
            ("/tmp/sources.list".to_owned(), self.apt.sources.clone()),
            ("/etc/apt/apt.conf.d/90lab".to_owned(), self.apt.conf.clone()),
            ("/tmp/configure".to_owned(), CONFIGURE.to_owned()),
        ];
        for path in &self.apt.certificates {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            let name = path.file_name().unwrap_or("certificate.crt");
            files.push((format!("/usr/local/share/ca-certificates/{name}"), text));
        }
        let mut script = "set -eu\nmkdir -p /usr/local/share/ca-certificates\n".to_owned();
        for (path, text) in files {
            let path = shlex::try_quote(&path).context("a path with a NUL")?.into_owned();
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            // Infallible for a String.
            let _ = writeln!(script, "cat >{path} <<'LAB-FILE-END'\n{text}{newline}LAB-FILE-END");
        }
        // An image of Ubuntu has sources of its own.
        script.push_str(
            "grep -q '^ID=ubuntu$' /etc/os-release || {\nrm -f /etc/apt/sources.list.d/*\n\
             cat /tmp/sources.list >/etc/apt/sources.list\n}\nrm -f /tmp/sources.list\n",
        );
        let lists = self.lists();
        let words = shlex::try_join(lists.iter().map(String::as_str)).context("a package with a NUL")?;
        let _ = writeln!(
            script,
            "sh /tmp/configure {words} </dev/null && rm -f /tmp/configure && exit 0\nexit 1"
        );
        Ok(script)
    }
}

fn build(engine: &Engine, recipe: &Recipe, name: &str, progress: &mut dyn FnMut(&str)) -> Result<()> {
    let base = base(engine, recipe, progress)?;
    progress("configuring the lab image (once; cached by its recipe)");
    commit(engine, &base, name, &recipe.script()?)
}

/// Runs a script in a container of an image, and makes what it leaves another image.
fn commit(engine: &Engine, from: &str, name: &str, script: &str) -> Result<()> {
    let container = name.replace(':', "-build-");
    // A build that was killed leaves its container behind.
    drop(engine.run(["rm", "-f", container.as_str()]));
    // This machine's own network reaches the mirror for sure; the hosts use theirs.
    let run = ["run", "-i", "--name", &container, "--network", "host", from, "sh", "-s"];
    let built = engine::text(&mut engine.command(run), script.as_bytes(), BUILD).and_then(|_| {
        let change = r#"CMD ["/usr/local/sbin/lab-init"]"#;
        let commit = ["commit", "-c", change, &container, name];
        engine::text(&mut engine.command(commit), b"", BUILD)
    });
    drop(engine.run(["rm", "-f", container.as_str()]));
    built.map(drop)
}

/// The image that [`CONFIGURE`] starts from.
fn base(engine: &Engine, recipe: &Recipe, progress: &mut dyn FnMut(&str)) -> Result<String> {
    if let Some(from) = &recipe.from {
        if !engine.answers(["image", "inspect", from.as_str()]) {
            progress(&format!("pulling {from}"));
            engine::text(&mut engine.command(["pull", "-q", from.as_str()]), b"", BUILD).with_context(|| {
                format!("no registry has {from}; without `image:` the lab builds one from a Debian mirror, as root and with debootstrap")
            })?;
        }
        return Ok(from.clone());
    }
    let packages = PACKAGES.join(",");
    let Apt { suite, mirror, keyring, .. } = &recipe.apt;
    let mut hash = Sha256::new();
    for text in [BASE, suite, mirror, &packages] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let name = format!("provision-lab-base:{}", short_hex(&hash.finalize()));
    once(engine, &name, progress, |progress| {
        progress(&format!("building the base image from {mirror} ({suite}); about a minute, once"));
        let keyring = keyring.as_deref().unwrap_or_default();
        let mut sh = heard("sh");
        sh.args(["-s", engine.program, &name, suite, mirror, keyring, &packages]);
        if let Some(proxy) = http_proxy(&recipe.apt.conf) {
            sh.env("http_proxy", proxy);
        }
        // sh reads its script from the pipe; debootstrap must not.
        let script = format!("main() {{\n{BASE}\n}}\nmain \"$@\" </dev/null\n");
        engine::text(&mut sh, script.as_bytes(), BUILD).map(drop)
    })?;
    Ok(name)
}

/// Whether this user of this machine can make a root filesystem.
fn can_debootstrap(engine: &Engine) -> bool {
    let probe = "PATH=$PATH:/usr/sbin:/sbin; [ \"$(id -u)\" = 0 ] && command -v debootstrap";
    !engine.rootless
        && engine::output(heard("sh").args(["-c", probe]), b"", engine::USUAL)
            .is_ok_and(|done| done.status.success())
}

/// The proxy that apt uses here.
pub(crate) fn http_proxy(conf: &str) -> Option<&str> {
    let line = conf.lines().find_map(|line| line.strip_prefix("Acquire::http::Proxy "))?;
    Some(line.trim_end_matches(';').trim_matches('"'))
}

/// Refuses settings that no image can have.
pub(crate) fn check(settings: &LabSettings) -> Result<()> {
    if settings.image.is_some() && settings.release.is_some() {
        bail!("`image` and `release` both say what the hosts are: leave one out");
    }
    for program in settings.without.iter().flatten() {
        let good = |letter: char| letter.is_ascii_alphanumeric() || "+-._[".contains(letter);
        if program.is_empty() || program.starts_with(['-', '.']) || !program.chars().all(good) {
            bail!("`{program}` is not the name of a program");
        }
    }
    for package in settings.packages.iter().flatten() {
        let good = |letter: char| letter.is_ascii_alphanumeric() || "+-.:~=".contains(letter);
        if package.is_empty() || package.starts_with('-') || !package.chars().all(good) {
            bail!("`{package}` is not a package name");
        }
    }
    for path in settings.shared.iter().flatten() {
        let good = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
        if !path.starts_with('/') || path.len() < 2 || path.contains("/.") || !path.chars().all(good) {
            bail!("`{path}` cannot be shared by the hosts of a lab: name a directory such as /opt");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_of_apt_is_used_for_the_base_too() {
        assert_eq!(http_proxy("Acquire::http::Proxy \"http://p.example:1\";\n"), Some("http://p.example:1"));
        assert_eq!(http_proxy("Acquire::http::Proxy::x \"DIRECT\";\n"), None);
    }

    #[test]
    fn packages_are_names_and_nothing_else() {
        let settings =
            |name: &str| LabSettings { packages: Some(vec![name.to_owned()]), ..LabSettings::default() };
        assert!(check(&settings("python3-apt")).is_ok());
        assert!(check(&settings("a; reboot")).is_err());
        assert!(check(&settings("--force-yes")).is_err());
        let shared =
            |path: &str| LabSettings { shared: Some(vec![path.to_owned()]), ..LabSettings::default() };
        assert!(check(&shared("/opt")).is_ok());
        assert!(check(&shared("/opt:/etc")).is_err());
        assert!(check(&shared("opt")).is_err());
    }
}

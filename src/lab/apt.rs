//! Sources of Debian packages: what this machine itself uses, else the public mirror.

use camino::{Utf8Path, Utf8PathBuf};

/// A Debian archive that apt on this machine reads.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Archive {
    uri: String,
    suite: String,
    keyring: Option<String>,
}

/// Everything that a lab image needs to know to install packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Apt {
    /// Release, such as `bookworm`.
    pub(crate) suite: String,
    /// URI of its archive.
    pub(crate) mirror: String,
    /// Keyring that signs it, when this machine names one that exists.
    pub(crate) keyring: Option<String>,
    /// Lines of the image's `sources.list`.
    pub(crate) sources: String,
    /// Proxies and checks of apt on this machine, as lines of an `apt.conf`.
    pub(crate) conf: String,
    /// Certificates that this machine trusts beyond the usual.
    pub(crate) certificates: Vec<Utf8PathBuf>,
}

impl Apt {
    /// Reads the configuration under `root` (`/` but in tests). `dump` is the output of `apt-config dump`.
    pub(crate) fn read(root: &Utf8Path, suite: Option<&str>, dump: &str) -> Self {
        let mut archives = Vec::new();
        let list = std::fs::read_to_string(root.join("etc/apt/sources.list")).unwrap_or_default();
        archives.extend(one_line(&list));
        for path in files(&root.join("etc/apt/sources.list.d")) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            match path.extension() {
                Some("list") => archives.extend(one_line(&text)),
                Some("sources") => archives.extend(deb822(&text)),
                _ => {}
            }
        }
        archives.retain(|archive| {
            archive.uri.trim_end_matches('/').ends_with("/debian") || archive.uri.contains("/debian-security")
        });
        let certificates = files(&root.join("usr/local/share/ca-certificates"))
            .into_iter()
            .filter(|path| path.extension() == Some("crt"))
            .collect();
        Self::choose(&archives, suite, conf(dump), certificates)
    }

    fn choose(
        archives: &[Archive],
        suite: Option<&str>,
        conf: String,
        certificates: Vec<Utf8PathBuf>,
    ) -> Self {
        let is_main = |archive: &&Archive| !archive.suite.contains(['-', '/']);
        let own = archives.iter().find(is_main);
        let main = archives
            .iter()
            .filter(is_main)
            .find(|archive| suite.is_none_or(|wanted| wanted == archive.suite))
            .or(own);
        let same_mirror = main.or_else(|| archives.iter().find(|archive| !archive.uri.contains("security")));
        let suite = suite.or(main.map(|archive| archive.suite.as_str())).unwrap_or("bookworm").to_owned();
        let mirror =
            same_mirror.map_or("http://deb.debian.org/debian", |archive| archive.uri.as_str()).to_owned();
        let mut sources = format!("deb {mirror} {suite} main\n");
        // Another release than this machine's has the same beside it; what becomes a release has nothing.
        let beside = |archive: &Archive| {
            let (release, pocket) = archive.suite.split_once('-')?;
            let of_own =
                own.is_some_and(|own| own.suite == release) && ["updates", "security"].contains(&pocket);
            (release == suite || of_own && suite != "sid").then(|| format!("{suite}-{pocket}"))
        };
        for archive in archives {
            let Some(pocket) = beside(archive) else { continue };
            let line = format!("deb {} {pocket} main\n", archive.uri);
            if !sources.contains(&line) {
                sources.push_str(&line);
            }
        }
        let keyring =
            main.and_then(|archive| archive.keyring.clone()).filter(|path| Utf8Path::new(path).exists());
        Self { suite, mirror, keyring, sources, conf, certificates }
    }
}

fn files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut paths: Vec<_> = folder
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(camino::Utf8DirEntry::into_path))
        .collect();
    paths.sort();
    paths
}

/// `deb [options] URI SUITE COMPONENT...`
fn one_line(text: &str) -> Vec<Archive> {
    text.lines()
        .filter_map(|line| {
            let rest = line.trim().strip_prefix("deb ")?.trim_start();
            let (options, rest) = match rest.strip_prefix('[') {
                Some(rest) => rest.split_once(']')?,
                None => ("", rest),
            };
            let mut words = rest.split_whitespace();
            let (uri, suite) = (words.next()?, words.next()?);
            let keyring = options.split_whitespace().find_map(|word| word.strip_prefix("signed-by="));
            words.any(|component| component == "main").then(|| Archive {
                uri: uri.to_owned(),
                suite: suite.to_owned(),
                keyring: keyring.map(str::to_owned),
            })
        })
        .collect()
}

/// Stanzas of `Key: value`.
fn deb822(text: &str) -> Vec<Archive> {
    let mut found = Vec::new();
    for stanza in text.split("\n\n") {
        let field = |key: &str| {
            stanza
                .lines()
                .filter(|line| !line.starts_with('#'))
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.trim().eq_ignore_ascii_case(key))
                .map(|(_, value)| value.trim())
        };
        let has = |key: &str, word: &str| {
            field(key).is_some_and(|value| value.split_whitespace().any(|w| w == word))
        };
        if has("Enabled", "no") || !has("Types", "deb") || !has("Components", "main") {
            continue;
        }
        for uri in field("URIs").unwrap_or_default().split_whitespace() {
            for suite in field("Suites").unwrap_or_default().split_whitespace() {
                found.push(Archive {
                    uri: uri.to_owned(),
                    suite: suite.to_owned(),
                    keyring: field("Signed-By").filter(|path| path.starts_with('/')).map(str::to_owned),
                });
            }
        }
    }
    found
}

/// Returns the lines of `apt-config dump` that decide whether the mirror can be reached. Programs and helper
/// scripts of this machine do not exist in an image, so nothing else is taken.
fn conf(dump: &str) -> String {
    const TAKEN: [&str; 6] = [
        "Acquire::http",
        "Acquire::https",
        "Acquire::Retries",
        "Acquire::Check-",
        "Acquire::ForceIPv",
        "Acquire::Max-",
    ];
    const LEFT: [&str; 3] = ["Auto-Detect", "AutoDetect", "::\""];
    dump.lines()
        .filter(|line| {
            TAKEN.iter().any(|start| line.starts_with(start)) && !LEFT.iter().any(|part| line.contains(part))
        })
        .filter(|line| !line.ends_with(" \"\";"))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_sources_are_read() {
        let root = tempfile::tempdir().expect("folder");
        let root = Utf8Path::from_path(root.path()).expect("UTF-8");
        std::fs::create_dir_all(root.join("etc/apt/sources.list.d")).expect("folder");
        std::fs::write(
            root.join("etc/apt/sources.list"),
            "# comment\ndeb [arch=amd64 signed-by=/nope.gpg] http://mirror.example/debian trixie main contrib\n\
             deb http://other.example/vendor stable main\n",
        )
        .expect("write");
        std::fs::write(
            root.join("etc/apt/sources.list.d/security.sources"),
            "Types: deb\n# snapshot\nURIs: http://mirror.example/debian-security\nSuites: trixie-security\n\
             Components: main\n\nTypes: deb\nURIs: http://off.example/debian\nSuites: sid\nComponents: main\nEnabled: no\n",
        )
        .expect("write");
        let apt = Apt::read(root, None, "");
        assert_eq!(apt.suite, "trixie");
        assert_eq!(apt.mirror, "http://mirror.example/debian");
        assert_eq!(apt.keyring, None);
        assert_eq!(
            apt.sources,
            "deb http://mirror.example/debian trixie main\n\
             deb http://mirror.example/debian-security trixie-security main\n"
        );
    }

    #[test]
    fn another_release_comes_from_the_same_mirror() {
        let root = tempfile::tempdir().expect("folder");
        let root = Utf8Path::from_path(root.path()).expect("UTF-8");
        std::fs::create_dir_all(root.join("etc/apt")).expect("folder");
        std::fs::write(
            root.join("etc/apt/sources.list"),
            "deb http://mirror.example/debian bookworm main\n\
             deb http://mirror.example/debian bookworm-updates main\n\
             deb http://mirror.example/debian bookworm-backports main\n\
             deb http://safe.example/debian-security bookworm-security main\n",
        )
        .expect("write");
        let trixie = Apt::read(root, Some("trixie"), "");
        assert_eq!(
            (trixie.suite.as_str(), trixie.mirror.as_str()),
            ("trixie", "http://mirror.example/debian")
        );
        assert_eq!(
            trixie.sources,
            "deb http://mirror.example/debian trixie main\n\
             deb http://mirror.example/debian trixie-updates main\n\
             deb http://safe.example/debian-security trixie-security main\n"
        );
        let sid = Apt::read(root, Some("sid"), "");
        assert_eq!(sid.sources, "deb http://mirror.example/debian sid main\n");
    }

    #[test]
    fn without_sources_the_public_mirror_is_used() {
        let apt = Apt::read(Utf8Path::new("/nonexistent"), None, "");
        assert_eq!((apt.suite.as_str(), apt.mirror.as_str()), ("bookworm", "http://deb.debian.org/debian"));
    }

    #[test]
    fn only_what_reaches_the_mirror_is_taken_from_apt_config() {
        let dump = "APT \"\";\nAcquire::http::Proxy \"http://proxy.example:3142\";\nAcquire::https \"\";\n\
                    Acquire::http::Proxy-Auto-Detect \"/usr/local/bin/x\";\nAcquire::Check-Date \"false\";\n\
                    DPkg::Post-Invoke:: \"rm -f /var/cache/apt/*.bin\";\n";
        assert_eq!(
            conf(dump),
            "Acquire::http::Proxy \"http://proxy.example:3142\";\nAcquire::Check-Date \"false\";\n"
        );
    }
}

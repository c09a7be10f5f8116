//! `ssh -G` is the oracle: with a user's own file, a name says here what it says to `ssh`.

use super::*;
use crate::inventory::Ssh as Options;
use crate::transport::CONNECT;
use crate::transport::testing::{host, run};

/// An address, the user's own file, and a line of what `ssh -G` makes of them. `DIR` is a folder
/// that has `conf.d/10-one.conf` and `conf.d/20-two.conf`.
const ALONE: &[(&str, &str, &str)] = &[
    // Names.
    ("node0", "Host node0\n HostName 10.0.0.5\n", "hostname 10.0.0.5"),
    ("gpu0", "Host gpu0\n HostName 10.0.0.5\n", "hostname 10.0.0.5"),
    ("gpu0", "Host gpu0\n HostName 10.0.0.5\n Port 2200\n User admin\n", "user admin"),
    ("gpu7", "Host gpu*\n HostName 10.0.0.7\n", "hostname 10.0.0.7"),
    ("gpu7", "Host gpu?\n User one\nHost gpu??\n User two\n", "user one"),
    ("172.31.44.5", "Host 172.31.44.*\n User ubuntu\n Port 2022\n", "user ubuntu"),
    ("172.31.45.5", "Host 172.31.44.*\n User ubuntu\nHost *\n User other\n", "user other"),
    ("gpu3", "Host gpu* !gpu3\n User all\nHost gpu3\n User three\n", "user three"),
    ("gpu4", "Host gpu* !gpu3\n User all\n", "user all"),
    ("2001:db8::7", "Host 2001:db8::*\n User six\n", "user six"),
    ("fe80::1%eth0", "Host fe80::*\n User link\n", "user link"),
    ("v6", "Host v6\n HostName 2001:db8::1\n Port 99\n", "hostname 2001:db8::1"),
    ("GPU0", "Host gpu0\n User lower\nHost GPU0\n User upper\n", "user upper"),
    ("Node.Example.ORG", "Host Node.*\n User name\n", "hostname node.example.org"),
    ("gpu0", "Host login gpu0 gpu1\n User several\n", "user several"),
    // Tokens.
    ("gpu0", "Host gpu*\n HostName %h.cluster.example.org\n", "hostname gpu0.cluster.example.org"),
    ("gpu0", "Host gpu0\n HostName real\n IdentityFile /keys/%n-%h-%r\n", "identityfile /keys/%n-%h-%r"),
    (
        "gpu0",
        "Host gpu0\n HostName real\n ProxyCommand nc -X 5 %h %p %r %n\n",
        "proxycommand nc -X 5 %h %p %r %n",
    ),
    // Which value wins.
    ("gpu0", "Host gpu0\n User first\nHost *\n User last\n Compression yes\n", "user first"),
    ("gpu0", "Host *\n User first\nHost gpu0\n User last\n", "user first"),
    ("gpu0", "User before\nHost gpu0\n User after\n", "user before"),
    ("gpu0", "Host gpu0\n Port 1\n Port 2\n", "port 1"),
    // Ways to write it.
    ("gpu0", "Host \"gpu0\"\n IdentityFile \"/my keys/id\"\n", "identityfile /my keys/id"),
    ("gpu0", "host=gpu0\n\tuser = admin\n\tport=77\n", "port 77"),
    ("gpu0", "# mine\n\n  HOST gpu0\n  uSeR admin\n", "user admin"),
    // Match.
    ("gpu0", "Host gpu0\n HostName real\nMatch host real\n User by-host\n", "user by-host"),
    ("gpu0", "Host gpu0\n HostName real\nMatch originalhost gpu0\n User typed\n", "user typed"),
    ("10.0.0.9", "Match originalhost 10.0.0.*\n User typed\n", "user typed"),
    ("10.0.0.9", "Match host 10.0.0.0,10.0.0.9 exec \"test %n = 10.0.0.9\"\n User exec\n", "user exec"),
    ("10.0.0.9", "Match exec \"false\"\n User wrong\nMatch all\n User right\n", "user right"),
    ("gpu0", "Host gpu0\n User admin\nMatch user admin\n Port 2201\n", "port 2201"),
    ("gpu0", "Match !host gpu1\n Port 2201\n", "port 2201"),
    ("gpu0", "Host gpu0\n HostName 10.1.1.1\nMatch final host 10.1.*\n Port 5\n", "port 5"),
    (
        "gpu0",
        "Host gpu0\n HostName 10.1.1.1\nMatch final all\n Compression yes\nHost 10.1.*\n Port 6\n",
        "port 6",
    ),
    ("10.0.0.9", "CanonicalizeHostname yes\nMatch canonical\n Port 7\n", "port 7"),
    (
        "a.b.example.org",
        "CanonicalizeHostname yes\nCanonicalizeMaxDots 0\nCanonicalDomains example.org\nMatch canonical host *.example.org\n Port 8\n",
        "port 8",
    ),
    // Files.
    ("gpu0", "Include DIR/conf.d/*.conf\nHost *\n User mine\n", "user one"),
    ("gpu1", "Host gpu1\n Include DIR/conf.d/20-two.conf\n", "port 22"),
    ("other", "Include DIR/conf.d/*.conf\nInclude DIR/missing\nHost *\n User mine\n", "user mine"),
    // Keys and host keys.
    ("gpu0", "Host gpu0\n IdentitiesOnly yes\n IdentityFile /a\n IdentityFile /b\n", "identityfile /b"),
    (
        "gpu0",
        "Host gpu0\n CertificateFile /a-cert.pub\n IdentityAgent /run/agent\n",
        "certificatefile /a-cert.pub",
    ),
    ("gpu0", "Host gpu0\n HostKeyAlias cluster\n HostName 10.0.0.5\n", "hostkeyalias cluster"),
    ("gpu0", "Host gpu0\n UserKnownHostsFile /a /b\n", "userknownhostsfile /a /b"),
    ("gpu0", "Host gpu0\n GlobalKnownHostsFile /g\n VerifyHostKeyDNS yes\n", "globalknownhostsfile /g"),
    // The way there.
    ("gpu0", "Host gpu0\n ProxyJump one,me@two:2222\n", "proxyjump one,me@two:2222"),
    ("login", "Host login\n ProxyJump none\nHost *\n ProxyJump login\n", "user nobody"),
    ("10.9.0.1", "Host 10.9.*\n ProxyJump login\n", "proxyjump login"),
    ("gpu0", "Host gpu0\n AddressFamily inet6\n BindAddress ::1\n", "addressfamily inet6"),
    ("gpu0", "Host gpu0\n ProxyCommand none\nHost *\n ProxyCommand nc %h %p\n", "user nobody"),
    // Algorithms and what else a site may want.
    ("gpu0", "Ciphers aes128-ctr\nKexAlgorithms curve25519-sha256\n", "ciphers aes128-ctr"),
    ("gpu0", "Ciphers -chacha20*\nKexAlgorithms +diffie-hellman-group1-sha1\nMACs -hmac*\n", "user nobody"),
    ("gpu0", "PubkeyAcceptedAlgorithms +ssh-rsa\nHostKeyAlgorithms ^ssh-rsa\n", "user nobody"),
    ("gpu0", "Compression yes\nTCPKeepAlive no\nIPQoS none\nRekeyLimit 1G 1h\n", "compression yes"),
    (
        "gpu0",
        "PreferredAuthentications publickey\nGSSAPIAuthentication no\n",
        "preferredauthentications publickey",
    ),
    ("gpu0", "SetEnv A=b\n", "setenv A=b"),
];

/// The user's own file, a key of the inventory, the same for `ssh` and a line of the answer.
type Key = (&'static str, fn(&mut Options), &'static [&'static str], &'static str);

/// Keys that are stronger in the inventory than in the user's own file.
const KEYS: &[Key] = &[
    ("User mine\n", |ssh| ssh.user = Some("ours".into()), &["User ours"], "user ours"),
    ("User mine\n", |ssh| ssh.user = Some("DOM\\ours".into()), &["User DOM\\ours"], "user DOM\\ours"),
    ("Match user ours\n Port 7\n", |ssh| ssh.user = Some("ours".into()), &["User ours"], "port 7"),
    ("Port 7\n", |ssh| ssh.port = Some(2222), &["Port 2222"], "port 2222"),
    ("Port 7\n", |ssh| ssh.port = Some(22), &["Port 22"], "port 22"),
    (
        "IdentityFile /mine\nIdentitiesOnly no\n",
        |ssh| ssh.identity_file = Some("/ours".into()),
        &["IdentityFile /ours", "IdentitiesOnly yes"],
        "identityfile /ours",
    ),
    (
        "UserKnownHostsFile /mine\nGlobalKnownHostsFile /all\nVerifyHostKeyDNS yes\nKnownHostsCommand /bin/keys %H\nHostKeyAlias it\n",
        |ssh| ssh.known_hosts = Some("/ours".into()),
        &[
            "UserKnownHostsFile /ours",
            "GlobalKnownHostsFile /dev/null",
            "VerifyHostKeyDNS no",
            "KnownHostsCommand none",
        ],
        "hostkeyalias it",
    ),
    (
        "KexAlgorithms curve25519-sha256\n",
        |ssh| ssh.kex = Some("diffie-hellman-group14-sha256".into()),
        &["KexAlgorithms diffie-hellman-group14-sha256"],
        "kexalgorithms diffie-hellman-group14-sha256",
    ),
    (
        "Host bastion\n HostName 10.0.0.1\nHost *\n ProxyJump mine\n ProxyUseFdpass yes\n",
        |ssh| ssh.jump = vec!["bastion".into()],
        &["ProxyUseFdpass no", "ProxyCommand JUMP"],
        "proxyusefdpass no",
    ),
];

/// Everything that could make an unattended session hang, break, or reach further than it should.
const HOSTILE: &str = "ForwardAgent yes\nForwardX11 yes\nForwardX11Trusted yes\nLocalForward 1234 localhost:80\nRemoteForward 99 localhost:22\n\
    DynamicForward 1080\nTunnel yes\nPermitLocalCommand yes\nLocalCommand touch /tmp/x\nRemoteCommand id\nRequestTTY force\n\
    ControlMaster auto\nControlPath /tmp/%C\nControlPersist 10m\nSendEnv LANG LC_* SECRET_*\nStrictHostKeyChecking no\n\
    NoHostAuthenticationForLocalhost yes\nCheckHostIP yes\nUpdateHostKeys yes\nHashKnownHosts yes\nAddKeysToAgent yes\nBatchMode no\n\
    EscapeChar ~\nVisualHostKey yes\nSessionType none\nStdinNull yes\nForkAfterAuthentication yes\nLogLevel QUIET\nConnectTimeout 999\n\
    ConnectionAttempts 9\nServerAliveInterval 0\nServerAliveCountMax 99\nSetEnv MINE=1\n";

/// The setup that a run makes of a user's file and one host.
struct Made {
    ssh: Ssh,
    host: Host,
}

impl Made {
    async fn new(dir: &Utf8Path, config: &str, address: &str, ssh: Options) -> Self {
        Self::with(dir, config, address, ssh, SshSettings::default()).await
    }

    async fn with(dir: &Utf8Path, config: &str, address: &str, ssh: Options, settings: SshSettings) -> Self {
        let mine = dir.join("mine");
        std::fs::write(&mine, config.replace("DIR", dir.as_str())).unwrap();
        let host = Host { ssh, address: address.to_owned(), ..host("node0") };
        let settings = SshSettings {
            runtime_dir: Some(dir.to_owned()),
            config_dir: Some(dir.to_owned()),
            user_files: vec![mine],
            ..settings
        };
        let ssh = Ssh::start(settings, std::slice::from_ref(&host), Secrets::default()).await.unwrap();
        Self { ssh, host }
    }

    /// Returns the options of the run's login, as `ssh -G` prints them.
    fn login(&self) -> String {
        let arguments = self.ssh.shared.arguments(&self.host).unwrap();
        asked(arguments.iter().map(String::as_str))
    }
}

fn asked<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    run("ssh", &std::iter::once("-G").chain(arguments).collect::<Vec<_>>())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("conf.d")).unwrap();
    std::fs::write(folder.path().join("conf.d/10-one.conf"), "Host gpu*\n User one\n").unwrap();
    std::fs::write(folder.path().join("conf.d/20-two.conf"), "Host gpu*\n User two\n Port 22\n").unwrap();
    folder
}

/// The keys that are ours whatever the user's file says.
fn ours() -> BTreeSet<String> {
    let client = Client { connect_timeout: CONNECT, session_type: true, accept_new: false };
    client.common().iter().map(|(key, _)| key.to_lowercase()).collect()
}

/// The lines that must be the same: all but ours.
fn theirs(text: &str) -> Vec<&str> {
    let ours = ours();
    let key = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let mut lines: Vec<&str> =
        text.lines().filter(|line| !ours.contains(&key(line)) && *line != "setenv LC_ALL=C").collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn a_name_is_what_it_is_to_ssh() {
    let folder = folder();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    let mut wrong = Vec::new();
    for (address, config, line) in ALONE {
        let config = format!("{config}Host *\n User nobody\n");
        let made = Made::new(dir, &config, address, Options::default()).await;
        let mine = dir.join("mine");
        let oracle = asked(["-F", mine.as_str(), address]);
        assert!(
            oracle.lines().any(|seen| seen == *line),
            "no `{line}` for {address} with\n{config}\n{oracle}"
        );
        let by_hand = asked(["-F", made.ssh.config().as_str(), address]);
        for (who, seen) in [("the run", made.login()), ("by hand", by_hand)] {
            if theirs(&seen) != theirs(&oracle) {
                let lines = theirs(&oracle).into_iter().filter(|line| !theirs(&seen).contains(line));
                wrong.push(format!("{who}: {address} {config:?}: without {:?}", lines.collect::<Vec<_>>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are not as ssh has them:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn what_the_inventory_says_is_stronger() {
    let folder = folder();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    for (config, change, options, line) in KEYS {
        let mut ssh = Options::default();
        change(&mut ssh);
        let made = Made::new(dir, config, "gpu0", ssh).await;
        let mine = dir.join("mine");
        let jump = made.ssh.shared.bastions.proxy(0).unwrap_or_default();
        let options: Vec<String> = options.iter().map(|option| option.replace("JUMP", &jump)).collect();
        let mut words = vec!["-F", mine.as_str()];
        words.extend(options.iter().flat_map(|option| ["-o", option]));
        words.push("gpu0");
        let oracle = asked(words);
        assert!(oracle.lines().any(|seen| seen == *line), "no `{line}` with\n{config}\n{oracle}");
        for seen in [made.login(), asked(["-F", made.ssh.config().as_str(), "gpu0"])] {
            assert_eq!(theirs(&seen), theirs(&oracle), "{config}");
        }
        // A jump host is what it is to ssh, too.
        if !jump.is_empty() {
            let seen = asked(["-F", dir.join("jump0").as_str(), "bastion"]);
            assert!(seen.contains("\nhostname 10.0.0.1\n"), "{seen}");
        }
    }
}

#[tokio::test]
async fn nothing_in_a_users_file_reaches_further_than_the_login() {
    let folder = folder();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    let mut seen = Vec::new();
    for config in ["", HOSTILE] {
        let keys = Options { jump: vec!["bastion".into()], ..Options::default() };
        let made = Made::new(dir, config, "gpu0", keys).await;
        let common = made.ssh.shared.common();
        let all = [
            // A host behind a jump host, by the run and by hand, and that one itself.
            made.login().replace(made.ssh.shared.dir.path().as_str(), "RUN"),
            asked(["-F", dir.join("jump0").as_str(), "bastion"]),
            // A jump host of the user's own file.
            asked(["-F", common.as_str(), "door"]),
        ];
        let own = |line: &&str| {
            !["setenv", "forwardx11trusted", "localcommand"].iter().any(|key| line.starts_with(key))
        };
        seen.push(all.map(|text| text.lines().filter(own).map(str::to_owned).collect::<BTreeSet<_>>()));
    }
    for (without, with) in seen[0].iter().zip(&seen[1]) {
        assert_eq!(without.symmetric_difference(with).collect::<Vec<_>>(), [""; 0]);
    }
}

#[test]
fn the_guide_lists_what_is_ours() {
    let guide = include_str!("../../docs/guides/jump-hosts-and-ssh.md").to_lowercase();
    for key in ours().iter().map(String::as_str).chain(["sendenv", "setenv"]) {
        assert!(guide.contains(&format!("`{key}`")), "the guide has no `{key}`");
    }
}

/// A look at keys takes any, for the hosts and jump hosts of the inventory only.
#[tokio::test]
async fn keys_are_looked_at_in_a_file_of_ours_only() {
    let folder = folder();
    let dir = Utf8Path::from_path(folder.path()).unwrap();
    let settings = || SshSettings { accept_new: true, ..SshSettings::default() };
    let keys =
        Options { known_hosts: Some("/ours".into()), jump: vec!["bastion".into()], ..Options::default() };
    let made = Made::with(dir, "", "gpu0", keys, settings()).await;
    for seen in [made.login(), asked(["-F", dir.join("jump0").as_str(), "bastion"])] {
        assert!(
            seen.contains("\nstricthostkeychecking accept-new\n") && seen.contains("hostsfile /ours"),
            "{seen}"
        );
    }
    let made = Made::with(dir, "Host gpu0\n ProxyJump door\n", "gpu0", Options::default(), settings()).await;
    for seen in [made.login(), asked(["-F", made.ssh.shared.common().as_str(), "door"])] {
        assert!(seen.contains("\nstricthostkeychecking true\n"), "{seen}");
    }
}

//! Logins: the ssh client and sshd of OpenSSH 7 to 10, sudo and sudo-rs, PAM, LDAP with nslcd and sssd, Kerberos.

use super::super::cause::{Cause, Counts, Remedy, Role, Sure, TOOL, seen};

const SSH: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://github.com/openssh/openssh-portable (sshconnect.c, sshconnect2.c, 2026-08-21)",
        "2026-11-30",
    )],
    ..TOOL
};
const SSHD: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen(
        "https://github.com/openssh/openssh-portable (sshd.c, auth.c, srclimit.c, 2026-08-21)",
        "2026-11-30",
    )],
    ..TOOL
};
const NOISE: Cause = Cause { counts: Counts::Note, remedy: Remedy::Look, ..SSHD };
const SUDO: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[
        seen("https://github.com/sudo-project/sudo (plugins/sudoers, src)", "2026-11-30"),
        seen(
            "https://github.com/trifectatechfoundation/sudo-rs (src/common/error.rs, 2026-07-15)",
            "2026-11-30",
        ),
    ],
    ..TOOL
};
const PAM: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[seen("https://github.com/linux-pam/linux-pam (modules)", "2026-11-30")],
    ..TOOL
};
const NAMES: Cause = Cause {
    remedy: Remedy::Settings,
    sources: &[
        seen("https://github.com/arthurdejong/nss-pam-ldapd (nslcd/myldap.c)", "2026-11-30"),
        seen("https://github.com/SSSD/sssd", "2026-11-30"),
    ],
    ..TOOL
};

pub(in crate::causes) const ROWS: &[Cause] = &[
    // The client: keys of hosts.
    Cause {
        id: "ssh.host_key_changed",
        sign: "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for (?<host>[^ ]+) has changed and you have requested strict checking",
        near: &[
            "Offending [A-Z0-9-]+ key in (?<file>[^ ]+):(?<line>[0-9]+)",
            "Host key for (?<host>[^ ]+) has changed",
        ],
        says: "the host key of {host} is not the one that known_hosts has[ ({file} line {line})]",
        means: "The host was installed anew, another machine has its address, or somebody stands between.",
        act: "where its reinstallation is known, `ssh-keygen -R HOST` and compare the new fingerprint at the console (or `provision inventory trust`); where nobody reinstalled it, stop and find out who answers at this address",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/notthebee/ansible-easy-vpn/issues/13", "2022-07-24")],
        samples: &[
            "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
            "Host key for 192.0.2.10 has changed and you have requested strict checking.",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.host_key_unknown",
        sign: "No (?<type>[A-Za-z0-9-]+) host key is known for (?<host>[^ ]+) and you have requested strict checking",
        says: "no key of {host} is known yet",
        means: "The first login to a host needs its key in known_hosts where strict checking is on.",
        act: "`provision inventory trust`, or `ssh-keyscan -t {type} HOST >> ~/.ssh/known_hosts` after comparing the fingerprint; between hosts of a cluster the playbook `ssh-mesh` does it",
        sure: Sure::Confirmed,
        samples: &["No ED25519 host key is known for gpu1 and you have requested strict checking."],
        ..SSH
    },
    Cause {
        id: "ssh.host_key_revoked",
        sign: "WARNING: REVOKED HOST KEY DETECTED",
        says: "the host's key is marked as revoked",
        means: "Somebody marked this key as stolen or replaced.",
        act: "do not log in; ask who revoked it, and give the host new keys",
        sure: Sure::Confirmed,
        samples: &["@       WARNING: REVOKED HOST KEY DETECTED!               @"],
        ..SSH
    },
    Cause {
        id: "ssh.host_key_failed",
        sign: r"Host key verification failed\.",
        role: Role::Effect,
        follows: &["ssh.host_key_changed", "ssh.host_key_unknown"],
        says: "ssh does not take the host's key",
        means: "The key is unknown and nobody can be asked, or it changed. The lines before say which; with LogLevel=ERROR or in Ansible, Git and mpirun they may be missing.",
        act: "`ssh HOST` by hand shows which: put an unknown key into known_hosts (`provision inventory trust`, playbook `ssh-mesh`), and take an old one out with `ssh-keygen -R HOST` where the reinstallation is known",
        samples: &["Host key verification failed."],
        ..SSH
    },
    // The client: own keys and files.
    Cause {
        id: "ssh.key_too_open",
        sign: "Permissions (?<mode>0[0-7]+) for '(?<file>[^']*/ssh_host_[^']+)' are too open",
        says: "the host key {file} is open to others ({mode})",
        means: "sshd does not use a private key that others may read, and does not start when none is left.",
        act: "`chmod 600 {file}` with root as owner (ssh_keys as group and 640 on RHEL 7 to 9), then start sshd; it often comes from a recursive chmod of /etc",
        sure: Sure::Confirmed,
        samples: &["Permissions 0644 for '/etc/ssh/ssh_host_ed25519_key' are too open."],
        ..SSHD
    },
    Cause {
        id: "ssh.private_key_too_open",
        sign: r"Permissions (?<mode>0[0-7]+) for '(?<file>[^']+)' are too open|WARNING: UNPROTECTED PRIVATE KEY FILE|Load key \x22(?<key>[^\x22]+)\x22: bad permissions",
        says: "the private key[ {file}][ {key}] is open to others, so ssh does not use it",
        means: "ssh ignores a private key that other accounts may read.",
        act: "`chmod 600` the key file and 700 ~/.ssh; on a mount that has no modes copy the key elsewhere; in Kubernetes set `defaultMode: 0400`",
        sure: Sure::Confirmed,
        samples: &[
            "Permissions 0644 for '/home/alice/.ssh/id_ed25519' are too open.",
            "Load key \"/home/alice/.ssh/id_ed25519\": bad permissions",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.key_damaged",
        sign: r"Load key \x22(?<key>[^\x22]+)\x22: (?<why>error in libcrypto|invalid format|unknown or unsupported key type)",
        says: "ssh cannot read the key {key} ({why})",
        means: "The file has lost its line ends or its last line (a copied secret), is the public half, or is of another program such as PuTTY.",
        act: "`ssh-keygen -y -f {key}` must print the public key; write the file again with all lines and one at its end, or `puttygen KEY -O private-openssh`",
        samples: &["Load key \"/home/alice/.ssh/id_ed25519\": error in libcrypto"],
        ..SSH
    },
    Cause {
        id: "ssh.bad_owner",
        sign: "Bad owner or permissions on (?<file>[^ ]+)",
        says: "{file} has the wrong owner or is writable for others",
        means: "ssh reads no settings that another account could have written.",
        act: "look at it by `ls -lL {file}`: a file below a home belongs to its user (`chmod 600`), one below /etc to root with mode 644 (`chmod go-w`), also in a container with user namespaces",
        sure: Sure::Confirmed,
        samples: &["Bad owner or permissions on /home/alice/.ssh/config"],
        ..SSH
    },
    Cause {
        id: "ssh.agent_refused",
        sign: "sign_and_send_pubkey: signing failed.*agent refused operation|agent refused operation",
        says: "the ssh agent refused to sign",
        means: "The server would take the key; the agent on the client does not: the key file has too wide rights, its question was not answered, or a token was taken out.",
        act: "`chmod 700 ~/.ssh; chmod 600` the key, `ssh-add -D` and `ssh-add KEY`, then `ssh-add -l`; with a token or a confirmation, answer it",
        sources: &[seen("https://github.com/elpy1/ssh-over-ssm/issues/9", "2020-05-11")],
        samples: &[
            "sign_and_send_pubkey: signing failed for RSA \"alice@host\" from agent: agent refused operation",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.no_agent",
        sign: "Could not open a connection to your authentication agent",
        says: "no ssh agent runs in this session",
        means: "SSH_AUTH_SOCK is not set or its agent is gone.",
        act: "`eval \"$(ssh-agent -s)\"` and `ssh-add`, or log in with agent forwarding (`ssh -A`)",
        sure: Sure::Confirmed,
        samples: &["Could not open a connection to your authentication agent."],
        ..SSH
    },
    Cause {
        id: "ssh.key_not_there",
        sign: r"no such identity: (?<file>[^:]+): (?<why>.+)|Identity file (?<other>[^ ]+) not accessible: (?<because>.+)|Load key \x22(?<third>[^\x22]+)\x22: (?<reason>Permission denied|No such file or directory)",
        says: "the key file [{file}][{other}][{third}] cannot be read",
        means: "The path is wrong (~ of another account under sudo or in a service), or the file belongs to another account.",
        counts: Counts::Warn,
        act: "`ls -l` of the path as the same account; give `-i` with the full path",
        sure: Sure::Confirmed,
        samples: &["no such identity: /home/alice/.ssh/id_ed25519: No such file or directory"],
        ..SSH
    },
    Cause {
        id: "ssh.key_type_unknown",
        sign: "userauth_pubkey: unsupported public key algorithm: (?<type>[^ ]+)",
        says: "sshd does not take keys of the type {type}",
        means: "The server is older than the type (ed25519, sk), or has it switched off (FIPS).",
        counts: Counts::Warn,
        act: "use a key of a type that the server lists in `sshd -T | grep pubkeyaccepted`",
        samples: &[
            "sshd[45]: userauth_pubkey: unsupported public key algorithm: ssh-rsa-cert-v00@openssh.com [preauth]",
        ],
        ..SSHD
    },
    Cause {
        id: "sshd.match_block",
        sign: "Directive '(?<option>[^']+)' is not allowed within a Match block",
        says: "{option} stands behind a Match in sshd_config",
        means: "All lines behind `Match` belong to it until the next one or the end of the file.",
        act: "move the line above the first Match, or put `Match all` before it; `sshd -t`",
        sure: Sure::Confirmed,
        samples: &["/etc/ssh/sshd_config line 131: Directive 'UsePAM' is not allowed within a Match block"],
        ..SSHD
    },
    Cause {
        id: "ssh.too_many_keys",
        sign: r"Too many authentication failures( for [^ ]+)?\r?$",
        says: "the client offered more keys than the server allows",
        means: "An agent with many keys uses up MaxAuthTries before the right key is offered.",
        act: "`ssh -o IdentitiesOnly=yes -i KEY`, or the same in ~/.ssh/config for this host",
        samples: &["Received disconnect from 192.0.2.10 port 22:2: Too many authentication failures"],
        ..SSH
    },
    Cause {
        id: "ssh.sha1_client",
        sign: "no mutual signature (algorithm|supported)|key type ssh-rsa not in PubkeyAccepted(Algorithms|KeyTypes)|signature algorithm ssh-rsa not in PubkeyAccepted(Algorithms|KeyTypes)",
        says: "an RSA key is offered with SHA-1 signatures only, which the other side does not take",
        means: "OpenSSH from 8.8 on refuses the algorithm ssh-rsa. The key itself is good.",
        act: "use a newer client or an ed25519 key (`ssh-keygen -t ed25519`); `PubkeyAcceptedAlgorithms +ssh-rsa` on the side that refuses is a stopgap only",
        sure: Sure::Confirmed,
        sources: &[seen("https://www.openssh.com/txt/release-8.8", "2026-11-30")],
        samples: &[
            "debug1: send_pubkey_test: no mutual signature algorithm",
            "sshd[812]: userauth_pubkey: key type ssh-rsa not in PubkeyAcceptedAlgorithms [preauth]",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.go_client",
        sign: r"ssh: unable to authenticate, attempted methods \[(?<tried>[^]]*)\], no supported methods remain",
        says: "a client written in Go could not log in (tried {tried})",
        means: "The server took none of its keys. With an RSA key and a server from OpenSSH 8.8 on (Ubuntu 22.04) an old client that signs with SHA-1 is the usual cause; else the key is not in authorized_keys.",
        act: "log in with `ssh -i KEY` from a shell: where that works, use a newer version of the client or an ed25519 key; where it does not, put the public key into authorized_keys of this account",
        sources: &[
            seen("https://github.com/appleboy/ssh-action/issues/157", "2022-04-30"),
            seen("https://github.com/Natizyskunk/vscode-sftp/issues/198", "2022-09-21"),
        ],
        samples: &[
            "2022/04/30 14:09:58 ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.config_option",
        sign: "(?<file>/[^ :]+|command-line|rexec|reprocess config)(: | )line (?<line>[0-9]+): (?<what>[Bb]ad .+)",
        says: "{file} line {line} is not taken: {what}",
        means: "The file is written for another version of OpenSSH, or is misspelt.",
        act: "correct or remove the line; `ssh -G HOST` and `sshd -t` say whether it is right; `IgnoreUnknown` goes before options of other versions",
        sure: Sure::Confirmed,
        samples: &[
            "/etc/ssh/sshd_config: line 57: Bad configuration option: PubkeyAcceptedAlgorithms",
            "/etc/ssh/sshd_config line 20: Bad SSH2 cipher spec 'blowfish-cbc'.",
        ],
        ..SSHD
    },
    Cause {
        id: "ssh.config_summary",
        sign: "terminating, (?<count>[0-9]+) bad configuration options",
        role: Role::Summary,
        says: "ssh or sshd does not take its settings",
        means: "The lines before name file and line.",
        act: "look at the line before it",
        samples: &["/etc/ssh/ssh_config: terminating, 1 bad configuration options"],
        ..SSHD
    },
    Cause {
        id: "ssh.library",
        sign: r"OpenSSL version mismatch\. Built against (?<built>[0-9a-f]+), you have (?<have>[0-9a-f]+)",
        says: "OpenSSH was built for another OpenSSL than the one that is loaded",
        means: "Only one of the two packages was updated, or LD_LIBRARY_PATH (conda, modules) brings another OpenSSL.",
        act: "look at `ldd $(command -v ssh)` and LD_LIBRARY_PATH; else update openssh and openssl together, and restart sshd before the last session is closed",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["OpenSSL version mismatch. Built against 30000020, you have 30200010"],
        ..SSH
    },
    Cause {
        id: "ssh.server_noise",
        sign: r"Unable to negotiate with .*\[preauth\]|sshd(-session|-auth)?\[[0-9]+\]: (fatal: )?Unable to negotiate with|ROOT LOGIN REFUSED|User root (from [^ ]+ )?not allowed because|banner exchange: Connection from|sshd.*kex_exchange_identification: |sshd.*kex_protocol_error|sshd.*(Invalid user|Failed (password|none|publickey|keyboard-interactive/pam) for (invalid user|root from)|input_userauth_request: invalid user)|(Connection (closed|reset) by|Disconnected from) (authenticating|invalid) user .*\[preauth\]|(Connection (closed|reset) by|Disconnected from|Received disconnect from) [0-9a-fA-F.:]+ .*\[preauth\]|Too many authentication failures.*\[preauth\]|sshd.*[Tt]imeout before authentication|sshd.*Bad protocol version identification|sshd.*ssh_dispatch_run_fatal: .*\[preauth\]|sshd.*Bad packet length [0-9]+.*\[preauth\]|Connection closed by [0-9a-fA-F.:]+ port [0-9]+ \[preauth\]|pam_unix\(sshd:auth\): (check pass; user unknown|authentication failure;.*rhost=)",
        says: "somebody tried the ssh port and was turned away",
        means: "Scanners of the internet and health checks do this all day. Nothing is wrong with sshd.",
        act: "nothing; close the port to the internet or ban such addresses to quieten the log",
        sources: &[
            seen("https://github.com/crowdsecurity/hub/issues/293", "2021-12-07"),
            seen("https://github.com/crowdsecurity/hub/issues/756", "2023-06-13"),
        ],
        samples: &[
            "Dec  1 18:59:33 gpu0 sshd[1189573]: banner exchange: Connection from 192.0.2.57 port 34388: invalid format",
            "Jun  7 04:07:10 gpu0 sshd[1941162]: Unable to negotiate with 192.0.2.169 port 34386: no matching host key type found. Their offer: ssh-rsa,ssh-dss [preauth]",
        ],
        ..NOISE
    },
    Cause {
        id: "ssh.no_common_algorithm",
        sign: r"Unable to negotiate with (?<host>[^ ]+) port [0-9]+: no matching (?<what>[a-zA-Z ]+) found\. Their offer: (?<offer>[^ ]+)",
        says: "{host} offers no {what} that this client takes (it offers {offer})",
        means: "One side is old. With `ssh-rsa` alone the server has no newer host key or is older than OpenSSH 7.2.",
        act: "update the older side, or give the server an ed25519 host key (`ssh-keygen -A`); for one old device `-o HostKeyAlgorithms=+ssh-rsa` or `-o KexAlgorithms=+...` in ~/.ssh/config for this host only",
        sure: Sure::Confirmed,
        samples: &[
            "Unable to negotiate with 192.0.2.10 port 22: no matching host key type found. Their offer: ssh-rsa,ssh-dss",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.deprecated_option",
        sign: "line [0-9]+: (Deprecated|Unsupported) option |Deprecated option: |-r option is deprecated",
        says: "a setting of a former OpenSSH is skipped",
        means: "ssh and sshd pass over options that they had once.",
        act: "nothing; take the line out of the file to quieten it",
        sources: &[seen("https://github.com/oar-team/oar/issues/146", "2018-02-07")],
        samples: &[
            "Jan 16 09:19:27 gpu0 sshd[87089]: rexec line 16: Deprecated option KeyRegenerationInterval",
        ],
        ..NOISE
    },
    Cause {
        id: "ssh.host_key_not_there",
        sign: "(Could not load host key|Unable to load host key|No such file or directory.*ssh_host_[a-z0-9]+_key)",
        says: "sshd goes without a host key of one type",
        means: "A type that the settings name has no file. It matters only when none is left.",
        act: "nothing; `ssh-keygen -A` makes those that the version has",
        samples: &[
            "Jan 16 09:19:27 gpu0 sshd[87089]: error: Could not load host key: /etc/oar/oar_ssh_host_dsa_key",
        ],
        ..NOISE
    },
    Cause {
        id: "ssh.client_noise",
        sign: r"Warning: Permanently added .* to the list of known hosts|Pseudo-terminal will not be allocated because stdin is not a terminal|X11 forwarding request failed on channel|No xauth data; using fake authentication data|connection is not using a post-quantum key exchange algorithm|This session may be vulnerable to .store now, decrypt later. attacks|disabling multiplexing|Killed by signal 1\.",
        says: "ssh says something that stops nothing",
        means: "These lines are notes of the client.",
        samples: &[
            "Warning: Permanently added '192.0.2.10' (ED25519) to the list of known hosts.",
            "** WARNING: connection is not using a post-quantum key exchange algorithm.",
        ],
        ..NOISE
    },
    // The client: the way to the host.
    Cause {
        id: "ssh.name",
        sign: "[Cc]ould not resolve hostname (?<host>[^ :]+): (?<why>.+)",
        says: "the name {host} is not known ({why})",
        means: "The name is misspelt, has no entry in DNS or /etc/hosts, or no DNS server answers (Temporary failure).",
        act: "`getent hosts {host}`; with a temporary failure `resolvectl status` and the DNS server first; the playbook `network` writes names of the cluster into /etc/hosts",
        samples: &["ssh: Could not resolve hostname gpu9: Name or service not known"],
        ..SSH
    },
    Cause {
        id: "ssh.refused",
        sign: "connect to (host|address) (?<host>[^ ]+) port (?<port>[0-9]+): Connection refused",
        role: Role::Effect,
        says: "nothing listens at {host} port {port}, or a firewall refuses",
        means: "The host is up and its sshd does not run (yet), listens on another port, or a firewall rejects.",
        act: "at the console `systemctl status ssh sshd ssh.socket` and `ss -ltn`; right after a boot wait a minute",
        passing: true,
        samples: &["ssh: connect to host gpu1 port 22: Connection refused"],
        ..SSH
    },
    Cause {
        id: "ssh.timed_out",
        sign: "connect to (host|address) (?<host>[^ ]+) port (?<port>[0-9]+): (?<why>Connection timed out|Operation timed out|No route to host|Network is unreachable)",
        role: Role::Effect,
        says: "{host} is not reached ({why})",
        means: "The host is down, the address is wrong, or a firewall drops or prohibits the connection (firewalld answers `No route to host`).",
        act: "`ping {host}` and its BMC first; where it answers, look at the firewall of both sides and at routes; where not, at power and cable",
        sure: Sure::Guess,
        samples: &["ssh: connect to host 192.0.2.10 port 22: Connection timed out"],
        ..SSH
    },
    Cause {
        id: "ssh.server_max_startups",
        sign: r"banner line \d+: Exceeded MaxStartups|Exceeded MaxStartups\s*$",
        says: "the server has too many logins that are not finished (MaxStartups)",
        means: "sshd drops new connections at random between the first and the last number of MaxStartups, 10:30:100 by default. Scanners count as well.",
        act: "on the server raise it in sshd_config (`MaxStartups 200:30:400`) and keep strangers from the port (firewall, fail2ban); or let the launcher start fewer at once and share connections (ControlMaster)",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/openssh/openssh-portable (sshd.c, kex.c)", "2026-11-30")],
        samples: &["debug1: kex_exchange_identification: banner line 0: Exceeded MaxStartups"],
        ..SSH
    },
    Cause {
        id: "ssh.closed_before_banner",
        sign: "^(?:.*(?:stderr|msg|error)[^a-z]*)?(ssh_exchange_identification|kex_exchange_identification): (read: )?(Connection (closed by remote host|reset by peer)|Connection closed)|Connection timed out during banner exchange|Error reading SSH protocol banner",
        role: Role::Effect,
        says: "sshd closed the connection before it said a word",
        means: "sshd of that host dropped it: MaxStartups when many log in at once (mpirun, pdsh), a penalty or ban for this address, no memory, or it was just starting. A jump host or proxy may do it too.",
        act: "try again; then sshd's log on that host (`journalctl -u ssh -u sshd`): `past MaxStartups` wants `MaxStartups 200:30:400`, `penalty` wants PerSourcePenaltyExemptList for the cluster's network, a ban is in `fail2ban-client status sshd`",
        passing: true,
        sources: &[seen("https://github.com/openpmix/prrte/issues/1493", "2022-09-07")],
        samples: &["ssh_exchange_identification: Connection closed by remote host"],
        ..SSH
    },
    Cause {
        id: "sshd.penalty",
        sign: "penalty: (?<why>caused crash|failed authentication|connections without attempting authentication|attempted authentication by invalid user|connection prohibited by RefuseConnection|exceeded LoginGraceTime)",
        says: "sshd drops an address for a while ({why})",
        means: "OpenSSH from 9.8 on gives penalties (PerSourcePenalties) to addresses that connect without a login, fail or take too long. Scanners, monitoring and hosts behind one NAT meet it.",
        act: "wait the penalty out and connect less often; exempt your own networks with `PerSourcePenaltyExemptList 192.0.2.0/24` in sshd_config",
        counts: Counts::Warn,
        passing: true,
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/jtesta/ssh-audit/issues/349", "2026-06-16")],
        samples: &["      for penalty: connections without attempting authentication"],
        ..SSHD
    },
    Cause {
        id: "sshd.max_startups",
        sign: "(beginning|in) MaxStartups throttling|past MaxStartups|drop connection #[0-9]+ .*MaxStartups",
        says: "sshd drops connections, as too many log in at once (MaxStartups)",
        means: "More connections wait for their login than MaxStartups allows (10:30:100 at first): a launcher that starts on many hosts at once, or scanners.",
        act: "raise it in sshd_config (`MaxStartups 200:30:400`), or let the launcher start fewer at once (`pdsh -f`, `--mca plm_rsh_num_concurrent`)",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &[
            "sshd[1012]: error: beginning MaxStartups throttling",
            "sshd[1012]: drop connection #10 from [192.0.2.7]:41966 on [192.0.2.10]:22 past MaxStartups",
        ],
        ..SSHD
    },
    // sshd: why a login is refused.
    Cause {
        id: "sshd.bad_modes",
        sign: "Authentication refused( for [^ ]+)?: bad owner(ship)? or modes for (?<kind>file|directory)? ?(?<path>[^ ]+)",
        says: "sshd does not trust {path}: its owner or mode is wrong",
        means: "With StrictModes sshd takes no authorized_keys that others could have written: file, ~/.ssh and the home directory must belong to the account or root and not be writable for others.",
        act: "`chown USER` and `chmod go-w` for the home, 700 for ~/.ssh, 600 for authorized_keys; of a file that a container mounts read-only, mount it writable or copy it to its place",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/panubo/docker-sshd/issues/5", "2016-09-07")],
        samples: &[
            "auth.info sshd[37]: Authentication refused: bad ownership or modes for file /root/.ssh/authorized_keys",
        ],
        ..SSHD
    },
    Cause {
        id: "sshd.keys_forbidden",
        sign: "Could not open (?:user )?(?:'[^']+' )?authorized (?:keys|principals) (?:file )?'(?<file>[^']+)': Permission denied",
        says: "sshd may not open {file}",
        means: "The file lies where sshd may not read: SELinux gives it or the home another label (a home on NFS, on another path, files that were copied), the home is of root only, or NFS squashes root.",
        act: "`ls -laZ` of it and `ausearch -m avc -ts recent -c sshd`: `restorecon -Rv ~/.ssh`; a home elsewhere `semanage fcontext -a -e /home /NEW/HOME` and restorecon; homes on NFS `setsebool -P use_nfs_home_dirs on`; leave SELinux on",
        sure: Sure::Likely,
        sources: &[seen("https://github.com/elasticluster/elasticluster/issues/257", "2016-05-26")],
        samples: &[
            "May 26 22:16:00 worker001 sshd[11736]: debug1: Could not open authorized keys '/home/centos/.ssh/authorized_keys': Permission denied",
        ],
        ..SSHD
    },
    Cause {
        id: "sshd.selinux_unlabelled",
        sign: "(?:ssh_selinux_change_context|sshd_selinux_copy_context): setcon .*failed with|(?<never>from system_u:system_r:kernel_t)",
        says: "sshd may not change to its label of SELinux",
        means: "Services run as kernel_t, so the system was never labelled: it was copied or booted once with SELinux off, or the policy is missing.",
        act: "`getenforce`, `ls -Z /usr/sbin/sshd`: `touch /.autorelabel` and reboot (a relabel takes minutes), with selinux-policy-targeted installed",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[seen("https://github.com/umiddelb/aarch64/issues/4", "2020-06-12")],
        samples: &[
            "sshd[1134]: ssh_selinux_change_context: setcon system_u:system_r:sshd_net_t:s0 from system_u:system_r:kernel_t:s0 failed with Permission denied [preauth]",
        ],
        ..SSHD
    },
    Cause {
        id: "sshd.keys_command",
        sign: r"AuthorizedKeysCommand (?<command>[^ ]+) .*failed, status (?<status>\d+)|error: AuthorizedKeysCommand (?<other>.+)|Unsafe AuthorizedKeysCommand",
        says: "the program that gives sshd the keys failed[: {command}, status {status}]",
        means: "AuthorizedKeysCommand ended with an error, or its file or a directory above it is writable for others. SELinux forbids it the network by default.",
        act: "run it as AuthorizedKeysCommandUser for that account; `ls -ld` of each directory of its path (root, not writable for others); `ausearch -m avc -ts recent`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/coreos/ssh-key-dir/issues/54", "2021-12-07")],
        samples: &["sshd[1931]: AuthorizedKeysCommand /usr/libexec/ssh-key-dir fail failed, status 1"],
        ..SSHD
    },
    Cause {
        id: "sshd.account_refused",
        sign: r"User (?<user>[^ ]+) (?:from [^ ]+ )?not allowed because (?<why>.+)",
        says: "sshd does not let {user} in: {why}",
        means: "AllowUsers, AllowGroups or Deny... of sshd_config, a locked password or a shell that does not exist keeps the account out.",
        act: "change what it names: the list in sshd_config (also in sshd_config.d), `usermod -U` or `passwd -u` for a lock (`!` in /etc/shadow with UsePAM no), the shell in passwd",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &[
            "sshd[2012]: User alice from 192.0.2.7 not allowed because none of user's groups are listed in AllowGroups",
        ],
        ..SSHD
    },
    Cause {
        id: "sshd.pam_account",
        follows: &["sssd.access_rule"],
        sign: "Access denied for user (?<user>[^ ]+) by PAM account configuration",
        role: Role::Effect,
        says: "PAM does not let {user} in",
        means: "The account stack of PAM refused it: an expired account, pam_access, sssd's access rules, or pam_slurm_adopt on a node without a job of the user.",
        act: "the line of PAM before it names the module: `journalctl -t sshd -t sshd-session` at that second",
        samples: &["sshd[3120]: fatal: Access denied for user alice by PAM account configuration [preauth]"],
        ..SSHD
    },
    Cause {
        id: "sshd.max_tries",
        sign: "maximum authentication attempts exceeded for (?<user>.+) from",
        role: Role::Effect,
        says: "somebody used up all attempts to log in",
        means: "A client offered too many keys or passwords. Of names that do not exist it is a scanner.",
        counts: Counts::Note,
        act: "of an account that is yours: `IdentitiesOnly yes` on its client",
        samples: &[
            "sshd[1811]: error: maximum authentication attempts exceeded for root from 192.0.2.60 port 40022 ssh2 [preauth]",
        ],
        ..SSHD
    },
    // sshd: why it does not start.
    Cause {
        id: "sshd.no_run_directory",
        sign: r"Missing privilege separation directory: (?<directory>[^ \\,\x22]+)|chroot ..(?<chroot>/[^ ]*sshd)..: No such file",
        says: "the folder of sshd is missing[: {directory}][: {chroot}]",
        means: "It is made when ssh.service starts. With ssh.socket (Ubuntu 22.10 and newer) no sshd ran yet since boot, and in a container nobody made it. The settings are not at fault.",
        act: "`mkdir -p -m 755 {directory}` as root (or start ssh.service), then run `sshd -t` again",
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/hetzneronline/community-content/issues/1339", "2025-12-05"),
            seen("https://github.com/konstruktoid/ansible-role-hardening/issues/756", "2024-10-23"),
        ],
        samples: &["Missing privilege separation directory: /run/sshd"],
        ..SSHD
    },
    Cause {
        id: "sshd.run_directory_mode",
        sign: "(?<directory>/[^ ]+) must be owned by root and not group or world-writable",
        says: "{directory} has the wrong owner or mode",
        means: "sshd does not start with it.",
        act: "`chown root:root {directory}; chmod 755 {directory}`",
        sure: Sure::Confirmed,
        samples: &["/run/sshd must be owned by root and not group or world-writable."],
        ..SSHD
    },
    Cause {
        id: "sshd.no_host_key_for_session",
        sign: r"No supported key exchange algorithms(?: \[preauth\])?$|no hostkey alg",
        says: "sshd has no host key that it can use",
        means: "The key files that sshd_config names are missing or unreadable, so there is nothing to exchange keys with. The client is not at fault.",
        act: "`sshd -T | grep -i hostkey` and `ls -l` of these files: point HostKey to the keys that the host has kept, or make new ones (`ssh-keygen -A`) where there are none; clients of a host whose key is new see a changed key",
        sources: &[seen("https://github.com/openssh/openssh-portable (kex.c, sshd.c)", "2026-11-30")],
        samples: &["No supported key exchange algorithms [preauth]"],
        ..SSHD
    },
    Cause {
        id: "sshd.no_host_keys",
        sign: "sshd: no hostkeys available -- exiting",
        follows: &["ssh.key_too_open"],
        says: "sshd has no host key",
        means: "No key file is there, or all of them are open to others or unreadable.",
        act: "`ls -l /etc/ssh/ssh_host_*`: `ssh-keygen -A` where none is there, `chmod 600` where modes are wrong",
        sure: Sure::Confirmed,
        samples: &["sshd: no hostkeys available -- exiting."],
        ..SSHD
    },
    Cause {
        id: "sshd.port_taken",
        sign: "Bind to port (?<port>[0-9]+) on (?<address>[^ ]+) failed: (?<why>Address already in use|Permission denied|Cannot assign requested address)",
        says: "sshd cannot listen at {address} port {port} ({why})",
        means: "Another program or ssh.socket has the port, the address is not there yet, or SELinux does not allow the port.",
        act: "`ss -ltnp 'sport = :{port}'` for the holder; on RHEL `semanage port -a -t ssh_port_t -p tcp {port}` for another port; with ListenAddress start sshd after the network is online",
        counts: Counts::Warn,
        sure: Sure::Likely,
        samples: &["sshd[900]: error: Bind to port 22 on 0.0.0.0 failed: Address already in use."],
        ..SSHD
    },
    Cause {
        id: "sshd.cannot_bind",
        sign: "fatal: Cannot bind any address",
        role: Role::Effect,
        says: "sshd could listen nowhere and ended",
        means: "Each address and port that it should listen at was taken, forbidden or not there.",
        act: "the lines of `Bind to port` before it name the port and the reason",
        samples: &["sshd[900]: fatal: Cannot bind any address."],
        ..SSHD
    },
    Cause {
        id: "sshd.no_separation_user",
        sign: "Privilege separation user (?<user>[^ ]+) does not exist",
        says: "the system account {user} is missing",
        means: "passwd was replaced or the package did not finish.",
        act: "`dpkg-reconfigure openssh-server` or reinstall it: it makes the account",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["Privilege separation user sshd does not exist"],
        ..SSHD
    },
    // Sessions.
    Cause {
        id: "ssh.shell_prints",
        sign: "Received message too long [0-9]{4,}|protocol version mismatch -- is your shell clean",
        says: "the shell of the other side prints text where sftp, scp or rsync speaks",
        means: "A line in .bashrc, .profile or /etc/profile.d prints something without a terminal, or the login shell refuses with words.",
        act: "`ssh HOST true` must print nothing; let what prints run for interactive shells only (`case $- in *i*) ;; *) return;; esac`)",
        sure: Sure::Confirmed,
        samples: &[
            "Received message too long 1416195429",
            "protocol version mismatch -- is your shell clean?",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.no_sftp",
        sign: "subsystem request failed on channel [0-9]+",
        says: "the server has no sftp",
        means: "scp from OpenSSH 9 on uses sftp, and the server has no Subsystem sftp or its program is missing.",
        act: "`scp -O` for now; `Subsystem sftp internal-sftp` in sshd_config of the server",
        samples: &["subsystem request failed on channel 0"],
        ..SSH
    },
    Cause {
        id: "ssh.sessions_refused",
        sign: "mux_client_request_session: session request failed: Session open refused by peer|channel [0-9]+: open failed: (connect failed: open failed|resource shortage)",
        says: "the server allows no more sessions on one connection",
        means: "More sessions than MaxSessions (10 at first) share a connection through ControlMaster.",
        act: "raise MaxSessions in sshd_config, or use `-o ControlPath=none` for many at once",
        counts: Counts::Warn,
        samples: &["mux_client_request_session: session request failed: Session open refused by peer"],
        ..SSH
    },
    Cause {
        id: "ssh.forwarding_prohibited",
        sign: "open failed: administratively prohibited",
        says: "the server does not allow this forwarding",
        means: "AllowTcpForwarding, PermitOpen or an option of the key forbids it, or the name is not known on the server.",
        act: "look at AllowTcpForwarding and DisableForwarding with `sshd -T`, and at `restrict` in authorized_keys; on a jump host it must be on",
        samples: &["channel 0: open failed: administratively prohibited: open failed"],
        ..SSH
    },
    Cause {
        id: "ssh.forward_target",
        sign: "channel [0-9]+: open failed: connect failed: (?<why>.+)",
        role: Role::Effect,
        says: "nothing answers behind the forwarding ({why})",
        means: "The server could not connect to the forwarded address: nothing listens there yet, or the name is not known on that side.",
        counts: Counts::Warn,
        act: "on the server `ss -ltn` for the port; start the program first, or take the address it listens at",
        samples: &["channel 2: open failed: connect failed: Connection refused"],
        ..SSH
    },
    Cause {
        id: "ssh.no_pty",
        sign: "PTY allocation request failed on channel",
        says: "the server gave no terminal",
        means: "/dev/pts is not mounted or used up, PermitTTY is off, or the container lacks rights.",
        act: "on the server `mount | grep devpts`, `sysctl kernel.pty.nr kernel.pty.max`, `sshd -T | grep -i permittty`",
        sure: Sure::Guess,
        samples: &["PTY allocation request failed on channel 0"],
        ..SSH
    },
    Cause {
        id: "ssh.no_shell",
        sign: "(shell|exec) request failed on channel",
        role: Role::Effect,
        says: "the server could not start the shell",
        means: "fork failed (limit of processes of the account or the host), or sshd's child ended.",
        act: "on the server as root `ps -u USER | wc -l` against `ulimit -u`, `dmesg | tail`, and sshd's log; the playbook `limits` sets limits",
        sure: Sure::Guess,
        samples: &["shell request failed on channel 0"],
        ..SSH
    },
    Cause {
        id: "ssh.local_port_taken",
        sign: r"bind \[?[0-9a-f:.*]+\]?:(?<port>[0-9]+): Address already in use|cannot listen to port: (?<other>[0-9]+)|remote port forwarding failed for listen port (?<remote>[0-9]+)",
        says: "the port [{port}][{other}][{remote}] of a forwarding is taken",
        means: "An older ssh or another program listens there.",
        act: "`ss -ltnp` for the port; end the old ssh or take another port",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["bind [127.0.0.1]:8888: Address already in use"],
        ..SSH
    },
    Cause {
        id: "ssh.control_path",
        sign: "unix_listener: path .* too long for Unix domain socket|ControlPath too long",
        says: "the path of the control socket is too long",
        means: "A Unix socket's path has at most 108 bytes.",
        act: "set a short ControlPath: `~/.ssh/cm-%C`",
        sure: Sure::Confirmed,
        samples: &[
            "unix_listener: path \"/home/alice/.ansible/cp/very-long-name.example.com-22-alice.AbCdEfGh\" too long for Unix domain socket",
        ],
        ..SSH
    },
    Cause {
        id: "ssh.corrupted",
        sign: "Corrupted MAC on input|message authentication code incorrect|ssh_dispatch_run_fatal: Connection to [^ ]+ port [0-9]+: (?<why>.+)",
        role: Role::Effect,
        says: "the connection carried damaged data[ ({why})]",
        means: "A packet was changed on the way (offloads of a card, bad memory, a tunnel), or the libraries of one side were replaced during the session.",
        act: "try again; when it returns, try from another host, then with offloads off (`ethtool -K DEV tso off gro off`), and look at `ethtool -S` for errors",
        sure: Sure::Guess,
        samples: &["Corrupted MAC on input."],
        ..SSH
    },
    Cause {
        id: "ssh.broken",
        sign: "client_loop: send disconnect: (Broken pipe|Connection reset)|packet_write_wait: Connection to .*Broken pipe|Write failed: Broken pipe|Timeout, server (?<host>[^ ]+) not responding|Connection to (?<other>[^ ]+) closed by remote host|Connection to [^ ]+ port [0-9]+ timed out",
        role: Role::Effect,
        says: "the ssh session broke",
        means: "The host went down or rebooted, a firewall forgot an idle connection, or the network was lost.",
        act: "`uptime` there tells of a reboot; for idle sessions set `ServerAliveInterval 30`; run long work in tmux or as a job",
        counts: Counts::Warn,
        samples: &["client_loop: send disconnect: Broken pipe"],
        ..SSH
    },
    Cause {
        id: "ssh.no_login_account",
        sign: r"^This account is currently not available\.",
        says: "the account has no shell to log in with",
        means: "Its shell is nologin.",
        act: "use another account, or give it a shell (`usermod -s /bin/bash USER`)",
        sure: Sure::Confirmed,
        samples: &["This account is currently not available."],
        ..SSH
    },
    Cause {
        id: "ssh.home_missing",
        sign: "Could not chdir to home directory (?<home>[^:]+): (?<why>.+)",
        says: "the home directory {home} is not there ({why})",
        means: "The home was not made, or the file system with homes is not mounted on this host.",
        act: "`findmnt -T {home}` and `mount -a` for a shared home; else `mkhomedir_helper USER`, or pam_mkhomedir for accounts of a directory",
        counts: Counts::Warn,
        samples: &["Could not chdir to home directory /home/alice: No such file or directory"],
        ..SSH
    },
    // PAM.
    Cause {
        id: "pam.booting",
        sign: r"System is (booting up\. Unprivileged users are not permitted to log in yet|going down\. Unprivileged users are not permitted to log in anymore)",
        says: "only root may log in yet (pam_nologin)",
        means: "The file /run/nologin is there while the host boots or shuts down; a boot that hangs keeps it.",
        act: "wait; where it stays, `systemctl list-jobs` as root shows what the boot waits for (often a mount or wait-online), and `rm /run/nologin` lets users in",
        passing: true,
        sure: Sure::Confirmed,
        samples: &[
            "\"System is booting up. Unprivileged users are not permitted to log in yet. Please come back later.\"",
        ],
        ..PAM
    },
    Cause {
        id: "pam.slurm_adopt",
        sign: "Access denied by pam_slurm_adopt: you have no active jobs on this node|pam_slurm_adopt.*(you have no active jobs|Access denied: user (?<user>[^ ]+))",
        says: "the user has no job on this node, so Slurm does not let them in",
        means: "pam_slurm_adopt lets users on a node only while a job of theirs runs there. It is a setting of the site.",
        act: "on a compute node it is as meant: start a job there first (`salloc`, `srun --pty`); admins belong into the exception of the PAM stack (pam_access before it). On a login or head node take the line of pam_slurm_adopt out of /etc/pam.d/sshd, as no job ever runs there",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        sources: &[seen("https://slurm.schedmd.com/pam_slurm_adopt.html", "2026-11-30")],
        samples: &["Access denied by pam_slurm_adopt: you have no active jobs on this node"],
        ..PAM
    },
    Cause {
        id: "pam.limit_not_set",
        sign: r"pam_limits\([^)]*\): (Could not set limit for '(?<limit>[^']*)'(: (?<why>.+))?|wrong limit value '(?<value>[^']*)' for limit item '(?<item>[^']*)')",
        says: "limits.conf was not carried out for [{limit}][{item}]",
        means: "The value is above what the kernel allows (fs.nr_open for nofile), is misspelt, or the container has no right to raise it.",
        act: "compare /etc/security/limits.conf and limits.d with `sysctl fs.nr_open`; `unlimited` is not a value for nofile; the playbook `limits` writes sound ones",
        counts: Counts::Warn,
        samples: &[
            "sshd[1201]: pam_limits(sshd:session): Could not set limit for 'nofile': Operation not permitted",
        ],
        ..PAM
    },
    Cause {
        id: "pam.too_many_logins",
        sign: r"pam_limits\([^)]*\): Too many logins|Too many logins for '(?<user>[^']+)'",
        says: "the account has more logins than maxlogins allows",
        means: "limits.conf limits the number of sessions, and dead ones may count.",
        act: "`loginctl list-sessions` and end old ones, or raise maxlogins",
        sure: Sure::Confirmed,
        samples: &["pam_limits(sshd:session): Too many logins (max 4) for alice"],
        ..PAM
    },
    Cause {
        id: "pam.faillock",
        sign: r"pam_faillock\([^)]*\): Consecutive login failures for user (?<user>[^ ]+) account temporarily locked|The account is locked due to (?<count>[0-9]+) failed logins",
        says: "the account[ {user}] is locked behind failed logins",
        means: "pam_faillock counts wrong passwords, also those of scripts.",
        act: "`faillock --user USER` shows from where they came, `faillock --user USER --reset` unlocks",
        sure: Sure::Confirmed,
        samples: &[
            "sudo[812]: pam_faillock(sudo:auth): Consecutive login failures for user alice account temporarily locked",
        ],
        ..PAM
    },
    Cause {
        id: "pam.access",
        sign: r"pam_access\([^)]*\): access denied for user .(?<user>[^' ]+). from .(?<from>[^' ]+)",
        says: "pam_access does not let {user} in from {from}",
        means: "/etc/security/access.conf has no rule that allows it.",
        act: "add a rule to access.conf before the last one, which denies",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["sshd[4120]: pam_access(sshd:account): access denied for user `alice' from `192.0.2.7'"],
        ..PAM
    },
    Cause {
        id: "pam.expired",
        sign: r"pam_unix\([^)]*\): (account (?<user>[^ ]+) has expired|expired password for user (?<other>[^ ]+))|Your account has expired; please contact your system administrator|Password expired, contact your system administrator|You are required to change your password immediately",
        says: "the account or its password has expired[: {user}][: {other}]",
        means: "An expired password also stops logins by key, cron jobs and `sudo` of the account.",
        act: "`chage -l USER`; a new password, or `chage -E -1 -M -1 USER` for a service account",
        sure: Sure::Confirmed,
        samples: &["pam_unix(sshd:account): expired password for user alice (root enforced)"],
        ..PAM
    },
    Cause {
        id: "pam.session_limit",
        sign: "Failed to create session: Maximum number of sessions",
        says: "logind has no room for more sessions",
        means: "Sessions that ended were not cleaned up (SessionsMax 8192), so that new logins get none.",
        act: "`loginctl list-sessions | wc -l`; restart systemd-logind, and look for what keeps sessions (abandoned scopes); raise SessionsMax where it is true load",
        samples: &[
            "sshd[155200]: pam_systemd(sshd:session): Failed to create session: Maximum number of sessions (8192) reached, refusing further sessions.",
        ],
        ..PAM
    },
    Cause {
        id: "pam.logind_silent",
        follows: &["sshd.selinux_unlabelled"],
        sign: r"pam_systemd\([^)]*\): Failed to create session: (?<why>.+)",
        says: "logind gave no session ({why})",
        means: "systemd-logind or D-Bus does not answer: logins take 25 seconds or more and lack XDG_RUNTIME_DIR.",
        act: "`systemctl status systemd-logind dbus`; restart systemd-logind (a restart of D-Bus needs a reboot); look for a directory service that does not answer (NIS, LDAP)",
        counts: Counts::Warn,
        sure: Sure::Guess,
        samples: &["sshd[71370]: pam_systemd(sshd:session): Failed to create session: Connection timed out"],
        ..PAM
    },
    Cause {
        id: "pam.no_module",
        sign: r"PAM unable to dlopen\((?<module>[^)]+)\)|PAM adding faulty module: (?<faulty>[^ ]+)",
        says: "PAM cannot load [{module}][{faulty}]",
        means: "A file in /etc/pam.d names a module whose package is not installed or has another path.",
        act: "install its package (libpam-..., pam_...) or take the line out of /etc/pam.d (`pam-auth-update`, `authselect`)",
        remedy: Remedy::Install,
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &[
            "sshd[900]: PAM unable to dlopen(pam_slurm_adopt.so): /lib/security/pam_slurm_adopt.so: cannot open shared object file: No such file or directory",
        ],
        ..PAM
    },
    // sudo.
    Cause {
        id: "sudo.syntax",
        sign: ">>> (?<old>/[^ :]+): .*near line (?<line>[0-9]+) <<<|parse error in (?<parse>/[^ ]+) near line (?<near>[0-9]+)|(?<file>/etc/sudoers[^ :]*):(?<at>[0-9]+):[0-9:-]+ ?(syntax error|expected|unexpected|invalid|unknown|.*expected)",
        says: "sudo does not understand line [{line}][{near}][{at}] of [{old}][{parse}][{file}]",
        means: "A mistake in sudoers. Older versions of sudo refuse everybody with it, newer ones skip the line.",
        act: "as root (console, `pkexec`, `su`) `visudo -c` and mend the line with `visudo -f FILE`",
        sure: Sure::Confirmed,
        samples: &[
            ">>> /etc/sudoers.d/alice: syntax error near line 1 <<<",
            "/etc/sudoers.d/alice:1:23: syntax error",
        ],
        ..SUDO
    },
    Cause {
        id: "sudo.file_rights",
        sign: "sudo.*: (?<file>/[^ ]+) (is (world writable|owned by [ug]id (?<owner>[0-9]+), should be [0-9]+)|must be only be writable by owner)",
        says: "sudo does not trust {file}: its owner or mode is wrong",
        means: "sudoers and its plugins must belong to root and be writable for nobody else.",
        act: "as root `chown root:root {file}; chmod 440 {file}` (755 for a folder or program); a recursive chown of / or /etc did more damage than this",
        sure: Sure::Confirmed,
        samples: &[
            "sudo: /etc/sudoers is world writable",
            "sudo: /etc/sudoers is owned by uid 1000, should be 0",
        ],
        ..SUDO
    },
    Cause {
        id: "sudo.setuid",
        sign: "sudo must be owned by uid 0 and have the setuid bit set|effective uid is not 0, is (?<file>[^ ]*sudo)",
        says: "sudo has lost its setuid bit, or lies on a file system without it",
        means: "The file was copied or chowned, or the file system is mounted nosuid (NFS, a user's container).",
        act: "as root `chown root:root /usr/bin/sudo; chmod 4755 /usr/bin/sudo`; `findmnt -T /usr/bin/sudo` for nosuid; reinstall the package where more files lost their modes",
        sure: Sure::Confirmed,
        samples: &["sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set"],
        ..SUDO
    },
    Cause {
        id: "sudo.no_new_privileges",
        sign: "no new privileges.? flag is set, which prevents sudo from running as root",
        says: "sudo may not become root here (no new privileges)",
        means: "The process runs in a container, a service or a job with NoNewPrivileges.",
        act: "become root from outside; of a container `--security-opt no-new-privileges=false` or `allowPrivilegeEscalation: true`, of a unit NoNewPrivileges=no",
        sure: Sure::Confirmed,
        samples: &["sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root."],
        ..SUDO
    },
    Cause {
        id: "sudo.not_a_file",
        sign: r"sudo: (?<file>/[^ ]+) is not a regular file",
        says: "sudo does not take {file}, as it is no regular file",
        means: "A link, a directory or a device lies where sudoers should be. sudo refuses everybody until it is a file of root.",
        act: "as root (console, `su -` or `pkexec`) `ls -ld {file}`: put the file back with owner root and mode 0440, then `visudo -c`",
        sources: &[
            seen("https://github.com/void-linux/void-packages/pull/40971", "2023-01-13"),
            seen(
                "https://github.com/sudo-project/sudo (plugins/sudoers, lib/util/secure_path.c)",
                "2026-12-01",
            ),
        ],
        samples: &["sudo: /etc/sudoers is not a regular file"],
        ..SUDO
    },
    Cause {
        id: "sudo.pam_files",
        sign: r"sudo: unable to initialize (?:PAM|pam)(?:: (?<why>.*))?|^(?:su|runuser|login): Critical error - immediate abort",
        says: "PAM cannot start for sudo or su[: {why}]",
        means: "A file of /etc/pam.d for this program is missing, or it includes one that is not there, or a module in it cannot be loaded.",
        act: "as root at the console `ls -l /etc/pam.d` and `journalctl -t sudo -t su -n 20` for the module or file: put it back from its package (`pam-auth-update` on Debian, `authselect apply-changes` on RHEL)",
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/wolfi-dev/os/pull/12491", "2024-02-05"),
            seen("https://github.com/NixOS/nixpkgs/issues/270373", "2023-11-27"),
        ],
        samples: &["sudo: unable to initialize pam: no such file or directory"],
        ..SUDO
    },
    Cause {
        id: "sudo.plugin",
        sign: "sudo: (error in (?<file>/[^ ,]+), line [0-9]+ while loading plugin|unable to (load|dlopen) (?<module>/[^ :]+))",
        says: "sudo cannot load its plugin[ {module}]",
        means: "A file of the package is missing or has wrong rights, or libraries of another version are found first.",
        act: "as root `ls -l /usr/libexec/sudo /usr/lib/sudo` (root, not writable for others), then reinstall the package sudo",
        remedy: Remedy::Install,
        samples: &["sudo: error in /etc/sudo.conf, line 0 while loading plugin \"sudoers_policy\""],
        ..SUDO
    },
    Cause {
        id: "sudo.no_sources",
        sign: "no valid sudoers sources found, quitting|error initializing audit plugin sudoers_audit|unable to initialize policy plugin",
        role: Role::Summary,
        says: "sudo has no rules it can use",
        means: "The reason is in the line before: syntax, rights of the file, or LDAP.",
        act: "look at the line before it; as root `visudo -c`",
        samples: &["sudo: no valid sudoers sources found, quitting"],
        ..SUDO
    },
    Cause {
        id: "sudo.not_in_sudoers",
        sign: r"(?<user>[^ ]+) is not in the sudoers file|[Ss]orry, user (?<other>[^ ]+) (may not run|is not allowed to (execute|run|authenticate))|user NOT in sudoers|[Ii]'m sorry (?<third>[^ .]+)\. I'm afraid I can't do that|not allowed to run sudo on",
        says: "the account [{user}][{other}][{third}] may not do this with sudo",
        means: "No rule of sudoers allows it: the account is not in the group (sudo, wheel), the login is older than the group, or the rule names other commands.",
        act: "as root `sudo -l -U USER`; `usermod -aG sudo USER` (wheel on RHEL) and a new login, or a rule in /etc/sudoers.d by `visudo -f`",
        sure: Sure::Confirmed,
        samples: &[
            "alice is not in the sudoers file.  This incident will be reported.",
            "Sorry, user alice is not allowed to execute '/usr/bin/apt update' as root on gpu0.",
        ],
        ..SUDO
    },
    Cause {
        id: "sudo.wants_password",
        sign: "sudo(-rs)?: (a (password|terminal) is required|no tty present and no askpass program|interactive authentication is required|A terminal is required to authenticate|sorry, you must have a tty|Interaction is required)|Missing sudo password|sudo: a terminal is required",
        says: "sudo wants a password and there is nobody to ask",
        means: "The command runs without a terminal, and no rule says NOPASSWD for it.",
        act: "give the account a NOPASSWD rule for what it must do (`visudo -f /etc/sudoers.d/NAME`), or pass the password (`ansible -K`, `ssh -t`)",
        sure: Sure::Confirmed,
        samples: &[
            "sudo: a password is required",
            "sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper",
            "sudo: interactive authentication is required",
        ],
        ..SUDO
    },
    Cause {
        id: "sudo.wrong_password",
        sign: "sudo(-rs)?: ([0-9]+ incorrect password attempts?|[Mm]aximum [0-9]+ incorrect authentication attempts)|Incorrect sudo password|su: Authentication failure",
        says: "the password for sudo was wrong",
        means: "sudo asks for the password of the account itself, not of root, unless it is told otherwise.",
        act: "give the account's own password; `faillock --user USER` where it is right and still refused",
        sure: Sure::Confirmed,
        samples: &["sudo: 3 incorrect password attempts"],
        ..SUDO
    },
    Cause {
        id: "sudo.account",
        sign: "sudo(-rs)?: .*(account validation failure, is your account locked|Account validation failure, is your account locked|PAM account management error: (?<why>.+)|PAM authentication error: (?<how>.+)|Account or password is expired|Account expired or PAM config lacks)",
        says: "PAM does not let the account use sudo[: {why}][: {how}]",
        means: "The account is locked or expired, sssd or LDAP does not answer, or /etc/pam.d/sudo names a module that is missing.",
        act: "`chage -l USER` and `passwd -S USER`, `systemctl status sssd`, and the lines of `journalctl -t sudo`",
        samples: &["sudo: account validation failure, is your account locked?"],
        ..SUDO
    },
    Cause {
        id: "sudo.clock",
        sign: "sudo: (time ?stamp too far in the future|ignoring time stamp from the future)",
        says: "the clock was set back behind sudo's last use",
        means: "sudo keeps the time of the last password; the clock of the host jumped.",
        act: "look at the clock (`timedatectl`, playbook `chrony`), then `sudo -K`",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["sudo: time stamp too far in the future: Mar  2 09:14:41 2026"],
        ..SUDO
    },
    Cause {
        id: "sudo.own_name",
        check: "system.own_name",
        sign: r"sudo: unable to resolve host (?<host>[^ :\\]+)",
        says: "the host does not know its own name {host}",
        means: "/etc/hosts has no line for the hostname. sudo goes on, and slows down where DNS does not answer; MPI and Slurm may fail by it.",
        act: "add `127.0.1.1 {host}` (or its address) to /etc/hosts; the playbook `base` does it",
        counts: Counts::Warn,
        sure: Sure::Confirmed,
        samples: &["sudo: unable to resolve host gpu0: Name or service not known"],
        ..SUDO
    },
    Cause {
        id: "sudo.no_account",
        sign: "sudo: (you do not exist in the passwd database|unknown uid (?<uid>[0-9]+): who are you|unknown user (?<user>[^ ]+)|user '(?<other>[^']+)' not found)",
        says: "the account is not known on this host[: {uid}][: {user}][: {other}]",
        means: "The uid has no entry in passwd or the directory: a container with `--user`, or sssd and LDAP that do not answer.",
        act: "`getent passwd USER`; look at `systemctl status sssd nslcd`; in a container add the entry to /etc/passwd",
        samples: &["sudo: unknown uid 1000: who are you?"],
        ..SUDO
    },
    Cause {
        id: "sudo.rs_option",
        sign: "^(?:sudo: |sudo-rs: )?invalid option provided|sudo: unrecognized option|sudo-rs: .*(?:not supported|unsupported option)",
        says: "sudo does not know an option of this call",
        means: "sudo-rs, which is the sudo of Ubuntu 25.10 and newer, lacks options of the older one, such as -A, -E and -C in its first releases. Passwords and rules are not at fault.",
        act: "see `sudo --version`: leave that option out, or go back to the other one (`update-alternatives --config sudo`, sudo.ws)",
        sources: &[seen("https://github.com/trifectatechfoundation/sudo-rs (src/sudo/cli)", "2026-11-30")],
        samples: &["invalid option provided"],
        ..SUDO
    },
    Cause {
        id: "sudo.home_missing",
        sign: "sudo: unable to change directory to (?<dir>[^:]+): (?<why>.+)",
        says: "the home {dir} of the account for sudo does not exist or cannot be entered",
        means: "`sudo -i` goes to the home of the account that it becomes. The command runs all the same.",
        counts: Counts::Warn,
        act: "`getent passwd NAME`: make the directory with its owner, or leave `-i` out",
        samples: &["sudo: unable to change directory to /var/lib/slurm: No such file or directory"],
        ..SUDO
    },
    Cause {
        id: "sudo.noise",
        sign: r"sudo: setrlimit\(RLIMIT_CORE\): Operation not permitted|preserving the entire environment is not supported, '-?-?[A-Za-z-]+' is ignored|sudo: .*is a deprecated",
        says: "sudo says something that stops nothing",
        means: "In containers sudo may not set a limit of core files; sudo-rs passes over -E.",
        counts: Counts::Note,
        samples: &[
            "sudo: setrlimit(RLIMIT_CORE): Operation not permitted",
            "sudo: preserving the entire environment is not supported, '-E' is ignored",
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.escalation_timeout",
        sign: r"Timeout \([0-9]+s\) waiting for privilege escalation prompt",
        role: Role::Effect,
        says: "Ansible waited in vain for sudo",
        means: "sudo is slow (a directory or DNS that does not answer), or asks in other words than Ansible expects (sudo-rs, another language).",
        act: "`time sudo -k true` on the host: where it is slow look at DNS, own name and LDAP; where it is fast update ansible-core, or raise `timeout`",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ansible/ansible/issues", "2026-11-30")],
        samples: &[
            "fatal: [gpu0]: FAILED! => {\"msg\": \"Timeout (12s) waiting for privilege escalation prompt: \"}",
        ],
        ..SUDO
    },
    // Directories of accounts.
    Cause {
        id: "ldap.clock",
        sign: "[Cc]lock skew too great",
        says: "the clock of this host differs from the KDC's",
        means: "Kerberos takes at most five minutes of difference.",
        act: "set the clock (`chronyc tracking`, playbook `chrony`; `fleet.clock` compares hosts), then try again",
        sure: Sure::Confirmed,
        samples: &["kinit: Clock skew too great while getting initial credentials"],
        ..NAMES
    },
    Cause {
        id: "ldap.keytab",
        sign: r"Failed to initialize credentials using keytab \[[^]]*\]: (?<why>[^.]+)",
        says: "the host's key for Kerberos is not taken ({why})",
        means: "The keytab is of an earlier join of the domain, the machine account was reset or removed, or the name differs.",
        act: "`klist -kt /etc/krb5.keytab` and `kvno` against the domain; stop sssd, join again (`realm leave`, `realm join`), clear /var/lib/sss/db, start sssd; look at the clock too",
        samples: &[
            "sssd[812]: Failed to initialize credentials using keytab [MEMORY:/etc/krb5.keytab]: Preauthentication failed. Unable to create GSSAPI-encrypted LDAP connection.",
        ],
        ..NAMES
    },
    Cause {
        id: "ldap.no_kdc",
        sign: "Cannot contact any KDC for realm '?(?<realm>[^' ]+)",
        role: Role::Effect,
        says: "no KDC of {realm} is reached",
        means: "DNS does not name it, or ports 88 and 464 are blocked.",
        act: "`dig SRV _kerberos._udp.{realm}`, `nc -vz KDC 88`, the firewall on the way",
        samples: &["kinit: Cannot contact any KDC for realm 'EXAMPLE.COM' while getting initial credentials"],
        ..NAMES
    },
    Cause {
        id: "ldap.certificate",
        sign: r"(ldap_start_tls_s\(\)|Could not start TLS encryption|TLS: hostname does not match|ldap_install_tls failed|TLS: peer cert untrusted)[^a-z]*(?<why>.*)",
        says: "the LDAP server's certificate is not taken ({why})",
        means: "The authority is not known to this host, the name does not fit, or the certificate has run out.",
        act: "`openssl s_client -connect SERVER:389 -starttls ldap` shows it; set TLS_CACERT (ldap.conf), tls_cacertfile (nslcd) or ldap_tls_cacert (sssd) to the authority's file",
        samples: &[
            "nslcd[812]: [8b4567] <passwd=\"alice\"> ldap_start_tls_s() failed: Connect error (uri=\"ldap://ldap.example.com\")",
        ],
        ..NAMES
    },
    Cause {
        id: "ldap.refuses_bind",
        sign: r"(failed to bind to LDAP server|ldap_(sasl_)?(interactive_)?(simple_)?bind[a-z_]*)[^\x22]*[Ii]nvalid credentials",
        says: "the LDAP server does not take the account of this host (invalid credentials)",
        means: "The bind DN or its password in nslcd.conf, sssd.conf or the command is wrong.",
        act: "`ldapwhoami -x -D BINDDN -W -H ldap://SERVER` with the same values, then correct the file and restart nslcd or sssd",
        sure: Sure::Confirmed,
        samples: &["ldap_bind: Invalid credentials (49)"],
        ..NAMES
    },
    Cause {
        id: "ldap.unreachable",
        sign: "no available LDAP server found(: (?<why>.+))?$|[Cc]an't contact LDAP server|sssd(_be)?.*(Backend is offline|backend is offline)",
        role: Role::Effect,
        says: "no LDAP server is reached from this host[ ({why})]",
        means: "A firewall (389, 636), DNS or the server itself. Each look-up of an account waits for its time limit, so logins and sudo are slow or fail.",
        act: "`nc -vz SERVER 389` from this host and from another: where it times out look at the firewall of the server (ufw, firewalld, playbook `firewall`), where it is refused at slapd; with sssd `sssctl domain-status DOMAIN`",
        sources: &[seen("https://github.com/nebari-dev/nebari-slurm/issues/116", "2022-03-21")],
        samples: &[
            "hpc-worker-02 nslcd[2653]: [517796] <group/member=\"alice\"> no available LDAP server found: Server is unavailable: Connection timed out",
            "ldap_sasl_bind(SIMPLE): Can't contact LDAP server (-1)",
        ],
        ..NAMES
    },
    Cause {
        id: "sssd.settings",
        sign: "(File ownership and permissions check failed.*sssd|sssd.*(File ownership and permissions check failed|couldn't load the configuration database|Unable to read (main )?config))",
        says: "sssd does not read its settings",
        means: "sssd.conf must belong to root (or sssd) and be 0600, must be there, and must have no syntax error.",
        act: "`chown root:root /etc/sssd/sssd.conf; chmod 600 /etc/sssd/sssd.conf`, then `sssctl config-check`",
        samples: &[
            "sssd[812]: SSSD couldn't load the configuration database [2]: No such file or directory.",
        ],
        ..NAMES
    },
    Cause {
        id: "sssd.watchdog",
        sign: r"was terminated by own WATCHDOG|sssd.*Killing service \[[^\]]+\], not responding to pings",
        says: "a process of sssd was blocked for too long and was started again",
        means: "sssd_be waited on something for more than thirty seconds: a server or DNS that does not answer, a slow disk under /var/lib/sss, or very big groups. Logins fail in that time.",
        act: "`sssctl domain-status DOMAIN`, and the log of that domain at this time (`debug_level = 6` in sssd.conf) for the last step: mend the server, DNS or disk that it waited for; `ignore_group_members = true` for big groups, or a longer `timeout` in the domain last",
        sure: Sure::Guess,
        sources: &[seen("https://sssd.io/troubleshooting/errors.html", "2026-11-30")],
        samples: &[
            "(Fri Apr 14 15:07:19 2023) system1 sssd[sssd]: Child [1277] ('SSSDdomain':'%BE_SSSDdomain') was terminated by own WATCHDOG. Consult corresponding logs to figure out the reason.",
        ],
        ..NAMES
    },
    Cause {
        id: "sssd.access_rule",
        sign: r"pam_sss\([^)]*:account\): Access denied for user (?<user>[^:]+): (?<code>\d+) \((?<why>[^)]*)\)",
        says: "the access rules of sssd do not let {user} in ({why})",
        means: "The password was right. access_provider refuses: simple_allow_groups or simple_allow_users, ldap_access_filter, HBAC of FreeIPA, GPOs of Active Directory, or an account that has expired. Right after a start groups may not be known yet.",
        act: "`sssctl user-checks {user} -s sshd -a acct`, `id {user}`; look at access_provider in sssd.conf (`ad_gpo_access_control = permissive` as a test with AD), then `sss_cache -E`",
        sure: Sure::Likely,
        sources: &[
            seen("https://github.com/SSSD/sssd/issues/6173", "2022-05-23"),
            seen("https://github.com/konstruktoid/hardening/issues/517", "2024-11-08"),
        ],
        samples: &[
            "sshd[566803]: pam_sss(sshd:account): Access denied for user alice: 6 (Permission denied)",
        ],
        ..NAMES
    },
    Cause {
        id: "sssd.backend_gone",
        sign: r"sbus-dp_\S+.*(?:Failed to connect to socket|Connection refused)|\[sbus_dbus_connect_address\].*Unable to connect|Service \S+ (?:exited too many|has exceeded)|sssd.*Exiting the SSSD\. Could not restart critical service",
        says: "sssd's process for a domain does not run",
        means: "sssd_be ended or could not be started again, so that the others find nobody to ask.",
        act: "`systemctl status sssd`, the log of that domain in /var/log/sssd for its end (the watchdog, memory, a crash), then `systemctl restart sssd`; a newer release where it comes again",
        sources: &[seen("https://github.com/SSSD/sssd/issues/6219", "2023-01-20")],
        samples: &[
            "(2023-01-20 13:17:51): [nss] [sbus_dbus_connect_address] (0x0020): Unable to connect to unix:path=/var/lib/sss/pipes/private/sbus-dp_LDAP [org.freedesktop.DBus.Error.NoServer]: Failed to connect to socket /var/lib/sss/pipes/private/sbus-dp_LDAP: Connection refused",
        ],
        ..NAMES
    },
    Cause {
        id: "sssd.pam_answer",
        sign: r"pam_sss\([^)]*\): received for user (?<user>[^:]+): (?<code>[0-9]+) \((?<why>[^)]*)\)",
        role: Role::Effect,
        says: "sssd refused {user} ({why})",
        means: "A wrong password (7), no such account (10), an access rule (6), or a server that is not reached (9, 4).",
        act: "`sssctl user-checks {user}`; for 6 look at access_provider and simple_allow_groups, for 9 at `sssctl domain-status`",
        counts: Counts::Warn,
        samples: &[
            "sshd[4001]: pam_sss(sshd:auth): received for user alice: 9 (Authentication service cannot retrieve authentication info)",
        ],
        ..NAMES
    },
    Cause {
        id: "account.unknown",
        sign: "(id: .(?<user>[^':’]+).: no such user|su: user (?<other>[^ ]+) does not exist|cannot find name for (user|group) ID (?<number>[0-9]+)|unknown uid [0-9]+|unknown userid [0-9]+|getpwuid..: uid not found|user: lookup userid (?<id>[0-9]+): |I have no name!)",
        says: "the account is not known on this host[: {user}][: {other}][: {number}][: {id}]",
        means: "It is in no source of nsswitch.conf: not created here, or sssd, nslcd or NIS does not answer.",
        act: "`getent passwd NAME`, `systemctl status sssd nslcd`, `sss_cache -E`; local accounts must have the same uid on all hosts",
        counts: Counts::Warn,
        samples: &["id: 'alice': no such user", "groups: cannot find name for group ID 10001"],
        ..NAMES
    },
    // What several causes have.
    Cause {
        id: "ansible.no_such_account",
        sign: r#"(?:chgrp|chown) failed: failed to look up (?<kind>group|user) (?<name>[^ \"',]+)"#,
        says: "a task gives a file to {kind} {name}, which this host does not have",
        means: "The role or playbook names an account or group of another distribution or release, or one that an earlier task should have made. Nothing is wrong with the file itself.",
        act: "see `getent {kind} {name}`: where this distribution has no such {kind} (ssh_keys on Fedora 38 and EL 10, wheel on Debian), take root or the right name in the variables of the role, or a newer release of the role; make it only where it should be there",
        sure: Sure::Confirmed,
        sources: &[seen(
            "https://github.com/ansible/ansible (lib/ansible/module_utils/basic.py)",
            "2026-11-30",
        )],
        samples: &[
            r#"fatal: [web1]: FAILED! => {"changed": false, "gid": 0, "group": "root", "mode": "0600", "msg": "chgrp failed: failed to look up group ssh_keys", "owner": "root"}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.python_bindings",
        sign: r"Could not import the (?<module>dnf|yum|apt|apt_pkg|rpm|libdnf5|selinux)[^ ]* python module|dnf install -y python2-dnf|(?:Could not detect|No) (?:a supported )?package manager|Aborting, target uses selinux but python bindings \(libselinux-python\) aren't installed|python3?-apt must be installed",
        says: "Ansible runs on a Python of this host that lacks the bindings[ of {module}]",
        means: "Modules for packages and SELinux need the Python of the distribution. The interpreter that Ansible took is another one: Python 2, one of a virtual environment, or one that was built by hand.",
        act: "set `ansible_python_interpreter: /usr/bin/python3` for these hosts (`/usr/libexec/platform-python` on release 8), and install `python3-dnf`, `python3-apt` or `python3-libselinux` for it; for localhost in a virtual environment set it as well",
        sources: &[
            seen("https://github.com/ansible/ansible/issues/64689", "2019-11-12"),
            seen("https://github.com/ansible/ansible/pull/57622", "2019-06-10"),
        ],
        samples: &[
            r#"fatal: [web1]: FAILED! => {"changed": false, "cmd": "dnf install -y python2-dnf", "msg": "Could not import the dnf python module using /usr/bin/python (2.7.16). Please install `python2-dnf` package or ensure you have specified the correct ansible_python_interpreter.", "rc": 1}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "selinux.denied",
        sign: r#"SELinux is preventing (?<program>\S+) from|avc: +denied +\{ (?<what>[^}]+?) *\} for .*comm=\"(?<comm>[^\"]+)\".*permissive=0|avc: +denied +\{ (?<old>[^}]+?) *\} for .*comm=\"(?<old_comm>[^\"]+)\"[^=]*(?:[a-z]+=[^p][^ ]* ?)*tclass=\w+ *$"#,
        role: Role::Effect,
        says: "SELinux forbids a program something[: {program}][: {comm}, {what}][: {old_comm}, {old}]",
        means: "A file has a label that does not belong to its place (copied or moved there), a port or path is another than the policy knows, or a switch of the policy is off.",
        counts: Counts::Warn,
        act: "`ausearch -m avc -ts recent | audit2why` names the switch or label: `restorecon -Rv PATH`, `setsebool -P`, `semanage port` or `semanage fcontext`; leave SELinux on",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/SELinuxProject/selinux", "2026-11-30")],
        samples: &[
            "SELinux is preventing /usr/bin/ssh from connectto access on the unix_stream_socket /run/x.sock.",
        ],
        ..PAM
    },
    Cause {
        id: "apparmor.denied",
        sign: r#"apparmor=\\?\"DENIED\\?\" operation=\\?\"(?<what>[^\"\\]+)\\?\" .*profile=\\?\"(?<profile>[^\"\\]+)"#,
        role: Role::Effect,
        says: "AppArmor forbids {profile} something ({what})",
        means: "The profile of that program does not allow it. Many such lines of snaps and of chronyd hurt nobody.",
        counts: Counts::Warn,
        act: "where that program is the one that fails: `aa-status`, then a line in /etc/apparmor.d/local/NAME and `apparmor_parser -r`",
        sure: Sure::Guess,
        sources: &[seen("https://gitlab.com/apparmor/apparmor/-/wikis/home", "2026-11-30")],
        samples: &[
            r#"audit: type=1400 audit(1.1:2): apparmor="DENIED" operation="open" class="file" profile="/usr/sbin/slapd" name="/data/x" pid=12 comm="slapd""#,
        ],
        ..PAM
    },
    Cause {
        id: "ansible.no_python",
        sign: r"The module failed to execute correctly, you probably need to set the interpreter|/usr/bin/python3?: (?:not found|No such file or directory)|The module interpreter '(?<path>[^']+)' was not found|No python interpreters found for host (?<host>\S+)",
        says: "Ansible finds no Python on that host[: {path}]",
        means: "Its modules are programs of Python. The host has none, or only one of another name.",
        act: "install it without modules (`ansible HOST -m raw -a \"apt-get install -y python3\"`, or dnf), then set `ansible_python_interpreter: /usr/bin/python3`",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            r#""msg": "The module failed to execute correctly, you probably need to set the interpreter.\nSee stdout/stderr for the exact error", "rc": 127"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.python_versions",
        sign: r"SyntaxError: future feature annotations is not defined|ansible-core requires a minimum of Python|ModuleNotFoundError: No module named 'ansible\.module_utils\.six\.moves'|ImportError: No module named (?:configparser|ansible\.module_utils)|SyntaxError: invalid syntax.*AnsiballZ",
        says: "this release of Ansible does not run with the Python of that host",
        means: "ansible-core 2.17 and newer need Python 3.7 and newer on the hosts (so not Enterprise Linux 7 and the Python 3.6 of release 8); older Ansible does not run with Python 3.12 there.",
        act: "set `ansible_python_interpreter` to a newer Python of that host (python3.9, python3.11), or take the Ansible that fits it (2.16 for release 8)",
        remedy: Remedy::Install,
        sources: &[seen(
            "https://docs.ansible.com/ansible/latest/reference_appendices/release_and_maintenance.html",
            "2026-11-30",
        )],
        samples: &["SyntaxError: future feature annotations is not defined"],
        ..SUDO
    },
    Cause {
        id: "ansible.temporary",
        sign: r"Failed to create temporary directory\. ?In some cases|Authentication or permission failure\. ?In some cases|Failed to set permissions on the temporary files Ansible needs",
        says: "Ansible cannot make its directory on that host",
        means: "The home of the login does not exist or cannot be written to, the disk or the quota is full, or become leads to an account that may not read the files of the login (no ACL).",
        act: "`ssh HOST \"df -h ~ /tmp; ls -ld ~ ~/.ansible\"`: make the home, free space, or set `ansible_remote_tmp: /tmp/.ansible-USER`; for the words about permissions install `acl` there, or set allow_world_readable_tmpfiles",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            r#"fatal: [h1]: UNREACHABLE! => {"changed": false, "msg": "Failed to create temporary directory. In some cases, you may have been able to authenticate and did not have permissions on the target directory."}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.sshpass",
        sign: "you must install the sshpass program|Using a SSH password instead of a key is not possible because Host Key checking is enabled",
        says: "Ansible cannot log in by password as things are",
        means: "For passwords it needs sshpass, which answers no question about an unknown host key.",
        act: "put keys on the hosts, which is better; or install `sshpass` here, and take the host keys in first (`ssh-keyscan` compared with the console, `provision inventory trust`)",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            r#"fatal: [h1]: FAILED! => {"msg": "to use the 'ssh' connection type with passwords, you must install the sshpass program"}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.undefined",
        sign: "(?:The task includes an option with an undefined variable|AnsibleUndefinedVariable|The conditional check .* failed)[^{]*?(?:The error was: )?'?(?<name>[A-Za-z_][A-Za-z0-9_. ]*)'? is undefined|object has no attribute '(?<attribute>[^']+)'.*(?:The error appears to be in|undefined variable)|AnsibleUndefinedVariable: (?<what>.+)",
        says: "a variable of the playbook is not set[: {name}][: {attribute}][: {what}]",
        means: "It is not in the inventory, is misspelt, or is a fact that was not gathered (gather_facts off, a host of the group that was not reached, a fact of another distribution).",
        act: "set it in group_vars or defaults, or gather facts of the hosts that are used (`setup`); `ansible-inventory --host NAME` shows what is set",
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            r#"fatal: [h1]: FAILED! => {"msg": "The task includes an option with an undefined variable. The error was: 'ansible_default_ipv4' is undefined"}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.module_missing",
        sign: "couldn't resolve module/action '(?<module>[^']+)'|the role '(?<role>[^']+)' was not found|Could not find (?:imported module support code|or access) '(?<file>[^']+)'|The (?:filter|lookup) plugin '(?<plugin>[^']+)' was not found|couldn't resolve the (?:filter|lookup) '(?<other>[^']+)'",
        says: "Ansible does not find[ the module {module}][ the role {role}][ {file}][ {plugin}][ {other}]",
        means: "The collection or role is not installed here, or in another version; ansible-core has only the modules of ansible.builtin. A file is looked for below files/ and templates/ of the role.",
        act: "`ansible-galaxy collection list`; `ansible-galaxy collection install NAME` (or `install -r requirements.yml`), roles with `ansible-galaxy role install`; the package `ansible` in place of `ansible-core` has the usual collections",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            "ERROR! couldn't resolve module/action 'community.general.ufw'. This often indicates a misspelling, missing collection, or incorrect module path.",
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.syntax",
        sign: r"ERROR! (?:We were unable to read either as JSON nor YAML|Syntax Error while loading YAML|conflicting action statements|'(?<what>[^']+)' is not a valid attribute for a (?<of>\w+)|unexpected parameter type in action|no action detected in task)",
        says: "a playbook has a mistake in its text[: {what} is not known for a {of}]",
        means: "YAML was not read, or a key stands at the wrong place or is misspelt.",
        act: "look at the file and line that the text names: indentation, a colon in an unquoted text, a module name of another collection",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &["ERROR! 'hots' is not a valid attribute for a Play"],
        ..SUDO
    },
    Cause {
        id: "ansible.facts_timeout",
        sign: r#""msg": "Timeout exceeded"|timed out waiting for ping module test|"msg": "Timer expired after"#,
        says: "gathering facts took too long",
        means: "A mount that does not answer (NFS), or a disk that is slow, stops it most often.",
        act: "`ssh HOST timeout 5 df -h` shows a mount that hangs; mend it, or `gather_subset: \"!hardware\"` with a longer gather_timeout",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &[
            r#"fatal: [h1]: FAILED! => {"ansible_facts": {}, "changed": false, "msg": "Timeout exceeded"}"#,
        ],
        ..SUDO
    },
    Cause {
        id: "ansible.vault",
        sign: r"Attempting to decrypt but no vault secrets found|Decryption failed \(no vault secrets (?:were found|would)",
        says: "Ansible has not the password of a vault",
        means: "A file of variables is encrypted, and no password or the wrong one was given.",
        act: "`--ask-vault-pass` or `--vault-password-file FILE`; with several vaults `--vault-id NAME@FILE`",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/ansible/ansible (lib/ansible)", "2026-11-30")],
        samples: &["ERROR! Attempting to decrypt but no vault secrets found"],
        ..SUDO
    },
    Cause {
        id: "ansible.no_service",
        sign: r#"Could not find the requested service (?<unit>[^ :\"']+)(?:: host)?|Unable to (?:start|restart|enable) service (?<other>[^ :]+): Failed to \w+ (?:unit: Unit file )?[^ ]* ?(?:does not exist|not found)"#,
        says: "that host has no such unit[: {unit}][: {other}]",
        means: "Its package is not installed there, the unit has another name in this distribution, or systemd does not know the file yet.",
        act: "`systemctl list-unit-files | grep NAME`: install the package first, correct the name, `daemon_reload: true`; hosts that need no such service are left out with `when`",
        sources: &[seen("https://github.com/NVIDIA/deepops/issues/877", "2021-02-17")],
        samples: &["msg: 'Could not find the requested service nvidia-fabricmanager: host'"],
        ..SUDO
    },
    Cause {
        id: "ssh.denied",
        sign: r"(?<login>[^ ]+@[^ :]+: )?Permission denied( \((?<methods>[a-z0-9,.@-]*(publickey|password|keyboard-interactive|gssapi-with-mic|hostbased)[a-z0-9,.@-]*)\)|, please try again\.)",
        role: Role::Effect,
        follows: &[
            "ssh.private_key_too_open",
            "ssh.key_damaged",
            "ssh.agent_refused",
            "sshd.bad_modes",
            "ssh.sha1_client",
        ],
        says: "the server took no key or password[ (it would take {methods})]",
        means: "The public key is not in authorized_keys of this account, the wrong key or user name is used, or sshd does not trust the file's rights. Only sshd's log tells which.",
        act: "`ssh -v` for the keys that are offered; on the server `journalctl -u ssh -u sshd` at that second, and `ls -ld ~ ~/.ssh ~/.ssh/authorized_keys`; between hosts of a cluster the playbook `ssh-mesh`",
        sure: Sure::Guess,
        samples: &["alice@192.0.2.10: Permission denied (publickey,gssapi-keyex,gssapi-with-mic)."],
        ..SSH
    },
    Cause {
        id: "ssh.closed",
        sign: r"^(ssh: )?Connection (closed|reset) by (?<host>[^ ]+) port (?<port>[0-9]+)\r?$|^Connection closed by remote host",
        role: Role::Effect,
        says: "the server closed the connection[ ({host})]",
        means: "sshd ended the session: no method of login was left, PAM refused the account, the shell ended at once, or a limit was reached.",
        act: "sshd's log on that host at that second tells",
        sure: Sure::Guess,
        samples: &["Connection closed by 192.0.2.10 port 22"],
        ..SSH
    },
    Cause {
        id: "ansible.pattern_as_host",
        sign: r"^fatal: \[(?<what>[^\]]*(?:default\(|\{\{|\}\})[^\n]*?)\]: UNREACHABLE!|Could not resolve hostname (?<name>\S+ \| default[^:]*|\{\{[^:]*)",
        says: "Ansible took an expression for the name of a host[: {what}][: {name}]",
        means: "The playbook or the inventory has an expression that this release does not evaluate at that place: an older Ansible, a variable without its braces or quotes.",
        act: "use the release of Ansible that the playbook asks for; look at `hosts:` of the play and at the inventory (`ansible-inventory --graph`) for the bare expression",
        sources: &[seen("https://github.com/ansible/ansible/issues/15321", "2017-08-17")],
        samples: &[
            r#"fatal: [g_all_hosts | default([])]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh: ssh: Could not resolve hostname g_all_hosts | default([]): Name or service not known""#,
        ],
        ..SSH
    },
    Cause {
        id: "ansible.config_ignored",
        sign: r"Ansible is (?:being run )?in a world writable directory \((?<path>[^)]+)\)",
        says: "Ansible does not read the ansible.cfg of {path}",
        means: "Everybody may write into that directory, so its ansible.cfg is left out: inventory, account and key of it do not hold. Usual with directories of Windows in WSL and with shared folders.",
        counts: Counts::Note,
        act: "`chmod o-w {path}`, or name it: `ANSIBLE_CONFIG={path}/ansible.cfg`; `ansible --version` shows the file that is used",
        sources: &[seen("https://github.com/ansible/ansible/issues/75231", "2021-07-11")],
        samples: &[
            "[WARNING]: Ansible is in a world writable directory (/mnt/c/config/ansible), ignoring it as an ansible.cfg source.",
        ],
        ..SSH
    },
    Cause {
        id: "ansible.no_visudo",
        sign: r#""cmd": \[?"[^"]*visudo[^"]*".*No such file or directory"#,
        says: "the task checks sudoers by visudo, which the host does not have at that path",
        means: "sudo is not installed there, visudo is in /usr/sbin outside of the PATH of the account, or the host has sudo-rs only (visudo-rs). The text names the file to check, but the program is missing.",
        act: "on the host `command -v visudo visudo-rs; ls -l /usr/sbin/visudo`: install sudo, and name the whole path in the task (`validate: /usr/sbin/visudo -cf %s`)",
        remedy: Remedy::Install,
        sources: &[seen("https://github.com/ahuffman/ansible-sudoers/issues/23", "2018-02-20")],
        samples: &[
            r#"fatal: [gpu0]: FAILED! => {"changed": false, "cmd": "visudo -cf /home/a/.ansible/tmp/ansible-tmp-1/source", "msg": "[Errno 2] No such file or directory", "rc": 2}"#,
        ],
        ..SSH
    },
    Cause {
        id: "ansible.unreachable",
        sign: r"UNREACHABLE! => .*Failed to connect to the host via ssh(?:: (?<why>[^\x22\\]+)|\.?\x22)",
        role: Role::Summary,
        says: "Ansible did not reach a host[: {why}]",
        means: "ssh's own words stand in the message.",
        act: "`ssh` to the host by hand with the same account and key",
        sources: &[seen(
            "https://docs.ansible.com/ansible/latest/inventory_guide/connection_details.html",
            "2026-11-30",
        )],
        samples: &[
            "gpu0 | UNREACHABLE! => {\"changed\": false, \"msg\": \"Failed to connect to the host via ssh: Shared connection to 192.0.2.10 closed.\", \"unreachable\": true}",
        ],
        ..SSH
    },
];

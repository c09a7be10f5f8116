//! The wire: frames as shell text; `parser.rs` reads what comes back. See `docs/design/0003-wire.md`.
//!
//! ```text
//!   {                                     <- one compound command: cut anywhere, nothing runs
//!   provision_main() {
//!   printf '\n%s begin 1\n' NONCE
//!   ... prelude ...
//!   part_0() (
//!   :
//!   ... text ...
//!   )
//!   part_0 'word' 'another word'
//!   printf '\n%s end 0 %s\n' NONCE "$?"
//!   }
//!   provision_main </dev/null             <- nothing else reads the script's standard input
//!   }
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::quote::quote;
use super::script::{Arg, Script};
use super::{Frame, TransportError};
use crate::placeholder;
use crate::put;
use crate::secrets::Secrets;

impl Script {
    /// Shell text that defines the function `name`, a subshell, and calls it with its data.
    ///
    /// Placeholders of secrets are replaced, so the result goes to the wire and nowhere else.
    pub fn render(&self, secrets: &Secrets, name: &str) -> String {
        let mut out = String::with_capacity(self.text.len() + 64);
        self.render_into(&mut out, secrets, name);
        out
    }

    fn render_into(&self, out: &mut String, secrets: &Secrets, name: &str) {
        self.define(out, name);
        self.call(out, secrets, name);
        out.push('\n');
    }

    fn define(&self, out: &mut String, name: &str) {
        out.push_str(name);
        // Without any command it is a syntax error, hence the colon.
        let (open, close) = if self.inline { ("() {\n:\n", "\n}\n") } else { ("() (\n:\n", "\n)\n") };
        out.push_str(open);
        out.push_str(&self.text);
        out.push_str(close);
    }

    fn call(&self, out: &mut String, secrets: &Secrets, name: &str) {
        out.push_str(name);
        for arg in &self.args {
            out.push(' ');
            match arg {
                Arg::Word(word) => out.push_str(&quote(&secrets.reveal(word))),
                Arg::Text(text) => out.push_str(&encode(secrets.reveal(text).as_bytes())),
                Arg::Bytes(bytes) => out.push_str(&encode(bytes)),
                Arg::Packed(text) => out.push_str(&pack(&secrets.reveal(text))),
                Arg::Script(script) => out.push_str(&pack(&script.render(secrets, "script"))),
                Arg::Scripts(scripts) => out.push_str(&pack(&render_all(scripts, secrets, ""))),
                Arg::Tasks(scripts) => out.push_str(&pack(&render_all(scripts, secrets, "task "))),
            }
        }
        // A script that is run from a pipe or a file must not read its own text.
        out.push_str(" </dev/null");
    }

    /// Returns the reason why it must not be sent, if there is one.
    fn refusal(&self, secrets: &Secrets) -> Option<String> {
        let nul = |text: &str| {
            text.contains('\0').then(|| "holds a NUL character, which no shell word can hold".to_owned())
        };
        let lacks = |text: &str| {
            secrets.lacks(text).map(|name| format!("wants the secret `{name}`, which was not asked for"))
        };
        nul(&self.text).or_else(|| {
            self.args.iter().find_map(|arg| match arg {
                Arg::Word(word) => nul(word).or_else(|| lacks(word)),
                Arg::Text(text) | Arg::Packed(text) => lacks(text),
                Arg::Bytes(bytes) => placeholder::is_in_bytes(bytes)
                    .then(|| "sends bytes in which a secret should stand; this is a bug".to_owned()),
                Arg::Script(script) => script.refusal(secrets),
                Arg::Scripts(scripts) | Arg::Tasks(scripts) => {
                    scripts.iter().find_map(|script| script.refusal(secrets))
                }
            })
        })
    }
}

/// Scripts that run one after the other behind a word, each text defined once.
fn render_all(scripts: &[Script], secrets: &Secrets, before: &str) -> String {
    let mut out = String::new();
    let mut texts: Vec<&str> = Vec::new();
    for script in scripts {
        let known = texts.iter().position(|text| *text == script.text);
        let name = format!("script_{}", known.unwrap_or(texts.len()));
        if known.is_none() {
            texts.push(&script.text);
            script.define(&mut out, &name);
        }
        out.push_str(before);
        script.call(&mut out, secrets, &name);
        out.push_str(" || exit\n");
    }
    out
}

/// Base64 needs no quotes, but an empty word does.
fn encode(bytes: &[u8]) -> String {
    if bytes.is_empty() { "''".to_owned() } else { STANDARD.encode(bytes) }
}

/// Printable text as `=` and itself, so that no process has to decode it; base64 otherwise, and where
/// quotes within quotes would make it long.
fn pack(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b'\t' | b'\n' | b' '..=b'~'));
    let quotes = text.bytes().filter(|byte| *byte == b'\'').count();
    if plain && quotes <= 16 + text.len() / 8 {
        quote(&format!("={text}")).into_owned()
    } else {
        encode(text.as_bytes())
    }
}

/// A nonce for one connection. It only has to be what no output holds by accident.
pub(super) fn nonce() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The text of a frame.
///
/// # Errors
/// When a word holds NUL, which no shell can be given, or a secret is wanted that has no value here.
pub(super) fn render(frame: &Frame, nonce: &str, sequence: u64) -> Result<String, TransportError> {
    let mut out = format!("{{\nprovision_main() {{\nprintf '\\n%s begin %s\\n' {nonce} {sequence}\n");
    if frame.watch.is_some() {
        put!(out, "provision_nonce={nonce} provision_watched=1\n");
    }
    out.push_str(&frame.prelude);
    out.push('\n');
    for (index, part) in frame.parts.iter().enumerate() {
        if let Some(reason) = part.script.refusal(&frame.secrets) {
            return Err(TransportError::Protocol { message: format!("`{}` {reason}", part.name) });
        }
        part.script.render_into(&mut out, &frame.secrets, &format!("part_{index}"));
        out.push_str(&format_end(nonce, index));
    }
    out.push_str("}\nprovision_main </dev/null\n}\n");
    Ok(out)
}

fn format_end(nonce: &str, index: usize) -> String {
    format!("printf '\\n%s end %s %s\\n' {nonce} {index} \"$?\"\n")
}

/// User that the host shell has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Whoever it is: the first shell of a login that becomes nobody else.
    Anyone,
    /// The user of the first shell of the login.
    User(u64),
    /// Root, in root's group.
    Root,
}

impl Expected {
    /// Returns the pattern that `UID:GID` of the shell must match.
    fn pattern(self) -> String {
        match self {
            Self::Anyone => "*".to_owned(),
            Self::User(uid) => format!("{uid}:*"),
            Self::Root => "0:0".to_owned(),
        }
    }
}

/// Shell text that makes the shell ours and lets it say who it is. Only built-ins, but where it is root: what root may
/// run is looked at once. A shell that is not who it should be says so and takes the rest of its input for nothing.
pub(super) fn greeting(nonce: &str, expected: Expected) -> String {
    let text = GREETING.replace("NONCE", nonce).replace("EXPECTED", &expected.pattern());
    text.replace("ROOT_PATH\n", &bare(&[include_str!("../shell/rooted.sh"), include_str!("root_path.sh")]))
}

/// Scripts without comments and indentation: each login is sent them.
fn bare(scripts: &[&str]) -> String {
    let lines = scripts.iter().flat_map(|script| script.lines()).map(str::trim_start);
    let kept = lines.filter(|line| !line.starts_with("# ") && !line.is_empty());
    kept.fold(String::new(), |text, line| text + line + "\n")
}

/// `cat` and no `exit`: behind a login script that took over, the real shell waits for what is left.
const GREETING: &str = r#"{
ROOT_PATH
provision_start() {
LC_ALL=C
export LC_ALL
unset CDPATH QUOTING_STYLE TIME_STYLE
provision_stat= provision_uid= provision_gid=
{ read -r provision_stat </proc/$$/stat; } 2>/dev/null
set -- ${provision_stat##*) }
{ while read -r provision_key provision_real provision_effective provision_rest; do
case $provision_key in
Uid:) provision_uid=$provision_effective ;;
Gid:) provision_gid=$provision_effective && break ;;
esac
done </proc/$$/status; } 2>/dev/null
[ -n "$provision_gid" ] || provision_uid=$(PATH=/usr/bin:/bin && id -u) provision_gid=$(PATH=/usr/bin:/bin && id -g)
case $provision_uid in
0)
provision_path=$(root_path 2>/dev/null)
PATH=${provision_path:-/usr/sbin:/usr/bin:/sbin:/bin}
;;
*) PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/mellanox/ethtool/sbin ;;
esac
export PATH
case $provision_uid:$provision_gid in
EXPECTED) printf '\n%s ready %s %s %s %s\n' NONCE "$$" "${3:-0}" "${20:-0}" "$provision_uid" ;;
*) printf '\n%s stranger %s %s\n' NONCE "${provision_uid:-unknown}" "${provision_gid:-unknown}" && return 1 ;;
esac
}
provision_start </dev/null || exec cat >/dev/null
}
"#;

/// Shell text that appends what follows on the standard input of the shell to a file. `PATH.writer` says who writes:
/// process, start time and boot, so that whoever goes on with the file can end this one first.
pub(super) fn stream(nonce: &str, path: &str) -> String {
    STREAM.replace("NONCE", nonce).replace("PATH", &quote(path))
}

const STREAM: &str = r#"{
provision_stream() {
umask 077
provision_stat= provision_boot=
{ read -r provision_stat </proc/$$/stat; } 2>/dev/null
{ read -r provision_boot </proc/sys/kernel/random/boot_id; } 2>/dev/null
set -- ${provision_stat##*) }
printf '%s %s %s\n' "$$" "${20:-0}" "$provision_boot" | cat >PATH.writer &&
printf '\n%s begin 0\n' NONCE && cat >>PATH
printf '\n%s end 0 %s\n' NONCE "$?"
}
provision_stream
exit
}
"#;

/// Shell text after which the shell is a launcher, and what follows is read by what that starts.
///
/// # Errors
/// When a word holds NUL, which no shell can be given.
pub(super) fn launch(nonce: &str, words: &[String]) -> Result<String, TransportError> {
    if words.iter().any(|word| word.contains('\0')) {
        return Err(TransportError::Protocol {
            message: "a word of the launcher holds a NUL character".to_owned(),
        });
    }
    let words: Vec<_> = words.iter().map(|word| quote(word)).collect();
    Ok(format!("{{\nprintf '\\n%s begin 0\\n' {nonce}\nexec {}\n}}\n", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::super::bounded::Bounded;
    use super::super::parser::{Line, Parser};
    use super::*;
    use crate::transport::Part;
    use crate::transport::testing::{SHELLS, feed, runs};

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_nonce_is_long_and_like_no_other() {
        let nonces: std::collections::BTreeSet<String> = (0..1000).map(|_| nonce()).collect();
        assert_eq!(nonces.len(), 1000);
        assert!(nonces.iter().all(|nonce| nonce.len() == 32 && nonce.bytes().all(|c| c.is_ascii_hexdigit())));
    }

    fn frame(scripts: &[Script]) -> Frame {
        let part = |script: &Script| Part {
            name: "test".to_owned(),
            script: script.clone(),
            deadline: Duration::from_secs(5),
            limit: 1 << 20,
        };
        Frame { parts: scripts.iter().map(part).collect(), ..Frame::default() }
    }

    /// Everything that a shell answers: the output before each line of ours, and the line.
    fn answers(shell: &[&str], text: &str) -> Vec<(Vec<u8>, Line)> {
        parsed(&feed(shell, text.as_bytes()).stdout)
    }

    fn parsed(stdout: &[u8]) -> Vec<(Vec<u8>, Line)> {
        let mut parser = Parser::new(NONCE);
        parser.push(stdout);
        let mut answers = Vec::new();
        loop {
            let mut before = Bounded::new(1 << 20);
            match parser.next_line(&mut before) {
                Some(line) => answers.push((before.finish().0, line)),
                None => return answers,
            }
        }
    }

    fn shells() -> impl Iterator<Item = &'static [&'static str]> {
        SHELLS.iter().copied().filter(|shell| runs(shell))
    }

    #[test]
    fn a_frame_runs_in_every_shell() {
        let mut frame = frame(&[
            Script::new("printf '%s|' \"$@\"").args(["a b", "", "it's", "-n", "new\nline", "!"]),
            Script::new("exit 3"),
            Script::new(""),
            Script::new("# nothing but a comment"),
            Script::new("cat; helper; printf '\\377\\000\\n'"),
            Script::new("printf '%s' \"$1\" | base64 -d").arg(Arg::Bytes(vec![0, 255, 10])),
            Script::new(format!("{UNPACK} | sh"))
                .arg(Arg::Script(Box::new(Script::new("echo \"<$1>\"").arg("in'ner")))),
            Script::new("set -e; false; echo not reached"),
        ]);
        frame.prelude = "helper() { printf h; }".to_owned();
        let text = greeting(NONCE, Expected::Anyone) + &render(&frame, NONCE, 1).unwrap();
        for shell in shells() {
            let answers = answers(shell, &text);
            let Line::Ready(identity) = answers[0].1 else { panic!("{shell:?}: {answers:?}") };
            assert!(identity.pid > 0 && identity.group > 0 && identity.started > 0, "{identity:?}");
            let ends: Vec<_> =
                answers[2..].iter().map(|(output, line)| (output.as_slice(), line.clone())).collect();
            let expected: [(&[u8], Line); 8] = [
                (b"a b||it's|-n|new\nline|!|", Line::End(0, 0)),
                (b"", Line::End(1, 3)),
                (b"", Line::End(2, 0)),
                (b"", Line::End(3, 0)),
                (b"h\xff\x00\n", Line::End(4, 0)),
                (b"\x00\xff\n", Line::End(5, 0)),
                (b"<in'ner>\n", Line::End(6, 0)),
                (b"", Line::End(7, 1)),
            ];
            assert_eq!(ends, expected, "{shell:?}");
        }
    }

    #[test]
    fn scripts_of_one_text_are_sent_once_and_run_until_one_fails() {
        let long =
            format!("x=${{x-unset}}$1; printf '%s,' \"$x\"; {}exit \"$2\"", ": a comment\n".repeat(500));
        let scripts = vec![
            Script::new(long.clone()).args(["it's", "0"]),
            Script::new("printf 'between '"),
            Script::new(long.clone()).args(["b\nc", "0"]),
            Script::new(long.clone()).args(["d", "7"]),
            Script::new("echo not reached"),
        ];
        let script = Script::new(format!("{UNPACK} | sh -s")).arg(Arg::Scripts(scripts));
        let text = render(&frame(&[script]), NONCE, 1).unwrap();
        assert!(text.len() < 2 * long.len(), "{}", text.len());
        for shell in shells().filter(|shell| shell[0] != "mksh") {
            let answers = answers(shell, &text);
            let want = (b"unsetit's,between unsetb\nc,unsetd,".to_vec(), Line::End(0, 7));
            assert_eq!(answers[1], want, "{shell:?}");
        }
    }

    #[test]
    fn a_frame_cut_anywhere_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("marker");
        let mut frame = frame(&[
            Script::new(": >\"$1\"; echo ran").arg(marker.to_str().unwrap()),
            Script::new("echo ran"),
        ]);
        frame.prelude = "helper() { :; }".to_owned();
        let text = render(&frame, NONCE, 1).unwrap();
        // The last line feed is no part of it: without it the frame is whole.
        for shell in shells() {
            for cut in 0..text.len() - 1 {
                let output = feed(shell, &text.as_bytes()[..cut]);
                assert!(output.stdout.is_empty(), "{shell:?} ran {:?}", &text[..cut]);
                assert!(!marker.exists(), "{shell:?} ran {:?}", &text[..cut]);
            }
            assert!(
                feed(shell, text.as_bytes())
                    .stdout
                    .ends_with(b"ran\n\n0123456789abcdef0123456789abcdef end 1 0\n")
            );
            std::fs::remove_file(&marker).unwrap();
        }
    }

    #[test]
    fn a_shell_that_is_somebody_else_runs_nothing() {
        use std::os::unix::fs::MetadataExt as _;
        let own = std::fs::metadata("/proc/self").unwrap();
        let (uid, gid) = (u64::from(own.uid()), u64::from(own.gid()));
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("marker");
        // More than a shell reads at once, and every line of it leaves a trace.
        let line = format!(": >'{}'\n", marker.display());
        let frame = render(&frame(&[Script::new(line.repeat(3000))]), NONCE, 1).unwrap();
        for shell in shells() {
            // Behind a login script that took over comes the real shell, with what is left.
            let mut two = vec!["sh", "-c", "\"$@\"; \"$@\"", "sh"];
            two.extend(shell);
            let told = |expected| answers(&two, &(greeting(NONCE, expected) + &frame));
            let stranger = Line::Stranger(uid.to_string(), gid.to_string());
            assert_eq!(told(Expected::User(uid + 1)), [(Vec::new(), stranger.clone())], "{shell:?}");
            if (uid, gid) != (0, 0) {
                assert_eq!(told(Expected::Root), [(Vec::new(), stranger)], "{shell:?}");
            }
            assert!(!marker.exists(), "{shell:?}");
            let known = if (uid, gid) == (0, 0) { Expected::Root } else { Expected::User(uid) };
            for expected in [known, Expected::User(uid), Expected::Anyone] {
                let seen = told(expected);
                assert!(matches!(&seen[0].1, Line::Ready(who) if who.uid == uid), "{shell:?}: {seen:?}");
                assert_eq!(seen[2].1, Line::End(0, 0), "{shell:?}");
                std::fs::remove_file(&marker).unwrap();
            }
        }
    }

    #[test]
    fn nothing_but_the_shell_reads_the_frames() {
        let frame = frame(&[Script::new("cat; read -r line; echo \"[$line]\"")]);
        let text = render(&frame, NONCE, 1).unwrap() + &render(&frame, NONCE, 2).unwrap();
        for shell in shells() {
            let outputs: Vec<_> = answers(shell, &text).into_iter().map(|(output, _)| output).collect();
            assert_eq!(outputs, [&b""[..], b"[]\n", b"", b"[]\n"], "{shell:?}");
        }
    }

    #[test]
    fn a_megabyte_travels() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
        let script = Script::new("printf '%s' \"$1\" | base64 -d").arg(Arg::Bytes(bytes.clone()));
        let text = render(&frame(&[script]), NONCE, 1).unwrap();
        for shell in shells().filter(|shell| shell[0] != "mksh") {
            assert_eq!(answers(shell, &text)[1], (bytes.clone(), Line::End(0, 0)), "{shell:?}");
        }
    }

    /// Shell text with which scripts read what `pack` writes.
    const UNPACK: &str = "case $1 in =*) printf '%s' \"${1#=}\" ;; *) printf '%s' \"$1\" | base64 -d ;; esac";

    #[test]
    fn packed_text_arrives_whole() {
        let texts = [
            "",
            "=",
            "plain\n",
            "\n\n a\tb \\ \\n $x `y` %s\n\n",
            "it's",
            "gr\u{fc}n\u{81}\r\n",
            "a\0b\u{7f}",
        ];
        for text in texts.into_iter().map(str::to_owned).chain(["'".repeat(99), "x'".repeat(9)]) {
            let packed = pack(&text);
            let script = Script::new(UNPACK).arg(Arg::Packed(text.clone()));
            let text_of_frame = render(&frame(&[script]), NONCE, 1).unwrap();
            for shell in shells().filter(|shell| shell[0] != "mksh") {
                assert_eq!(answers(shell, &text_of_frame)[1].0, text.as_bytes(), "{shell:?} {packed}");
            }
        }
    }

    /// Base64 is a third longer; quotes in quotes may be four times as long.
    #[test]
    fn text_with_many_quotes_is_encoded() {
        let is_plain = |text: &str| pack(text) != encode(text.as_bytes());
        assert!(is_plain(&"'".repeat(18)));
        assert!(!is_plain(&"'".repeat(19)));
        assert!(is_plain(&"'ten chars".repeat(1000)));
        assert!(!is_plain(&"'4ch".repeat(1000)));
        assert!(!is_plain("gr\u{fc}n"));
    }

    #[test]
    fn what_follows_on_the_stream_is_written_to_the_file() {
        let dir = tempfile::tempdir().unwrap();
        // An account of a directory service has such a home.
        let path = dir.path().join("joe@corp's $(id) \u{fc}");
        // Larger than a pipe, and nothing in it is a line of a script.
        let content: Vec<u8> = b"echo no\n\0\xff".iter().copied().cycle().take(200_000).collect();
        for shell in shells() {
            // The content is sent once the shell said that it begins: it has read nothing of it by then.
            let text = stream(NONCE, path.to_str().unwrap());
            let shell = [&shell[..shell.len() - 1], &["-c", text.as_str()]].concat();
            let seen = parsed(&feed(&shell, &content).stdout);
            let lines: Vec<&Line> = seen.iter().map(|(_, line)| line).collect();
            assert_eq!(lines, [&Line::Begin(0), &Line::End(0, 0)], "{shell:?}");
            assert!(std::fs::read(&path).unwrap() == content, "{shell:?}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn secrets_are_put_in_and_quoted() {
        let secrets = Secrets::new(BTreeMap::from([("pw".to_owned(), "o'ne $two".to_owned().into())]));
        let word = placeholder::of("pw");
        let inner = Script::new("printf '%s,' \"$1\"").arg(word.clone());
        let script =
            Script::new(format!("printf '%s,' \"$1\"; printf '%s' \"$2\" | base64 -d; shift 2; {UNPACK}"))
                .arg(word.clone())
                .arg(Arg::Text(format!("<{word}>")))
                .arg(Arg::Script(Box::new(inner)));
        let text = script.render(&secrets, "it");
        let output = feed(&["sh", "-s"], text.as_bytes());
        let output = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            output,
            "o'ne $two,<o'ne $two>script() (\n:\nprintf '%s,' \"$1\"\n)\nscript \"o'ne \"'$two' </dev/null\n"
        );
    }

    #[test]
    fn a_placeholder_does_not_leave_this_machine() {
        let secrets = Secrets::new(BTreeMap::from([("pw".to_owned(), "value".to_owned().into())]));
        let foreign = "{{provision-secret:pw}}";
        let text = format!("{foreign} {} {}", placeholder::of("pw"), placeholder::of("no"));
        assert_eq!(secrets.reveal(&text), format!("{foreign} value (secret no)"));
        let bytes = Arg::Bytes(placeholder::of("pw").into_bytes());
        for arg in [bytes, Arg::Word(placeholder::of("no")), Arg::Packed(placeholder::of("no"))] {
            assert!(render(&frame(&[Script::new(":").arg(arg)]), NONCE, 1).is_err());
        }
    }

    #[test]
    fn nul_is_refused() {
        assert!(render(&frame(&[Script::new(":").arg("a\0b")]), NONCE, 1).is_err());
        let inner = Script::new(":").arg("a\0b");
        assert!(render(&frame(&[Script::new(":").arg(Arg::Script(Box::new(inner)))]), NONCE, 1).is_err());
    }
}

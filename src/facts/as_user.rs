//! Questions that a task with `become_user` asks: as that user, as its change will run.

use super::Answer;
use crate::transport::{Arg, Script};

/// The line behind which the answer begins; the user's own shell prints it.
const MARK: &[u8] = b"\nasked\n";

/// Wraps a script so that it runs as `user`, where one is given.
pub(super) fn script(user: Option<&str>, script: Script) -> Script {
    match user {
        Some(user) => Script::new(crate::shell!("shell/base64.sh", "facts/as_user.sh"))
            .arg(user)
            .arg(Arg::Script(Box::new(script))),
        None => script,
    }
}

/// Returns what the script printed for `user`, or the answer where nothing was run.
pub(super) fn output<'a>(user: Option<&str>, output: &'a [u8]) -> Result<&'a [u8], Answer> {
    let Some(user) = user else { return Ok(output) };
    let at = output.windows(MARK.len()).position(|window| window == MARK);
    if let Some(answer) = at.and_then(|at| output.get(at + MARK.len()..)) {
        return Ok(answer);
    }
    let said = String::from_utf8_lossy(output);
    // The last words of `su` are mostly `Authentication failure`, whatever the reason before them.
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(match lines.as_slice() {
        [.., "no user"] => Answer::NoUser(user.to_owned()),
        [] => Answer::Unknown(format!("cannot run commands as `{user}`, and the host gave no reason")),
        reasons => Answer::Unknown(format!("cannot run commands as `{user}`: {}", reasons.join("; "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_what_stands_behind_the_mark() {
        assert_eq!(output(None, b"x").unwrap(), b"x");
        assert_eq!(output(Some("u"), b"\nasked\n").unwrap(), b"");
        assert_eq!(output(Some("u"), b"motd\n\nasked\na\n\nasked\n").unwrap(), b"a\n\nasked\n");
        let missing = output(Some("u"), b"no user\n").unwrap_err();
        assert!(matches!(missing, Answer::NoUser(user) if user == "u"));
        let refused =
            output(Some("u"), b"Your account has expired\r\n\nsu: Authentication failure\n").unwrap_err();
        let Answer::Unknown(reason) = refused else { panic!("{refused:?}") };
        assert_eq!(
            reason,
            "cannot run commands as `u`: Your account has expired; su: Authentication failure"
        );
        assert!(matches!(output(Some("u"), b"").unwrap_err(), Answer::Unknown(_)));
    }
}

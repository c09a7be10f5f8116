//! States of links from `iblinkinfo --line`.

use super::super::model::{Could, Fabric, LinkState, Port, Speed};
use super::words::guid;

/// Puts them into the fabric and returns how many there were.
pub(super) fn read(lines: &[&str], fabric: &mut Fabric) -> usize {
    lines.iter().filter(|line| link(line, fabric).is_some()).count()
}

/// A line such as
/// `0xb8cef60300000100 "  leaf1"  2  1[  ] ==( 4X  53.125 Gbps Active/  LinkUp)==>  0xb8cef60300001001  1  1[  ] "gpu1 mlx5_0" ( )`.
fn link(line: &str, fabric: &mut Fabric) -> Option<()> {
    let (left, right) = line.split_once(")==>")?;
    let (head, inner) = left.rsplit_once("==(")?;
    let owner = guid(head.split_whitespace().next()?)?;
    let numbers = head.rsplit_once('"')?.1;
    let number = numbers.split_whitespace().nth(1)?.split('[').next()?.parse().ok()?;
    // A card that no cable leads to is in no other list, so that only nodes that are known have ports here.
    let mut place = *fabric.owners.get(&owner)?;
    place.port = number;
    let (states, physical) = inner.rsplit_once('/')?;
    let (rate, state) = states.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", states.trim()));
    let port = fabric.ports.entry(place).or_default();
    port.state = match state {
        "Down" => LinkState::Down,
        // `iblinkinfo` has no place for the whole word and prints it all the same.
        "Initialize" => LinkState::Initialize,
        "Armed" => LinkState::Armed,
        "Active" => LinkState::Active,
        _ => LinkState::Unknown,
    };
    physical.trim().clone_into(&mut port.physical);
    active(rate, port);
    let notes = right.rsplit_once(" (").map_or("", |(_, notes)| notes.trim_end().trim_end_matches(')'));
    port.could = could(notes);
    Some(())
}

/// Width and speed that are in use: `4X        53.125 Gbps`.
fn active(rate: &str, port: &mut Port) {
    let Some((width, speed)) = rate.trim().split_once(char::is_whitespace) else { return };
    port.width = lanes(width).or(port.width);
    port.speed = gigabits(speed).or(port.speed);
}

/// Notes of what both ends can do: `Could be 4X Could be 53.125 Gbps`.
fn could(notes: &str) -> Could {
    let mut could = Could::default();
    for note in notes.split("Could be ").skip(1) {
        could.width = lanes(note.trim()).or(could.width);
        could.speed = gigabits(note).or(could.speed);
    }
    could
}

fn lanes(word: &str) -> Option<u32> {
    word.strip_suffix('X')?.parse().ok()
}

/// A speed of a lane: `53.125 Gbps`, `10.0 Gbps (FDR10)`, `FDR10 (Found link at QDR …)`.
fn gigabits(text: &str) -> Option<Speed> {
    if text.contains("FDR10") {
        return "FDR10".parse().ok();
    }
    let (number, _) = text.trim().split_once(" Gbps")?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let thousandths: String = part.chars().chain("000".chars()).take(3).collect();
    let megabits = whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(thousandths.parse().ok()?)?;
    Some(Speed { megabits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_read_in_each_form() {
        for (text, name) in [
            ("2.5 Gbps", "SDR"),
            ("14.0625 Gbps", "FDR"),
            ("25.78125 Gbps", "EDR"),
            ("106.25 Gbps", "NDR"),
            ("212.5 Gbps", "XDR"),
            ("10.0 Gbps (FDR10)", "FDR10"),
            ("10.0 Gbps", "QDR"),
        ] {
            assert_eq!(gigabits(text).map(|speed| speed.to_string()).as_deref(), Some(name), "{text}");
        }
        assert_eq!(gigabits("undefined (64)"), None);
        assert_eq!(gigabits("99999999999.9 Gbps"), None);
    }

    #[test]
    fn notes_say_what_both_ends_can_do() {
        let both = could("Could be 4X Could be 53.125 Gbps");
        assert_eq!(
            (both.width, both.speed.map(|speed| speed.to_string()).as_deref()),
            (Some(4), Some("HDR"))
        );
        assert_eq!(could(" "), Could::default());
        let old = could(" Could be FDR10 (Found link at QDR but expected speed is FDR10");
        assert_eq!(old.speed.map(|speed| speed.to_string()).as_deref(), Some("FDR10"));
    }
}

//! Keeps what `srun --label` prints, so much of each node, on the host with Slurm.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use super::lines::labelled;

/// Bytes that are kept of what has no label: Slurm says it.
const SLURM: u64 = 1 << 20;
/// Bytes of a line at most; what goes on is another one, without a label.
const LINE: u64 = 64 << 10;

/// Bytes that are kept of all nodes together; beyond, each has its share of as much again, whatever others took.
const ALL: u64 = 4 << 30;

/// Copies so many bytes of each task and drops the rest of it, so no node takes the room of the others. It reads on to
/// the end: a pipe that closes would end the job.
///
/// # Errors
/// When it cannot be read; what cannot be written any more is dropped.
pub fn keep(input: impl Read, out: &mut impl Write, nodes: usize, most: u64) -> io::Result<()> {
    keep_of_all(input, out, Room::new(nodes, most, ALL))
}

fn keep_of_all(input: impl Read, out: &mut impl Write, mut room: Room) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut full = false;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if !room.takes(labelled(&line).map(|(task, _)| task), line.len() as u64) {
            continue;
        }
        full = full || out.write_all(&line).is_err();
        // Who reads it waits for what is there.
        if !full && input.buffer().is_empty() {
            full = out.flush().is_err();
        }
    }
}

/// The bytes of each node that are kept yet.
struct Room {
    /// Bytes that each has taken; `None` once a line was left out.
    taken: Vec<Option<u64>>,
    /// The bytes that Slurm said, likewise.
    slurm: Option<u64>,
    /// Bytes of all nodes.
    sum: u64,
    most: u64,
    all: u64,
}

impl Room {
    fn new(nodes: usize, most: u64, all: u64) -> Self {
        Self { taken: vec![Some(0); nodes], slurm: Some(0), sum: 0, most, all }
    }

    /// Whether there is room for a line of a task, or of Slurm. After the first line that is left out, all are: a gap
    /// would only be a riddle.
    fn takes(&mut self, task: Option<usize>, length: u64) -> bool {
        let share = self.all / (self.taken.len().max(1) as u64);
        let of_node =
            if self.sum.saturating_add(length) <= self.all { self.most } else { self.most.min(share) };
        let (taken, most) = match task {
            Some(task) => (self.taken.get_mut(task), of_node),
            None => (Some(&mut self.slurm), SLURM),
        };
        let Some(taken) = taken else { return false };
        *taken = taken.and_then(|taken| taken.checked_add(length)).filter(|taken| *taken <= most);
        let has_room = taken.is_some();
        if has_room && task.is_some() {
            self.sum = self.sum.saturating_add(length);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(input: &[u8], nodes: usize, most: u64) -> Vec<u8> {
        let mut out = Vec::new();
        keep(input, &mut out, nodes, most).unwrap();
        out
    }

    #[test]
    fn one_node_does_not_take_the_room_of_the_others() {
        let mut input = b"srun: job 7\n".to_vec();
        for _ in 0..5000 {
            input.extend(b"0: 0123456789\n");
        }
        input.extend(b" 1: mine\n2: nobody\n99999999999999999999: long\n");
        let out = kept(&input, 2, 1000);
        assert!(out.len() < 1100, "{}", out.len());
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("srun: job 7\n0: 0123456789\n"), "{text}");
        assert!(text.contains("\n 1: mine\n") && !text.contains("nobody"), "{text}");
    }

    /// Nine of ten nodes lie: they have as much as all may have, and the tenth has its share all the same.
    #[test]
    fn all_nodes_together_are_bounded() {
        let line = |task: usize| format!("{task}: {}\n", "x".repeat(97));
        let mut input = String::new();
        for _ in 0..1000 {
            for task in 0..9 {
                input.push_str(&line(task));
            }
        }
        let honest = line(9).repeat(90);
        input.push_str(&honest);
        let mut out = Vec::new();
        keep_of_all(input.as_bytes(), &mut out, Room::new(10, 50_000, 100_000)).unwrap();
        assert!(out.len() <= 200_000, "{}", out.len());
        assert!(out.ends_with(honest.as_bytes()));
    }

    #[test]
    fn what_has_no_label_or_no_end_is_bounded() {
        let no_end = vec![b'x'; 3 << 20];
        assert!(kept(&no_end, 1, 10).len() as u64 <= SLURM);
        let labels = b"srun: error: it fails again and again\n".repeat(100_000);
        assert!(kept(&labels, 1, 10).len() as u64 <= SLURM);
    }

    #[test]
    fn it_reads_on_where_nothing_can_be_written() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("no space left"))
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let input = b"0: x\n".repeat(1000);
        let mut rest = input.as_slice();
        keep(&mut rest, &mut Full, 1, 1 << 20).unwrap();
        assert!(rest.is_empty());
    }
}

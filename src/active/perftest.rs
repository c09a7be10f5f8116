//! `ib_write_bw`, `ib_read_lat`: the tables that perftest prints.

/// Result of a bandwidth test.
#[derive(Debug, Clone, PartialEq)]
pub struct Bandwidth {
    /// Bytes of a message.
    pub bytes: u64,
    /// Average in Gb/s.
    pub average_gbps: f64,
    /// Path MTU that was used.
    pub mtu: Option<u32>,
    /// The device.
    pub device: Option<String>,
    /// `Ethernet` or `IB`.
    pub link: Option<String>,
}

/// Bits of a byte times what the unit of a header counts.
fn unit(header: &str) -> Option<f64> {
    if header.contains("Gb/sec]") {
        return Some(1.0);
    }
    // MB/sec of old versions is taken for 2^20 bytes as well; --report_gbits avoids the question.
    (header.contains("MiB/sec]") || header.contains("MB/sec]")).then_some(8.0 * 1_048_576.0 / 1e9)
}

/// Reads what one side of a bandwidth test printed: the row of the largest message.
///
/// # Errors
/// The line that says what is wrong, or that there is no result.
pub fn bandwidth(output: &str) -> Result<Bandwidth, String> {
    let mut scale = None;
    let mut best: Option<(u64, f64)> = None;
    for line in output.lines() {
        if line.contains("#bytes") && line.contains("BW average") {
            scale = unit(line);
            continue;
        }
        let Some(scale) = scale else { continue };
        // Noise such as `Conflicting CPU frequency values` stands between header and row.
        let mut words = line.split_whitespace();
        let row = (|| {
            let bytes: u64 = words.next()?.parse().ok()?;
            let _iterations: u64 = words.next()?.parse().ok()?;
            let _peak: f64 = words.next()?.parse().ok()?;
            let average: f64 = words.next()?.parse().ok()?;
            let _rate: f64 = words.next()?.parse().ok()?;
            Some((bytes, average * scale))
        })();
        if let Some((bytes, average)) = row
            && best.is_none_or(|(largest, _)| bytes >= largest)
        {
            best = Some((bytes, average));
        }
    }
    if let Some(line) = trouble(output) {
        return Err(line);
    }
    let Some((bytes, average_gbps)) = best else { return Err("it printed no result".to_owned()) };
    if average_gbps <= 0.0 || average_gbps.is_nan() {
        return Err(format!("an average of {average_gbps} Gb/s"));
    }
    Ok(Bandwidth {
        bytes,
        average_gbps,
        mtu: banner(output, "Mtu").and_then(|value| value.trim_end_matches("[B]").parse().ok()),
        device: banner(output, "Device"),
        link: banner(output, "Link type"),
    })
}

/// Reads what one side of a latency test printed: the typical time of its one size, in microseconds.
///
/// # Errors
/// The line that says what is wrong, or that there is no result.
pub fn latency(output: &str) -> Result<f64, String> {
    if let Some(line) = trouble(output) {
        return Err(line);
    }
    let is_header = |line: &&str| line.contains("#bytes") && line.contains("t_typical[usec]");
    // Bytes, iterations, the least, the most, the typical, the average, and further ones.
    let row = |line: &str| {
        let numbers: Option<Vec<f64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() >= 6)?.get(4).copied()
    };
    let typical = output.lines().skip_while(|line| !is_header(line)).find_map(row);
    match typical {
        Some(typical) if typical > 0.0 => Ok(typical),
        Some(typical) => Err(format!("a typical time of {typical} µs")),
        None => Err("it printed no result".to_owned()),
    }
}

/// The first word behind `KEY :` in the banner; two entries may share a line.
fn banner(output: &str, key: &str) -> Option<String> {
    let rest = output.lines().find_map(|line| {
        let at = line.find(key)?;
        line.get(at + key.len()..)?.trim_start().strip_prefix(':')
    })?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// The first line that says what went wrong.
pub(super) fn trouble(output: &str) -> Option<String> {
    const SIGNS: &[&str] = &[
        "Failed status",
        "Failed to complete run_iter",
        "Couldn't connect to",
        "Unable to Connect the HCA",
        "Unable to init the socket connection",
        "Failed to modify QP",
        "Couldn't allocate MR",
        "Unable to find the Infiniband/RoCE device",
        "Couldn't read remote address",
        "got completion with error",
        "IB device ",
        "Requested SQ size might be too big",
        "doesn't supports CUDA",
        "Unsupported memory type",
    ];
    let line = output.lines().find(|line| {
        SIGNS.iter().any(|sign| line.contains(sign))
            && (!line.contains("IB device ") || line.contains("not found"))
            // With GPU memory it says so each time, and goes on.
            && !line.contains("inline size set to 0")
    })?;
    Some(explained(line.trim()))
}

/// A line with what the status of a completion means.
fn explained(line: &str) -> String {
    let meaning = match status(line) {
        Some(4) => "local protection: GPU memory, ACS",
        Some(10) => "remote access",
        Some(12) => "no answer: MTU, flow control, GID or cable",
        Some(13) => "the receiver is not ready",
        _ => return line.to_owned(),
    };
    format!("{line} ({meaning})")
}

/// `Failed status 12: ...`, and `Failed status-TEXT (12): ...` of newer versions.
fn status(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("Failed status")?;
    let (head, _) = rest.split_once(':')?;
    let digits: String =
        head.chars().rev().skip_while(|c| *c == ')').take_while(char::is_ascii_digit).collect();
    digits.chars().rev().collect::<String>().parse().ok()
}

/// Direction of a bandwidth test, and the memory that its data comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the memory of one host into that of the other.
    One,
    /// The same in both directions at once; what is printed is the sum.
    Both,
    /// From the memory of a GPU of one host into that of a GPU of the other.
    Gpu,
}

/// Returns the bandwidth that a link of this rate must carry: 90 % of it in each direction.
pub fn threshold(way: Way, rate_gbps: f64) -> f64 {
    match way {
        Way::One | Way::Gpu => rate_gbps * 0.9,
        Way::Both => rate_gbps * 1.8,
    }
}

/// Microseconds that a read of two bytes may take between cards that are known to be faster by far.
pub const LATENCY_US: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: &str = include_str!("../../tests/cases/active/ib_write_bw-25g-rdma_cm.txt");
    const NOISE: &str = include_str!("../../tests/cases/active/ib_write_bw-100g-noise.txt");
    const ALL: &str = include_str!("../../tests/cases/active/ib_write_bw-all-sizes.txt");
    const LATENCY: &str = include_str!("../../tests/cases/active/ib_read_lat-rxe.txt");
    const STATUS: &str = include_str!("../../tests/cases/active/ib_write_bw-status-12.txt");

    #[test]
    fn tables_of_several_versions() {
        let seen = bandwidth(DURATION).unwrap();
        assert_eq!((seen.bytes, seen.average_gbps, seen.mtu), (65536, 23.14, Some(1024)));
        assert_eq!((seen.device.as_deref(), seen.link.as_deref()), (Some("irdma0"), Some("Ethernet")));
        assert!(seen.average_gbps > threshold(Way::One, 25.0));
        let seen = bandwidth(NOISE).unwrap();
        assert_eq!(
            (seen.average_gbps, seen.mtu, seen.device.as_deref()),
            (98.02, Some(4096), Some("mlx5_0"))
        );
        let seen = bandwidth(ALL).unwrap();
        assert_eq!((seen.bytes, seen.average_gbps), (8, 0.17));
    }

    #[test]
    fn the_typical_time_is_the_latency() {
        assert!((latency(LATENCY).unwrap() - 24.78).abs() < 0.001);
        let noise = LATENCY
            .replace(" 2       100", "Conflicting CPU frequency values detected: 1 != 2\n 2       100");
        assert!((latency(&noise).unwrap() - 24.78).abs() < 0.001);
        assert_eq!(latency("").unwrap_err(), "it printed no result");
        assert_eq!(latency(DURATION).unwrap_err(), "it printed no result");
        assert!(latency(&LATENCY.replace("24.78", "0.00")).is_err());
        assert!(latency(STATUS).unwrap_err().contains("no answer"));
    }

    #[test]
    fn megabytes_become_gigabits() {
        let table = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 8388608    20000            24056.74            24056.72\t\t   0.003007\n";
        assert!((bandwidth(table).unwrap().average_gbps - 201.8).abs() < 0.1);
    }

    #[test]
    fn failures_are_never_a_result() {
        assert_eq!(
            bandwidth(STATUS).unwrap_err(),
            "Failed status 12: wr_id 0 syndrom 0x81 (no answer: MTU, flow control, GID or cable)"
        );
        let newer = " Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81\n";
        assert!(bandwidth(newer).unwrap_err().contains("no answer"));
        assert!(bandwidth("Couldn't connect to 10.0.0.1:18515\n").unwrap_err().contains("10.0.0.1"));
        assert!(bandwidth("IB device mlx5_9 not found\n").unwrap_err().contains("mlx5_9"));
        assert_eq!(bandwidth("").unwrap_err(), "it printed no result");
        let nothing = DURATION.replace("23.14 ", "0.00 ");
        assert!(bandwidth(&nothing).is_err());
    }
}

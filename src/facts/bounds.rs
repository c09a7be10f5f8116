//! Numbers that a machine can have. A host says what it likes: what is beyond is no answer, and what is no number
//! (`nan`, `inf`) neither.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// The most CPUs that a host has: `NR_CPUS` of the kernel is 8192 at most, on x86.
pub(crate) const MOST_CPUS: u32 = 8192;
/// Events that are counted: all that JSON says exactly.
pub(crate) const COUNT: RangeInclusive<u64> = 0..=1 << 53;
/// Bytes of memory and disks: 1 EiB.
pub(crate) const BYTES: RangeInclusive<u64> = 0..=1 << 60;
/// The same in KiB.
pub(crate) const KIB: RangeInclusive<u64> = 0..=1 << 50;
/// MiB of the memory of one accelerator: 16 TiB.
pub(crate) const MEMORY_MIB: RangeInclusive<u64> = 0..=1 << 24;
/// Seconds since 1970: the year 9999.
pub(crate) const TIME: RangeInclusive<i64> = 0..=253_402_300_799;
/// The same of files, which may be older.
pub(crate) const FILE_TIME: RangeInclusive<i64> = -253_402_300_799..=253_402_300_799;
/// Lanes of `PCIe`; virtual functions and guests say 0 or 255.
pub(crate) const LANES: RangeInclusive<u32> = 1..=32;
/// Generations of `PCIe`: the seventh is specified.
pub(crate) const GENERATION: RangeInclusive<u32> = 1..=16;
/// GT/s of a lane of `PCIe`: 128 is specified.
pub(crate) const TRANSFERS: RangeInclusive<f64> = 0.0..=1024.0;
/// Gb/s of a port, and GB/s of a link between GPUs.
pub(crate) const RATE: RangeInclusive<f64> = 0.0..=100_000.0;
/// Degrees Celsius.
pub(crate) const TEMPERATURE: RangeInclusive<i64> = -100..=300;
/// Watts of one accelerator.
pub(crate) const POWER: RangeInclusive<f64> = 0.0..=100_000.0;
/// Accelerators of one host.
pub(crate) const ACCELERATORS: usize = 256;
/// Instances of one accelerator: today 7.
pub(crate) const INSTANCES: usize = 64;
/// Ports of one RDMA device: the number has 8 bits.
pub(crate) const PORTS: RangeInclusive<u32> = 1..=255;
/// Bytes of a packet of RDMA.
pub(crate) const RDMA_MTU: RangeInclusive<u32> = 1..=1 << 16;
/// Bytes of a read request of `PCIe`: three bits say it.
pub(crate) const READ_REQUEST: RangeInclusive<u32> = 128..=16384;
/// Entries of a table of GIDs: the number has 16 bits.
pub(crate) const GIDS: RangeInclusive<u32> = 0..=0xffff;
/// Local identifiers: Omni-Path has 24 bits, InfiniBand 16.
pub(crate) const LIDS: RangeInclusive<u32> = 0..=0xff_ffff;
/// Partition keys.
pub(crate) const PKEYS: RangeInclusive<u32> = 0..=0xffff;
/// Priorities of Ethernet.
pub(crate) const PRIORITIES: RangeInclusive<u8> = 0..=7;
/// Code points of differentiated services: six bits.
pub(crate) const DSCPS: RangeInclusive<u8> = 0..=63;
/// CPUs of one host.
pub(crate) const CPUS: RangeInclusive<u64> = 0..=MOST_CPUS as u64;

/// The number that a text is, where it is possible.
pub(crate) fn number<T: FromStr + PartialOrd>(text: &str, possible: &RangeInclusive<T>) -> Option<T> {
    text.parse().ok().filter(|number| possible.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_no_number() {
        assert_eq!(number("7", &PRIORITIES), Some(7));
        assert_eq!(number("8", &PRIORITIES), None);
        assert_eq!(number("18446744073709551615", &COUNT), None);
        assert_eq!(number("-1", &TIME), None);
        assert_eq!(number("400", &RATE), Some(400.0));
        for text in ["nan", "inf", "-inf", "1e308", "-1", ""] {
            assert_eq!(number(text, &RATE), None, "{text}");
        }
    }
}

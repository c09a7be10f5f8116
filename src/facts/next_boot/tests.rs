//! Outputs that end too soon.

use super::*;

/// An output that ends anywhere never says that something is well which comes after its end, and never that something
/// does not apply.
#[test]
fn what_is_cut_off_is_not_well() {
    let whole = include_str!("../../../tests/cases/probes/next_boot/whole.txt");
    for end in (0..whole.len() - 20).filter(|end| whole.is_char_boundary(*end)) {
        let next = parse(&Sections::split(&whole[..end]));
        for (name, aspect) in next.aspects().into_iter().chain([("initramfs", &next.initramfs)]) {
            match aspect {
                Ok(aspect) => assert_eq!(aspect.wrong, [], "{name} at {end}"),
                Err(gap) => assert_ne!(gap.kind, GapKind::Absent, "{name} at {end}: {gap:?}"),
            }
        }
    }
}

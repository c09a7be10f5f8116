//! UEFI with Secure Boot, as Debian's package `ovmf` has it: the keys of Microsoft are enrolled, which sign the shim of
//! distributions. It needs the chipset q35, whose system management mode keeps its variables from the machine.

use anyhow::{Context as _, Result};
use camino::Utf8Path;

use super::qemu::refuse;

/// The firmware itself.
const CODE: &str = "/usr/share/OVMF/OVMF_CODE_4M.ms.fd";
/// Its variables on the first day, with the keys.
const VARIABLES: &str = "/usr/share/OVMF/OVMF_VARS_4M.ms.fd";

/// Refuses where the firmware is not on this machine.
pub(super) fn find() -> Result<()> {
    let there = [CODE, VARIABLES].iter().all(|path| Utf8Path::new(path).exists());
    refuse(if there { &[] } else { &[(CODE, "ovmf")] })
}

/// Gives a machine variables of its own.
pub(super) fn create(variables: &Utf8Path) -> Result<()> {
    std::fs::copy(VARIABLES, variables).map(drop).with_context(|| format!("cannot make {variables}"))
}

/// Options of qemu; `variables` is the machine's own file.
pub(super) fn arguments(variables: &str) -> [(&'static str, String); 5] {
    [
        ("-machine", "q35,smm=on".to_owned()),
        ("-global", "driver=cfi.pflash01,property=secure,value=on".to_owned()),
        // Sleep would let the machine write what the firmware keeps.
        ("-global", "ICH9-LPC.disable_s3=1".to_owned()),
        ("-drive", format!("if=pflash,unit=0,format=raw,readonly=on,file={CODE}")),
        ("-drive", format!("if=pflash,unit=1,format=raw,file={variables}")),
    ]
}

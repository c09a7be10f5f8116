//! Settings in the firmware of cards.

use crate::checks::shared::verdict::{Checked, Findings, Verdict};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::card_settings::Setting;
use crate::facts::rdma::Device;
use crate::facts::{Gap, GapKind};
use crate::inventory::expect::CardSetting;

pub(in crate::checks) const CHECKS: &[Check] = &[Check {
    id: "rdma.card_settings",
    title: "the firmware of cards is set as declared, now and after the next boot",
    needs: Needs::Idle,
    severity: Warn,
    expects: "the values of `expect.rdma.card_settings` on each ConnectX and BlueField card, and for all others the same value after the next boot as now",
    why: "Relaxed ordering, address translation, the type of a port and its congestion control are kept in the card: one that was replaced, or that waits for a boot, behaves unlike the others.",
    hint: "`mlxconfig -d DEVICE set NAME=VALUE`, then a reboot, or `mlxfwreset -d DEVICE reset`; provision writes nothing into cards",
    source: "NVIDIA Firmware Tools (MFT) Documentation, mlxconfig; Mellanox/mstflint, mstconfig",
    run: card_settings,
}];

const UNDECLARED: &str = "expect.rdma.card_settings is not declared";

/// Whether a value that the tool prints, such as `force_relax(1)`, is the one that was written: its name or its number.
fn is_value(seen: &str, wanted: &str) -> bool {
    let (name, number) =
        seen.split_once('(').map_or((seen, seen), |(name, rest)| (name, rest.trim_end_matches(')')));
    [name, number, seen].iter().any(|one| one.eq_ignore_ascii_case(wanted))
}

/// What is wrong with a setting, if anything; `wanted` is what the inventory declares.
fn wrong(setting: &Setting, wanted: Option<&str>) -> Option<String> {
    let Setting { now, next } = setting;
    let now = now.as_deref().unwrap_or(next);
    // The default of the device is whatever it takes, which may be the very value that comes.
    let waits = now != next && !now.starts_with("DEVICE_DEFAULT");
    match wanted {
        Some(wanted) if !is_value(now, wanted) && is_value(next, wanted) => {
            Some(format!("{now}, and {next} as expected after the next boot"))
        }
        Some(wanted) if !is_value(now, wanted) => Some(format!("{now}, expected {wanted}")),
        Some(wanted) if !is_value(next, wanted) => {
            Some(format!("{now} as expected, and {next} after the next boot"))
        }
        Some(_) => None,
        None => waits.then(|| format!("{now}, and {next} after the next boot")),
    }
}

/// The reason why a card tells nothing, with where the tool is to be had.
fn reason(gap: &Gap) -> String {
    match gap.kind {
        GapKind::Missing => {
            "neither mlxconfig (package mft of DOCA-OFED) nor mstconfig (package mstflint) is installed"
                .to_owned()
        }
        GapKind::Absent | GapKind::Hung | GapKind::Failed | GapKind::Garbled => gap.reason.clone(),
    }
}

/// The name of a checked device of a card, by the address of its first function.
fn of_card<'a>(devices: &[&'a Device], address: &str) -> Option<&'a str> {
    let (slot, _) = address.rsplit_once('.')?;
    let is_of = |device: &Device| device.pci.rsplit_once('.').is_some_and(|(of, _)| of == slot);
    devices.iter().find(|device| is_of(device)).map(|device| device.name.as_str())
}

fn card_settings(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let declared: Vec<CardSetting> = subject.expect_rdma().card_settings.unwrap_or_default();
    let cards = match subject.card_settings() {
        Ok(seen) => &seen.cards,
        Err(_) if declared.is_empty() => return Err(Verdict::Skip(UNDECLARED.to_owned())),
        Err(gap) => return Err(Verdict::gap(&gap, None)),
    };
    if cards.is_empty() {
        return Err(Verdict::Skip("no ConnectX or BlueField card".to_owned()));
    }
    let mut findings = Findings::default();
    let (mut looked, mut declared_wrong) = (0, false);
    for (address, seen) in cards {
        let Some(name) = of_card(&devices, address) else { continue };
        let from = format!("mlxconfig -d {address} -e query");
        let settings = match seen {
            Ok(settings) => settings,
            Err(gap) => {
                if !declared.is_empty() {
                    findings.unknown(name, reason(gap), from);
                }
                continue;
            }
        };
        looked += 1;
        for (key, wanted) in declared.iter().map(CardSetting::parts) {
            match settings.get(key) {
                None => findings.unknown(name, format!("its firmware has no setting {key}"), from.clone()),
                Some(setting) => {
                    if let Some(how) = wrong(setting, Some(wanted)) {
                        declared_wrong = true;
                        findings.wrong(name, format!("{key} {how}"), from.clone(), line(key, setting));
                    }
                }
            }
        }
        for (key, setting) in
            settings.iter().filter(|(key, _)| !declared.iter().any(|one| one.parts().0 == *key))
        {
            if let Some(how) = wrong(setting, None) {
                findings.wrong(name, format!("{key} {how}"), from.clone(), line(key, setting));
            }
        }
    }
    if looked == 0 && declared.is_empty() {
        return Err(Verdict::Skip(format!("{UNDECLARED}, and no card shows its settings")));
    }
    let verdict = findings.verdict(crate::words::count(looked, "card"));
    Ok(if declared_wrong { verdict.counted_as(Fail) } else { verdict })
}

/// A setting as the tool prints it.
fn line(key: &str, setting: &Setting) -> String {
    format!("{key} {} {}", setting.now.as_deref().unwrap_or("-"), setting.next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_name_and_number() {
        for (seen, wanted, same) in [
            ("force_relax(1)", "1", true),
            ("force_relax(1)", "force_relax", true),
            ("per_mkey(0)", "1", false),
            ("False(0)", "false", true),
            ("16", "16", true),
            ("ETH(2)", "IB", false),
            ("ETH", "ETH", true),
        ] {
            assert_eq!(is_value(seen, wanted), same, "{seen} {wanted}");
        }
    }

    #[test]
    fn what_waits_for_a_boot_is_told() {
        let setting =
            |now: Option<&str>, next: &str| Setting { now: now.map(str::to_owned), next: next.to_owned() };
        let told = |now, next, wanted| wrong(&setting(now, next), wanted);
        assert_eq!(told(Some("0"), "8", None).as_deref(), Some("0, and 8 after the next boot"));
        assert_eq!(told(Some("DEVICE_DEFAULT(0)"), "ROCE_ENABLE(2)", None), None);
        assert_eq!(told(None, "8", None), None);
        assert_eq!(
            told(Some("False(0)"), "False(0)", Some("True")).as_deref(),
            Some("False(0), expected True")
        );
        assert_eq!(
            told(Some("per_mkey(0)"), "force_relax(1)", Some("1")).as_deref(),
            Some("per_mkey(0), and force_relax(1) as expected after the next boot")
        );
        assert_eq!(
            told(Some("True(1)"), "False(0)", Some("1")).as_deref(),
            Some("True(1) as expected, and False(0) after the next boot")
        );
        assert_eq!(told(None, "IB(1)", Some("IB")), None);
    }
}

//! The system of a host, its clock and what Slurm says of it.

use super::*;

/// A machine of the cluster that jobs do not run on, as that of Slurm's controller.
fn controller() -> Site {
    let mut site = healthy().expect(json!({}));
    site.nics = Vec::new();
    site.probes.entry("rdma").and_modify(|text| {
        let (start, end) = (text.find("device=").unwrap(), text.find("net=").unwrap());
        text.replace_range(start..end, "");
    });
    site.facts.insert("pci", json!({ "gpus": [], "nvswitches": [], "nics": [] }));
    site.with("system", "gpu0 idle gpu:h200:2", "")
}

fn of(site: &Site, check: &str) -> (CheckStatus, String) {
    site.results(None).remove(check).unwrap()
}

fn container(site: Site) -> Site {
    site.fact("virtualization", json!({ "kind": "docker", "container": true }))
}

#[test]
fn the_system_of_every_machine_is_looked_at() {
    let site = controller();
    let own = ["system.disk", "system.units", "system.own_name"];
    let whole = ["system.time_sync", "system.oom", "system.kernel_faults"];
    for check in own.iter().chain(&whole) {
        assert_eq!(of(&site, check).0, Pass, "{check}");
    }
    assert_eq!(of(&site, "system.governor").0, Skip, "jobs do not run there");
    // The kernel and the clock of a container are those of the machine around it; the rest is its own.
    let inside = container(site.clone());
    assert_eq!(own.map(|check| of(&inside, check).0), [Pass; 3]);
    assert_eq!(whole.map(|check| of(&inside, check).0), [Skip; 3]);
    for site in [site, inside] {
        let full = site.clone().with("system", "100000000 1 90000000", "100000000 99000000 1000000");
        assert_eq!(of(&full, "system.disk").0, Warn);
        let named = site.with("system", "10.0.1.10 gpu0", "127.0.1.1 gpu0");
        assert_eq!(of(&named, "system.own_name").0, Warn);
    }
}

#[test]
fn a_unit_that_a_cluster_misses() {
    let failed = |unit: &str, own: &str| {
        let rows = format!("--state=failed\n{unit} loaded failed failed X\n");
        let site = controller().with("system", "--state=failed\n", &rows);
        of(&site.with("system", "systemd=1\n", &format!("systemd=1\n{own}")), "system.units").0
    };
    for unit in
        ["slurmctld.service", "mariadb.service", "munge.service", "srv-home.mount", "ptp4l@eth0.service"]
    {
        assert_eq!(failed(unit, ""), Warn, "{unit}");
    }
    assert_eq!(failed("license-server.service", "own_unit=license-server.service\n"), Warn);
    assert_eq!(failed("backup@night.service", "own_unit=backup@.service\n"), Warn);
    for unit in
        ["fwupd-refresh.service", "dev-hugepages.mount", "sys-kernel-debug.mount", "license-server.service"]
    {
        assert_eq!(failed(unit, "own_unit=other.service\n"), Pass, "{unit}");
    }
}

/// Each program that may keep a clock, alone on a host: chronyc is often there where chronyd does not run.
#[test]
fn one_program_that_keeps_the_clock_is_enough() {
    let log = "journalctl -b -n 60 -o cat --no-pager -t phc2sys -t ptp4l";
    let with = |processes: &[&str], sections: &[String]| {
        let list = processes.iter().fold(String::new(), |list, name| list + "process=" + name + "\n");
        let chrony = section("chronyc tracking", "Leap status     : Normal", "0");
        let site = healthy().with("system", "systemd=1\n", &format!("systemd=1\n{list}"));
        of(&site.with("system", &chrony, &sections.concat()), "system.time_sync")
    };
    let dead = section("chronyc tracking", "506 Cannot talk to daemon", "1");
    let phc = section(log, "[1.2] CLOCK_REALTIME phc offset        47 s2 freq   +5131 delay   1623", "0");
    let ntpd = section("ntpq -c rv", "associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,", "0");
    let open = section("ntpctl -s status", "4/4 peers valid, clock synced, stratum 3", "0");
    let sync = section("ls /run/systemd/timesync", "synchronized", "0");
    let rows: &[(&[&str], &[String], CheckStatus)] = &[
        (&["ptp4l", "phc2sys"], std::slice::from_ref(&phc), Pass),
        (&["ptp4l", "phc2sys"], &[dead.clone(), phc.clone()], Pass),
        (&["ptp4l", "phc2sys"], &[phc.replace(" s2 ", " s0 ")], Warn),
        (&["ptp4l", "phc2sys"], &[], Skip),
        (&["ptp4l"], &[], Warn),
        (&["ntpd"], std::slice::from_ref(&ntpd), Pass),
        (&["ntpd"], &[ntpd.replace("leap_none, sync_ntp", "leap_alarm, sync_unspec")], Warn),
        (&["ntpd"], &[section("ntpq -c rv", "", "missing")], Skip),
        (&["ntpd"], &[dead.clone(), open], Pass),
        (&["systemd-timesyn"], &[dead.clone(), sync], Pass),
        (&["ntp-daemon"], &[], Skip),
        (&["sfptpd"], &[section("chronyc tracking", "506 Cannot talk to daemon", "1")], Skip),
        (&["chronyd"], &[section("chronyc tracking", "", "124")], Unknown),
        (&[], &[dead], Warn),
        (&[], &[], Warn),
    ];
    for (processes, sections, status) in rows {
        let (seen, message) = with(processes, sections);
        assert_eq!(seen, *status, "{processes:?}: {message}");
    }
}

#[test]
fn slurm_counts_instances_where_a_gpu_is_cut() {
    let cut = |site: Site, gpus: usize, instances: usize| {
        let list = format!(
            "<mig_devices>{}</mig_devices>",
            "<mig_device><index>0</index></mig_device>".repeat(instances)
        );
        let text = site.probes["nvidia"].clone();
        let mut parts = text.split("<current_mig>Disabled");
        let mut new = parts.next().unwrap().to_owned();
        for (index, part) in parts.enumerate() {
            new.push_str(if index < gpus { "<current_mig>Enabled" } else { "<current_mig>Disabled" });
            new.push_str(&if index < gpus {
                part.replace("<mig_devices>", "<x>").replace("</mig_devices>", "</x>").replacen(
                    "</mig_mode>",
                    &format!("</mig_mode>{list}"),
                    1,
                )
            } else {
                part.to_owned()
            });
        }
        let mut site = site;
        site.probes.insert("nvidia", new);
        site
    };
    let gres = |site: Site, gres: &str| of(&site.with("system", "gpu:h200:2", gres), "slurm.gres");
    assert_eq!(gres(cut(healthy(), 2, 7), "gpu:1g.18gb:14(S:0)").0, Pass);
    assert_eq!(gres(cut(healthy(), 1, 3), "gpu:h200:1(S:0),gpu:2g.35gb:3(S:0)").0, Pass);
    let (status, message) = gres(cut(healthy(), 1, 3), "gpu:h200:1,gpu:2g.35gb:4");
    assert_eq!((status, message.as_str()), (Fail, "5 in Slurm, 4 on the host: 1 whole GPU and 3 instances"));
    assert_eq!(gres(cut(healthy(), 2, 7), "gpu:2").0, Fail);
    // What only the driver knows is not told without it.
    let mut silent = healthy();
    silent.probes.insert("nvidia", section("nvidia-smi -q -x", "", "124"));
    assert_eq!(gres(silent.clone(), "gpu:1g.18gb:14").0, Unknown);
    assert_eq!(gres(silent.clone(), "gpu:1").0, Fail);
    assert_eq!(gres(silent, "gpu:2").0, Pass);
}

#[test]
fn a_node_that_lost_its_only_gpu() {
    let node = "gpu0 inval gpu:1 gres/gpu count reported lower than configured (0 < 1)";
    let lost = controller().with(
        "system",
        "sinfo -N -h -o %N %T %G %E\n",
        &format!("sinfo -N -h -o %N %T %G %E\n{node}\n"),
    );
    assert_eq!(of(&lost, "slurm.gres"), (Fail, "1 in Slurm, 0 on the PCI bus".to_owned()));
    let (status, message) = of(&lost, "slurm.node");
    assert_eq!(
        (status, message.as_str()),
        (Warn, "inval: gres/gpu count reported lower than configured (0 < 1)")
    );
    // Nodes with accelerators of another maker, and without any.
    let other =
        json!([{ "address": "0000:4d:00.0", "vendor": "1002", "device": "74a1", "model": "1002:74a1" }]);
    let amd = lost.clone().fact("pci", json!({ "gpus": other, "nvswitches": [], "nics": [] }));
    assert_eq!(of(&amd, "slurm.gres").0, Skip);
    let gaudi = json!({ "gpus": [], "accelerators": other, "nvswitches": [], "nics": [] });
    assert_eq!(of(&lost.clone().fact("pci", gaudi), "slurm.gres").0, Skip);
    assert_eq!(of(&lost.with("system", "gpu:1", "(null)"), "slurm.gres").0, Skip);
}

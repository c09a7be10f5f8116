//! Hosts that programs and files list, through the program as a person runs it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start programs and write files")]

use std::fs;
use std::ops::Deref;

use crate::context::Context;

/// Two devices as the API of NetBox 4 lists them, with what is not read left out but for a few fields.
const NETBOX: &str = r#"{
  "count": 2, "next": null, "previous": null,
  "results": [
    { "id": 1, "url": "https://netbox.example.com/api/dcim/devices/1/", "name": "gpu0",
      "device_type": { "id": 3, "slug": "hgx-h100" }, "role": { "id": 2, "name": "GPU", "slug": "gpu" }, "tenant": null,
      "site": { "id": 1, "slug": "fra1" }, "rack": { "id": 9, "name": "A 01" }, "position": 4.0,
      "status": { "value": "active", "label": "Active" },
      "primary_ip": { "id": 7, "address": "10.0.0.10/24" }, "primary_ip4": { "address": "10.0.0.10/24" },
      "tags": [ { "id": 1, "slug": "roce" } ], "custom_fields": {} },
    { "id": 2, "name": "gpu1", "device_role": { "slug": "gpu" }, "site": { "slug": "fra1" }, "rack": null,
      "status": { "value": "planned", "label": "Planned" }, "primary_ip": null,
      "primary_ip4": { "address": "10.0.0.11/24" }, "tags": [] }
  ]
}
"#;

struct Site(Context);

impl Deref for Site {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl Site {
    fn new(hosts_from: &str) -> Self {
        let site = Self(Context::new());
        site.write(
            "inventory.yaml",
            format!("cluster: c\nplaybooks: [./play.yaml]\nhosts_from:\n  - {hosts_from}\n"),
        );
        site.write("play.yaml", "name: p\ntasks:\n  - name: t\n    file: { path: /etc/x, content: x }\n");
        site
    }

    /// A program that notes that it ran.
    fn program(&self, text: &str) {
        self.script("list", &format!("echo ran >>ran\n{text}"));
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("ran")).unwrap_or_default().lines().count()
    }

    /// What `inventory show` says.
    fn shown(&self, words: &[&str]) -> String {
        self.ends(0, &[&["inventory", "show", "inventory.yaml"], words].concat())
    }
}

#[test]
fn devices_of_netbox_are_hosts() {
    let site = Site::new("{ file: devices.json }");
    site.write("devices.json", NETBOX);
    let text = site.shown(&["--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hosts = &json["hosts"];
    assert_eq!(hosts["gpu0"]["address"], "10.0.0.10", "{json:#}");
    assert_eq!(hosts["gpu0"]["groups"], serde_json::json!(["gpu", "roce"]));
    assert_eq!(hosts["gpu0"]["labels"], serde_json::json!({ "rack": "A 01", "site": "fra1" }));
    assert_eq!(hosts["gpu1"]["address"], "10.0.0.11");
    assert_eq!(hosts["gpu1"]["offline"], "planned in NetBox");

    // A page that is not the last one is no list of all hosts, and neither is one with a host that has no name.
    site.write(
        "devices.json",
        NETBOX.replace("\"next\": null", "\"next\": \"https://netbox.example.com/?offset=2\""),
    );
    let (status, text) = site.said(&["validate", "inventory.yaml"]);
    assert!(status == 3 && text.contains("the first of several pages") && text.contains("limit=0"), "{text}");
    site.write("devices.json", NETBOX.replace("\"name\": \"gpu1\"", "\"name\": null"));
    let (status, text) = site.said(&["validate", "inventory.yaml"]);
    assert!(
        status == 3 && text.contains("a device without a name") && text.contains("devices.json:10"),
        "{text}"
    );
}

#[test]
fn a_program_lists_hosts_and_its_answer_is_used_again_for_a_while() {
    let site = Site::new("{ run: [./list, gpu], group: new, cache: 1h }");
    site.program("printf '{ \"hosts\": { \"%s0\": { \"address\": \"10.0.0.1\" }, \"%s1\": {} }, \"groups\": { \"gpu\": [\"gpu[0-1]\"] } }' \"$1\" \"$1\"");
    let text = site.shown(&[]);
    assert!(["gpu0", "gpu1", "10.0.0.1", "new"].iter().all(|word| text.contains(word)), "{text}");
    assert_eq!((site.shown(&[]), site.runs()), (text, 1));
    // An answer that is too old is asked for again.
    let kept = fs::read_dir(site.path("cache/provision/hosts_from")).unwrap().next().unwrap().unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
    fs::File::options().append(true).open(kept.path()).unwrap().set_modified(old).unwrap();
    site.shown(&[]);
    assert_eq!(site.runs(), 2);
    // What is pressed at every key runs nothing, and knows the hosts all the same.
    fs::File::options().append(true).open(kept.path()).unwrap().set_modified(old).unwrap();
    let done = site
        .command(&["--", "provision", "facts", "inventory.yaml", "--hosts", "gp"])
        .env("PROVISION_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "4")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&done.stdout).contains("gpu"), "{done:?}");
    assert_eq!(site.runs(), 2);
}

#[test]
fn a_list_that_may_lack_hosts_stops_everything() {
    for (program, told) in [
        ("echo 'no such site' >&2; exit 4", "it ended with exit status: 4: no such site"),
        ("echo '{ \"hosts\": { \"gpu0\": { \"adress\": \"10.0.0.1\" } } }'", "adress"),
        ("echo '[\"gpu0\", 7]'", "./list"),
        ("printf '[\"gpu0\\377\"]'", "no UTF-8"),
        ("echo '{ \"hosts\": {'", "./list"),
        ("sleep 20", "no answer within 1 s"),
        ("echo '{ \"results\": {} }'", "`results` is no list"),
        ("exit 0", "./list"),
    ] {
        let site = Site::new("{ run: [./list], timeout: 1s }");
        site.program(program);
        let (status, text) = site.said(&["validate", "inventory.yaml"]);
        assert!(status == 3 && text.contains(told), "{program}: {status} {text}");
    }
    // A bad answer is not kept: once the program is mended, all is well.
    let site = Site::new("{ run: [./list], cache: 1h, group: gpu }");
    site.program("echo '[gpu0, [gpu1]]'");
    assert_eq!(site.said(&["validate", "inventory.yaml"]).0, 3);
    site.program("echo '[gpu0, gpu1]'");
    assert_eq!(site.said(&["validate", "inventory.yaml"]).0, 0);
    let site = Site::new("{ run: [./nothing-here] }");
    let (status, text) = site.said(&["validate", "inventory.yaml"]);
    assert!(status == 3 && text.contains("nothing-here"), "{text}");
}

#[test]
fn the_inventory_adds_to_what_is_listed_and_says_nothing_twice() {
    let site = Site::new("{ file: hosts.yaml }");
    site.write("hosts.yaml", "hosts: { gpu0: { address: 10.0.0.1 }, gpu1: }\ngroups: { gpu: gpu0 }\n");
    let inventory = site.text("inventory.yaml");
    let with = |more: &str| site.write("inventory.yaml", format!("{inventory}{more}"));
    with("groups: { gpu: { hosts: gpu1, labels: { kind: h100 } } }\nhosts: { gpu0: { offline: broken } }\n");
    let text = site.shown(&["--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["hosts"]["gpu0"]["offline"], "broken", "{json:#}");
    assert_eq!(json["hosts"]["gpu0"]["address"], "10.0.0.1");
    assert_eq!(json["hosts"]["gpu1"]["labels"]["kind"], "h100");
    with("groups: { gpu: { hosts: gpu1 } }\nhosts: { gpu0: { address: 10.0.0.2 } }\n");
    let (status, text) = site.said(&["validate", "inventory.yaml"]);
    assert!(status == 3 && text.contains("`address` of host `gpu0` is set twice"), "{text}");
    assert!(text.contains("hosts.yaml:1") && text.contains("inventory.yaml:6"), "{text}");
}

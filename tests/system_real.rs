//! Packages, users, groups and keys against a real Debian system in a directory.
//!
//! Needs root and a tree of `debootstrap --variant=minbase` with `/proc` mounted:
//! `PROVISION_TEST_CHROOT=/tmp/tree cargo test --test system_real -- --ignored`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "the test reads its environment")]

mod support;

use std::sync::Arc;

use provision::config::{Diagnostics, Sources, yaml};
use provision::resources::{Context, Local, Resource, kinds};
use support::converge;

struct Nothing;

impl Context for Nothing {
    fn local(&self, src: &str) -> Result<Local, String> {
        Err(src.to_owned())
    }

    fn render(&self, _: &str, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

fn read(text: &str) -> Arc<dyn Resource> {
    let mut sources = Sources::default();
    let id = sources.add("task.yaml", text);
    let node = yaml::parse(&sources, id).unwrap();
    let yaml::Yaml::Map(entries) = &node.value else { panic!("{text}") };
    let (key, value) = &entries[0];
    let kind = kinds().iter().find(|kind| kind.name == key.value).unwrap();
    let mut diagnostics = Diagnostics::default();
    (kind.read)(value, &Nothing, &mut diagnostics)
        .unwrap_or_else(|| panic!("{}", diagnostics.render(&sources, false)))
}

#[test]
#[ignore = "needs root and a Debian tree"]
fn accounts_keys_and_packages() {
    let tree = std::env::var("PROVISION_TEST_CHROOT").unwrap();
    let shell: &[&str] = &["chroot", &tree, "sh"];
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8 test@here";
    let other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK9 other@here";
    for (task, count) in [
        ("group: { name: rdma, gid: 4791 }".to_owned(), 1),
        ("group: { name: rdma, gid: 4792 }".to_owned(), 1),
        ("user: { name: mpi, uid: 4000, groups: [rdma], shell: /bin/bash, home: /srv/mpi }".to_owned(), 1),
        ("user: { name: mpi, uid: 4001, groups: [video], group: users }".to_owned(), 1),
        (format!("authorized_key: {{ user: mpi, key: '{key}' }}"), 1),
        (format!("authorized_key: {{ user: mpi, key: '{other}' }}"), 1),
        (format!("authorized_key: {{ user: mpi, key: 'no-pty {key}' }}"), 1),
        (format!("authorized_key: {{ user: mpi, key: '{other}', state: absent }}"), 1),
        ("file: { path: /srv/mpi/x, content: y, owner: mpi, group: rdma, mode: \"4755\" }".to_owned(), 1),
        ("package: { names: [hello, sl], hold: true }".to_owned(), 2),
        ("package: { names: [hello, sl], hold: false }".to_owned(), 1),
        ("package: { names: [hello], state: latest }".to_owned(), 0),
        ("package: { names: [hello, sl], state: absent }".to_owned(), 1),
        ("user: { name: mpi, state: absent }".to_owned(), 1),
        ("group: { name: rdma, state: absent }".to_owned(), 1),
    ] {
        let resource = read(&task);
        let done = converge(shell, &*resource).unwrap_or_else(|error| panic!("{task}: {error}"));
        println!("{done:?}");
        // The lists of a fresh tree may have to be updated first.
        let done = done.iter().filter(|summary| !summary.contains("package lists")).count();
        assert_eq!(done, count, "{task}");
        assert!(converge(shell, &*resource).unwrap().is_empty(), "{task}");
    }
    // A configuration that was cut is finished.
    let status = format!("{tree}/var/lib/dpkg/updates/0001");
    std::fs::write(&status, "").unwrap();
    let done = converge(shell, &*read("package: { names: [hello] }")).unwrap();
    assert!(done[0].contains("interrupted"), "{done:?}");
    // A package that nobody has fails with apt's own words.
    let error = converge(shell, &*read("package: { names: [no-such-package] }")).unwrap_err();
    assert!(error.contains("Unable to locate package"), "{error}");
}

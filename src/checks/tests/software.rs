//! Libraries of jobs.

use super::*;

/// The distribution's NCCL is found before the one that was built.
#[test]
fn the_library_that_wins_is_held_against_the_build_and_the_declaration() {
    let told = |site: Site| site.results(None).remove("software.nccl_tests").unwrap();
    let own = "/usr/local/nccl/lib/libnccl.so.2 (0x2)\nuser=ubuntu\nfile=libnccl.so.2 /srv/nccl/lib/libnccl.so.2.27.7";
    let other = told(healthy().with("software", own, OTHER_NCCL));
    assert_eq!(
        other.1,
        "/opt/nccl-tests/build/all_reduce_perf: libnccl.so.2 is /usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3 as ubuntu, not the one in /usr/local/nccl"
    );
    // What is declared is stronger than what the build was given.
    let usr = |site: Site| {
        let site = site.with("software", "perftest=1", "nccl=/usr 2.28.3\nperftest=1");
        told(site.expect(json!({ "software": { "nccl_prefix": "/usr/" } })))
    };
    assert_eq!(usr(healthy().with("software", own, OTHER_NCCL)).0, Pass);
    let local = usr(healthy().with("software", "/srv/nccl/lib", "/usr/local/nccl/lib"));
    assert_eq!(local.0, Fail, "/usr/local is not of the distribution: {local:?}");
    // Neither known: any NCCL will do.
    let built = healthy().with("software", "home=/opt/nccl-tests", "none=/opt/nccl-tests");
    assert_eq!(told(built.with("software", own, OTHER_NCCL)).0, Pass);
}

//! SSH between hosts, as `explain` and the reference show it; `crate::active` tries it.

use super::active::skipped;
use super::{Check, Needs};
use crate::events::CheckStatus::Fail;

/// Id of the test of SSH between hosts.
pub const MESH: &str = "ssh.mesh";
pub(in crate::checks) const CHECKS: &[Check] = &[Check {
    id: MESH,
    title: "the host reaches the other hosts over SSH, as jobs need it",
    needs: Needs::Active,
    severity: Fail,
    expects: "a login as `expect.software.mpi_user`, with known host keys and without a password, to every other host; with more than 16 hosts, to those 1, 2, 4, 8 ... places after it",
    why: "mpirun starts its daemons as a tree: hosts log in to further hosts, and one missing key stops the whole job.",
    hint: "run `provision apply` with the playbook `ssh-mesh` on all hosts of the inventory",
    source: "ssh_config(5); mpirun(1)",
    run: skipped,
}];

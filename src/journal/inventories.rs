//! Inventories that have the same `cluster:`, and with it the same runs, locks and facts.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{JournalError, read_state, write_state};

/// The file in a cluster's directory.
const FILE: &str = "inventories.json";

/// The inventories of a cluster that are still there, the one of the last run first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventories(Vec<Utf8PathBuf>);

impl Inventories {
    /// The inventories of a cluster, with this one as the first.
    pub fn read(cluster: &Utf8Path, own: &Utf8Path) -> Self {
        let Self(mut known) = read_state(&cluster.join(FILE));
        let own = own.canonicalize_utf8().unwrap_or_else(|_| own.to_owned());
        known.retain(|path| *path != own && path.is_file());
        known.insert(0, own);
        Self(known)
    }

    /// The inventories that share what is kept of the cluster.
    pub fn others(&self) -> impl Iterator<Item = &Utf8Path> {
        self.0.iter().skip(1).map(Utf8PathBuf::as_path)
    }

    /// Hosts of which something is kept: those of this inventory, and what others recorded.
    pub fn keeps(&self, members: &BTreeSet<&str>, host: &str) -> bool {
        members.contains(host) || self.0.len() > 1
    }

    /// Writes them, where that changes anything; whether another one was the last.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, cluster: &Utf8Path) -> Result<bool, JournalError> {
        let path = cluster.join(FILE);
        let Self(before) = read_state(&path);
        if before != self.0 {
            write_state(&path, self)?;
        }
        Ok(before.first() != self.0.first() && self.0.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inventories_of_one_cluster_know_of_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Utf8Path::from_path(directory.path()).unwrap();
        let [one, two] = ["one.yaml", "two.yaml"].map(|name| cluster.join(name));
        std::fs::write(&one, "").unwrap();
        std::fs::write(&two, "").unwrap();
        let run = |own: &Utf8Path| {
            let all = Inventories::read(cluster, own);
            (all.write(cluster).unwrap(), all.others().map(Utf8Path::to_owned).collect::<Vec<_>>(), all)
        };
        let (told, others, all) = run(&one);
        assert_eq!((told, others.len()), (false, 0));
        let members = BTreeSet::from(["a"]);
        assert!(all.keeps(&members, "a") && !all.keeps(&members, "b"));
        // Told once, each time that another one was the last.
        let (told, others, all) = run(&two);
        assert_eq!((told, others), (true, vec![one.clone()]));
        assert!(all.keeps(&members, "b"), "of the other inventory");
        assert!(!run(&two).0);
        assert!(run(&one).0);
        // One that is gone shares nothing.
        std::fs::remove_file(&two).unwrap();
        let (told, others, _) = run(&one);
        assert_eq!((told, others.len()), (false, 0));
    }
}

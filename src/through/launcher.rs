//! Launchers of `verify --through`: their command lines.

use std::time::Duration;

use crate::scheduler::slurm::Known;

/// Time limit for a launcher to give a shell. Slurm gives up sooner and says why.
pub const START: Duration = Duration::from_mins(1);
/// Programs that a launcher may end in by itself.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Program that starts a shell elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// A job of Slurm on the node that is called like the host: the whole node with its GPUs.
    Slurm,
    /// A command line; `{host}` stands for the name of the host.
    Words(Vec<String>),
}

impl Launcher {
    /// Reads what a person typed: words as a shell would split them.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut words = shlex::split(text).ok_or("a quote is not closed")?;
        let last = words.last().ok_or("it is empty")?;
        if words.len() == 1 && last == "slurm" {
            return Ok(Self::Slurm);
        }
        let last = last.rsplit('/').next().unwrap_or_default();
        if !SHELLS.contains(&last) {
            words.push("sh".to_owned());
        }
        Ok(Self::Words(words))
    }

    /// Whether it is started once for each host from one place.
    pub fn names_hosts(&self) -> bool {
        match self {
            Self::Slurm => true,
            Self::Words(words) => words.iter().any(|word| word.contains("{host}")),
        }
    }

    /// The command line for a host. Slurm gives a step no GPU that the job did not ask for by number, whole
    /// node or not.
    pub fn words(&self, host: &str, known: Option<&Known>) -> Vec<String> {
        match self {
            Self::Words(words) => words.iter().map(|word| word.replace("{host}", host)).collect(),
            Self::Slurm => {
                let mut words: Vec<String> =
                    ["srun", "--job-name=provision-verify", "--nodes=1", "--ntasks=1"]
                        .map(str::to_owned)
                        .to_vec();
                words.push(format!("--nodelist={host}"));
                words.extend(known.and_then(Known::partition).map(|name| format!("--partition={name}")));
                words.extend(["--exclusive", "--mem=0", "--cpu-bind=none"].map(str::to_owned));
                words.extend(["--immediate=30", "--time=5"].map(str::to_owned));
                let gpus = known.map_or(0, |known| known.node.gpus());
                if gpus > 0 {
                    words.push(format!("--gres=gpu:{gpus}"));
                }
                words.push("sh".to_owned());
                words
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::slurm;

    #[test]
    fn words_are_those_of_a_shell_and_end_in_one() {
        let read =
            |text: &str| Launcher::read(text).map(|launcher| launcher.words("gpu 0;x", None).join("|"));
        assert_eq!(read("srun -w {host} -N1").unwrap(), "srun|-w|gpu 0;x|-N1|sh");
        assert_eq!(
            read("docker exec -i 'lab {host}' /bin/bash").unwrap(),
            "docker|exec|-i|lab gpu 0;x|/bin/bash"
        );
        assert!(!Launcher::read("docker run -i x").unwrap().names_hosts());
        assert_eq!(read("'open").unwrap_err(), "a quote is not closed");
        assert_eq!(read(" ").unwrap_err(), "it is empty");
    }

    #[test]
    fn slurm_is_asked_for_all_gpus_of_a_node_and_not_for_a_drained_one() {
        let nodes =
            slurm::nodes("gpu0|idle|gpu:h100:8(S:0-1)|comp|none\ngpu1|drained|(null)|comp|bad cable\n");
        let words = Launcher::Slurm.words("gpu0", nodes.get("gpu0"));
        assert!(words.contains(&"--gres=gpu:8".to_owned()) && words.contains(&"--nodelist=gpu0".to_owned()));
        assert!(
            !Launcher::Slurm.words("gpu1", nodes.get("gpu1")).iter().any(|word| word.starts_with("--gres"))
        );
    }
}

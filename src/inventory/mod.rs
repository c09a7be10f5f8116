//! The hosts of a cluster: the inventory's file, host expressions, resolved hosts.

mod address;
pub mod ansible;
mod check;
pub mod expect;
pub mod file;
mod groups;
pub mod host;
pub mod hosts_from;
pub mod known_hosts;
pub mod load;
pub mod maintenance;
mod nics;
pub mod promise;
pub mod rollout;
pub mod select;
mod values;
mod warnings;
mod watch;

pub use address::{Endpoint, is_address, is_user};
pub use check::check_cluster_name;
pub use expect::Expect;
pub use file::{Busy, Policy, Reboot, Share};
pub use host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
pub use hosts_from::{Listed, Lists, Origin};
pub use load::Inventory;
pub use maintenance::{CommandLine, Commands, Kubernetes, Maintenance, SchedulerSettings, Until};
pub use nics::{Nic, NicMatch, NicRole, Nics, with_prefix};
pub use promise::{Declared, Promise, Promises};
pub use select::{Directory, RECORDED, select};
pub use values::PciAddress;
pub use watch::{Watch, Webhook, WebhookKind};

//! The hosts of a cluster: the inventory's file, host expressions, resolved hosts.

mod address;
pub mod ansible;
mod doubts;
pub mod expect;
pub mod file;
mod groups;
pub mod host;
pub mod hosts_from;
pub mod known_hosts;
pub mod load;
pub mod maintenance;
pub mod promise;
pub mod rollout;
pub mod select;
mod watch;

pub use address::{is_address, is_user};
pub use expect::Expect;
pub use file::{Busy, NicMatch, Policy, Reboot, Share};
pub use host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
pub use hosts_from::{Listed, Lists, Origin};
pub use load::{Inventory, check_cluster_name};
pub use maintenance::{CommandLine, Commands, Kubernetes, Maintenance, SchedulerSettings, Until};
pub use promise::{Promise, Promises};
pub use select::{Directory, RECORDED, select};
pub use watch::{Watch, Webhook, WebhookKind};

//! Links, names, the firewall.

pub mod firewall;
pub mod hostname;
pub mod hosts_file;
pub mod netdev;

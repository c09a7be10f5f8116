//! Modules, their options, the command line, settings, `PCIe`, the reboot.

pub mod kernel_cmdline;
pub mod kernel_module;
pub mod modprobe_options;
pub mod next_boot;
pub mod pcie;
pub mod reboot;
pub mod sysctl;

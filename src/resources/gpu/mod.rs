//! The driver, the fabric manager, what NCCL is told.

pub(in crate::resources) mod driver_changes;
pub(in crate::resources) mod driver_packages;
pub mod fabric_manager;
pub mod nccl_env;
pub(in crate::resources) mod nccl_matrix;
pub mod nvidia_driver;

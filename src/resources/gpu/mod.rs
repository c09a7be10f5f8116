//! The driver, the fabric manager, what NCCL is told.

pub mod fabric_manager;
pub mod nccl_env;
pub mod nvidia_driver;

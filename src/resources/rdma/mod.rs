//! RDMA devices, their namespaces, RoCE.

pub mod rdma_link;
pub mod rdma_netns;
pub mod roce;

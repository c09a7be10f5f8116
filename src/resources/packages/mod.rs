//! Packages, repositories, Python environments.

pub mod package;
pub mod pip;
pub mod repository;

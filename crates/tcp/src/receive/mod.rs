//! What the receiver keeps: bytes in sequence, bytes ahead of it, and what it promised to take.

mod assembly;
#[cfg(test)]
mod assembly_tests;

pub(crate) use assembly::Assembly;

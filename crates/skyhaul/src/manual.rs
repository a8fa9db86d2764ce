//! Manual, by subject. Begin with [`concepts`].

#[doc = include_str!("manual/concepts.md")]
pub mod concepts {}

#[doc = include_str!("manual/errors.md")]
pub mod errors {}

#[doc = include_str!("manual/controllers.md")]
pub mod controllers {}

#[doc = include_str!("manual/sans_io.md")]
pub mod sans_io {}

#[cfg(feature = "sim")]
#[doc = include_str!("manual/simulate.md")]
pub mod simulate {}

#[doc = include_str!("manual/bounds.md")]
pub mod bounds {}

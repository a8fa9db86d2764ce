//! Statistics of a sample: the one place where means, deviations and confidence intervals come from.

mod student_t;
mod summary;

pub use student_t::t_975;
pub use summary::Summary;

#[cfg(test)]
mod stats_tests;

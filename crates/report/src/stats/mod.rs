//! Statistics of a sample: the one place where means, medians, deviations and confidence intervals come from.

mod student_t;
mod summary;

pub use student_t::t_975;
pub use summary::{Statistic, Summary, median, percentile};

#[cfg(test)]
mod stats_tests;

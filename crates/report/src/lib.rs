//! Tables and figures out of result files, by definitions that are data.
//!
//! This crate reads what a sweep wrote (`results.jsonl`) and knows no engine: what it draws is what the file
//! says. [`read_results`] reads, [`Summary`] states a sample, [`Figure`] selects and draws, to SVG and PNG
//! from one scene. Everything is bounded, and equal inputs give equal bytes.

#![forbid(unsafe_code)]

pub mod claims;
mod error;
pub mod figure;
mod obvious;
pub mod page;
pub mod results;
mod scene;

pub mod stats;
pub mod table;
mod words;

pub use claims::{ClaimVerdict, Claims, Judged, VerdictCounts, evaluate_claims};
pub use error::ReportError;
pub use figure::{Definitions, Figure, FigureDefinition, Mark, MarkAxis};
pub use obvious::obvious_figures;
pub use page::{ReportPage, check_report_folder, write_report};
pub use results::{AxisValue, Results, read_results};
pub use scene::Scene;
pub use stats::Summary;
pub use table::Table;

#[cfg(test)]
mod guide_tests;

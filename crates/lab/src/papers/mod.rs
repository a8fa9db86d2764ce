//! Papers: every figure drawn anew, and every claim beside what was measured.
//!
//! A [`Reproduction`] of a [`Paper`] has the scenarios that the wanted items need, each of them is simulated,
//! then [`Reproduction::report`] is the page.

#[cfg(test)]
mod background_tests;
#[cfg(test)]
mod chapter_tests;
#[cfg(test)]
mod claims_tests;
mod classification;
mod error;
mod formulas;
mod paper;
mod real;
mod reproduction;
mod selection;

pub use error::PaperError;
pub use paper::{PAPERS, Paper};
pub use real::{RealItem, RealOrder, RealReproduction};
pub use reproduction::{PaperScenario, Reproduction, ReproductionOrder};

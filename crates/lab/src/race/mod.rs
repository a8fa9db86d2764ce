//! Races: the same transfer over several transports, one after the other.
//!
//! A [`RaceOrder`] and a scenario file make a [`RacePlan`]; [`race_simulated`] or a [`LiveRace`] makes a
//! [`RacerRuns`] for each [`Racer`]; [`judge`] says who is first; [`transfers`] and [`exchanges`] are
//! the tables.

mod bottleneck;
mod end;
mod error;
mod judge;
mod limit;
mod live;
mod mode;
mod outcome;
mod page;
mod plan;
mod play;
mod racer;
mod simulated;
mod table;

pub use bottleneck::Bottleneck;
pub use end::{EndCounters, EndOrder, EndReport, Own, Role, run_end};
pub use error::RaceError;
pub use judge::{First, judge};
pub use live::{EndCommand, LiveRace, Raced, check_real_time};
pub use mode::RaceMode;
pub use outcome::{MedianRange, Quantity, RaceRun, RacerRuns};
pub use page::{check_results, report, write_results};
pub use plan::{REQUEST_BYTES, RESPONSE_BYTES, RaceOrder, RacePlan, Work};
#[cfg(test)]
pub(crate) use racer::shipped;
pub use racer::{Racer, RacerName};
pub use simulated::race as race_simulated;
pub(crate) use simulated::run as run_simulated;
pub use table::{exchanges, headline, transfers};

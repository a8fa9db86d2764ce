//! A medium in real time: packets come in at gates, the medium decides, a thread lets them out on time.

mod early;
mod gates;
mod lateness;
mod medium;
mod priority;
mod relay;
mod running;
mod shared;
mod tally;
mod trial;

pub use gates::{Arrival, Gates};
pub use lateness::{LATENESS_ROWS, LatenessReport};
pub use medium::{Delivery, Medium};
pub use running::Running;
pub use tally::{Counted, GateReport};
pub use trial::{MachineTrial, Sleeps};

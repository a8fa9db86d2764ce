//! Relay: what couples a connection with another, of whatever protocols, both ways [PETRA III-E]. It holds
//! whoever sends back as its buffer fills, and drops nothing (`docs/spec/petra.md`, 8).

mod coupling;
mod direction;
mod end;
mod record;

pub use coupling::{Coupling, Side};
pub use direction::{Bounds, Control, Counters};
pub use end::End;
pub use record::Record;

//! PETRA (Marchese, Rossi, Morabito, JSAC 2004): two relays split a path into a wire, a satellite link and a
//! second wire. What is here so far is section IV of the paper (how large windows, buffers, packets and times
//! must be), the transport of the satellite hop, STPP, what couples connections at a relay, and the
//! end-to-end layer, UTL (`docs/spec/petra.md`).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod dimensioning;
pub mod relay;
pub mod stpp;
pub mod utl;

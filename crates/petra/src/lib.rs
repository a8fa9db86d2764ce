//! PETRA (Marchese, Rossi, Morabito, JSAC 2004): two relays split a path into a wire, a satellite link and a
//! second wire. What is here so far is section IV of the paper: how large windows, buffers, packets and times
//! must be (`docs/spec/petra.md`). The protocols themselves are not.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod dimensioning;

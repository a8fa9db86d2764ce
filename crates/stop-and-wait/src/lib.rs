//! A transport that sends a segment, waits for its acknowledgement, and sends the next one: the smallest
//! family of protocols. Nothing that ships uses it. It shows what adding a family takes: segments and
//! connections under the endpoint of `core` ([`connection`]), and what scenarios and simulated hosts need of
//! it ([`family`]).
#![forbid(unsafe_code)]

pub mod connection;
pub mod family;

//! Endpoints and embedded links over real sockets of the loopback interface. Every test is bounded
//! by a timeout; none asserts tight timing.

mod closing;
mod embedded;
mod hostile;
mod refusals;
mod sockets;
mod support;
mod transfer;

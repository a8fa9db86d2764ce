//! Changing the links of a running emulation, through a socket in a folder of the user's own.
//!
//! A request is one line of JSON ([`Request`]), and so is its answer ([`Answer`]). Who may open the socket may change
//! the links: the folder is its owner's alone.

mod client;
mod place;
mod request;
mod server;

pub use client::{ControlError, ask};
pub use place::{Place, cleanup, running};
pub use request::{Answer, Change, Quantity, Request, apply};
pub use server::serve;

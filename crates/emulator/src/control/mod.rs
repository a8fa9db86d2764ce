//! Changing the links of a running emulation, through a socket in a folder of the user's own.
//!
//! A request is one line of JSON ([`ControlRequest`]), and so is its answer ([`ControlAnswer`]). Who may open
//! the socket may change the links: the folder is its owner's alone.

mod client;
mod place;
mod request;
mod server;

pub use client::{ControlError, ask};
pub use place::{ControlSocket, cleanup, running};
pub use request::{Change, ControlAnswer, ControlRequest, LinkQuantity, apply};
pub use server::serve;

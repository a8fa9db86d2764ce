//! skyhaul's engines in real time.
//!
//! - [`Endpoint`]: one UDP socket that carries many connections of the Satellite Transport Protocol,
//!   each a [`Stream`] for tokio.
//! - [`StppEndpoint`]: one of STPP, the transport of a satellite hop between relays.
//! - [`SealedEndpoint`]: the same under a seal, between peers that know each other's keys
//!   (`docs/spec/protection.md`).
//! - [`Protection`]: the envelope of plain datagrams (`docs/spec/envelope.md`).
//! - [`EmbeddedLink`]: an emulated link between two sockets, in real time and without privileges.
//! - [`realtime`]: any medium between any gates, in real time.
//! - [`relay`]: what couples two connections of any of these; [`UtlStream`]: what is confirmed end to end.
//! - [`PathMemory`]: what was found out about paths, from one run to the next; [`CookieMemory`]: Fast Open's
//!   cookies.
//! - [`Clock`]: the monotonic clock by which all of them tell time.
//!
//! ```
//! use skyhaul_net::{Endpoint, EndpointOptions};
//! use skyhaul_stp::Config;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let ground = Endpoint::bind("127.0.0.1:0".parse().unwrap(), EndpointOptions::default())?;
//! let mut listener = ground.listen(7)?;
//! let craft = Endpoint::client(ground.local_addr(), EndpointOptions::default())?;
//! let mut up = craft.open(ground.local_addr(), 7, Config::standard())?;
//! up.write_all(b"hello, ground").await?;
//! let mut down = listener.accept().await.expect("the endpoint is open");
//! let (confirmed, heard) = tokio::join!(up.shutdown(), async {
//!     let mut text = String::new();
//!     down.read_to_string(&mut text).await.map(|_| text)
//! });
//! confirmed?;
//! assert_eq!(heard?, "hello, ground");
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod address;
mod backlog;
mod clock;
mod connection;
mod counters;
mod driver;
mod embedded_link;
mod endpoint;
mod entry;
mod envelope;
mod errors;
mod handle;
mod jump;
#[cfg(test)]
mod jump_tests;
mod listener;
mod memory;
mod monitor;
mod options;
mod path_header;
mod protocol;
pub mod realtime;
pub mod relay;
mod sealed;
mod shared;
mod split;
mod state;
mod stpp;
mod stream;
mod tap;
mod timer;
pub mod tun;
mod udp;
mod utl;
mod watch;

pub use address::is_reachable_from_outside;
pub use clock::Clock;
pub use counters::Counters;
pub use embedded_link::{DirectionReport, EmbeddedLink, LinkReport, UdpGates};
pub use endpoint::Endpoint;
pub use envelope::Protection;
pub use errors::EndpointError;
pub use listener::Listener;
pub use memory::{CookieMemory, MAX_PATHS, PathKey, PathMemory};
pub use monitor::Monitor;
pub use options::{EndpointOptions, Limits, StppOptions};
pub use protocol::Protocol;
pub use realtime::LatenessReport;
pub use sealed::{Seal, SealedEndpoint, machine_config};
#[doc(no_inline)]
pub use skyhaul_association as association;
#[doc(no_inline)]
pub use skyhaul_core::envelope::{EnvelopeError, VERSION as ENVELOPE_VERSION};
#[doc(no_inline)]
pub use skyhaul_stp::Config;
pub use split::{OwnedReadHalf, OwnedWriteHalf};
pub use stpp::{SealedStppEndpoint, StppEndpoint};
pub use stream::Stream;
pub use udp::{Datagrams, OverUdp, SealedStp, SealedStpp};
pub use utl::UtlStream;
pub use watch::{Observations, Observed, Watch, watch};

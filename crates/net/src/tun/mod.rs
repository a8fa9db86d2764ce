//! TCP over IP of our own: a host in user space, on a TUN device or any other descriptor that carries
//! packets.
//!
//! ```no_run
//! use skyhaul_net::tun::{TunDevice, TunHost, TunOptions};
//! use skyhaul_tcp::Config;
//! use tokio::io::AsyncWriteExt;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! // sudo ip tuntap add dev sky0 mode tun user $USER
//! // sudo ip address add 10.77.0.1/24 dev sky0; sudo ip link set sky0 up
//! let device = TunDevice::attach("sky0")?;
//! let host = TunHost::on_device(device, TunOptions::new(vec!["10.77.0.2".parse().unwrap()]))?;
//! let mut stream = host.connect("10.77.0.1:7".parse().unwrap(), Config::standard()).await?;
//! stream.write_all(b"hello, kernel").await?;
//! stream.shutdown().await?;
//! # Ok(())
//! # }
//! ```

mod carrier;
mod counters;
mod descriptor;
mod device;
mod host;
mod icmp;
mod leading;
mod link;
mod options;
mod routed;
mod stack;
#[cfg(test)]
mod stack_tests;
mod tcp;

pub use counters::TunCounters;
pub use device::TunDevice;
pub use host::TunHost;
pub use icmp::packet_too_big;
pub use link::{PacketGate, PacketLink};
pub use options::TunOptions;

/// Parameters of a connection of TCP.
pub use skyhaul_tcp::Config as TcpConfig;

/// A connection of TCP as a byte stream.
pub type TcpStream = crate::Stream<skyhaul_tcp::Endpoint>;
/// Takes the TCP connections that peers open to a port.
pub type TcpListener = crate::Listener<skyhaul_tcp::Endpoint>;
/// A look at a connection of TCP.
pub type TcpMonitor = crate::Monitor<skyhaul_tcp::Endpoint>;

//! Arguments of `emulate`, and the words that it starts its own processes with.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::path::PathBuf;

use skyhaul_core::units::parse_time_ns;
use skyhaul_emulator::control::Change;

use super::plain::{PlainLink, mtu};
use crate::address::listen_address;
use crate::args::MORE;
use crate::capture::LinkCaptureArgs;
use crate::failure::Failure;
use crate::sweep::key_and_value;

/// Examples of emulate's arguments, below its help.
const EXAMPLES: &str = "\
A command, or without one a shell, on a host whose only way out is the emulated link:
  skyhaul emulate --rate 10M --delay 275ms -- ping -c 3 gateway
  skyhaul emulate geo -- ping -c 3 gateway

A command on each host, which know each other by name:
  skyhaul emulate geo --run receiver='iperf3 -s' --run sender='iperf3 -c receiver'

UDP ports, also across machines, without root:
  skyhaul emulate geo --udp sender=127.0.0.1:5000 --udp receiver=127.0.0.1:5001=127.0.0.1:4700

Two namespaces that exist, as root:
  skyhaul emulate geo --tun sender=ship:sky0 --tun receiver=ground:sky0";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EmulateArgs {
    /// Scenario file, or the name of a ready scenario, like geo; of a sweep, its first point. Without it
    /// there is one link, by --rate and those below, from the host `near`, where the command runs, to `far`
    #[arg(value_name = "FILE", required_unless_present_any = ["cleanup", "plain", "mtu"], conflicts_with = "plain")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) plain: PlainLink,
    /// Largest IP packet: with a FILE that of the devices, at least 1280 (a link has its own in the file, as
    /// `mtu`); without one that of the link, at least 68 [default: 1500 of devices, none of the link]
    #[arg(long, value_name = "BYTES", value_parser = mtu)]
    pub(crate) mtu: Option<u32>,
    /// Command for the host named by --at; without it, and without --run, --udp, --tun and --device: a shell
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["udp", "tun", "device"])]
    pub(crate) command: Vec<String>,
    /// Host that the command runs on [default: where the first flow of the file comes from]
    #[arg(long, value_name = "HOST", conflicts_with_all = ["udp", "tun", "device"], help_heading = MORE)]
    pub(crate) at: Option<String>,
    /// Run a shell command on a host; may be given several times. They start 0.2 s apart. The emulation ends
    /// when the last one given ends, or when any fails
    #[arg(long, value_name = "HOST=COMMAND", value_parser = host_and_text, conflicts_with_all = ["udp", "tun", "device"])]
    pub(crate) run: Vec<(String, String)>,
    /// Give a host a UDP port: what is sent there comes out at the other host's port, for its peer: the
    /// address named, or else whoever last wrote there. Twice
    #[arg(long, value_name = "HOST=ADDRESS:PORT[=PEER]", value_parser = udp_host, conflicts_with_all = ["tun", "device"], help_heading = MORE)]
    pub(crate) udp: Vec<UdpArg>,
    /// Give a host a new TUN device in a namespace of `ip netns` ('.': this one) as its place [default: sky0]
    #[arg(long, value_name = "HOST=NAMESPACE[:DEVICE]", value_parser = tun_host, help_heading = MORE)]
    pub(crate) tun: Vec<TunArg>,
    /// Give a host a TUN device that exists, with addresses and routes of your choice, as its place
    #[arg(long, value_name = "HOST=DEVICE", value_parser = host_and_text, help_heading = MORE)]
    pub(crate) device: Vec<(String, String)>,
    /// Change a key of the file, like links.geo.forward.rate=2Mbit/s; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value, help_heading = MORE)]
    pub(crate) set: Vec<(String, String)>,
    /// Seed of everything random in the links [default: what the file says]
    #[arg(long, value_name = "N", help_heading = MORE)]
    pub(crate) seed: Option<u64>,
    /// Do not tell senders by ICMP of packets that were larger than a link takes (its `mtu`), as behind many
    /// a firewall
    #[arg(long, conflicts_with = "udp", help_heading = MORE)]
    pub(crate) no_icmp: bool,
    /// End after so long, like 30s
    #[arg(long, value_name = "TIME", value_parser = parse_time_ns)]
    pub(crate) duration: Option<u64>,
    #[command(flatten)]
    pub(crate) capture: LinkCaptureArgs,
    /// Socket for `skyhaul control` [default: one in a folder of this user's own]
    #[arg(long, value_name = "PATH", help_heading = MORE)]
    pub(crate) control: Option<PathBuf>,
    /// Print what was counted as one JSON object, on the last line
    #[arg(long)]
    pub(crate) json: bool,
    /// Neither remarks nor what was counted
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Take away what emulations left that were killed, and end
    #[arg(long, exclusive = true, help_heading = MORE)]
    pub(crate) cleanup: bool,
}

/// Largest packet of devices, unless another is asked for.
const DEVICE_MTU_BYTES: u32 = 1500;
/// Smallest of them: IPv6 needs it [RFC 8200 5].
const MIN_DEVICE_MTU_BYTES: u32 = 1280;

impl EmulateArgs {
    /// Largest packet of the devices. Where that of the link is given, the devices send what it takes, and
    /// what is too large for it, too.
    pub(super) fn device_mtu_bytes(&self) -> Result<u32, Failure> {
        match (self.mtu, &self.file) {
            (Some(bytes), Some(_)) if bytes < MIN_DEVICE_MTU_BYTES => Err(Failure::usage(format!(
                "--mtu {bytes}: devices need at least {MIN_DEVICE_MTU_BYTES} bytes; a link takes less by --set \
                 links.NAME.forward.mtu={bytes}B"
            ))),
            (Some(bytes), Some(_)) => Ok(bytes),
            (bytes, _) => Ok(bytes.unwrap_or(0).max(DEVICE_MTU_BYTES)),
        }
    }
}

/// A host at a UDP port.
#[derive(Clone, Debug)]
pub(crate) struct UdpArg {
    pub(crate) host: String,
    pub(crate) listen: SocketAddr,
    pub(crate) peer: Option<SocketAddr>,
}

/// A host in a namespace.
#[derive(Clone, Debug)]
pub(crate) struct TunArg {
    pub(crate) host: String,
    pub(crate) namespace: Option<String>,
    pub(crate) device: String,
}

fn host_and_text(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((host, text)) if !host.is_empty() && !text.trim().is_empty() => Ok((host.into(), text.into())),
        Some((host, _)) if !host.is_empty() => Err(format!("there is nothing behind '{host}='")),
        _ => Err("name a host of the scenario first, as in ship=...".into()),
    }
}

fn udp_host(text: &str) -> Result<UdpArg, String> {
    let (host, rest) = host_and_text(text)?;
    let (listen, peer) = match rest.split_once('=') {
        Some((listen, peer)) => (listen, Some(listen_address(peer)?)),
        None => (rest.as_str(), None),
    };
    let listen = listen_address(listen)?;
    if peer.is_some_and(|peer| peer.is_ipv4() != listen.is_ipv4()) {
        return Err("both addresses must be IPv4, or both IPv6".into());
    }
    Ok(UdpArg { host, listen, peer })
}

fn tun_host(text: &str) -> Result<TunArg, String> {
    let (host, rest) = host_and_text(text)?;
    let (namespace, device) = rest.split_once(':').unwrap_or((&rest, "sky0"));
    let namespace = (namespace != ".").then(|| namespace.to_string());
    Ok(TunArg { host, namespace, device: device.to_string() })
}

/// Examples of control's arguments, below its help.
const CONTROL_EXAMPLES: &str = "\
  skyhaul control set geo.rate=2Mbit/s geo.forward.delay=300ms geo.reverse.loss=0.01
  skyhaul control down geo --for 5s
  skyhaul control status";

#[derive(Debug, clap::Args)]
#[command(after_help = CONTROL_EXAMPLES)]
pub(crate) struct ControlArgs {
    /// Socket of the emulation [default: that of `SKYHAUL_CONTROL`, else that of this user's only one]
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) socket: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: ControlAction,
}

/// What is to be done.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ControlAction {
    /// Change rate, delay, loss or largest packet of links, in both directions unless one is named; all at
    /// one moment
    Set {
        /// Like geo.rate=2Mbit/s, geo.rate=unlimited, geo.forward.delay=300ms, geo.reverse.loss=0.01,
        /// geo.mtu=1300B
        #[arg(required = true, value_name = "LINK[.DIRECTION].KEY=VALUE", value_parser = Change::parse)]
        changes: Vec<Change>,
    },
    /// Take a link down, in both directions
    Down {
        /// Name of the link
        link: String,
        /// For so long, like 5s [default: until it is told to come up]
        #[arg(long = "for", value_name = "TIME", value_parser = parse_time_ns)]
        for_ns: Option<u64>,
    },
    /// End what `down` began
    Up {
        /// Name of the link
        link: String,
    },
    /// Print what was counted so far as one JSON object
    Status,
}

/// What starts a host; for [`skyhaul_emulator::host_main`].
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    pub(crate) socket: RawFd,
}

/// What starts the first process of a host; for [`skyhaul_emulator::init_main`].
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    pub(crate) name: String,
    pub(crate) hosts_file: String,
    #[arg(long)]
    pub(crate) terminal: bool,
    #[arg(last = true)]
    pub(crate) command: Vec<String>,
}

//! One transfer: two hosts, and what joins them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use skyhaul_link::LinkConfig;
use skyhaul_net::LinkReport;
use skyhaul_net::tun::PacketLink;
use tokio::sync::oneshot;

use crate::ends::{Gate, Received, Sent, Transfer, receive, send};
use crate::relay::Relay;
use crate::stacks::{self, Tcp};
use crate::usage::{Cpu, machine_s};
use crate::wire::wire;

/// Middle between the two hosts.
pub(crate) enum Middle<'a> {
    /// An emulated link, with this seed.
    Link(&'a LinkConfig, u64),
    /// Somebody who carries packets.
    Relay,
    /// Our host is at the other side of the kernel's device. Two kernels cannot be joined like that.
    Nothing,
}

/// Outcome of a transfer.
pub(crate) struct Outcome {
    pub(crate) sent: Sent,
    pub(crate) received: Received,
    pub(crate) link: Option<LinkReport>,
    pub(crate) relay: Cpu,
    /// How long all processors together were busy, with whatever.
    pub(crate) machine_s: f64,
}

enum Joint {
    Link(PacketLink),
    Relay(Relay),
    Nothing,
}

/// Fails, with advice, if nothing can be measured here.
pub(crate) fn check() -> io::Result<()> {
    let attempt = thread::spawn(|| stacks::kernel(stacks::address(0), 1500).map(drop));
    joined(attempt)
}

/// Runs a transfer.
pub(crate) fn run(transfer: &Transfer, middle: &Middle<'_>) -> io::Result<Outcome> {
    let busy_s = machine_s();
    let (tell_ready, ready) = mpsc::channel();
    let (tell_go, go) = mpsc::channel();
    let (tell_over, over) = oneshot::channel();
    let (tell_seen, seen) = mpsc::channel();
    let (gate, theirs) = gate(transfer.receiver);
    let plan = transfer.clone();
    let receiver = spawn("receiver", move || receive(&plan, gate, &tell_ready, tell_over, &seen))?;
    let (gate, ours) = self::gate(transfer.sender);
    let plan = transfer.clone();
    let sender = spawn("sender", move || send(&plan, gate, &go, over, tell_seen))?;
    let joint = join(middle, [ours, theirs]);
    // Where an end has failed, its channels are gone, so the others come to their ends.
    if joint.is_ok() && ready.recv().is_ok() {
        let _ = tell_go.send(());
    }
    drop(tell_go);
    let (received, sent) = (joined(receiver), joined(sender));
    let (link, relay) = match joint? {
        Joint::Link(link) => (Some(link.stop()), Cpu::default()),
        Joint::Relay(relay) => (None, relay.stop()),
        Joint::Nothing => (None, Cpu::default()),
    };
    let (received, sent) = both(received, sent)?;
    Ok(Outcome { sent, received, link, relay, machine_s: machine_s() - busy_s })
}

/// Door of an end's gate, in the hands of `main`.
enum Door {
    Kernel(Receiver<OwnedFd>),
    Ours(mpsc::Sender<OwnedFd>),
}

fn gate(tcp: Tcp) -> (Gate, Door) {
    let (give, take) = mpsc::channel();
    match tcp {
        Tcp::Kernel => (Gate::Gives(give), Door::Kernel(take)),
        Tcp::Ours => (Gate::Takes(take), Door::Ours(give)),
    }
}

fn join(middle: &Middle<'_>, [sender, receiver]: [Door; 2]) -> io::Result<Joint> {
    match middle {
        Middle::Link(config, seed) => {
            let ends = [sender.end()?, receiver.end()?];
            Ok(Joint::Link(PacketLink::start((*config).clone(), *seed, ends)?))
        }
        Middle::Relay => Ok(Joint::Relay(Relay::start([sender.end()?, receiver.end()?])?)),
        Middle::Nothing => match (sender, receiver) {
            (Door::Ours(host), other) | (other, Door::Ours(host)) => {
                host.send(other.end()?).map_err(|_| failed())?;
                Ok(Joint::Nothing)
            }
            _ => Err(io::Error::other("two kernels need somebody between them")),
        },
    }
}

impl Door {
    /// A descriptor at whose other side the host is.
    fn end(self) -> io::Result<OwnedFd> {
        match self {
            Self::Kernel(device) => device.recv().map_err(|_| failed()),
            Self::Ours(host) => {
                let (near, far) = wire()?;
                host.send(far).map_err(|_| failed())?;
                Ok(near)
            }
        }
    }
}

fn failed() -> io::Error {
    io::Error::other("a host has failed")
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<T>>> {
    thread::Builder::new().name(name.into()).spawn(work)
}

fn joined<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread has panicked")))
}

fn both(received: io::Result<Received>, sent: io::Result<Sent>) -> io::Result<(Received, Sent)> {
    match (received, sent) {
        (Ok(received), Ok(sent)) => Ok((received, sent)),
        (Err(receiver), Err(sender)) => {
            Err(io::Error::other(format!("sender: {sender}; receiver: {receiver}")))
        }
        (Err(error), _) => Err(io::Error::other(format!("receiver: {error}"))),
        (_, Err(error)) => Err(io::Error::other(format!("sender: {error}"))),
    }
}

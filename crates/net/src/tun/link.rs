//! An emulated link between two descriptors that carry packets.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytes::Bytes;
use rustix::io::Errno;
use skyhaul_core::ip;
use skyhaul_core::{NetworkFields, Packet, PacketMeta};
use skyhaul_link::{Link, LinkConfig};

use super::routed;
use crate::embedded_link::{link, report};
use crate::realtime::{Arrival, Gates, Running};
use crate::{Clock, LinkReport};

/// Largest packet.
const MAX_PACKET_BYTES: usize = 64 << 10;
/// Packets taken at once.
const MAX_TOGETHER: usize = 16;

/// A [`Link`](skyhaul_link::Link) that runs in real time between two descriptors with one packet a read and
/// one a write: TUN devices, or ends of pairs of sockets. The first is at port 0 of the link, the second at
/// port 1. IP packets count with their headers; the link sees and sets their ECN field. What is larger than
/// the link's largest packet is dropped without a word, or, of IPv4 without DF, costs what its fragments
/// would and arrives whole.
///
/// One thread of its own does the work. Dropping the link stops it.
#[derive(Debug)]
pub struct PacketLink(Running<Link>);

impl PacketLink {
    /// Starts the link; its time zero, to which its outages refer, is now. The descriptors must not block.
    pub fn start(config: LinkConfig, seed: u64, ends: [OwnedFd; 2]) -> io::Result<Self> {
        let gates = PacketGates(ends.map(PacketGate::new));
        Ok(Self(Running::start(link(config, seed)?, gates)?))
    }

    /// The clock of the link: zero is its start.
    pub fn clock(&self) -> Clock {
        self.0.clock()
    }

    /// Everything counted, as of this moment.
    pub fn report(&self) -> LinkReport {
        self.0.report(report)
    }

    /// Stops the link and gives the final report. Packets inside are lost.
    pub fn stop(self) -> LinkReport {
        self.0.stop();
        self.report()
    }
}

struct PacketGates([PacketGate; 2]);

impl Gates for PacketGates {
    fn count(&self) -> usize {
        2
    }

    fn fd(&self, port: usize) -> BorrowedFd<'_> {
        self.0[port].as_fd()
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        self.0[port].receive(&mut |packet| take(Arrival::Packet(packet)))
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        self.0[port].send(packet)
    }
}

/// A descriptor with one IP packet a read and one a write, as a gate of a medium.
#[derive(Debug)]
pub struct PacketGate {
    fd: OwnedFd,
    room: Vec<u8>,
}

impl PacketGate {
    /// A gate at `fd`, which must not block.
    pub fn new(fd: OwnedFd) -> Self {
        Self { fd, room: vec![0; MAX_PACKET_BYTES] }
    }

    /// Receives some of what waits. Errors as in [`Gates::receive`].
    pub fn receive(&mut self, take: &mut dyn FnMut(Packet)) -> io::Result<()> {
        for _ in 0..MAX_TOGETHER {
            match rustix::io::read(&self.fd, &mut self.room[..]) {
                Err(Errno::AGAIN | Errno::INTR) => return Err(ErrorKind::WouldBlock.into()),
                // The other end, or the device, is gone.
                Ok(0) | Err(_) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => take(packet(&self.room[..length])),
            }
        }
        Ok(())
    }

    /// Sends a packet, with the ECN field and the path header that it has by now.
    pub fn send(&mut self, packet: &Packet) -> io::Result<()> {
        if let Some(header) = packet.meta.fields.path_header {
            let bytes = Bytes::from(routed::written(&packet.bytes, &header));
            let fields = NetworkFields { path_header: None, ..packet.meta.fields };
            return self.send(&Packet { bytes, meta: PacketMeta { fields, ..packet.meta } });
        }
        if ip::ecn_of(&packet.bytes) == packet.meta.fields.ecn {
            rustix::io::write(&self.fd, &packet.bytes)?;
        } else {
            let mut marked = packet.bytes.to_vec();
            ip::set_ecn(&mut marked, packet.meta.fields.ecn);
            rustix::io::write(&self.fd, &marked)?;
        }
        Ok(())
    }
}

impl AsFd for PacketGate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn packet(bytes: &[u8]) -> Packet {
    let fields = NetworkFields {
        may_fragment: ip::may_fragment(bytes),
        path_header: routed::header_of(bytes),
        ..ip::ecn_of(bytes).into()
    };
    let meta = PacketMeta { wire_bytes: bytes.len() as u32, fields, ..PacketMeta::default() };
    Packet { bytes: Bytes::copy_from_slice(bytes), meta }
}

//! An emulated link between two descriptors that carry packets.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use bytes::Bytes;
use rustix::io::Errno;
use skyhaul_core::{Packet, PacketMeta};
use skyhaul_link::LinkConfig;

use super::ip;
use crate::embedded_link::{Arrival, Gates, Running};
use crate::{Clock, LinkReport};

/// Largest packet.
const MAX_PACKET_BYTES: usize = 64 << 10;
/// Packets taken at once.
const MAX_TOGETHER: usize = 16;

/// A [`Link`](skyhaul_link::Link) that runs in real time between two descriptors with one packet a read and one a
/// write: TUN devices, or ends of pairs of sockets. The first is at port 0 of the link, the second at port 1. IP
/// packets count with their headers; the link sees and sets their ECN field.
///
/// One thread of its own does the work. Dropping the link stops it.
#[derive(Debug)]
pub struct PacketLink(Running);

impl PacketLink {
    /// Starts the link; its time zero, to which its outages refer, is now. The descriptors must not block.
    pub fn start(config: LinkConfig, seed: u64, ends: [OwnedFd; 2]) -> io::Result<Self> {
        let room = vec![0; MAX_PACKET_BYTES];
        Ok(Self(Running::start(config, seed, PacketGates { ends, room })?))
    }

    /// The clock of the link: zero is its start.
    pub fn clock(&self) -> Clock {
        self.0.clock()
    }

    /// Everything counted, as of this moment.
    pub fn report(&self) -> LinkReport {
        self.0.report()
    }

    /// Stops the link and gives the final report. Packets inside are lost.
    pub fn stop(self) -> LinkReport {
        self.0.stop()
    }
}

struct PacketGates {
    ends: [OwnedFd; 2],
    room: Vec<u8>,
}

impl Gates for PacketGates {
    fn fds(&self) -> [BorrowedFd<'_>; 2] {
        [self.ends[0].as_fd(), self.ends[1].as_fd()]
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        for _ in 0..MAX_TOGETHER {
            match rustix::io::read(&self.ends[port], &mut self.room[..]) {
                Err(Errno::AGAIN | Errno::INTR) => return Err(ErrorKind::WouldBlock.into()),
                // The other end, or the device, is gone.
                Ok(0) | Err(_) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => take(Arrival::Packet(packet(&self.room[..length]))),
            }
        }
        Ok(())
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        let fd = &self.ends[port];
        if ip::ecn_of(&packet.bytes) == packet.meta.ecn {
            rustix::io::write(fd, &packet.bytes)?;
        } else {
            let mut marked = packet.bytes.to_vec();
            ip::set_ecn(&mut marked, packet.meta.ecn);
            rustix::io::write(fd, &marked)?;
        }
        Ok(())
    }
}

fn packet(bytes: &[u8]) -> Packet {
    let meta = PacketMeta { wire_bytes: bytes.len() as u32, ecn: ip::ecn_of(bytes), ..PacketMeta::default() };
    Packet { bytes: Bytes::copy_from_slice(bytes), meta }
}

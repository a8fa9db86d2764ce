//! A scenario's links at work.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use skyhaul_capture::Inlet;
use skyhaul_core::{Instant, Packet};
use skyhaul_net::realtime::{Arrival, Gates, Running};
use skyhaul_net::{Clock, UdpGates};
use skyhaul_scenario::Scenario;
use skyhaul_sim::{Interfaces, Middle};

use crate::capture::{LinkCapture, places};
use crate::gates::HostGates;
use crate::middle::Ports;
use crate::{Addresses, EmulationReport, HostAddress};

/// The links and routers of a scenario in real time, between the hosts that are attached. Time zero, to which
/// outages refer, is the start. It ends when all copies of this value are dropped: they are of one emulation.
#[derive(Clone, Debug)]
pub struct Emulation {
    running: Arc<Running<Ports>>,
    names: Arc<[String]>,
    /// Addresses of hosts at UDP sockets in a capture.
    places: Arc<[(u32, SocketAddr)]>,
}

impl Emulation {
    /// Between descriptors that carry IP packets, one a read and one a write, without blocking: TUN devices,
    /// or ends of pairs of sockets that keep packets apart. Each has the host that it belongs to. A packet
    /// that is larger than a link takes is answered by ICMP ([`set_icmp`](Self::set_icmp)); of IPv4 without
    /// DF it costs what its fragments would, and arrives put together. Routers that the scenario has send
    /// signals do, as the simulator's.
    pub fn between_devices(
        scenario: &Scenario,
        seed: u64,
        addresses: Arc<Addresses>,
        devices: Vec<(HostAddress, OwnedFd)>,
    ) -> io::Result<Self> {
        let names = devices.iter().map(|(host, _)| host.name.clone()).collect();
        let nodes = devices.iter().map(|(host, _)| host.node).collect();
        let devices = devices.into_iter().map(|(host, fd)| (host.node, fd)).collect();
        let mut ports = Ports::new(middle(scenario, seed)?, nodes, true);
        ports.set_signals(scenario, &addresses);
        Self::start(names, Vec::new(), ports, HostGates::new(devices, addresses))
    }

    /// Between two UDP sockets, each the place of a host; gives the sockets' addresses, too. Datagrams count
    /// with their IP and UDP headers. Those that are too large for a link are dropped without a word, and
    /// routers send no signals: nothing behind the sockets would hear them.
    pub fn between_sockets(
        scenario: &Scenario,
        seed: u64,
        sockets: [UdpHost; 2],
    ) -> io::Result<(Self, [SocketAddr; 2])> {
        let udp = UdpGates::bind([0, 1].map(|i| sockets[i].listen), [0, 1].map(|i| sockets[i].peer))?;
        let at = udp.local_addrs()?;
        let names = sockets.iter().map(|socket| socket.host.name.clone()).collect();
        let hosts = sockets.each_ref().map(|socket| (socket.host.node, IpAddr::V4(socket.host.v4)));
        let nodes = sockets.map(|socket| socket.host.node);
        Ok((
            Self::start(
                names,
                places(hosts, at),
                Ports::new(middle(scenario, seed)?, nodes.to_vec(), false),
                Addressed { udp, nodes },
            )?,
            at,
        ))
    }

    fn start(
        names: Vec<String>,
        places: Vec<(u32, SocketAddr)>,
        ports: Ports,
        gates: impl Gates + 'static,
    ) -> io::Result<Self> {
        let running = Arc::new(Running::start(ports, gates)?);
        Ok(Self { running, names: names.into(), places: places.into() })
    }

    /// Captures what crosses the links from now on, by way of `inlet`, which leads to a file with these
    /// interfaces. Packets of hosts at UDP sockets get the addresses of the scenario's hosts.
    pub fn set_capture(&self, inlet: Inlet, interfaces: Interfaces) {
        let (origin_ns, places) = (self.clock().unix_origin_ns(), self.places.to_vec());
        let capture = LinkCapture { inlet, interfaces, origin_ns, places };
        self.running.change(|ports, _| ports.middle_mut().set_tap(Box::new(capture)));
    }

    /// From now on hosts whose IP packets are larger than a link takes are told by ICMP (fragmentation
    /// needed, packet too big), or not, as behind a firewall that throws such messages away. They are, unless
    /// this says otherwise; at UDP sockets never.
    pub fn set_icmp(&self, tells: bool) {
        self.running.change(|ports, _| ports.set_tells(tells));
    }

    /// The clock of the links: zero is their start.
    pub fn clock(&self) -> Clock {
        self.running.clock()
    }

    /// Everything counted, as of this moment.
    pub fn report(&self) -> EmulationReport {
        self.running.report(|ports, counted, at| EmulationReport::new(&self.names, ports, counted, at))
    }

    /// Looks at the links at this moment.
    pub fn look<T>(&self, look: impl FnOnce(&Middle, Instant) -> T) -> T {
        self.running.look(|ports, now| look(ports.middle(), now))
    }

    /// Changes the links at this moment.
    pub fn change<T>(&self, change: impl FnOnce(&mut Middle, Instant) -> T) -> T {
        self.running.change(|ports, now| change(ports.middle_mut(), now))
    }

    /// Ends it; packets on their way are lost. What was counted.
    pub fn stop(&self) -> EmulationReport {
        self.running.stop();
        self.report()
    }
}

fn middle(scenario: &Scenario, seed: u64) -> io::Result<Middle> {
    Middle::new(scenario, seed).map_err(io::Error::other)
}

/// A host that is reached by UDP.
#[derive(Clone, Debug)]
pub struct UdpHost {
    /// Which.
    pub host: HostAddress,
    /// Where it sends to, and where what is for it comes from.
    pub listen: SocketAddr,
    /// Its address; `None`: whoever last wrote to `listen`.
    pub peer: Option<SocketAddr>,
}

/// Peer that datagrams of a socket are for: the other one's host.
struct Addressed {
    udp: UdpGates,
    nodes: [u32; 2],
}

impl Gates for Addressed {
    fn count(&self) -> usize {
        2
    }

    fn fd(&self, port: usize) -> std::os::fd::BorrowedFd<'_> {
        self.udp.fd(port)
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        let to = self.nodes[1 - port];
        self.udp.receive(port, &mut |mut arrival| {
            if let Arrival::Packet(packet) = &mut arrival {
                packet.meta.to = to;
            }
            take(arrival);
        })
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        self.udp.send(port, packet)
    }
}

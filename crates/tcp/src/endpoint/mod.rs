//! Endpoint of TCP: what [`skyhaul_core::endpoint`] leaves to the protocol.

mod accept;
mod cookies;
mod disowned;
mod family;
mod icmp;
mod openings;
mod records;
mod routes;
mod secrets;
mod ways;

use alloc::sync::Arc;
use core::net::SocketAddr;

use skyhaul_core::endpoint::{self, Bounds, Context, HostConfig, Hosted, Stage};
use skyhaul_core::{
    ConnectError, ConnectionId, DeclaredRate, Instant, NetworkFields, NullSink, Stream, host_number, ip_bytes,
};

use crate::config::Config;
use crate::connection::{Connection, Names, State};
use crate::scps::{Agreement, Capabilities, Numbers, compress};
use crate::segment::{Way, decode};

/// Parameters of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Largest IP packet on any path, in bytes (at least 296; 90 where [`Self::accept`] speaks SCPS-TP).
    pub mtu_bytes: u32,
    /// Connections at most, of one address half of them; further openings are dropped.
    pub max_connections: usize,
    /// Of those, connections whose opening a peer has not confirmed yet. Further openings are answered
    /// and not kept (SYN cookies).
    pub max_unproven: usize,
    /// Of those, connections whose data the application has before the peer has confirmed the opening, where
    /// [`Config::accelerated_open`] lets it; further openings are ordinary ones.
    pub max_early: usize,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            accept: Config::standard(),
            mtu_bytes: 1500,
            max_connections: 1024,
            max_unproven: 128,
            max_early: 64,
        }
    }
}

/// Counters of what belongs to no connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndpointStats {
    /// Packets that were no segments.
    pub undecodable: u64,
    /// Segments of no connection.
    pub unknown: u64,
    /// Openings dropped for want of room.
    pub full: u64,
    /// Openings whose data was taken before the handshake was over.
    pub early_taken: u64,
    /// Openings that asked for that and had to go the ordinary way: their cookie or count was not good, or
    /// there was no room.
    pub early_refused: u64,
    /// Openings that were answered and not kept: SYN cookies.
    pub cookies_sent: u64,
    /// Cookies that came back: connections made of them.
    pub cookies_taken: u64,
    /// RSTs that did not end their connection: of a wrong number, or too late [RFC 5961 3, RFC 1337 3].
    pub resets_ignored: u64,
    /// ICMP messages that counted.
    pub icmp_taken: u64,
    /// Those that did not: of no connection, about nothing under way, or impossible.
    pub icmp_ignored: u64,
}

/// TCP as a family of [`skyhaul_core::endpoint`]: what an endpoint keeps beside its connections.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// Parameters of accepted connections.
    accept: Arc<Config>,
    routes: routes::Table,
    ways: ways::Ways,
    secrets: secrets::Secrets,
    cookies: cookies::Cookies,
    /// Numbers of connections in compressed headers.
    numbers: Numbers,
    /// Count of the last connection that counts [RFC 1644 3.1].
    count: u32,
    disowned: disowned::Disowned,
    stats: EndpointStats,
}

impl Tcp {
    /// Takes the routes of a connection that is opened here.
    fn learn_routes(&mut self, config: &Config) {
        self.routes.learn(&config.routes, &self.accept);
    }

    /// Parameters of a connection that a peer opens.
    fn accept_from(&self, way: Way) -> &Arc<Config> {
        self.routes.accept(way.remote).unwrap_or(&self.accept)
    }
}

/// Rate that a connection with these parameters declares.
fn declared_rate(endpoint: &endpoint::Endpoint<Tcp>, way: Way, config: &Config) -> Option<DeclaredRate> {
    endpoint.family.routes.declared(way.remote, endpoint.new_path(way).mtu_bytes(), config)
}

/// All connections of a host.
#[derive(Clone, Debug)]
pub struct Endpoint(endpoint::Endpoint<Tcp>);

impl Hosted for Endpoint {
    type Family = Tcp;

    fn endpoint(&self) -> &endpoint::Endpoint<Tcp> {
        &self.0
    }

    fn endpoint_mut(&mut self) -> &mut endpoint::Endpoint<Tcp> {
        &mut self.0
    }
}

impl Endpoint {
    /// An endpoint whose random values come from `random`.
    pub fn new(config: EndpointConfig, mut random: Stream) -> Self {
        let EndpointConfig { accept, mtu_bytes, max_connections, max_unproven, max_early } = config;
        let host = HostConfig {
            mtu_bytes,
            min_mtu_bytes: accept.min_mtu_bytes(true),
            carrier_bytes: |way: Way| ip_bytes(way.remote),
            head_bytes: 0,
            tail_bytes: 0,
            bounds: Bounds { max_connections, max_unproven, max_early },
            host_of: Some(|way: Way| host_number(way.remote)),
            // A buffer for reading is allotted to proven peers alone; its bound is the connection's.
            receive_budget_bytes: u64::MAX,
        };
        let mut routes = routes::Table::default();
        routes.learn(&accept.routes, &accept);
        let secrets = secrets::Secrets::new(&mut random);
        let family = Tcp {
            accept: Arc::new(accept),
            routes,
            ways: ways::Ways::default(),
            numbers: Numbers::new(secrets.compression_start()),
            secrets,
            cookies: cookies::Cookies::default(),
            count: 0,
            disowned: disowned::Disowned::default(),
            stats: EndpointStats::default(),
        };
        Self(endpoint::Endpoint::new(family, host, random))
    }

    /// Opens a connection to `port` at the far end of `way`, from a free port or the one given.
    pub fn connect(
        &mut self,
        now: Instant,
        way: Way,
        port: u16,
        local_port: Option<u16>,
        config: Config,
    ) -> Result<ConnectionId, ConnectError> {
        let endpoint = &mut self.0;
        endpoint.check_room()?;
        let free_names = |endpoint: &endpoint::Endpoint<Tcp>, local_port: u16| {
            let names = Names { peer: way, local_port, remote_port: port };
            endpoint.find(names).is_none().then_some(names)
        };
        let names = match local_port {
            Some(port) => free_names(endpoint, port),
            None => secrets::ports(&mut endpoint.random).find_map(|port| free_names(endpoint, port)),
        };
        let names = names.ok_or(ConnectError::NoFreePort)?;
        let (mut entropy, id) = (endpoint.family.secrets.entropy(names, now), endpoint.take_id());
        if config.offers_compression() {
            entropy.number = endpoint.family.numbers.take(way, id);
        }
        endpoint.family.learn_routes(&config);
        let config = endpoint.family.routes.applied(way.remote, config);
        let known = endpoint.family.ways.get(way);
        let declared = declared_rate(endpoint, way, &config);
        let path = endpoint.enter_path(now, way, declared);
        let accelerated = config.accelerated_open;
        let mut context = Context { now, path, sink: &mut NullSink };
        let mut connection = Connection::open(id, names, entropy, Arc::new(config), &context);
        ways::brief(known, &mut connection, &mut context);
        endpoint.family.routes.brief(way.remote, &mut connection);
        openings::open(&mut endpoint.family, (way, now), accelerated, &mut connection);
        endpoint.insert(id, names, connection, true);
        Ok(id)
    }

    /// True if a segment is for this endpoint where two share an address, one of which speaks SCPS-TP: it has
    /// the connection, or an opening offers what it speaks.
    pub fn claims(&self, way: Way, fields: NetworkFields, bytes: &[u8]) -> bool {
        if fields.protocol == compress::PROTOCOL {
            let number = bytes.first().copied().unwrap_or_default();
            return self.0.family.numbers.told_by(way, number).is_some();
        }
        let Some(&[a, b, c, d]) = bytes.first_chunk() else { return false };
        let (remote_port, local_port) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        if self.0.find(Names { peer: way, local_port, remote_port }).is_some() {
            return true;
        }
        let speaks = self.0.family.accept.scps.is_some();
        decode(way, bytes).is_ok_and(|segment| Capabilities::find(&segment.options.extra).is_some() == speaks)
    }

    /// True if this host has use for packets of IP protocol 105: it offers compressed headers to whoever
    /// opens a connection, or has offered them.
    pub fn takes_compressed(&self) -> bool {
        self.0.family.accept.offers_compression() || self.0.family.numbers.are_used()
    }

    /// Agreement on SCPS-TP that a connection's two SYNs led to; `None`: there is none (yet), and it is one
    /// of plain TCP.
    pub fn scps_agreement(&self, id: ConnectionId) -> Option<Agreement> {
        self.0.get(id)?.scps_agreement()
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<State> {
        self.0.state(id)
    }

    /// Stage of a connection's life.
    pub fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.0.stage(id)
    }

    /// Peer of a connection.
    pub fn remote(&self, id: ConnectionId) -> Option<SocketAddr> {
        let names = self.0.key(id)?;
        Some(SocketAddr::new(names.peer.remote, names.remote_port))
    }

    /// Counters of what belongs to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.0.family.stats
    }
}

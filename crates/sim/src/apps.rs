//! Applications of simulated hosts.

use std::any::Any;
use std::fmt::Debug;
use std::net::SocketAddr;

use skyhaul_core::Instant;
use skyhaul_stp::{Config, ConnectionId, Endpoint, StreamEvent};

/// Something that uses an endpoint. Called whenever the host had something to do.
pub trait App: Debug + Any {
    /// Reads, writes, opens and closes as far as possible now.
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint);
    /// When it wants to work next though nothing arrives; `None`: whenever the host has something to do.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// Whether nothing is left to do.
    fn is_done(&self) -> bool;
    /// Why it failed, if it did.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// For reading results.
    fn as_any(&self) -> &dyn Any;
}

/// The byte at `position` of every simulated stream with this `key`.
pub fn pattern(key: u64, position: u64) -> u8 {
    let mixed = (position ^ key.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

/// Opens a connection, writes `bytes` of pattern, finishes, and reads what comes back.
#[derive(Debug)]
pub struct BulkSender {
    remote: SocketAddr,
    port: u16,
    config: Config,
    bytes: u64,
    key: u64,
    /// The connection, once opened.
    pub id: Option<ConnectionId>,
    written: u64,
    /// When the first byte was written.
    pub started_at: Option<Instant>,
    /// When the peer had confirmed everything.
    pub confirmed_at: Option<Instant>,
    closed: bool,
    failure: Option<String>,
}

impl BulkSender {
    /// A sender of `bytes` bytes of pattern `key` to `port` at `remote`.
    pub fn new(remote: SocketAddr, port: u16, config: Config, bytes: u64, key: u64) -> Self {
        Self {
            remote,
            port,
            config,
            bytes,
            key,
            id: None,
            written: 0,
            started_at: None,
            confirmed_at: None,
            closed: false,
            failure: None,
        }
    }

    fn write(&mut self, endpoint: &mut Endpoint, id: ConnectionId) {
        let mut chunk = [0u8; 16 * 1024];
        while self.written < self.bytes {
            let length = (self.bytes - self.written).min(chunk.len() as u64) as usize;
            for (i, byte) in chunk[..length].iter_mut().enumerate() {
                *byte = pattern(self.key, self.written + i as u64);
            }
            match endpoint.write(id, &chunk[..length]) {
                Ok(0) => return,
                Ok(taken) => self.written += taken as u64,
                Err(error) => return self.fail(error.to_string()),
            }
        }
        endpoint.finish(id);
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
        self.closed = true;
    }

    fn drain(endpoint: &mut Endpoint, id: ConnectionId) {
        let mut buffer = [0u8; 4096];
        while matches!(endpoint.read(id, &mut buffer), Ok(Some(n)) if n > 0) {}
    }
}

impl App for BulkSender {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if self.id.is_none() && !self.closed {
            match endpoint.connect(now, self.remote, self.port, self.config.clone(), true) {
                Ok(id) => self.id = Some(id),
                Err(error) => return self.fail(error.to_string()),
            }
            self.started_at = Some(now);
        }
        let Some(id) = self.id else { return };
        while let Some((_, event)) = endpoint.poll_event() {
            match event {
                StreamEvent::Finished => self.confirmed_at = Some(now),
                StreamEvent::Closed(None) => self.closed = true,
                StreamEvent::Closed(Some(reason)) => self.fail(reason.to_string()),
                _ => {}
            }
        }
        if !self.closed {
            Self::drain(endpoint, id);
            self.write(endpoint, id);
        }
    }

    fn is_done(&self) -> bool {
        self.closed
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Accepts one connection, checks the pattern, ends its own direction at the end.
#[derive(Debug)]
pub struct BulkReceiver {
    port: u16,
    key: u64,
    listening: bool,
    /// The connection, once accepted.
    pub id: Option<ConnectionId>,
    /// Bytes received in order.
    pub received: u64,
    /// Bytes that were not the pattern's.
    pub wrong: u64,
    /// When the last byte arrived in order.
    pub last_byte_at: Option<Instant>,
    /// The end of the stream was reached.
    pub ended: bool,
    closed: bool,
    failure: Option<String>,
}

impl BulkReceiver {
    /// A receiver at `port` that expects pattern `key`.
    pub fn new(port: u16, key: u64) -> Self {
        Self {
            port,
            key,
            listening: false,
            id: None,
            received: 0,
            wrong: 0,
            last_byte_at: None,
            ended: false,
            closed: false,
            failure: None,
        }
    }

    fn read(&mut self, now: Instant, endpoint: &mut Endpoint, id: ConnectionId) {
        let mut buffer = [0u8; 16 * 1024];
        while !self.ended {
            match endpoint.read(id, &mut buffer) {
                Ok(Some(0)) => {
                    self.ended = true;
                    endpoint.finish(id);
                }
                Ok(Some(n)) => self.take(now, &buffer[..n]),
                Ok(None) => return,
                Err(error) => {
                    self.failure.get_or_insert(error.to_string());
                    self.closed = true;
                    return;
                }
            }
        }
    }

    fn take(&mut self, now: Instant, bytes: &[u8]) {
        let expected = (self.received..).map(|position| pattern(self.key, position));
        self.wrong += bytes.iter().zip(expected).filter(|&(&got, want)| got != want).count() as u64;
        self.received += bytes.len() as u64;
        self.last_byte_at = Some(now);
    }
}

impl App for BulkReceiver {
    fn work(&mut self, now: Instant, endpoint: &mut Endpoint) {
        if !self.listening {
            endpoint.listen(self.port);
            self.listening = true;
        }
        if self.id.is_none() {
            self.id = endpoint.accept();
        }
        while let Some((_, event)) = endpoint.poll_event() {
            if let StreamEvent::Closed(reason) = event {
                self.closed = true;
                self.failure = reason.map(|r| r.to_string());
            }
        }
        if let Some(id) = self.id
            && !self.closed
        {
            self.read(now, endpoint, id);
        }
    }

    fn is_done(&self) -> bool {
        self.closed
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Application of a host, as the host sees it.

use std::any::Any;
use std::fmt::Debug;

use skyhaul_core::{Instant, PacketMeta};

use super::engines::{ConnectionKey, Engines};

/// Something that uses a host's engines. Called whenever the host had something to do.
pub trait App: Debug + Any {
    /// Takes its place on a host, before anything can arrive: listens.
    fn begin(&mut self, _: &mut Engines) {}
    /// Reads, writes, opens and closes as far as possible now; false if there was nothing to do.
    fn work(&mut self, now: Instant, engines: &mut Engines) -> bool;
    /// When it wants to work next though nothing arrives; `None`: whenever the host has something to do.
    fn deadline(&self) -> Option<Instant> {
        None
    }
    /// True if nothing is left to do.
    fn is_done(&self) -> bool;
    /// Why it failed, if it did.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// Bytes that its streams have in memory, at the most so far.
    fn memory_bytes(&self) -> u64 {
        0
    }
    /// True if all that is to be delivered here has been; ends may still have to be exchanged.
    fn is_served(&self) -> bool {
        self.is_done()
    }
    /// Flow that a connection belongs to, to be written on its packets.
    fn flow(&self, _: ConnectionKey) -> u32 {
        0
    }
    /// Packets are looked into, in a run that is about to begin: streams are written octet by octet.
    fn show_octets(&mut self) {}
    /// A packet arrived; its segment is handled after this.
    fn arrived(&mut self, _: Instant, _: &PacketMeta) {}
    /// For reading results.
    fn as_any(&self) -> &dyn Any;
}

//! The place for options of other protocols.

use alloc::vec::Vec;

use skyhaul_core::ConnectionId;

use super::Endpoint;

impl Endpoint {
    /// What the peer's SYN said with an option that both ends offered; `None`: not agreed.
    pub fn agreed_option(&self, id: ConnectionId, kind: u8) -> Option<&[u8]> {
        self.slots.get(&id)?.connection.agreed_option(kind)
    }

    /// The next segment, which leaves at once, carries an agreed option with a value of at most 14 bytes. False
    /// if it cannot, or if another one has not left yet.
    pub fn attach_option(&mut self, id: ConnectionId, kind: u8, value: &[u8]) -> bool {
        let attached = self.slots.get_mut(&id).is_some_and(|slot| slot.connection.attach_option(kind, value));
        if attached {
            self.touch(id);
        }
        attached
    }

    /// An agreed option that a segment of the peer carried, the oldest first. The last eight are kept.
    pub fn poll_option(&mut self, id: ConnectionId) -> Option<(u8, Vec<u8>)> {
        self.slots.get_mut(&id)?.connection.poll_option()
    }
}

//! Callsigns in clear, where secrecy is forbidden (`docs/spec/protection.md`, section 4.7).

use skyhaul_core::Instant;

use super::{AssociationId, Associations};
use crate::name::CALLSIGN_BYTES;
use crate::word::Word;

impl Associations {
    /// Says the callsign before something is sealed, where anybody may read it and it is time.
    pub(super) fn identify(&mut self, now: Instant, id: AssociationId) {
        if self.callsign == [0; CALLSIGN_BYTES] {
            return;
        }
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let (callsign, to) = (self.callsign, entry.association.way().address());
        if entry.association.is_to_identify(now) {
            for word in Word::callsign(callsign) {
                self.send_text(now, id, to, &word.encode());
            }
        }
    }
}

//! Card: what an end tells of itself in a pairing, sealed.

use alloc::vec::Vec;

use skyhaul_core::envelope::Mode;

use crate::{Callsign, Name};

/// What an end tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Name that it gives itself.
    pub name: Name,
    /// Mode that its owner wants: both must want one.
    pub mode: Mode,
    /// Callsign of its operator.
    pub callsign: Option<Callsign>,
}

impl Card {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        octets.push(self.mode as u8);
        let callsign = self.callsign.as_ref().map_or("", Callsign::as_str);
        for text in [self.name.as_str(), callsign] {
            // Neither has more than 63 octets.
            octets.push(text.len() as u8);
            octets.extend(text.as_bytes());
        }
        octets
    }

    /// Card of exactly these octets.
    pub(super) fn decode(octets: &[u8]) -> Option<Self> {
        let (&mode, rest) = octets.split_first()?;
        let mode = [Mode::Encrypted, Mode::Authenticated].into_iter().find(|&known| known as u8 == mode)?;
        let (name, rest) = text(rest)?;
        let (callsign, rest) = text(rest)?;
        let callsign = if callsign.is_empty() { None } else { Some(callsign.parse().ok()?) };
        rest.is_empty().then_some(Self { name: name.parse().ok()?, mode, callsign })
    }
}

fn text(octets: &[u8]) -> Option<(&str, &[u8])> {
    let (&length, rest) = octets.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(length))?;
    Some((str::from_utf8(text).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_come_back_and_parts_of_them_do_not() {
        let card = Card {
            name: "ground-1".parse().unwrap(),
            mode: Mode::Authenticated,
            callsign: Some("DL1ABC".parse().unwrap()),
        };
        for card in [card.clone(), Card { mode: Mode::Encrypted, callsign: None, ..card }] {
            let mut octets = card.encode();
            assert_eq!(Card::decode(&octets), Some(card));
            for length in 0..octets.len() {
                assert_eq!(Card::decode(&octets[..length]), None);
            }
            octets.push(0);
            assert_eq!(Card::decode(&octets), None, "more than a card");
            octets[0] = Mode::Plain as u8;
            assert_eq!(Card::decode(&octets[..octets.len() - 1]), None, "no protection");
        }
    }
}

//! What associations say to each other inside records, as text of fewer octets than any segment has
//! (`docs/spec/protection.md`, section 2).

use crate::name::CallsignOctets;

/// Octets of a word: what it is, and a challenge.
pub(crate) const WORD_BYTES: usize = 1 + CHALLENGE_BYTES;

/// Octets of a challenge.
const CHALLENGE_BYTES: usize = 8;

/// Octets that nobody guesses.
pub(crate) type ChallengeOctets = [u8; CHALLENGE_BYTES];

/// Word of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Question whether the peer receives at the address that it goes to.
    Challenge(ChallengeOctets),
    /// Answer to that.
    Answer(ChallengeOctets),
    /// First half of a callsign, with zeros behind it.
    CallsignBegins([u8; CHALLENGE_BYTES]),
    /// Second half of one that is longer.
    CallsignEnds([u8; CHALLENGE_BYTES]),
}

impl Word {
    pub(crate) fn encode(self) -> [u8; WORD_BYTES] {
        let (kind, octets) = match self {
            Self::Challenge(octets) => (1, octets),
            Self::Answer(octets) => (2, octets),
            Self::CallsignBegins(octets) => (3, octets),
            Self::CallsignEnds(octets) => (4, octets),
        };
        let mut word = [kind; WORD_BYTES];
        word[1..].copy_from_slice(&octets);
        word
    }

    /// Words that tell a callsign: one, or two for a long one.
    pub(crate) fn callsign(octets: CallsignOctets) -> impl Iterator<Item = Self> {
        let (begin, end) = octets.split_at(CHALLENGE_BYTES);
        let half = |octets: &[u8]| octets.try_into().expect("a callsign has two halves of 8 octets");
        let (begin, end) = (half(begin), half(end));
        let rest = (end != [0; CHALLENGE_BYTES]).then_some(Self::CallsignEnds(end));
        core::iter::once(Self::CallsignBegins(begin)).chain(rest)
    }

    /// Word of these octets; `None`: they are a segment, or a word that a later version has.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        let &[kind, ref octets @ ..] =
            text.first_chunk::<WORD_BYTES>().filter(|_| text.len() == WORD_BYTES)?;
        match kind {
            1 => Some(Self::Challenge(*octets)),
            2 => Some(Self::Answer(*octets)),
            3 => Some(Self::CallsignBegins(*octets)),
            4 => Some(Self::CallsignEnds(*octets)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_they_were() {
        let callsign = Word::callsign(*b"K1ABCDEF/P12345\0");
        for word in [Word::Challenge([7; 8]), Word::Answer([8; 8])].into_iter().chain(callsign) {
            assert_eq!(Word::decode(&word.encode()), Some(word));
        }
    }

    #[test]
    fn other_texts_are_no_words() {
        for text in [&[][..], &[1; 8], &[1; 10], &[5; 9], &[0; 9]] {
            assert_eq!(Word::decode(text), None, "{text:?}");
        }
    }
}

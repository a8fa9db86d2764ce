//! What associations say to each other inside records, as text of fewer octets than any segment has
//! (`docs/spec/protection.md`, section 2).

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
}

impl Word {
    pub(crate) fn encode(self) -> [u8; WORD_BYTES] {
        let (kind, octets) = match self {
            Self::Challenge(octets) => (1, octets),
            Self::Answer(octets) => (2, octets),
        };
        let mut word = [kind; WORD_BYTES];
        word[1..].copy_from_slice(&octets);
        word
    }

    /// Word of these octets; `None`: they are a segment, or a word that a later version has.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        let &[kind, ref octets @ ..] =
            text.first_chunk::<WORD_BYTES>().filter(|_| text.len() == WORD_BYTES)?;
        match kind {
            1 => Some(Self::Challenge(*octets)),
            2 => Some(Self::Answer(*octets)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_they_were() {
        for word in [Word::Challenge([7; 8]), Word::Answer([8; 8])] {
            assert_eq!(Word::decode(&word.encode()), Some(word));
        }
    }

    #[test]
    fn other_texts_are_no_words() {
        for text in [&[][..], &[1; 8], &[1; 10], &[3; 9], &[0; 9]] {
            assert_eq!(Word::decode(text), None, "{text:?}");
        }
    }
}

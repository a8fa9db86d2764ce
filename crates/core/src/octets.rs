//! Octets of a stream: by value, or by description. Whoever can make the octets of a stream again from their
//! places may write a description instead of them. Engines store, cut, send and join it as they do octets,
//! and nobody pays for octets that nobody looks at. A segment with a description takes
//! [`Description::BYTES`] octets in place of its payload;
//! [`NetworkFields::sizing`](crate::NetworkFields) says how many it stands for. Real peers know
//! nothing of descriptions: carriers of real packets never see one, since nobody writes one there.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Capacity that a queue keeps when it has become empty, at most: idle connections stay small.
const KEPT_BYTES: usize = 4096;

/// Octets by description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Name of the stream, which means something to its writer and its reader.
    pub stream: u64,
    /// Place of the first octet in the stream.
    pub first: u64,
    /// Number of octets.
    pub length: u64,
}

impl Description {
    /// Octets that a description takes in a segment.
    pub const BYTES: usize = 24;

    /// Octets [from, to) of these, both at most its length.
    #[must_use]
    pub fn part(self, from: u64, to: u64) -> Self {
        debug_assert!(from <= to && to <= self.length, "[{from}, {to}) of {self:?}");
        Self { first: self.first + from, length: to - from, ..self }
    }

    /// True if `next` goes on where this ends.
    fn joins(self, next: Self) -> bool {
        self.stream == next.stream && self.first + self.length == next.first
    }

    /// Appends it to a segment.
    pub fn encode(self, out: &mut Vec<u8>) {
        let words = [self.stream, self.first, self.length].map(u64::to_be_bytes);
        out.extend_from_slice(words.as_flattened());
    }

    /// Description that is all of `bytes`; `None`: it is none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let &[stream, first, length] = words else { return None };
        let [stream, first, length] = [stream, first, length].map(u64::from_be_bytes);
        first.checked_add(length)?;
        Some(Self { stream, first, length })
    }
}

/// Octets of one stream that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Octets<'a> {
    /// Octets themselves.
    Here(&'a [u8]),
    /// Octets that can be made when somebody looks.
    Described(Description),
}

impl<'a> Octets<'a> {
    /// Number of octets.
    pub fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::Described(description) => description.length as usize,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Octets [from, to) of these, both at most their number.
    #[must_use]
    pub fn part(self, from: usize, to: usize) -> Octets<'a> {
        match self {
            Self::Here(bytes) => Self::Here(&bytes[from..to]),
            Self::Described(description) => Self::Described(description.part(from as u64, to as u64)),
        }
    }
}

impl<'a> From<&'a [u8]> for Octets<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Here(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Octets<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Here(bytes)
    }
}

/// Queue of octets. Those by value and those by description never stand in it together, nor do descriptions
/// that do not join: what cannot stand there is not taken.
#[derive(Clone, Debug)]
pub enum OctetQueue {
    /// Octets themselves.
    Here(VecDeque<u8>),
    /// All of them by one description.
    Described(Description),
}

impl Default for OctetQueue {
    fn default() -> Self {
        Self::Here(VecDeque::new())
    }
}

impl OctetQueue {
    /// Number of octets.
    pub fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::Described(description) => description.length as usize,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts octets behind the others; false if they cannot stand there.
    pub fn push(&mut self, octets: Octets<'_>) -> bool {
        match (self, octets) {
            (Self::Here(bytes), Octets::Here(more)) => bytes.extend(more),
            (Self::Described(all), Octets::Described(more)) if all.joins(more) => all.length += more.length,
            (queue, Octets::Described(more)) if queue.is_empty() => *queue = Self::Described(more),
            (queue, Octets::Here(more)) if queue.is_empty() => {
                *queue = Self::Here(more.iter().copied().collect());
            }
            _ => return octets.is_empty(),
        }
        true
    }

    /// Forgets the first `count` octets, at most all of them.
    pub fn forget(&mut self, count: usize) {
        match self {
            Self::Here(bytes) => {
                bytes.drain(..count);
                if bytes.is_empty() && bytes.capacity() > KEPT_BYTES {
                    *bytes = VecDeque::new();
                }
            }
            Self::Described(all) => *all = all.part(count as u64, all.length),
        }
    }

    /// Octets [from, to) by value, in two parts, the second often empty; none of those by description.
    pub fn slices(&self, from: usize, to: usize) -> (&[u8], &[u8]) {
        let Self::Here(bytes) = self else { return (&[], &[]) };
        let (a, b) = bytes.as_slices();
        if from >= a.len() {
            (&b[from - a.len()..to - a.len()], &[])
        } else {
            (&a[from..to.min(a.len())], &b[..to.saturating_sub(a.len())])
        }
    }

    /// Octets [from, to) by description, where they are.
    pub fn described(&self, from: usize, to: usize) -> Option<Description> {
        match self {
            Self::Here(_) => None,
            Self::Described(all) => Some(all.part(from as u64, to as u64)),
        }
    }

    /// Takes out the first octets, as many as `out` has room for. Those by description stay.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let Self::Here(bytes) = self else { return 0 };
        let count = out.len().min(bytes.len());
        let (a, b) = self.slices(0, count);
        out[..a.len()].copy_from_slice(a);
        out[a.len()..count].copy_from_slice(b);
        self.forget(count);
        count
    }

    /// Takes out all octets by their description; `None`: there are none by description.
    pub fn read_described(&mut self) -> Option<Description> {
        let all = self.described(0, self.len()).filter(|all| all.length > 0)?;
        self.forget(all.length as usize);
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const ALL: Description = Description { stream: 7, first: 100, length: 10 };

    #[test]
    fn a_description_is_what_was_encoded_and_nothing_else_is_one() {
        let mut bytes = Vec::new();
        ALL.encode(&mut bytes);
        assert_eq!(bytes.len(), Description::BYTES);
        assert_eq!(Description::decode(&bytes), Some(ALL));
        assert_eq!(Description::decode(&bytes[1..]), None);
        assert_eq!(Description::decode(&[0xFF; Description::BYTES]), None, "beyond the end of numbers");
    }

    #[test]
    fn a_queue_takes_what_joins_and_nothing_of_the_other_kind() {
        let mut queue = OctetQueue::default();
        assert!(queue.push(Octets::Described(ALL.part(0, 4))));
        assert!(!queue.push(Octets::Described(ALL.part(5, 6))), "a gap");
        assert!(
            !queue.push(Octets::Described(Description { stream: 8, ..ALL.part(4, 6) })),
            "another stream"
        );
        assert!(!queue.push(Octets::Here(b"x")));
        assert!(queue.push(Octets::Described(ALL.part(4, 6))));
        assert_eq!(queue.read(&mut [0; 3]), 0);
        assert_eq!(queue.read_described(), Some(ALL.part(0, 6)));
        assert!(queue.is_empty() && queue.push(Octets::Here(b"now")));
        assert!(!queue.push(Octets::Described(ALL)));
        assert_eq!((queue.slices(0, 3), queue.described(0, 3)), ((&b"now"[..], &b""[..]), None));
    }

    proptest! {
        #[test]
        fn both_kinds_are_cut_alike(steps in proptest::collection::vec((1u64..20, 0usize..20), 1..40)) {
            let (mut here, mut described, mut written) = (OctetQueue::default(), OctetQueue::default(), 0);
            for (more, gone) in steps {
                let bytes: Vec<u8> = (written..written + more).map(|n| n as u8).collect();
                let all = Description { stream: 1, first: written, length: more };
                let is_taken = [here.push(Octets::Here(&bytes)), described.push(Octets::Described(all))];
                prop_assert_eq!(is_taken, [true; 2]);
                written += more;
                let gone = gone.min(here.len());
                here.forget(gone);
                described.forget(gone);
                prop_assert_eq!(here.len(), described.len());
                let all = described.described(0, described.len()).unwrap_or_default();
                let expected: Vec<u8> = (all.first..all.first + all.length).map(|n| n as u8).collect();
                let (a, b) = here.slices(0, here.len());
                prop_assert_eq!([a, b].concat(), expected);
            }
            let mut out = vec![0; here.len()];
            prop_assert_eq!(here.read(&mut out), out.len());
            prop_assert_eq!(described.read_described().map_or(0, |all| all.length), out.len() as u64);
        }
    }
}

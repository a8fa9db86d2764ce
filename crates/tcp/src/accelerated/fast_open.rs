//! Fast Open: the cookie option, and what a connection does with it [RFC 7413].

use super::Lesson;
use crate::segment::{ExtraOptions, Segment};

/// Kind of the option [RFC 7413 4.1.1].
const KIND: u8 = 34;
/// Octets of a cookie [RFC 7413 4.1.1].
const MIN_BYTES: usize = 4;
const MAX_BYTES: usize = 16;

/// Cookie of a server's, of 4 to 16 octets, an even number of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    bytes: [u8; MAX_BYTES],
    length: u8,
}

impl core::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Cookie({} octets)", self.length)
    }
}

impl Cookie {
    /// Cookie of these octets; `None`: there is none of this length.
    pub fn new(octets: &[u8]) -> Option<Self> {
        let is_valid = (MIN_BYTES..=MAX_BYTES).contains(&octets.len()) && octets.len().is_multiple_of(2);
        let mut bytes = [0; MAX_BYTES];
        bytes.get_mut(..octets.len()).filter(|_| is_valid)?.copy_from_slice(octets);
        Some(Self { bytes, length: octets.len() as u8 })
    }

    /// Its octets.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Option as a SYN bears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It asks for a cookie.
    Request,
    /// A cookie.
    Cookie(Cookie),
}

impl Told {
    /// Option of this SYN. One of a length that no cookie has is none [RFC 7413 4.1.1].
    pub(crate) fn of(syn: &Segment<'_>) -> Option<Self> {
        match syn.options.extra.get(KIND)? {
            [] => Some(Self::Request),
            octets => Cookie::new(octets).map(Self::Cookie),
        }
    }
}

/// Option of our SYN, where there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastOpen {
    told: Option<Told>,
}

impl FastOpen {
    /// Part of the end that opens, which has this cookie, or asks for one.
    pub(crate) fn opening(cookie: Option<Cookie>) -> Self {
        Self { told: Some(cookie.map_or(Told::Request, Told::Cookie)) }
    }

    /// Part of the end that accepts, and grants this cookie.
    pub(crate) fn accepting(granted: Option<Cookie>) -> Self {
        Self { told: granted.map(Told::Cookie) }
    }

    /// Adds the option, if there is room for it.
    pub(super) fn push_option(&self, room: usize, extra: &mut ExtraOptions) {
        let value = match &self.told {
            Some(Told::Cookie(cookie)) => cookie.as_bytes(),
            Some(_) => &[],
            None => return,
        };
        if extra.encoded_len() + (value.len() + 2).next_multiple_of(4) <= room {
            extra.push(KIND, value);
        }
    }

    /// Octets that the option takes of a SYN.
    pub(crate) fn bytes(cookie: Cookie) -> usize {
        (cookie.as_bytes().len() + 2).next_multiple_of(4)
    }

    /// True if our SYN bore a cookie.
    pub(super) fn has_cookie(&self) -> bool {
        matches!(self.told, Some(Told::Cookie(_)))
    }

    /// Lesson of the answer to our SYN, which had to be sent `timeouts` times more. `taken`: whether it takes
    /// some of the data that went with the SYN; `None`: there was none. An answer that takes data or brings
    /// a cookie is one to the SYN with the option, however late it comes; else only the repeat, an ordinary
    /// SYN, has arrived [RFC 7413 4.2.2].
    pub(super) fn on_answer(
        &mut self,
        answer: &Segment<'_>,
        (timeouts, taken): (u32, Option<bool>),
        mss: u16,
    ) -> Option<Lesson> {
        match (Told::of(answer), taken) {
            (Some(Told::Cookie(cookie)), _) => Some(Lesson::Cookie { cookie, mss }),
            (_, Some(true)) => Some(Lesson::CookieWorks { mss }),
            (_, Some(false)) => Some(Lesson::Vanished),
            (_, None) if timeouts > 0 && self.told.is_some() => Some(Lesson::Vanished),
            (_, None) => self.has_cookie().then_some(Lesson::CookieWorks { mss }),
        }
    }
}

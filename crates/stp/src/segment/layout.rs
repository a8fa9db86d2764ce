//! Layout of segments as tables, which pictures and documents are made of. A test holds the encoder to them,
//! bit by bit.

use super::types;

/// Field of a body, in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the specification.
    pub name: &'static str,
    /// Width in bits; `None`: as long as its value is, up to the end of the body.
    pub bits: Option<usize>,
}

/// Layout of the common header, or of the body of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Names of the types that have it.
    pub names: &'static [&'static str],
    /// Type bits of each name.
    pub types: &'static [u8],
    /// Fields; none: the type says all.
    pub fields: &'static [Field],
}

impl Layout {
    /// Octets of all fields whose width is fixed.
    pub const fn octets(&self) -> usize {
        let (mut bits, mut i) = (0, 0);
        while i < self.fields.len() {
            if let Some(width) = self.fields[i].bits {
                bits += width;
            }
            i += 1;
        }
        bits / 8
    }
}

const fn field(name: &'static str, bits: usize) -> Field {
    Field { name, bits: Some(bits) }
}

const fn rest(name: &'static str) -> Field {
    Field { name, bits: None }
}

/// Common header of every segment [STP 5.1.1].
pub const HEADER: Layout = Layout {
    names: &[],
    types: &[],
    fields: &[
        field("source port", 16),
        field("destination port", 16),
        field("type", 8),
        field("packet number", 24),
        field("checksum", 16),
        field("instance", 16),
    ],
};

/// Body of SD. Zeros in front of the data make it begin at a multiple of 32 bits.
pub const SD: Layout = Layout { names: &["SD"], types: &[types::SD], fields: &[rest("data")] };

/// Body of POLL without [`super::Poll::settled`].
pub const POLL: Layout = Layout {
    names: &["POLL"],
    types: &[types::POLL],
    fields: &[field("timestamp", 32), field("next number", 24), field("flags", 8)],
};

/// Body of STAT.
pub const STAT: Layout = Layout {
    names: &["STAT"],
    types: &[types::STAT],
    fields: &[
        field("echo of the timestamp", 32),
        field("next expected", 24),
        field("flags", 8),
        field("window", 32),
        rest("further fields by the flags, list of all gaps"),
    ],
};

/// Body of USTAT.
pub const USTAT: Layout = Layout {
    names: &["USTAT"],
    types: &[types::USTAT],
    fields: &[field("next expected", 24), field("flags", 8), field("window", 32), rest("gap")],
};

/// Body of an opening.
pub const OPENING: Layout = Layout {
    names: &["BGN", "BGNAK"],
    types: &[types::BGN, types::BGNAK],
    fields: &[
        field("version", 8),
        field("flags", 8),
        field("largest payload", 16),
        field("initial number", 24),
        field("option octets", 8),
        field("window", 32),
        field("nonce", 64),
        rest("options"),
    ],
};

/// Body of END.
pub const END: Layout = Layout {
    names: &["END"],
    types: &[types::END],
    fields: &[field("end number", 24), field("reserved", 8)],
};

/// ENDAK, which has no body.
pub const ENDAK: Layout = Layout { names: &["ENDAK"], types: &[types::ENDAK], fields: &[] };

/// Bodies of the types that the chapter has [STP 5.1.1], in its order.
pub const BODIES: [Layout; 7] = [SD, POLL, STAT, USTAT, OPENING, END, ENDAK];

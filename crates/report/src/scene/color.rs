//! Colours.

/// A colour with its opacity in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) rgb: [u8; 3],
    pub(crate) opacity_percent: u8,
}

impl Color {
    pub(crate) const INK: Self = Self::solid(0x1f, 0x23, 0x28);
    pub(crate) const SOFT: Self = Self::solid(0x57, 0x60, 0x6a);
    pub(crate) const GRID: Self = Self::solid(0xe3, 0xe6, 0xe9);
    pub(crate) const WHITE: Self = Self::solid(0xff, 0xff, 0xff);

    pub(crate) const fn solid(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], opacity_percent: 100 }
    }

    pub(crate) const fn faint(self, opacity_percent: u8) -> Self {
        Self { opacity_percent, ..self }
    }
}

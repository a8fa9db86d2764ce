//! Code of a pairing: 40 random bits as digits, which sound alike in few languages and stand on every
//! keyboard.

use core::fmt;
use core::str::FromStr;

use crate::Secret;

/// Bits of a code.
pub const CODE_BITS: u32 = 40;
/// Digits of the number, and of what is told and typed: with two to check them.
const NUMBER_DIGITS: usize = 13;
const DIGITS: usize = NUMBER_DIGITS + 2;
/// Digits of a group.
const GROUP_DIGITS: usize = 3;
/// Modulus of the check digits [ISO/IEC 7064, MOD 97-10]: one wrong digit and two that changed places are
/// noticed before anything is sent.
const MODULUS: u64 = 97;

/// Code of one pairing: shown at one end, typed at the other. As text it has five groups of three digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Code(u64);

/// Reason why a text is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// Something else than digits, spaces and dashes is in it.
    Alien(char),
    /// It has another number of digits.
    Length(usize),
    /// The digits do not fit together: one is wrong, or two have changed places.
    Mistyped,
}

impl Code {
    /// Code of 32 random octets that are used for nothing else.
    pub fn new(random: &Secret) -> Self {
        let octets = random.octets().iter().take(CODE_BITS as usize / 8);
        Self(octets.fold(0, |number, &octet| number << 8 | u64::from(octet)))
    }

    /// Octets of the number.
    pub(super) fn octets(&self) -> [u8; CODE_BITS as usize / 8] {
        let [_, _, _, octets @ ..] = self.0.to_be_bytes();
        octets
    }

    /// The number with its check digits: 1 modulo [`MODULUS`].
    fn checked(&self) -> u64 {
        let shifted = self.0 * 100;
        shifted + (MODULUS + 1 - shifted % MODULUS)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, group) = (self.checked(), 10u64.pow(GROUP_DIGITS as u32));
        for place in (0..DIGITS / GROUP_DIGITS).rev() {
            write!(f, "{:03}", number / group.pow(place as u32) % group)?;
            f.write_str(if place > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Code {
    type Err = CodeError;

    fn from_str(text: &str) -> Result<Self, CodeError> {
        let (mut number, mut digits) = (0u64, 0);
        for character in text.trim().chars().filter(|character| !" -".contains(*character)) {
            let digit = character.to_digit(10).ok_or(CodeError::Alien(character))?;
            digits += 1;
            if digits <= DIGITS {
                number = number * 10 + u64::from(digit);
            }
        }
        if digits != DIGITS {
            return Err(CodeError::Length(digits));
        }
        let code = Self(number / 100);
        let fits = code.0 >> CODE_BITS == 0 && code.checked() == number;
        fits.then_some(code).ok_or(CodeError::Mistyped)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(..)")
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alien(character) => {
                write!(f, "a code has digits alone, and '{}' is none", character.escape_debug())
            }
            Self::Length(digits) => write!(f, "a code has {DIGITS} digits, and these are {digits}"),
            Self::Mistyped => {
                f.write_str("the code is mistyped: a digit is wrong, or two have changed places")
            }
        }
    }
}

impl core::error::Error for CodeError {}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::{String, ToString as _};
    use std::vec::Vec;

    use super::*;

    fn codes() -> impl Iterator<Item = Code> {
        let edges = [0, 1, 96, 97, 98, (1 << CODE_BITS) - 1];
        let drawn = (0..50u8).map(|octet| Code::new(&Secret::new([octet; 32]).derive("code")));
        edges.into_iter().map(Code).chain(drawn)
    }

    #[test]
    fn a_code_is_five_groups_of_three_digits_and_comes_back_however_it_is_typed() {
        for code in codes() {
            let text = code.to_string();
            let groups: Vec<usize> = text.split(' ').map(str::len).collect();
            assert_eq!(groups, [3; 5], "{text}");
            for typed in [text.clone(), text.replace(' ', ""), text.replace(' ', "-"), format!("  {text}\n")]
            {
                assert_eq!(typed.parse(), Ok(code.clone()), "{typed}");
            }
        }
    }

    #[test]
    fn a_wrong_digit_and_two_that_changed_places_are_noticed() {
        for code in codes() {
            let digits: Vec<u8> = code.to_string().bytes().filter(u8::is_ascii_digit).collect();
            for place in 0..DIGITS {
                for other in b'0'..=b'9' {
                    let mut typed = digits.clone();
                    typed[place] = other;
                    let is_right = typed == digits;
                    assert_eq!(String::from_utf8(typed).unwrap().parse::<Code>().is_ok(), is_right);
                }
                let mut typed = digits.clone();
                typed.swap(place, (place + 1) % DIGITS);
                let is_right = typed == digits;
                // The first and the last are no neighbours.
                if place + 1 < DIGITS {
                    assert_eq!(String::from_utf8(typed).unwrap().parse::<Code>().is_ok(), is_right);
                }
            }
        }
    }

    #[test]
    fn what_is_no_code_is_told_why() {
        assert_eq!("".parse::<Code>(), Err(CodeError::Length(0)));
        assert_eq!("12".parse::<Code>(), Err(CodeError::Length(2)));
        assert_eq!("1".repeat(1000).parse::<Code>(), Err(CodeError::Length(1000)));
        assert_eq!("000 000 O00 000 000".parse::<Code>(), Err(CodeError::Alien('O')));
        assert_eq!("999 999 999 999 999".parse::<Code>(), Err(CodeError::Mistyped));
        assert_eq!(format!("{:?}", Code(5)), "Code(..)");
    }
}

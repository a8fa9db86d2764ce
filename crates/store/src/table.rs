//! Form of the files: a first line with name and version, a line for each entry, and a last one that tells
//! the whole from a part. Lines are words with one space between.

use std::fmt::Write as _;

use skyhaul_core::checksum::crc16;
use zeroize::Zeroizing;

use crate::file::FileError;

/// Kind of a file: name and version of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// First word of the file.
    pub name: &'static str,
    /// Version that is written; every one up to it is read.
    pub version: u32,
}

impl Table {
    /// File with these entries, wiped when dropped.
    pub fn encode<L: AsRef<str>>(&self, lines: impl IntoIterator<Item = L>) -> Zeroizing<String> {
        let mut text = Zeroizing::new(format!("{} {}\n", self.name, self.version));
        let mut count = 0;
        for line in lines {
            // A string takes everything.
            let _ = writeln!(text, "{}", line.as_ref());
            count += 1;
        }
        let last = last(count, &text);
        let _ = writeln!(text, "{last}");
        text
    }

    /// Version and entries of a file. What is torn or changed is none.
    pub fn decode<'a>(&self, octets: &'a [u8]) -> Result<(u32, Vec<&'a str>), FileError> {
        let text = str::from_utf8(octets).map_err(|_| FileError::Foreign)?;
        let begin = format!("{} ", self.name);
        if begin.starts_with(text) {
            return Err(FileError::Damaged); // empty, or hardly begun
        }
        let version = text.strip_prefix(&begin).ok_or(FileError::Foreign)?;
        let version = version.split('\n').next().and_then(|word| word.parse::<u32>().ok());
        match version {
            Some(version) if version > self.version => Err(FileError::Newer),
            Some(version @ 1..) => Ok((version, entries(text).ok_or(FileError::Damaged)?)),
            _ => Err(FileError::Damaged),
        }
    }
}

/// Last line: how many entries, and the checksum of all above.
fn last(count: usize, above: &str) -> String {
    format!("end {count} {:04x}", crc16(0xFFFF, above.as_bytes()))
}

fn entries(text: &str) -> Option<Vec<&str>> {
    let body = text.strip_suffix('\n')?;
    let (above, end) = body.rsplit_once('\n')?;
    let above = &text[..=above.len()];
    let entries: Vec<&str> = above.split_terminator('\n').skip(1).collect();
    (end == last(entries.len(), above)).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table { name: "skyhaul-things", version: 2 };

    #[test]
    fn entries_come_back() {
        for lines in [&["a b", "c"][..], &[]] {
            let text = TABLE.encode(lines);
            assert_eq!(TABLE.decode(text.as_bytes()).unwrap(), (2, lines.to_vec()));
        }
    }

    #[test]
    fn every_part_and_every_changed_bit_is_told_from_the_whole() {
        let text = TABLE.encode(["one entry", "another"]);
        for length in 0..text.len() {
            assert!(TABLE.decode(&text.as_bytes()[..length]).is_err(), "{length}");
        }
        for bit in 0..8 * text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(TABLE.decode(&changed).is_err(), "{bit}");
        }
    }

    #[test]
    fn files_of_others_and_of_later_versions_are_told() {
        for foreign in [&b"a letter\n"[..], b"skyhaul-thingummy 1\n", b"\0", b"\xff\xfe"] {
            assert!(matches!(TABLE.decode(foreign), Err(FileError::Foreign)), "{foreign:?}");
        }
        assert!(matches!(TABLE.decode(b"skyhaul-things 3\nx\n"), Err(FileError::Newer)));
        assert!(matches!(TABLE.decode(b"skyhaul-things 0\nend 0 0000\n"), Err(FileError::Damaged)));
    }
}

//! JSON that is safe in a terminal, too.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes JSON in which every character beyond ASCII that a terminal obeys or does not show, and DEL, is an
/// escape: names of files may have them, and JSON itself allows them. What is parsed is equal.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_seen(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Seen))?)
}

/// The same as text.
pub(crate) fn seen(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let written = write_seen(&mut out, value);
    match written.map(|()| String::from_utf8(out)) {
        Ok(Ok(text)) => text,
        // Neither memory nor our own types fail to be written, and JSON is UTF-8.
        Ok(Err(_)) | Err(_) => String::new(),
    }
}

struct Seen;

impl Formatter for Seen {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_unseen(*c)) {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

/// As [`skyhaul_files::escaped`] judges. What is of ASCII and unseen stands escaped in JSON, but for DEL.
fn is_unseen(c: char) -> bool {
    c == '\x7f' || !c.is_ascii() && c.escape_debug().len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_parsed_as_it_was() {
        let text = "a\u{9b}31m\u{7f}\u{85}\u{202e}b\u{e0001}\u{1f6f0} \u{fc}\x1b\n";
        let safe = seen(&text);
        assert_eq!(
            safe,
            r#""a\u009b31m\u007f\u0085\u202eb\udb40\udc01"#.to_string() + "\u{1f6f0} \u{fc}\\u001b\\n\""
        );
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        assert_eq!(seen(&serde_json::json!({ "a": 1 })), "{\"a\":1}");
    }
}

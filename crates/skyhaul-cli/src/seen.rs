//! JSON that is safe in a terminal, too.

use std::fmt::Write as _;

/// This JSON, with every character beyond ASCII that a terminal obeys or does not show, and DEL, as an
/// escape: names of files may have them, and JSON itself allows them. Outside of strings it has none. What is
/// parsed is equal.
pub(crate) fn seen(json: String) -> String {
    if !json.chars().any(is_unseen) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unseen(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
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
        let json = serde_json::to_string(text).unwrap();
        let safe = seen(json);
        assert_eq!(
            safe,
            r#""a\u009b31m\u007f\u0085\u202eb\udb40\udc01"#.to_string() + "\u{1f6f0} \u{fc}\\u001b\\n\""
        );
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        assert_eq!(seen("{\"a\":1}".into()), "{\"a\":1}");
    }
}

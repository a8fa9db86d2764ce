//! Text of strangers made safe for a terminal.

use std::fmt::Write as _;

/// `bytes` as one line that is safe to print: text stays as it is; control characters, invisible and
/// direction-changing characters, backslashes and bytes that are not UTF-8 become escapes.
pub fn escaped(bytes: &[u8]) -> String {
    let mut line = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().split_inclusive(['\'', '"']).for_each(|piece| escape_piece(&mut line, piece));
        for byte in chunk.invalid() {
            let _ = write!(line, "\\x{byte:02x}");
        }
    }
    line
}

/// Escapes as Rust's `escape_debug` does, but leaves the quote that may end `piece`.
fn escape_piece(line: &mut String, piece: &str) {
    let (text, quote) = match piece.char_indices().next_back() {
        Some((at, '\'' | '"')) => piece.split_at(at),
        _ => (piece, ""),
    };
    line.extend(text.escape_debug());
    line.push_str(quote);
}

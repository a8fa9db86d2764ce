//! Lines for terminals of the usual width.

/// Columns of the usual terminal.
const COLUMNS: usize = 80;

/// Breaks `text` between words so that it fits behind `indent` columns; further lines are indented.
/// A word that is too long stays whole.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    let (mut out, mut at) = (String::new(), indent);
    for word in text.split(' ') {
        let length = word.chars().count();
        if at > indent && at + 1 + length > COLUMNS {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            at = indent;
        } else if at > indent {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_on_its_line() {
        let text = "x".repeat(29) + " " + &"y".repeat(30);
        assert_eq!(wrapped(&text, 20), text);
        assert_eq!(wrapped("", 20), "");
    }

    #[test]
    fn what_does_not_fit_goes_on_below() {
        let text = "x".repeat(30) + " " + &"y".repeat(30) + " " + &"z".repeat(70);
        let lines = wrapped(&text, 20);
        let lines: Vec<_> = lines.lines().collect();
        assert_eq!(lines[0], "x".repeat(30));
        assert_eq!(lines[1], " ".repeat(20) + &"y".repeat(30));
        assert_eq!(lines[2], " ".repeat(20) + &"z".repeat(70), "too long anywhere");
    }
}

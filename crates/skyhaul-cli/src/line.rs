//! The progress line as a pure function of what is known and how wide the terminal is. What has no
//! room is left out whole: half a number is a wrong number.

use skyhaul_core::units::show_bytes;

/// A bar is drawn in terminals at least this wide: the percentage says the same.
const BAR_COLUMNS: usize = 100;
/// Steps of the bar.
const BAR_STEPS: u64 = 12;
/// Columns of a name; of a longer one its beginning and its end are shown.
const NAME_COLUMNS: usize = 24;

/// Text beside the figures: the state of the link, what is done about it, counts. The most important
/// comes first.
pub(crate) type Said = Vec<String>;

/// Facts that the line tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) bytes: u64,
    pub(crate) total_bytes: u64,
    /// Rate, in words.
    pub(crate) rate: String,
    /// Time that is left, in words, if it is known.
    pub(crate) left: Option<String>,
    pub(crate) said: Said,
    /// Name of the file that moves, which one of how many it is, and the other end; empty: not told.
    pub(crate) name: String,
    pub(crate) count: String,
    pub(crate) peer: String,
}

/// A part of the line, with what sets it off from the part before.
struct Part {
    text: String,
    /// Smaller ones get room first.
    rank: usize,
}

/// A line of less than `columns` characters: writing into the last column makes some terminals wrap.
pub(crate) fn line(columns: usize, facts: &Facts) -> String {
    let mut parts = parts(columns, facts);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&i| parts[i].rank);
    let mut room = columns.saturating_sub(1);
    for i in order {
        let length = width(&parts[i].text);
        match room.checked_sub(length) {
            Some(left) => room = left,
            None => parts[i].text.clear(),
        }
    }
    parts.into_iter().map(|part| part.text).collect()
}

/// All parts from left to right. The percentage and the first two things said (the state of the link,
/// what is done) come before the file and its count, then the rate and the time that is left, the total, the
/// peer, and the other things said.
fn parts(columns: usize, facts: &Facts) -> Vec<Part> {
    let part = |rank, text| Part { text, rank };
    let mut parts = vec![part(0, format!("{:>3} %", facts.percent()))];
    if columns >= BAR_COLUMNS {
        parts.push(part(1, format!(" [{}]", facts.bar())));
    }
    parts.push(part(40, format!(" of {}", show_bytes(facts.total_bytes))));
    parts.push(part(30, format!(", {}", facts.rate)));
    parts.extend(facts.left.iter().map(|left| part(31, format!(", {left}"))));
    for (i, said) in facts.said.iter().enumerate() {
        let gap = if i == 0 { "  " } else { ", " };
        let rank = if i < 2 { 10 + i } else { 33 + 5 * i };
        parts.push(part(rank, format!("{gap}{said}")));
    }
    let which =
        [(20, shortened(&facts.name, NAME_COLUMNS)), (21, facts.count.clone()), (41, facts.peer.clone())];
    for (i, (rank, text)) in which.into_iter().filter(|(_, text)| !text.is_empty()).enumerate() {
        let gap = if i == 0 { "  " } else { ", " };
        parts.push(part(rank, format!("{gap}{text}")));
    }
    parts
}

/// Columns that a text takes, at most: what is not ASCII may be as wide as two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

/// A text of at most so many columns, with its beginning and its end.
pub(crate) fn shortened(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_owned();
    }
    let (mut head, mut tail) = (String::new(), String::new());
    let (mut from_left, mut from_right) = (name.chars(), name.chars().rev());
    while width(&head) + width(&tail) + 7 <= columns {
        head.extend(from_left.next());
        tail.extend(from_right.next());
    }
    format!("{head}...{}", tail.chars().rev().collect::<String>())
}

impl Facts {
    fn of(&self, whole: u64) -> u64 {
        let total = u128::from(self.total_bytes.max(1));
        let done = u128::from(self.bytes.min(self.total_bytes)) * u128::from(whole) / total;
        if self.total_bytes == 0 { whole } else { done as u64 } // at most `whole`
    }

    fn percent(&self) -> u64 {
        self.of(100)
    }

    fn bar(&self) -> String {
        let done = self.of(BAR_STEPS);
        (0..BAR_STEPS).map(|step| if step < done { '=' } else { ' ' }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> Facts {
        let said = ["LINK GONE", "asking: is it back?", "702 lost", "275.0 kB queued"];
        Facts {
            bytes: 9_100_000,
            total_bytes: 20_000_000,
            rate: "8.33 Mbit/s".into(),
            said: said.map(String::from).to_vec(),
            ..Facts::default()
        }
    }

    #[test]
    fn a_file_its_count_the_time_left_and_the_peer_fit_into_eighty_columns() {
        let facts = Facts {
            left: Some("12 s left".into()),
            said: Vec::new(),
            name: "report.pdf".into(),
            count: "2 of 3".into(),
            peer: "to 192.0.2.7:4700".into(),
            ..busy()
        };
        let all = " 45 % of 20.0 MB, 8.33 Mbit/s, 12 s left  report.pdf, 2 of 3, to 192.0.2.7:4700";
        assert_eq!(line(80, &facts), all);
        assert_eq!(line(60, &facts), " 45 %, 8.33 Mbit/s, 12 s left  report.pdf, 2 of 3");
        let gone = Facts { said: busy().said, ..facts };
        let all = " 45 %, 8.33 Mbit/s  LINK GONE, asking: is it back?  report.pdf, 2 of 3";
        assert_eq!(line(76, &gone), all);
    }

    #[test]
    fn a_long_name_is_shown_by_its_ends() {
        assert_eq!(shortened(&"n".repeat(24), NAME_COLUMNS), "n".repeat(24));
        let short = shortened("holiday-in-the-mountains-2026.tar.gz", NAME_COLUMNS);
        assert_eq!(short, "holiday-i...26.tar.gz");
        assert!(width(&shortened(&"\u{1f6f0}".repeat(40), NAME_COLUMNS)) <= NAME_COLUMNS);
    }

    #[test]
    fn a_wide_terminal_shows_everything() {
        let all = " 45 % [=====       ] of 20.0 MB, 8.33 Mbit/s  LINK GONE, asking: is it back?, 702 lost, \
                   275.0 kB queued";
        assert_eq!(line(120, &busy()), all);
    }

    #[test]
    fn eighty_and_sixty_columns_show_what_matters_most() {
        assert_eq!(
            line(80, &busy()),
            " 45 % of 20.0 MB, 8.33 Mbit/s  LINK GONE, asking: is it back?, 702 lost"
        );
        assert_eq!(line(60, &busy()), " 45 %, 8.33 Mbit/s  LINK GONE, asking: is it back?");
    }

    #[test]
    fn no_number_is_ever_cut() {
        for (columns, lost) in (0..140).flat_map(|columns| [7, 70_212].map(|lost| (columns, lost))) {
            let mut facts = busy();
            facts.said[2] = format!("{lost} lost");
            let line = line(columns, &facts);
            assert!(line.is_empty() || line.chars().count() < columns, "{columns}: {line}");
            let mut rest = line;
            for part in parts(columns, &facts) {
                rest = rest.strip_prefix(&part.text).unwrap_or(&rest).to_owned();
            }
            assert_eq!(rest, "", "made of whole parts at {columns} columns");
        }
    }

    #[test]
    fn the_share_is_between_nothing_and_all() {
        let at = |bytes, total_bytes| Facts { bytes, total_bytes, ..Facts::default() };
        assert_eq!(line(80, &at(0, 0)), "100 % of 0 B, ");
        assert_eq!((at(0, 9).percent(), at(9, 9).percent(), at(10, 9).percent()), (0, 100, 100));
        assert_eq!(at(u64::MAX, u64::MAX).percent(), 100);
        assert_eq!((at(1, 2).bar().as_str(), at(2, 2).bar().len()), ("======      ", 12));
    }
}

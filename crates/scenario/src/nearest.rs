//! The name that somebody may have meant.

/// Endings that field names in code have and keys have not: here the value carries the unit.
const UNIT_ENDINGS: [&str; 5] = ["_bps", "_ns", "_bytes", "_ms", "_s"];

/// `did you mean ...?`, or nothing if no candidate is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let bare = UNIT_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let length = bare.chars().count();
    let away = |candidate: &str| {
        let slips = distance(name, candidate).min(distance(bare, candidate));
        if letters(candidate).eq(letters(bare)) {
            0
        } else if length >= MIN_BEGINNING_CHARS && candidate.starts_with(bare) {
            slips.min(1)
        } else {
            slips
        }
    };
    // The first of equally near ones, so that the answer does not depend on anything else.
    let nearest = candidates.map(|candidate| (away(candidate), candidate)).min_by_key(|&(away, _)| away);
    match nearest {
        Some((away, candidate)) if away <= 1 + length / 4 && away < length => {
            format!("did you mean `{candidate}`?")
        }
        _ => String::new(),
    }
}

/// Beginnings of so many characters are taken for the whole word.
const MIN_BEGINNING_CHARS: usize = 3;

/// The name without what separates its words.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|char| !matches!(char, '-' | '_'))
}

/// Longer names are nobody's slip of the finger.
const MAX_CHARS: usize = 64;

/// How many characters must be put in, taken out, replaced or swapped with the next one.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|name| name.chars().take(MAX_CHARS).collect::<Vec<char>>());
    // Between the first i characters of a and the first j of b.
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let keys = ["rate", "delay", "queue", "bit_error_rate"];
        let of = |name| did_you_mean(name, keys.into_iter());
        assert_eq!(of("dealy"), "did you mean `delay`?");
        assert_eq!(of("dely"), "did you mean `delay`?");
        assert_eq!(of("rate_bps"), "did you mean `rate`?");
        assert_eq!(of("bit_error_rat"), "did you mean `bit_error_rate`?");
        assert_eq!(of("colour"), "");
        let racers = ["stp", "xcp", "p-xcp", "scps-tp", "scps-tp-declared"];
        let of = |name| did_you_mean(name, racers.into_iter());
        assert_eq!(of("scps"), "did you mean `scps-tp`?", "the beginning of a name");
        assert_eq!(of("pxcp"), "did you mean `p-xcp`?", "a name without its separator");
        assert_eq!(of("spt"), "did you mean `stp`?");
        assert_eq!(did_you_mean("s", ["a", "b"].into_iter()), "", "one letter is no resemblance");
        assert_eq!(did_you_mean("x", [].into_iter()), "");
    }

    #[test]
    fn distances() {
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("kitten", "sitting")), (3, 3, 3));
        assert_eq!((distance("goe", "geo"), distance("ab", "ba"), distance("a", "a")), (1, 1, 0));
    }
}

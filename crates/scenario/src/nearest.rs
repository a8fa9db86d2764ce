//! The name that somebody may have meant.

/// Endings that field names in code have and keys have not: here the value carries the unit.
const UNIT_ENDINGS: [&str; 5] = ["_bps", "_ns", "_bytes", "_ms", "_s"];

/// `did you mean ...?`, or nothing if no candidate is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let bare = UNIT_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let away = |candidate: &str| distance(name, candidate).min(distance(bare, candidate));
    let length = bare.chars().count();
    // The first of equally near ones, so that the answer does not depend on anything else.
    let nearest = candidates.map(|candidate| (away(candidate), candidate)).min_by_key(|&(away, _)| away);
    match nearest {
        Some((away, candidate)) if away <= 1 + length / 4 && away < length => {
            format!("did you mean `{candidate}`?")
        }
        _ => String::new(),
    }
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
        assert_eq!(did_you_mean("s", ["a", "b"].into_iter()), "", "one letter is no resemblance");
        assert_eq!(did_you_mean("x", [].into_iter()), "");
    }

    #[test]
    fn distances() {
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("kitten", "sitting")), (3, 3, 3));
        assert_eq!((distance("goe", "geo"), distance("ab", "ba"), distance("a", "a")), (1, 1, 0));
    }
}

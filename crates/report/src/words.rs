//! Names of metrics and keys as people read them: words without units, which stand beside.

/// Units at the ends of names.
const UNITS: [&str; 6] = ["_bps", "_percent", "_ms", "_ns", "_bytes", "_s"];
/// Tables whose rows have names, and what a row is.
const ROWS: [(&str, &str); 5] =
    [("links", "link"), ("flows", "flow"), ("nodes", "node"), ("transports", "transport"), ("hosts", "host")];
/// Names that say too little, or too much, without their unit.
const KNOWN: [(&str, &str); 4] = [
    ("jain", "Jain's index of fairness"),
    ("share", "share of what the link could have carried"),
    ("overhead_percent", "overhead"),
    ("elapsed_s", "time"),
];

/// Words of a metric or of a key of a scenario: `links.space.forward.loss` is the loss of link space,
/// forward.
pub(crate) fn words(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let row = ROWS.iter().find(|(table, _)| parts.len() > 2 && parts[0] == *table);
    let (of, parts) = match row {
        Some((_, row)) => (format!(" of {row} {}", parts[1]), &parts[2..]),
        None => (String::new(), &parts[..]),
    };
    let way = parts.first().filter(|first| parts.len() > 1 && ["forward", "reverse"].contains(*first));
    let parts = if way.is_some() { &parts[1..] } else { parts };
    let way = way.map_or(String::new(), |way| format!(", {way}"));
    let said: Vec<String> = parts.iter().map(|part| plain(part)).collect();
    format!("{}{of}{way}", said.join(", "))
}

/// The words with a capital letter.
pub(crate) fn label(name: &str) -> String {
    let words = words(name);
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn plain(part: &str) -> String {
    if let Some((_, words)) = KNOWN.iter().find(|(known, _)| *known == part) {
        return (*words).to_string();
    }
    let bare = UNITS.iter().find_map(|unit| part.strip_suffix(unit)).unwrap_or(part);
    let spelt = |word: &str| if word == "rtt" { "RTT".to_string() } else { word.to_string() };
    bare.split('_').map(spelt).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_without_units() {
        let all = [
            ("goodput_bps", "Goodput"),
            ("delay_ms.mean", "Delay, mean"),
            ("rtt_ms.min", "RTT, min"),
            ("links.space.forward.loss", "Loss of link space, forward"),
            ("links.space.forward.dropped.queue_full", "Dropped, queue full of link space, forward"),
            ("flows.file.transport", "Transport of flow file"),
            ("flows.file.goodput_bps", "Goodput of flow file"),
            ("jain", "Jain's index of fairness"),
            ("loss", "Loss"),
        ];
        for (name, expected) in all {
            assert_eq!(label(name), expected);
        }
        assert_eq!(words("c"), "c");
    }
}

//! `--signal-numbers` of `send` and `receive`: types and codes of ICMP that routers of a mission have for
//! their signals.

use skyhaul_core::event::RouterSignal;
use skyhaul_tcp::SignalNumbers;

/// Names of the numbers over IPv4, in the order of [`RouterSignal`]; over IPv6 `-v6` follows.
const NAMES: [&str; 3] = ["corruption-experienced", "link-outage", "link-restored"];
/// Words where numbers are not understood.
const LIKE: &str = "write them like link-outage=3/77,link-restored=200/1";

/// Reads `NAME=TYPE/CODE,...`.
pub(crate) fn signal_numbers(text: &str) -> Result<SignalNumbers, String> {
    let mut numbers = SignalNumbers::default();
    let mut seen: Vec<&str> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (name, value) = part.split_once('=').ok_or_else(|| format!("'{part}' has no number; {LIKE}"))?;
        let number =
            number(value).ok_or_else(|| format!("'{value}' is no TYPE/CODE from 0 to 255; {LIKE}"))?;
        if seen.contains(&name) {
            return Err(format!("'{name}' is there twice; leave one out"));
        }
        *place(&mut numbers, name)? = number;
        seen.push(name);
    }
    check(numbers)
}

fn number(value: &str) -> Option<(u8, u8)> {
    let (kind, code) = value.split_once('/')?;
    Some((kind.trim().parse().ok()?, code.trim().parse().ok()?))
}

fn place<'a>(numbers: &'a mut SignalNumbers, name: &str) -> Result<&'a mut (u8, u8), String> {
    let (short, of) = match name.strip_suffix("-v6") {
        Some(short) => (short, &mut numbers.v6),
        None => (name, &mut numbers.v4),
    };
    match short {
        "corruption-experienced" => Ok(&mut of.corruption_experienced),
        "link-outage" => Ok(&mut of.link_outage),
        "link-restored" => Ok(&mut of.link_restored),
        _ => Err(format!("'{name}' is no signal: there are {}, and with -v6 behind them", NAMES.join(", "))),
    }
}

fn check(numbers: SignalNumbers) -> Result<SignalNumbers, String> {
    let Err(conflict) = numbers.check() else { return Ok(numbers) };
    let name = |signal: RouterSignal| {
        format!("{}{}", NAMES[signal as usize], if conflict.is_v6 { "-v6" } else { "" })
    };
    let what = conflict.other.map_or("a number that means something else".to_string(), |other| {
        format!("the number of {}", name(other))
    });
    Err(format!("{} would have {what}; take another one", name(conflict.signal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_refused_with_what_to_write() {
        let read = signal_numbers("link-outage=3/77, link-restored-v6=100/9").unwrap();
        assert_eq!((read.v4.link_outage, read.v6.link_restored), ((3, 77), (100, 9)));
        assert_eq!(read.v4.link_restored, SignalNumbers::default().v4.link_restored);
        for (text, words) in [
            ("", "has no number; write them like link-outage=3/77"),
            ("link-outage", "has no number"),
            ("link-outage=3", "is no TYPE/CODE from 0 to 255"),
            ("link-outage=256/0", "is no TYPE/CODE from 0 to 255"),
            (
                "outage=3/77",
                "'outage' is no signal: there are corruption-experienced, link-outage, link-restored",
            ),
            ("link-outage=3/77,link-outage=3/78", "is there twice"),
            ("link-outage=8/0", "link-outage would have a number that means something else"),
            ("link-outage=19/0", "link-outage would have the number of corruption-experienced"),
            ("link-restored-v6=100/1", "link-restored-v6 would have the number of link-outage-v6"),
        ] {
            let error = signal_numbers(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}

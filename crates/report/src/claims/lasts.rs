//! Claims about the time for which an end says something.

use super::labels::{is_called, ladder};
use super::paired::Decision;
use super::{Finding, Lasts, short};
use crate::figure::Figure;
use crate::figure::ladder::Ladder;

pub(super) fn judge(figures: &[Figure], id: &str, test: &Lasts) -> Finding {
    let ladder = ladder(figures, id)?;
    Ok(match measure(ladder, test) {
        Ok((last_s, first_s)) => {
            let (low, high) = (test.expected_s - test.slack_s(), test.expected_s + test.slack_s());
            let decision = if last_s >= low && first_s <= high {
                Decision::Holds
            } else if last_s > high || first_s < low {
                Decision::Fails
            } else {
                Decision::Open
            };
            let until = if first_s.is_finite() {
                format!(" and less than {}", short(first_s))
            } else {
                String::new()
            };
            let words = format!("for {} s{until}; stated {}", short(last_s), short(test.expected_s));
            (decision, words)
        }
        Err(words) => (Decision::Fails, words),
    })
}

/// From the arrival of the last cause to the last packet that says it, and to the first one behind that does
/// not (infinite if none follows), in seconds.
fn measure(ladder: &Ladder, test: &Lasts) -> Result<(f64, f64), String> {
    let arrivals = ladder.packets.iter().filter(|packet| is_called(packet, &test.after));
    let cause_s = arrivals.filter_map(|packet| packet.arrived_s).reduce(f64::max);
    let cause_s = cause_s.ok_or_else(|| format!("no '{}' arrives", test.after))?;
    let behind = || ladder.packets.iter().filter(|packet| packet.t_s >= cause_s);
    let mut says = behind().filter(|packet| is_called(packet, &test.says)).peekable();
    let end = says.peek().ok_or_else(|| format!("no '{}' leaves after {} s", test.says, short(cause_s)))?;
    let mut silent = behind().filter(|packet| {
        packet.from == end.from && is_called(packet, &test.of) && !is_called(packet, &test.says)
    });
    let first_s = silent.next().map_or(f64::INFINITY, |packet| packet.t_s);
    let last_s = says.map(|packet| packet.t_s).fold(cause_s, f64::max);
    if last_s > first_s {
        return Err(format!("'{}' without it leaves at {} s, and with it again", test.of, short(first_s)));
    }
    Ok((last_s - cause_s, first_s - cause_s))
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::figure::Definitions;
    use crate::figure::ladder::parse_events;

    /// Words arrive at 1.2 s, and one is lost; these acknowledgements leave behind each other.
    fn verdict(acknowledgements: &[(f64, &str)], expected_s: f64) -> (ClaimVerdict, String) {
        let mut events = String::from(
            r#"{"t_s":1.0,"from":"c","label":"word","arrived_s":1.1,"kind":"other"}
{"t_s":1.1,"from":"c","label":"word","arrived_s":1.2,"kind":"other"}
{"t_s":1.3,"from":"c","label":"word","arrived_s":null,"kind":"other"}
{"t_s":1.35,"from":"a","label":"ACK","arrived_s":1.4,"kind":"other"}
"#,
        );
        for (t_s, label) in acknowledgements {
            let line =
                format!(r#"{{"t_s":{t_s},"from":"b","label":"{label}","arrived_s":9.0,"kind":"other"}}"#);
            events.extend([line.as_str(), "\n"]);
        }
        let definition = "[[figure]]\nid = \"L\"\ntitle = \"t\"\ntype = \"ladder\"\n\
                          ladder = { events = \"e\", left = \"a\", right = \"b\", between = \"c\" }\n";
        let definition = Definitions::parse(definition, "d").unwrap().figures.remove(0);
        let figure = Figure::from_events(&definition, parse_events(&events, "e").unwrap()).unwrap();
        let claims = format!(
            "[[claim]]\nid = \"c\"\nitem = \"i\"\nstatement = \"s\"\nsource = \"p\"\nfigure = \"L\"\n\
             test = {{ kind = \"lasts\", says = \"ACK+told\", of = \"ACK\", after = \"word\", expected_s = {expected_s}, tolerance = 10 }}\n"
        );
        let judged = evaluate_claims(&Claims::parse(&claims, "c").unwrap(), &[figure]).remove(0);
        (judged.verdict, judged.measured)
    }

    #[test]
    fn a_time_lies_between_the_last_packet_that_says_it_and_the_first_that_does_not() {
        let told =
            |until: &[(f64, &'static str)]| [&[(1.25, "ACK + told"), (1.45, "ACK + told")], until].concat();
        let (verdict_, words) = verdict(&told(&[(1.5, "ACK")]), 0.275);
        assert_eq!(
            (verdict_, words.as_str()),
            (ClaimVerdict::Reproduced, "for 0.25 s and less than 0.3; stated 0.275")
        );
        let only = |packets: &[(f64, &str)], expected_s| verdict(packets, expected_s).0;
        assert_eq!(only(&told(&[(1.5, "ACK")]), 0.2), ClaimVerdict::Differs, "longer");
        assert_eq!(only(&told(&[(1.5, "ACK")]), 0.4), ClaimVerdict::Differs, "shorter");
        assert_eq!(
            only(&told(&[(1.6, "ACK")]), 0.3),
            ClaimVerdict::Undecided,
            "the end may lie anywhere in 0.25 to 0.4"
        );
        assert_eq!(only(&told(&[]), 0.275), ClaimVerdict::Undecided, "nothing says when it ends");
        assert_eq!(only(&told(&[]), 0.2), ClaimVerdict::Differs, "longer, whenever it ends");
        assert_eq!(
            only(&told(&[(1.5, "ACK"), (1.55, "ACK + told")]), 0.275),
            ClaimVerdict::Differs,
            "said again"
        );
        assert_eq!(only(&[(1.15, "ACK + told"), (1.45, "ACK")], 0.275), ClaimVerdict::Differs, "never said");
    }
}

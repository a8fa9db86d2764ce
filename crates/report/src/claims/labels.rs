//! Claims about the order of a ladder's packets.

use super::paired::Decision;
use super::{Finding, Labels};
use crate::figure::Figure;
use crate::figure::ladder::{Ladder, LadderPacket};

pub(super) fn judge(figures: &[Figure], id: &str, test: &Labels) -> Finding {
    let ladder = ladder(figures, id)?;
    for wanted in &test.once {
        let count = ladder.packets.iter().filter(|packet| is_called(packet, wanted)).count();
        if count != 1 {
            return Ok((Decision::Fails, format!("'{wanted}' leaves {count} times")));
        }
    }
    Ok(match in_order(ladder, &test.order) {
        Ok(times) => (Decision::Holds, format!("they leave at {} s", times.join(", "))),
        Err(missing) => (Decision::Fails, format!("no '{missing}' leaves behind those before it")),
    })
}

/// The ladder diagram of this name.
pub(super) fn ladder<'a>(figures: &'a [Figure], id: &str) -> Result<&'a Ladder, String> {
    let figure = figures.iter().find(|figure| figure.definition.id == id);
    let figure = figure.ok_or_else(|| format!("figure {id} is not among those of this run"))?;
    figure.ladder.as_ref().ok_or_else(|| format!("figure {id} is no ladder diagram"))
}

/// Times at which packets called so leave, one behind the other; or the first one that does not.
fn in_order<'a>(ladder: &Ladder, order: &'a [String]) -> Result<Vec<String>, &'a str> {
    let mut packets = ladder.packets.iter();
    let mut times = Vec::new();
    for wanted in order {
        let packet = packets.find(|packet| is_called(packet, wanted)).ok_or(wanted.as_str())?;
        times.push(format!("{:.3}", packet.t_s));
    }
    Ok(times)
}

/// True if a packet's label has all parts of `wanted`, which are joined by `+`; behind them ` lost` for one
/// that does not arrive.
pub(super) fn is_called(packet: &LadderPacket, wanted: &str) -> bool {
    let (parts, is_lost) = match wanted.strip_suffix(" lost") {
        Some(parts) => (parts, true),
        None => (wanted, false),
    };
    let has = |part: &str| packet.label.split('+').any(|own| own.trim() == part.trim());
    parts.split('+').all(has) && (!is_lost || packet.arrived_s.is_none())
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::figure::Definitions;
    use crate::figure::ladder::parse_events;

    const EVENTS: &str = r#"{"t_s":1.0,"from":"a","label":"SD 1 + POLL","arrived_s":1.1,"kind":"data"}
{"t_s":1.1,"from":"b","label":"STAT","arrived_s":1.2,"kind":"stat"}
{"t_s":1.3,"from":"a","label":"SD 2","arrived_s":null,"kind":"data"}
{"t_s":1.4,"from":"a","label":"SD 3","arrived_s":1.5,"kind":"data"}
{"t_s":1.5,"from":"b","label":"USTAT","arrived_s":1.6,"kind":"ustat"}
"#;

    fn verdict(test: &str) -> ClaimVerdict {
        let definition = "[[figure]]\nid = \"L\"\ntitle = \"t\"\ntype = \"ladder\"\n\
                          ladder = { events = \"e\", left = \"a\", right = \"b\" }\n";
        let definition = Definitions::parse(definition, "d").unwrap().figures.remove(0);
        let figure = Figure::from_events(&definition, parse_events(EVENTS, "e").unwrap()).unwrap();
        let claims = format!(
            "[[claim]]\nid = \"c\"\nitem = \"i\"\nstatement = \"s\"\nsource = \"p\"\nfigure = \"L\"\n\
             test = {{ kind = \"labels\", {test} }}\n"
        );
        evaluate_claims(&Claims::parse(&claims, "c").unwrap(), &[figure]).remove(0).verdict
    }

    #[test]
    fn packets_are_found_in_their_order_by_parts_of_their_labels() {
        for (test, expected) in [
            ("order = [\"POLL\", \"STAT\", \"SD 2 lost\", \"USTAT\"]", ClaimVerdict::Reproduced),
            ("order = [\"SD 1+POLL\"], once = [\"SD 2\"]", ClaimVerdict::Reproduced),
            ("order = [\"STAT\", \"POLL\"]", ClaimVerdict::Differs),
            ("order = [\"SD 3 lost\"]", ClaimVerdict::Differs),
            ("order = [\"USTAT\", \"USTAT\"]", ClaimVerdict::Differs),
            ("order = [], once = [\"SD 2 again\"]", ClaimVerdict::Differs),
        ] {
            assert_eq!(verdict(test), expected, "{test}");
        }
    }
}

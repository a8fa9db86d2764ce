use super::*;
use crate::figure::Definitions;
use crate::figure::ladder::parse_events;

const EVENTS: &str = r#"{"t_s":1.0,"from":"sender","label":"SD 1","arrived_s":1.1,"kind":"data"}
{"band":"probing after early timeout: outage","from_s":2.0,"to_s":3.0}
{"map":["asked"],"at_s":1.5,"label":"before"}
{"map":["reserved","asked"],"at_s":2.0,"label":""}
{"map":["reserved","asked","0.200 s","0.210 s"],"at_s":3.0,"label":""}
{"map":["0.100 s"],"at_s":3.5,"label":"after"}
"#;

fn judged(test: &str) -> Judged {
    let definition =
        "[[figure]]\nid = \"L\"\ntitle = \"t\"\ntype = \"ladder\"\nladder = { events = \"e\" }\n";
    let definition = Definitions::parse(definition, "d").unwrap().figures.remove(0);
    let figure = Figure::from_events(&definition, parse_events(EVENTS, "e").unwrap()).unwrap();
    let claims = format!(
        "[[claim]]\nid = \"c\"\nitem = \"i\"\nstatement = \"s\"\nsource = \"p\"\nfigure = \"L\"\ntest = {test}\n"
    );
    evaluate_claims(&Claims::parse(&claims, "c").unwrap(), &[figure]).remove(0)
}

#[test]
fn a_phase_is_found_by_a_part_of_its_name_with_the_map_as_it_is_within() {
    let seen = judged(
        r#"{ kind = "phase", name = "early timeout", map_begins = "reserved", map_holds = 4, map_ends_with_answers = 2 }"#,
    );
    assert_eq!(seen.verdict, ClaimVerdict::Reproduced, "{}", seen.measured);
    assert!(seen.measured.contains("from 2 to 3 s"), "{}", seen.measured);
}

#[test]
fn another_phase_or_another_map_differs() {
    for test in [
        r#"{ kind = "phase", name = "false alarm" }"#,
        r#"{ kind = "phase", name = "early", map_begins = "asked" }"#,
        r#"{ kind = "phase", name = "early", map_holds = 3 }"#,
        r#"{ kind = "phase", name = "early", map_ends_with_answers = 3 }"#,
    ] {
        assert_eq!(judged(test).verdict, ClaimVerdict::Differs, "{test}");
    }
}

#[test]
fn values_of_a_series_must_all_lie_in_the_range() {
    let curve: &[(f64, f64)] = &[(1.0, 0.5), (2.0, 0.9)];
    let figures = [claims_tests::figure("A", &[("on", curve)], 0.01)];
    for (low, high, verdict) in [
        (0.4, 1.0, ClaimVerdict::Reproduced),
        (0.6, 1.0, ClaimVerdict::Differs),
        (0.4, 0.8, ClaimVerdict::Differs),
    ] {
        let claims = format!(
            "[[claim]]\nid = \"c\"\nitem = \"i\"\nstatement = \"s\"\nsource = \"p\"\nfigure = \"A\"\n\
             test = {{ kind = \"values_between\", series = \"on\", low = {low}, high = {high} }}\n"
        );
        let judged = evaluate_claims(&Claims::parse(&claims, "c").unwrap(), &figures).remove(0);
        assert_eq!(judged.verdict, verdict, "{low} to {high}: {}", judged.measured);
    }
}

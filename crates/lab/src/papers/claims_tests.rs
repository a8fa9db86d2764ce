//! Each claim of each paper can fail: numbers that must fail it, numbers that must pass, and numbers that
//! must leave it open; and the guide's table of what would have made it fail.

use std::fmt::Write as _;

use skyhaul_report::claims::{
    Claim, Compare, GainBetween, GainWithin, Labels, LargerGain, Lasts, MeanBetween, Phase, Shows, Test,
};
use skyhaul_report::figure::definition::MAX_PANELS;
use skyhaul_report::figure::drawing::Drawing;
use skyhaul_report::figure::ladder::parse_events;
use skyhaul_report::figure::{Curve, Datum, PanelData};
use skyhaul_report::{AxisValue, ClaimVerdict, Claims, Definitions, Figure, Summary, evaluate_claims};

use super::paper::{PAPERS, Paper};

/// (name, [(place, mean)]).
type Means = (String, Vec<(AxisValue, f64)>);
/// (figure, curves).
type Numbers = Vec<(String, Vec<Means>)>;

/// Deviations of five seeds from their mean.
const DEVIATIONS: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];
/// A spread that blurs nothing, and one that blurs everything.
const QUIET: f64 = 1e-6;
const LOUD: f64 = 1e5;

fn claims(paper: &Paper) -> Vec<Claim> {
    Claims::parse(paper.claims, paper.name).unwrap().claims
}

/// Figures of one panel with these means; the first one is spread, against each other between neighbouring
/// series and places.
fn figures(numbers: &Numbers, spread: f64) -> Vec<Figure> {
    let datum = |place: usize, x: &AxisValue, mean: f64, amount: f64| {
        let runs: Vec<(u64, f64)> = (1..).zip(DEVIATIONS.map(|off| mean + amount * off)).collect();
        let values: Vec<f64> = runs.iter().map(|run| run.1).collect();
        let at = x.number().unwrap_or(place as f64);
        Datum { x: at, name: x.to_string(), y: Summary::of(&values).unwrap(), runs }
    };
    let figure = |(index, (id, curves)): (usize, &(String, Vec<Means>))| {
        let text = format!(
            "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\npanel = {{ results = \"r\", x = {{ axis = \"x\", label = \"x\" }}, y = {{ metric = \"m\", label = \"y\" }} }}\n"
        );
        let definition = Definitions::parse(&text, "d").unwrap().figures.remove(0);
        let curve = |(s, (name, means)): (usize, &Means)| {
            let sign = |place: usize| if (s + place).is_multiple_of(2) { 1.0 } else { -1.0 };
            let amount = if index == 0 { spread } else { QUIET };
            let data =
                means.iter().enumerate().map(|(p, (x, mean))| datum(p, x, *mean, sign(p) * amount)).collect();
            Curve { name: name.clone(), data }
        };
        let curves = curves.iter().enumerate().map(curve).collect();
        // A claim may be about any panel: all of them are alike.
        let panel = PanelData { curves, ..PanelData::default() };
        Figure { definition, panels: vec![panel; MAX_PANELS], ladder: None, drawing: None }
    };
    numbers.iter().enumerate().map(figure).collect()
}

fn verdict(claim: &Claim, figures: &[Figure]) -> ClaimVerdict {
    evaluate_claims(&Claims { claims: vec![claim.clone()] }, figures).remove(0).verdict
}

/// Numbers of one claim.
struct Fed {
    passing: Numbers,
    /// Each must fail it.
    failing: Vec<Numbers>,
    /// True if a spread around the passing means leaves it open.
    is_blurred: bool,
}

/// The places that a test names, or four.
fn places(named: &[AxisValue]) -> Vec<AxisValue> {
    if named.is_empty() { [1.0, 2.0, 3.0, 4.0].map(AxisValue::Number).to_vec() } else { named.to_vec() }
}

fn level(name: &str, places: &[AxisValue], value: impl Fn(usize) -> f64) -> Means {
    (name.to_string(), places.iter().enumerate().map(|(i, x)| (x.clone(), value(i))).collect())
}

/// A figure of two series: the second is 100 everywhere, the first higher by these percents.
fn gaining(figure: &str, (series, over): (&str, &str), gains: &[(AxisValue, f64)]) -> (String, Vec<Means>) {
    let own = gains.iter().map(|(x, gain)| (x.clone(), 100.0 + gain)).collect();
    let other = gains.iter().map(|(x, _)| (x.clone(), 100.0)).collect();
    (figure.to_string(), vec![(series.to_string(), own), (over.to_string(), other)])
}

fn compared(figure: &str, test: &Compare, sign: f64) -> Fed {
    let names = (test.series.as_str(), test.than.as_str());
    let all = places(&test.at);
    let gains = |last: f64| -> Numbers {
        let one =
            |(i, x): (usize, &AxisValue)| (x.clone(), if i + 1 == all.len() { last } else { sign * 20.0 });
        vec![gaining(figure, names, &all.iter().enumerate().map(one).collect::<Vec<_>>())]
    };
    let wrong = -sign * (test.tolerance + 5.0);
    Fed { passing: gains(sign * 20.0), failing: vec![gains(wrong)], is_blurred: true }
}

/// Places 1, 2 and so on with these values.
fn numbered(values: &[f64]) -> Vec<(AxisValue, f64)> {
    (1_u32..).map(|x| AxisValue::Number(x.into())).zip(values.iter().copied()).collect()
}

fn range(figure: &str, test: &GainBetween) -> Fed {
    let names = (test.series.as_str(), test.over.as_str());
    let (low, high) = (test.low, test.high);
    let gains = |ends: (f64, f64)| -> Numbers {
        let all = numbered(&[ends.0, f64::midpoint(ends.0, ends.1), ends.1]);
        let figures = std::iter::once(figure).chain(test.and_figures.iter().map(String::as_str));
        figures.map(|id| gaining(id, names, &all)).collect()
    };
    let mut failing =
        vec![gains((low, high + test.tolerance + 1.0)), gains((low - test.tolerance - 1.0, high))];
    match test.reach {
        Some(reach) => failing.extend([
            gains((low, high - reach - 1.0)),
            gains((low + reach + 1.0, high)),
            gains((low, f64::midpoint(low, high))),
        ]),
        // Two series that are said to be equal need no ends.
        None => assert!((low + high).abs() < 1e-9, "a stated range must be reached"),
    }
    Fed { passing: gains((low, high)), failing, is_blurred: false }
}

fn within(figure: &str, test: &GainWithin) -> Fed {
    let names = (test.series.as_str(), test.over.as_str());
    let all = places(&test.at);
    let fine = test.high.map_or(test.low + 10.0, |high| f64::midpoint(test.low, high));
    let gains = |last: f64| -> Numbers {
        let one = |(i, x): (usize, &AxisValue)| (x.clone(), if i + 1 == all.len() { last } else { fine });
        vec![gaining(figure, names, &all.iter().enumerate().map(one).collect::<Vec<_>>())]
    };
    let beyond = [Some(test.low - 1.0), test.high.map(|high| high + 1.0)];
    let failing = beyond.into_iter().flatten().map(gains).collect();
    Fed { passing: gains(fine), failing, is_blurred: true }
}

fn mean(figure: &str, test: &MeanBetween) -> Fed {
    let (fine, all) = (f64::midpoint(test.low, test.high), places(&[]));
    let figures = |own: f64| -> Numbers {
        let others = test.and_figures.iter().map(|id| (id.as_str(), fine));
        let one = |(id, mean): (&str, f64)| (id.to_string(), vec![level(&test.series, &all, |_| mean)]);
        std::iter::once((figure, own)).chain(others).map(one).collect()
    };
    let off = 1.1 * (test.high - fine) * (1 + test.and_figures.len()) as f64;
    // A spread whose sign alternates between places has no part in the mean over an even number of them.
    Fed { passing: figures(fine), failing: vec![figures(fine + off), figures(fine - off)], is_blurred: false }
}

fn larger(figure: &str, test: &LargerGain) -> Fed {
    let names = (test.series.as_str(), test.over.as_str());
    let pair = |own: [f64; 3], other: [f64; 3]| -> Numbers {
        let (own, other) = (numbered(&own), numbered(&other));
        vec![gaining(figure, names, &own), gaining(&test.than_figure, names, &other)]
    };
    let failing =
        vec![pair([10.0; 3], [20.0; 3]), pair([20.0; 3], [20.0; 3]), pair([500.0, 10.0, 10.0], [20.0; 3])];
    Fed { passing: pair([50.0; 3], [20.0; 3]), failing, is_blurred: true }
}

fn beside(figure: &str, test: &skyhaul_report::claims::CompareFigures, sign: f64) -> Fed {
    let all = places(&[]);
    let two = |last: f64| -> Numbers {
        let own = level(&test.series, &all, |i| if i == 3 { last } else { 100.0 + sign * 20.0 });
        let other = level(&test.series, &all, |_| 100.0);
        vec![(figure.to_string(), vec![own]), (test.than_figure.clone(), vec![other])]
    };
    let wrong = 100.0 - sign * (test.tolerance + 1.0);
    Fed { passing: two(100.0 + sign * 20.0), failing: vec![two(wrong)], is_blurred: true }
}

/// Numbers of a single series.
fn single(figure: &str, series: &str, all: &[AxisValue], passing: &[f64], failing: &[&[f64]]) -> Fed {
    let one =
        |values: &[f64]| -> Numbers { vec![(figure.to_string(), vec![level(series, all, |i| values[i])])] };
    Fed {
        passing: one(passing),
        failing: failing.iter().map(|values| one(values)).collect(),
        is_blurred: true,
    }
}

fn fed(claim: &Claim) -> Fed {
    let figure = claim.figure.as_deref().unwrap();
    let four = places(&[]);
    let (up, down, hill) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0], [2.0, 4.0, 1.0, 3.0]);
    match &claim.test {
        Test::Greater(test) => compared(figure, test, 1.0),
        Test::Less(test) => compared(figure, test, -1.0),
        Test::GainBetween(test) => range(figure, test),
        Test::GainAt(test) => {
            let names = (test.series.as_str(), test.over.as_str());
            let one = |gain: f64| -> Numbers { vec![gaining(figure, names, &[(test.x.clone(), gain)])] };
            let failing = [test.tolerance + 1.0, -test.tolerance - 1.0].map(|off| one(test.expected + off));
            Fed { passing: one(test.expected), failing: failing.to_vec(), is_blurred: true }
        }
        Test::LargerGain(test) => larger(figure, test),
        Test::FigureGreater(test) => beside(figure, test, 1.0),
        Test::FigureLess(test) => beside(figure, test, -1.0),
        Test::Rises(test) => single(figure, &test.series, &four, &up, &[&down, &hill]),
        Test::GainRises(test) => {
            let all = places(&test.at);
            let ramp = |sign: f64| -> Numbers {
                let one = |(i, x): (usize, &AxisValue)| (x.clone(), 50.0 + sign * i as f64);
                let gains = all.iter().enumerate().map(one).collect::<Vec<_>>();
                vec![gaining(figure, (&test.series, &test.over), &gains)]
            };
            Fed { passing: ramp(1.0), failing: vec![ramp(-1.0), ramp(0.0)], is_blurred: true }
        }
        Test::Falls(test) => single(figure, &test.series, &four, &down, &[&up, &hill]),
        Test::Flat { series, ratio } => {
            single(figure, series, &four, &[1.0, 0.99 * ratio, 1.0, 1.0], &[&[1.0, 1.01 * ratio, 1.0, 1.0]])
        }
        Test::ValueAt(test) => {
            let off = 1.1 * test.slack();
            let wrong = [[test.expected + off], [test.expected - off]];
            let x = [test.x.clone()];
            single(figure, &test.series, &x, &[test.expected], &[&wrong[0], &wrong[1]])
        }
        Test::ValuesBetween(test) => {
            let fine = f64::midpoint(test.low, test.high);
            let all = places(&test.at);
            let wrong = [test.high + 0.1, test.low - 0.1].map(|last| {
                all.iter().enumerate().map(|(i, _)| if i + 1 == all.len() { last } else { fine }).collect()
            });
            let [above, below]: &[Vec<f64>; 2] = &wrong;
            single(figure, &test.series, &all, &vec![fine; all.len()], &[above, below])
        }
        Test::GainWithin(test) => within(figure, test),
        Test::MeanBetween(test) => mean(figure, test),
        Test::Phase(_) | Test::Labels(_) | Test::Lasts(_) | Test::Shows(_) | Test::NotTestable { .. } => {
            unreachable!("no numbers of a panel")
        }
    }
}

#[test]
fn each_claim_fails_with_numbers_that_must_fail_it_and_holds_with_its_own() {
    let mut tested = 0;
    for claim in PAPERS.iter().flat_map(claims) {
        if matches!(
            claim.test,
            Test::Phase(_) | Test::Labels(_) | Test::Lasts(_) | Test::Shows(_) | Test::NotTestable { .. }
        ) {
            continue;
        }
        let fed = fed(&claim);
        let judge = |numbers: &Numbers, spread| verdict(&claim, &figures(numbers, spread));
        assert_eq!(judge(&fed.passing, QUIET), ClaimVerdict::Reproduced, "{}", claim.id);
        for (i, numbers) in fed.failing.iter().enumerate() {
            assert_eq!(judge(numbers, QUIET), ClaimVerdict::Differs, "{}, failing numbers {i}", claim.id);
        }
        if fed.is_blurred {
            assert_eq!(judge(&fed.passing, LOUD), ClaimVerdict::Undecided, "{}", claim.id);
        }
        tested += 1;
    }
    assert!(tested > 40, "{tested}");
}

/// A ladder with a band of this name, and maps in it.
fn ladder(id: &str, band: &str, maps: [&str; 2]) -> Figure {
    let text = format!(
        "{{\"t_s\":1.0,\"from\":\"sender\",\"label\":\"SD 1\",\"arrived_s\":1.1,\"kind\":\"data\"}}\n\
         {{\"band\":\"{band}\",\"from_s\":2.0,\"to_s\":3.0}}\n{{\"map\":[{}],\"at_s\":2.0,\"label\":\"\"}}\n\
         {{\"map\":[{}],\"at_s\":3.0,\"label\":\"\"}}\n",
        maps[0], maps[1]
    );
    let definition = format!(
        "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\ntype = \"ladder\"\nladder = {{ events = \"e\" }}\n"
    );
    let definition = Definitions::parse(&definition, "d").unwrap().figures.remove(0);
    Figure::from_events(&definition, parse_events(&text, "e").unwrap()).unwrap()
}

#[test]
fn each_claim_on_a_ladder_fails_without_its_phase_and_with_another_map() {
    let mut tested = 0;
    for claim in PAPERS.iter().flat_map(claims) {
        let Test::Phase(Phase { name, map_begins, map_ends_with_answers, .. }) = &claim.test else {
            continue;
        };
        let id = claim.figure.as_deref().unwrap();
        let judge = |band: &str, maps| verdict(&claim, &[ladder(id, band, maps)]);
        let maps = ["\"reserved\",\"asked\"", "\"reserved\",\"asked\",\"0.200 s\",\"0.210 s\""];
        assert_eq!(judge(name, maps), ClaimVerdict::Reproduced, "{}", claim.id);
        assert_eq!(judge("slow start", maps), ClaimVerdict::Differs, "{}", claim.id);
        if map_begins.is_some() {
            assert_eq!(judge(name, ["\"asked\"", maps[1]]), ClaimVerdict::Differs, "{}", claim.id);
        }
        if map_ends_with_answers.is_some() {
            let one = "\"reserved\",\"asked\",\"0.200 s\",\"asked\"";
            assert_eq!(judge(name, [maps[0], one]), ClaimVerdict::Differs, "{}", claim.id);
        }
        tested += 1;
    }
    assert_eq!(tested, 4);
}

/// A ladder with packets of these labels, one behind the other.
fn packets<'a>(id: &str, labels: impl Iterator<Item = &'a str>) -> Figure {
    let line = |(i, label): (usize, &str)| {
        let (label, is_lost) = label.strip_suffix(" lost").map_or((label, false), |label| (label, true));
        let arrived = if is_lost { "null".to_string() } else { format!("{}.5", i + 1) };
        format!("{{\"t_s\":{}.0,\"from\":\"sender\",\"label\":\"{label}\",\"arrived_s\":{arrived}}}\n", i + 1)
    };
    let text: String = labels.enumerate().map(line).collect();
    let definition = format!(
        "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\ntype = \"ladder\"\nladder = {{ events = \"e\" }}\n"
    );
    let definition = Definitions::parse(&definition, "d").unwrap().figures.remove(0);
    Figure::from_events(&definition, parse_events(&text, "e").unwrap()).unwrap()
}

#[test]
fn each_claim_on_the_order_of_packets_fails_without_its_last_one_and_with_one_twice() {
    let mut tested = 0;
    for claim in PAPERS.iter().flat_map(claims) {
        let Test::Labels(Labels { order, once }) = &claim.test else { continue };
        let id = claim.figure.as_deref().unwrap();
        let is_named =
            |wanted: &&str| order.iter().any(|label| label.split('+').any(|part| part.trim() == *wanted));
        let rest: Vec<&str> = once.iter().map(String::as_str).filter(|wanted| !is_named(wanted)).collect();
        let all = || rest.iter().copied().chain(order.iter().map(String::as_str));
        assert_eq!(verdict(&claim, &[packets(id, all())]), ClaimVerdict::Reproduced, "{}", claim.id);
        let fewer = packets(id, all().take(all().count() - 1));
        assert_eq!(verdict(&claim, &[fewer]), ClaimVerdict::Differs, "{}", claim.id);
        if let Some(one) = once.first() {
            let twice = packets(id, all().chain([one.as_str()]));
            assert_eq!(verdict(&claim, &[twice]), ClaimVerdict::Differs, "{}", claim.id);
        }
        tested += 1;
    }
    assert_eq!(tested, 5);
}

/// A ladder with a cause that arrives at 1.0 s, and packets of another end: until that time they say so.
fn saying(id: &str, test: &Lasts, until_s: f64) -> Figure {
    let mut text =
        format!("{{\"t_s\":0.9,\"from\":\"sender\",\"label\":\"{}\",\"arrived_s\":1.0}}\n", test.after);
    let step_s = test.slack_s() / 4.0;
    for t_s in (0..200).map(|n| 1.0 + step_s * f64::from(n)) {
        let label = if t_s < until_s { &test.says } else { &test.of };
        let _ = writeln!(
            text,
            "{{\"t_s\":{t_s},\"from\":\"receiver\",\"label\":\"{}\",\"arrived_s\":99.0}}",
            label.replace('+', " + ")
        );
    }
    let definition = format!(
        "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\ntype = \"ladder\"\nladder = {{ events = \"e\" }}\n"
    );
    let definition = Definitions::parse(&definition, "d").unwrap().figures.remove(0);
    Figure::from_events(&definition, parse_events(&text, "e").unwrap()).unwrap()
}

#[test]
fn each_claim_on_how_long_something_is_said_fails_where_it_ends_too_soon_too_late_or_never() {
    let mut tested = 0;
    for claim in PAPERS.iter().flat_map(claims) {
        let Test::Lasts(test) = &claim.test else { continue };
        let id = claim.figure.as_deref().unwrap();
        let judge = |lasts_s: f64| verdict(&claim, &[saying(id, test, 1.0 + lasts_s)]);
        assert_eq!(judge(test.expected_s), ClaimVerdict::Reproduced, "{}", claim.id);
        let beyond_s = 1.5 * test.slack_s();
        for wrong_s in [0.0, test.expected_s - beyond_s, test.expected_s + beyond_s, f64::INFINITY] {
            assert_eq!(judge(wrong_s), ClaimVerdict::Differs, "{}: {wrong_s}", claim.id);
        }
        tested += 1;
    }
    assert_eq!(tested, 1);
}

/// A drawing with these parts, as nodes.
fn drawing(id: &str, parts: &[String]) -> Figure {
    let places: Vec<String> = parts.iter().map(|part| format!("\"{part}\" = [0, 0]")).collect();
    let definition = format!(
        "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\ntype = \"drawing\"\n[figure.drawing]\nfile = \"d\"\n[figure.drawing.places]\n{}\n",
        places.join("\n")
    );
    let definition = Definitions::parse(&definition, "d").unwrap().figures.remove(0);
    let nodes: Vec<String> =
        parts.iter().map(|part| format!("{{\"name\":\"{part}\",\"kind\":\"text\"}}")).collect();
    let text = format!("{{\"drawing\":\"graph\",\"nodes\":[{}],\"ways\":[]}}", nodes.join(","));
    Figure::from_drawing(&definition, Drawing::parse(&text, "d").unwrap()).unwrap()
}

#[test]
fn each_claim_on_a_drawing_fails_without_one_of_its_parts() {
    let mut tested = 0;
    for claim in PAPERS.iter().flat_map(claims) {
        let Test::Shows(Shows { parts }) = &claim.test else { continue };
        let id = claim.figure.as_deref().unwrap();
        assert_eq!(verdict(&claim, &[drawing(id, parts)]), ClaimVerdict::Reproduced, "{}", claim.id);
        for left_out in parts {
            let rest: Vec<String> = parts.iter().filter(|part| *part != left_out).cloned().collect();
            assert_eq!(verdict(&claim, &[drawing(id, &rest)]), ClaimVerdict::Differs, "{}", claim.id);
        }
        tested += 1;
    }
    assert_eq!(tested, 12);
}

#[test]
fn what_the_paper_does_not_state_is_ours_and_is_not_counted() {
    let ours: Vec<String> =
        PAPERS.iter().flat_map(claims).filter(|claim| claim.ours).map(|claim| claim.id).collect();
    let is_known = |id: &&String| {
        let is_uncontested = id.starts_with("S-5.1") && (id.ends_with("-0") || id.contains("-fifth-"));
        id.ends_with("-ip")
            || id.starts_with("R-")
            || id.starts_with("T-") && id.ends_with("-ours")
            || id.starts_with("C-")
            || is_uncontested
            || id.starts_with("S-T5.") && (id.contains("-variant-") || id.contains("-pages-"))
            || ["S-T5.3-tfo", "S-T5.3-stp-bursts", "S-T5.3-packets-stp-ttcp-request"].contains(&id.as_str())
            || id.starts_with("S-T5.3-answer-")
            || id.starts_with("S-T5.4-")
                && ["-default", "-link-", "-queues-"].iter().any(|part| id.contains(part))
            || id.starts_with("S-x-") && ["once-", "nagle-", "default-"].iter().any(|part| id.contains(part))
            || ["X-15-f", "S-5.7-b", "S-5.6-round-trip"].contains(&id.as_str())
    };
    assert!(ours.iter().all(|id| is_known(&id)), "{ours:?}");
    assert!(ours.contains(&"X-15-f".to_string()) && ours.contains(&"S-5.7-b".to_string()), "{ours:?}");
    let ip: Vec<Claim> = PAPERS.iter().flat_map(claims).filter(|claim| claim.id.ends_with("-ip")).collect();
    assert!(ip.iter().all(|claim| claim.ours && claim.figure.as_ref().is_some_and(|id| id.ends_with("-ip"))));
}

const BEGIN: &str = "<!-- what would make a claim fail: made by UPDATE_DOCS=1 -->\n\n";
const END: &str = "\n<!-- end of claims -->";

fn table() -> String {
    let mut out = "| claim | it says | it differs if |\n|---|---|---|\n".to_string();
    for claim in PAPERS.iter().flat_map(claims) {
        let fails = match &claim.test {
            Test::NotTestable { reason } => format!("nothing can: {reason}"),
            test => test.fails_if().unwrap(),
        };
        let ours = if claim.ours { " (ours)" } else { "" };
        let _ = writeln!(out, "| {}{ours} | {} | {fails} |", claim.id, claim.statement);
    }
    out
}

#[test]
fn the_guides_table_says_what_would_make_each_claim_fail() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/reproduce.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table's beginning");
    let (there, after) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, [before, BEGIN, &table(), END, after].concat()).unwrap();
        return;
    }
    assert_eq!(there, table(), "UPDATE_DOCS=1 makes it anew");
}

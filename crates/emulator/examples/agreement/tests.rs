//! The tool itself: what it is told, what it concludes, and one small transfer by each protocol.

use skyhaul_core::{MS, SECOND};
use skyhaul_net::LatenessReport;
use skyhaul_scenario::Workload;

use crate::arguments::{self, Form, Mode, Plan};
use crate::cells::{self, Bound, Cell};
use crate::emulated::{Course, disturbance, emulated};
use crate::outcome::{Outcome, simulated};
use crate::pair::pairs;
use crate::processor::waited_ns;
use crate::row::{Row, Run, Verdict, median};
use crate::show::markdown;

fn parse(line: &str) -> Result<Mode, String> {
    arguments::parse(line.split_whitespace().map(str::to_string))
}

fn plan(line: &str) -> Plan {
    match parse(line) {
        Ok(Mode::Run(plan)) => plan,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_is_not_understood_is_said() {
    let wrong = |line: &str| parse(line).err().unwrap();
    assert!(wrong("--cell clean").contains("--cell: no such option"));
    assert!(wrong("--cells clean,murky").contains("murky: no such cell"));
    assert!(wrong("--seeds").contains("--seeds needs a value"));
    assert!(wrong("--seeds 0").contains("from 1 to"));
    assert!(wrong("--patience many").contains("from 0 to"));
    assert!(parse("--seeds 0 --help").is_err() && matches!(parse("--help --seeds 0"), Ok(Mode::Help)));
}

#[test]
fn cells_are_chosen_by_their_name_or_by_their_file() {
    let named = |line: &str| plan(line).cells.into_iter().map(|cell| cell.name).collect::<Vec<_>>();
    let all = named("");
    assert_eq!(all.len(), 24, "{all:?}");
    assert!(all.is_sorted_by(|a, b| a != b) && !all.iter().any(|name| name.starts_with("short")), "{all:?}");
    assert!(!all.iter().any(|name| name.starts_with("explicit")), "{all:?}");
    assert_eq!(named("--cells thin-20k-tcp,clean-4M-xstp"), ["clean-4M-xstp", "thin-20k-tcp"]);
    assert_eq!(named("--cells short"), ["short-xstp", "short-tcp"]);
    assert_eq!(named("--cells explicit"), ["explicit-ruled", "explicit-unruled", "explicit-model"]);
    assert!(
        named("--cells outage")
            .iter()
            .all(|name| arguments::HELP.contains(&name.replace("outage", "clean")) || name.contains("10M"))
    );
    let plan = plan("--cells lossy --seeds 2 --patience 0 --together 3 --json");
    assert!(plan.cells.iter().all(|cell| cell.seeds == 2));
    assert_eq!((plan.patience, plan.together, plan.form), (0, 3, Form::Json));
}

#[test]
fn each_kind_of_cell_has_its_runs_and_its_bound() {
    for cell in cells::all().unwrap() {
        let is_random = cell.scenario.links[0].config.forward.loss > 0.0;
        let expected = if is_random { (Bound::Medians(3.0), 20) } else { (Bound::Each(1.0), 3) };
        if cell.file == "explicit" {
            assert_eq!((cell.bound, cell.seeds), (Bound::Medians(3.0), 3), "{}", cell.name);
        }
        if !cell.is_extra {
            assert_eq!((cell.bound, cell.seeds), expected, "{}", cell.name);
        }
        assert!(cell.payload_bytes().unwrap() > 0);
    }
}

fn run(simulated_bps: u64, emulated_bps: u64, disturbance: Option<&str>) -> Run {
    let outcome = |bps| Outcome { payload_bytes: bps / 8, elapsed_ns: SECOND, ..Outcome::default() };
    let emulated = Course {
        outcome: outcome(emulated_bps),
        lateness: LatenessReport::default(),
        stall_ns: 0,
        disturbance: disturbance.map(str::to_string),
    };
    Run {
        seed: 1,
        simulated: outcome(simulated_bps),
        length: 200.0,
        shifted: outcome(simulated_bps),
        emulated,
        repeats: 2,
    }
}

fn row(bound: Bound, runs: &[Run]) -> Row {
    Row { name: "cell".into(), bound, runs: runs.to_vec() }
}

#[test]
fn one_run_outside_the_bound_is_a_difference_unless_it_was_disturbed() {
    let (good, bad) = (run(8000, 8064, None), run(8000, 7896, None));
    let agreeing = row(Bound::Each(1.0), &[good.clone(), good.clone()]);
    assert_eq!((agreeing.verdict(), (agreeing.difference() * 100.0).round() as i64), (Verdict::Agrees, 80));
    let differing = row(Bound::Each(1.0), &[good.clone(), bad]);
    assert_eq!(
        (differing.verdict(), (differing.difference() * 100.0).round() as i64),
        (Verdict::Differs, -130)
    );
    let disturbed = run(8000, 4000, Some("noise"));
    let mixed = row(Bound::Each(1.0), &[disturbed.clone(), good.clone()]);
    assert_eq!(
        (mixed.verdict(), mixed.disturbed(), mixed.repeats()),
        (Verdict::Unknown, 1, 4),
        "nothing is proved"
    );
    let unimpressed = run(8000, 8008, Some("noise"));
    assert_eq!(row(Bound::Each(1.0), &[unimpressed, good]).verdict(), Verdict::Agrees);
}

#[test]
fn only_a_run_outside_its_bound_is_worth_a_repeat() {
    assert!(Bound::Each(1.0).is_broken_by(-1.1) && !Bound::Each(1.0).is_broken_by(1.0));
    assert!(!Bound::Medians(3.0).is_broken_by(20.0), "others decide, too");
}

#[test]
fn where_chance_decides_medians_are_compared() {
    let runs = [run(8000, 6400, None), run(8800, 8960, None), run(9600, 12000, None)];
    let row = row(Bound::Medians(3.0), &runs);
    assert_eq!(((row.difference() * 100.0).round() as i64, row.verdict()), (182, Verdict::Agrees));
    let disturbed = |bps| run(8000, bps, Some("noise"));
    let noisy = self::row(Bound::Medians(3.0), &[disturbed(9000), disturbed(9000), run(8000, 8000, None)]);
    assert_eq!(noisy.verdict(), Verdict::Unknown);
    let bad =
        self::row(Bound::Medians(3.0), &[disturbed(9000), run(8000, 9000, None), run(8000, 8000, None)]);
    assert_eq!(bad.verdict(), Verdict::Differs);
    let medians = [median([3.0, 1.0, 2.0]), median([4.0, 1.0]), median([])];
    assert_eq!(medians.map(|value| (2.0 * value) as u64), [4, 5, 0]);
}

#[test]
fn a_pair_differs_by_more_than_its_bound_unless_the_machine_disturbed_it() {
    let named = |name: &str, runs: &[Run]| Row { name: name.into(), ..row(Bound::Medians(3.0), runs) };
    let verdict = |emulated: Run| {
        let rows = [
            named("explicit-unruled", &[emulated]),
            named("other", &[run(1, 1, None)]),
            named("explicit-model", &[run(8000, 8000, None)]),
        ];
        let [pair] = &pairs(&rows)[..] else { panic!("one pair") };
        (pair.verdict, pair.to_string())
    };
    assert_eq!(verdict(run(8000, 7680, None)).0, Verdict::Agrees);
    let (differs, said) = verdict(run(8000, 7200, None));
    assert_eq!(differs, Verdict::Differs);
    assert!(said.contains("-10.00 % of explicit-model, allowed is 5: DIFFERS"), "{said}");
    assert_eq!(verdict(run(8000, 7200, Some("noise"))).0, Verdict::Unknown);
    assert!(pairs(&[named("explicit-unruled", &[run(1, 1, None)])]).is_empty());
}

#[test]
fn a_thread_without_the_processor_and_a_late_start_disturb() {
    assert_eq!(waited_ns("1006064 523075 14\n"), 523_075);
    assert_eq!(waited_ns(""), 0);
    assert_eq!(disturbance(10 * MS, 10 * MS), None);
    assert!(disturbance(10 * MS + 1, 0).unwrap().contains("stood still for 10.0 ms"));
    assert!(disturbance(0, 15 * MS).unwrap().contains("15.0 ms too late"));
}

#[test]
fn the_table_has_a_line_for_each_cell() {
    let mut run = run(8_000_000, 8_008_000, None);
    run.simulated.drops[0].queue_full = 3;
    run.emulated.outcome.drops[0].queue_full = 4;
    run.emulated.outcome.drops[1].outage = 1;
    let table = markdown(&[row(Bound::Each(1.0), &[run])]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.matches('|').count() == 13), "{table}");
    assert!(lines[2].contains("| 8.000 | 8.008 | +0.10 | 1 |"), "{table}");
    assert!(lines[2].contains("queue 3 / 4, back: outage 0 / 1"), "{table}");
}

/// Of 300 kB, with a packet in ten lost.
fn small(name: &str) -> Cell {
    let mut cell = cells::all().unwrap().into_iter().find(|cell| cell.name == name).unwrap();
    cell.scenario.links[0].config.forward.loss = 0.1;
    if let Workload::Bulk { bytes, .. } = &mut cell.scenario.flows[0].workload {
        *bytes = Some(300_000);
    }
    cell
}

#[test]
fn both_protocols_carry_the_file_in_either_time_and_losses_are_counted() {
    for cell in [small("short-xstp"), small("short-tcp")] {
        let (virtual_time, real_time) =
            (simulated(&cell, 1).unwrap().outcome, emulated(&cell, 1).unwrap().outcome);
        for outcome in [virtual_time, real_time] {
            assert_eq!(outcome.payload_bytes, 300_000);
            assert!(outcome.elapsed_ns > 0 && outcome.drops[0].random_loss > 0, "{outcome:?}");
            assert!(outcome.sent_again >= outcome.drops[0].random_loss / 2, "{outcome:?}");
        }
    }
}

#[test]
fn a_slower_cell_differs_in_delay_alone() {
    let cell = small("short-xstp");
    let slower = cell.slower(MS);
    let delay_ns = |cell: &Cell| cell.scenario.links[0].config.reverse.delay_ns;
    assert_eq!(delay_ns(&slower), delay_ns(&cell) + MS);
    assert!(simulated(&slower, 1).unwrap().round_trips > 0.0);
}

//! Pages in the background of the STP chapter's tables: the files that calibrate how many readers there are
//! hold what the files of the tables hold, and no transfer. What they measure is in the figure S-T5-readers.

use std::ops::Range;

use toml::{Table, Value};

use super::paper::PAPERS;

/// Calibrations, and the tables that they are for.
const CALIBRATIONS: [(&str, [&str; 3]); 2] = [
    ("background-geo", ["geo", "geo-variants", "geo-today"]),
    ("background-leo", ["leo", "leo-variants", "leo-today"]),
];

fn scenario(name: &str) -> Table {
    let paper = PAPERS.iter().find(|paper| paper.name == "stp").unwrap();
    let (_, text) = paper.scenarios.iter().find(|(file, _)| *file == name).unwrap();
    text.parse().unwrap()
}

fn part<'a>(of: &'a Table, keys: &[&str]) -> &'a Table {
    keys.iter().fold(of, |table, key| table[*key].as_table().unwrap())
}

fn seeds(of: &Table) -> Range<i64> {
    let [first, runs] = ["seed", "replications"].map(|key| of["run"][key].as_integer().unwrap());
    first..first + runs
}

#[test]
fn pages_are_calibrated_without_a_transfer_and_with_seeds_of_their_own() {
    for (calibration, tables) in CALIBRATIONS {
        let alone = scenario(calibration);
        for flow in part(&alone, &["flows"]).values() {
            assert_eq!(flow["workload"]["kind"].as_str(), Some("web"), "{calibration}");
        }
        for name in tables {
            let table = scenario(name);
            let (ours, theirs) = (seeds(&alone), seeds(&table));
            assert!(theirs.end <= ours.start || ours.end <= theirs.start, "{calibration}, {name}");
        }
    }
}

#[test]
fn pages_are_calibrated_on_the_links_and_with_the_transport_of_the_tables() {
    for (calibration, tables) in CALIBRATIONS {
        let alone = scenario(calibration);
        for name in tables {
            let table = scenario(name);
            for key in ["warm_up", "duration", "carrier"] {
                assert_eq!(alone["run"][key], table["run"][key], "{name}");
            }
            for (link, value) in part(&alone, &["links"]) {
                assert_eq!(table["links"].get(link), Some(value), "{name}: {link}");
            }
            for (flow, value) in part(&alone, &["flows"]) {
                let there = &table["flows"][flow];
                for key in ["from", "to", "count", "workload"] {
                    assert_eq!(there[key], value[key], "{name}: {flow}");
                }
                let transport =
                    |of: &Table, flow: &Value| of["transports"][flow["transport"].as_str().unwrap()].clone();
                assert_eq!(transport(&table, there), transport(&alone, value), "{name}: {flow}");
            }
        }
    }
}

#[test]
fn pages_of_each_size_in_the_tables_have_a_number_of_readers_that_is_calibrated() {
    for (calibration, [_, variants, _]) in CALIBRATIONS {
        let [alone, table] = [scenario(calibration), scenario(variants)];
        let pairs = |of: &Table, axis: &str, flow: &str| -> Vec<(f64, i64)> {
            let together = part(of, &["sweep", "together", axis]);
            let of_flow = |key: &str| together[&format!("flows.{flow}.{key}")].as_array().unwrap().clone();
            let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
            let objects = of_flow("workload.objects").into_iter().map(|value| number(&value).unwrap());
            objects.zip(of_flow("count").iter().map(|count| count.as_integer().unwrap())).collect()
        };
        for flow in part(&alone, &["flows"]).keys() {
            let measured = pairs(&alone, "readers", flow);
            for pair in pairs(&table, "variant", flow) {
                assert!(measured.contains(&pair), "{variants}: {flow}: {pair:?}");
            }
        }
    }
}

/// Seconds of a time like "89.999s".
fn seconds(time: &Value) -> f64 {
    time.as_str().unwrap().strip_suffix('s').unwrap().parse().unwrap()
}

/// What runs two way alone begins in the last millisecond of a run one way, however long that is: runs that
/// some variant made longer had it in their last 20 s.
#[test]
fn one_way_nothing_goes_back_before_the_last_millisecond() {
    for name in CALIBRATIONS.iter().flat_map(|(alone, tables)| [*alone].into_iter().chain(*tables)) {
        let file = scenario(name);
        let axes = part(&file, &["sweep", "together"]);
        let swept = axes.values().filter_map(|axis| axis.get("run.duration")?.as_array());
        let ends: Vec<f64> = swept.flatten().chain([&file["run"]["duration"]]).map(seconds).collect();
        let traffic = part(axes, &["traffic"]);
        let labels = traffic["labels"].as_array().unwrap();
        let one_way = labels.iter().position(|label| label.as_str() == Some("one way")).unwrap();
        let starts = traffic
            .iter()
            .filter(|(key, _)| key.starts_with("flows.back") && key.rsplit('.').next() == Some("start"));
        let starts: Vec<f64> =
            starts.map(|(_, starts)| seconds(&starts.as_array().unwrap()[one_way])).collect();
        assert!(!starts.is_empty(), "{name}");
        for (start, end) in starts.iter().flat_map(|start| ends.iter().map(move |end| (start, end))) {
            assert!((0.0..=0.0011).contains(&(end - start)), "{name}: {start} of {end}");
        }
    }
}

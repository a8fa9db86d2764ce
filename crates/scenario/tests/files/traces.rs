//! Traces of links in scenario files.

use std::fmt::Write;
use std::path::Path;

use skyhaul_scenario::{File, MAX_TRACE_BYTES};

const SCENARIO: &str = r#"
[run]
goal = "done"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.space]
preset = "geo"
between = ["a", "b"]
trace = "t.csv"
[transports.stp]
[flows.file]
from = "a"
to = "b"
transport = "stp"
workload = { kind = "bulk", size = "1MB" }
"#;

/// The scenario in a folder with such a trace.
fn in_folder(folder: &Path, trace: &[u8], scenario: &str) -> Result<File, String> {
    std::fs::write(folder.join("t.csv"), trace).unwrap();
    let label = folder.join("s.toml").display().to_string();
    let from = format!("{}/", folder.display());
    super::parse(&label, scenario).map_err(|error| error.to_string().replace(&from, ""))
}

fn refusal(trace: &[u8], scenario: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    in_folder(folder.path(), trace, scenario).map_or_else(|error| error, |_| "NO ERROR".to_string())
}

#[test]
fn a_trace_is_seen_from_the_folder_of_its_scenario_and_counts_for_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    let file = |trace: &str| in_folder(folder.path(), trace.as_bytes(), SCENARIO).unwrap();
    let first = file("time_s,rate_bps\n0,1000000\n1,2000000\n");
    let link = first.scenario_at(&first.points().next().unwrap()).unwrap().links[0].config.clone();
    assert_eq!(link.forward.schedule.len(), 2);
    let digest = first.digest().unwrap();
    assert_eq!(file("# the same\ntime_s,rate_bps\n0,1000000\n1.0,2000000\n").digest().unwrap(), digest);
    assert_ne!(file("time_s,rate_bps\n0,1000000\n1,2000001\n").digest().unwrap(), digest);
    assert_eq!(first.digest().unwrap(), digest, "it was read once");
}

#[test]
fn what_is_wrong_with_the_file_or_the_keys() {
    let fine: &[u8] = b"time_s,up\n0,1\n";
    let repeats = "trace = \"t.csv\"\ntrace_repeats = true";
    let mut all = String::new();
    for (trace, old, new) in [
        (&b"time_s,up\n0,2\n"[..], "", ""),
        (b"time_s,up\n0,\xFF\n", "", ""),
        (fine, "t.csv", "missing.csv"),
        (fine, "\"t.csv\"", "7"),
        (fine, "\"t.csv\"", "\"\""),
        (fine, "\"t.csv\"", "\".\""),
        (fine, "trace = \"t.csv\"", "trace_repeats = true"),
        (fine, "trace = \"t.csv\"", repeats),
        (b"time_s,up\n0,1\n1,0\n", "trace = \"t.csv\"", repeats),
        (fine, "trace =", "tracer ="),
    ] {
        let text = SCENARIO.replacen(old, new, 1);
        let text = if trace == fine && new == repeats {
            text.replace("[run]", "[run]\nduration = \"9s\"")
        } else {
            text
        };
        writeln!(all, "{}\n    {}", new.replace('\n', " | "), refusal(trace, &text)).unwrap();
    }
    assert!(!all.contains("NO ERROR"), "{all}");
    insta::assert_snapshot!(all);
    assert!(refusal(&vec![b'#'; MAX_TRACE_BYTES + 1], SCENARIO).contains("larger than 16777216 bytes"));
}

/// A rate that only the trace says is one, too; a trace without any leaves the link unlimited.
#[test]
fn a_router_stands_where_a_trace_brings_the_rate() {
    let forward = "forward = { explicit = { discipline = \"p-xcp\" } }";
    let scenario = SCENARIO.replace("preset = \"geo\"", forward);
    let folder = tempfile::tempdir().unwrap();
    in_folder(folder.path(), b"time_s,rate_bps\n0,8000000\n2,1000000\n", &scenario).unwrap();
    let refused = refusal(b"time_s,delay_ms\n0,5\n2,7\n", &scenario);
    assert!(refused.starts_with("s.toml:8:"), "{refused}");
    let why = "links.space.forward.explicit: a router of explicit rate control needs a rate at all times";
    assert!(refused.contains(why), "{refused}");
}

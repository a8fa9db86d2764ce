//! What was decided for the STP chapter holds in each of its files.

use toml::{Table, Value};

use super::paper::PAPERS;

/// Files of the chapter, parsed.
fn files() -> impl Iterator<Item = (&'static str, Table)> {
    let paper = PAPERS.iter().find(|paper| paper.name == "stp").unwrap();
    paper.scenarios.iter().map(|(name, text)| (*name, text.parse().unwrap()))
}

fn file(name: &str) -> Table {
    files().find(|(file, _)| *file == name).unwrap().1
}

/// Nagle's algorithm is XSTP's, and of two variants: the chapter has none.
#[test]
fn the_chapters_stp_has_no_nagle_in_any_file() {
    let mut with = Vec::new();
    for (name, file) in files() {
        let transports = file["transports"].as_table().unwrap();
        for (transport, keys) in transports {
            let of = |key: &str| keys.get(key).and_then(Value::as_str);
            let is_papers = of("protocol") == Some("stp") && of("profile") == Some("paper");
            if is_papers && keys.get("nagle").and_then(Value::as_bool) != Some(false) {
                with.push(format!("{name}: {transport}"));
            }
        }
    }
    let variants = ["rate-mode: backoff", "thin-return: stp_nagle"];
    assert!(variants.iter().all(|variant| with.iter().any(|found| found == variant)), "{with:?}");
    let others: Vec<&String> = with
        .iter()
        .filter(|found| !found.ends_with(": xstp") && !variants.contains(&found.as_str()))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Packets of `packet_bytes` in a tenth of a second of a rate such as "1.5Mbit/s".
fn tenth_of_a_second(rate: &Value, packet_bytes: f64) -> String {
    let mbps: f64 = rate.as_str().unwrap().strip_suffix("Mbit/s").unwrap().parse().unwrap();
    format!("{}packets", (mbps * 1e6 * 0.1 / 8.0 / packet_bytes).round())
}

#[test]
fn queues_hold_a_tenth_of_a_second_of_their_line() {
    let mut seen = 0;
    for name in ["geo", "leo"] {
        for (link, keys) in file(name)["links"].as_table().unwrap() {
            for way in ["forward", "reverse"].iter().filter_map(|way| keys.get(way)) {
                let Some(queue) = way.get("queue") else { continue };
                assert_eq!(
                    queue.as_str().unwrap(),
                    tenth_of_a_second(&way["rate"], 1000.0),
                    "{name}: {link}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
    let direcpc = tenth_of_a_second(&file("commercial")["links"]["path"]["forward"]["rate"], 1500.0);
    let swept = &file("commercial")["sweep"]["together"]["path"]["links.path.forward.queue"];
    assert_eq!(swept[0].as_str().unwrap(), direcpc);
    let queues = &file("commercial-queues")["sweep"]["together"]["queue"]["links.path.forward.queue"];
    assert_eq!(queues[0].as_str().unwrap(), direcpc);
}

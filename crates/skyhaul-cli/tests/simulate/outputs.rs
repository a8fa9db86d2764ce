//! Outputs of a sweep, which are always equal.

use crate::common::{names, run};
use crate::scenario::Place;

#[test]
fn equal_bytes_for_every_way_to_run_it() {
    let place = Place::new();
    let json = |extra: &[&str]| {
        let said = run(&[&["simulate", &place.file, "--json"], extra].concat());
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
        said.out
    };
    let first = json(&[]);
    assert_eq!(first, json(&["--jobs", "1"]));
    assert_eq!(first, json(&["--jobs", "2", "--out", &place.at("whole")]));
    json(&["--shard", "1/2", "--out", &place.at("one")]);
    json(&["--shard", "2/2", "--jobs", "1", "--out", &place.at("two")]);
    let merged = run(&["merge", &place.at("two"), &place.at("one"), "--out", &place.at("merged"), "--json"]);
    assert_eq!((merged.code, &merged.out), (Some(0), &first), "{merged:?}");
    for name in ["results.jsonl", "summary.csv"] {
        assert_eq!(place.read(&format!("whole/{name}")), place.read(&format!("merged/{name}")));
    }
    assert_eq!(names(&place.path("whole")), ["results.jsonl", "summary.csv"]);
    let report = run(&["report", &place.at("whole"), "--json"]);
    assert_eq!((report.code, report.out), (Some(0), first));
}

#[test]
fn the_object_has_every_point_with_its_statistics() {
    let place = Place::new();
    let json = run(&["simulate", &place.file, "--json", "--seed", "7", "--replications", "2"]).json();
    assert_eq!((&json["scenario"], &json["title"]), (&"short".into(), &"A short transfer".into()));
    assert_eq!((&json["seed"], &json["replications"], &json["runs"]), (&7.into(), &2.into(), &8.into()));
    assert_eq!((&json["missing_runs"], &json["failed_runs"]), (&0.into(), &0.into()));
    assert_eq!(json["axes"][1]["values"], serde_json::json!(["20ms", "50ms"]));
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!(points[1]["set"]["links.space.forward.loss"], 0);
    assert_eq!(points[1]["set"]["links.space.forward.delay"], "50ms");
    let goodput = &points[3]["metrics"]["goodput_bps"];
    assert_eq!(goodput["n"], 2);
    let number = |name: &str| goodput[name].as_f64().unwrap();
    assert!(number("mean") > 1e5 && number("min") <= number("mean") && number("mean") <= number("max"));
    // Student's t with one degree of freedom, two values.
    assert!((number("ci95") / number("sd") - 12.706_204_736 / 2f64.sqrt()).abs() < 1e-6, "{goodput}");
}

#[test]
fn flows_that_do_not_work_are_an_error_and_the_end_of_the_time_is_none() {
    let place = Place::new();
    let one = |more: &[&str]| {
        let sets = more.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
        let first = ["simulate", &place.file, "--json", "--replications", "1", "--set", "sweep={}"];
        run(&[&first[..], &sets].concat())
    };
    let endless_for_5_s = ["run={ duration = \"5s\" }", "flows.file.workload={ kind = \"bulk\" }"];
    let cut_off = one(&["run.duration=\"500ms\"", "flows.file.workload.size=\"60MB\""]);
    assert_eq!((cut_off.code, cut_off.json()["troubled_runs"].as_u64()), (Some(0), Some(0)), "{cut_off:?}");
    let endless = one(&endless_for_5_s);
    assert_eq!((endless.code, endless.json()["troubled_runs"].as_u64()), (Some(0), Some(0)), "{endless:?}");
    // It arrives, and the sender, which never hears so, gives up.
    let far = ["links.space.forward.delay=\"20s\"", "links.space.reverse.delay=\"20s\""];
    let gave_up = one(&far);
    assert_eq!(
        (gave_up.code, gave_up.json()["points"][0]["metrics"]["failed"]["max"].as_f64()),
        (Some(1), Some(1.0))
    );
    let said = "point 0 replication 0 (seed 1): flow file failed: ";
    assert!(gave_up.err.contains(said) && gave_up.err.contains("1 of 1 runs have flows"), "{}", gave_up.err);
    let trouble = gave_up.json()["troubles"][0]["trouble"].as_str().unwrap_or_default().to_string();
    assert!(trouble.starts_with("flow file failed: "), "{trouble}");
    let dead = ["run.duration=\"5s\"", "links.space.forward.loss=1"];
    let silent = one(&dead);
    assert_eq!(silent.code, Some(1), "{silent:?}");
    assert!(silent.err.contains("nothing of flow file arrived"), "{}", silent.err);
    let unnamed = one(&[&dead[..], &["metrics.wanted=[\"share\"]"]].concat());
    assert_eq!(unnamed.code, Some(1), "whichever metrics are wanted: {unnamed:?}");
    let endless = one(&[&endless_for_5_s[..], &dead[1..]].concat());
    assert_eq!(endless.code, Some(1), "{endless:?}");
}

#[test]
fn people_get_a_table_and_programs_csv() {
    let place = Place::new();
    let table = run(&["simulate", &place.file]);
    for words in
        ["A short transfer: 4 points, 3 replications each, seeds 1 to 3", "goodput_bps", "± 95 %", "50ms"]
    {
        assert!(table.out.contains(words), "{words}: {table:?}");
    }
    assert!(!(table.out + &table.err).contains(|c: char| c.is_control() && c != '\n'));
    let csv = run(&["simulate", &place.file, "--csv", "--out", &place.at("out")]);
    assert!(
        csv.out.starts_with("point,links.space.forward.loss,links.space.forward.delay,metric,n,mean,sd,ci95")
    );
    assert_eq!(csv.out, place.read("out/summary.csv"));
    let wanted =
        run(&["simulate", &place.file, "--set", "metrics.wanted=[\"rtt_ms.*\"]", "--set", "sweep={}"]);
    assert!(wanted.out.contains("rtt_ms.min") && !wanted.out.contains("goodput"), "{wanted:?}");
}

#[test]
fn without_a_folder_nothing_is_written() {
    let place = Place::new();
    assert_eq!(run(&["simulate", &place.file]).code, Some(0));
    assert_eq!(names(place.dir.path()), ["short.toml"]);
}

#[test]
fn a_failed_run_is_told_and_the_others_count() {
    let place = Place::new();
    let said = run(&["simulate", &place.file, "--max-events", "60", "--out", &place.at("out"), "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("seed 2): not over after 60 events; with a larger --max-events"), "{said:?}");
    assert!(
        said.err.contains("12 of 12 runs failed") && said.err.matches("not over").count() == 10,
        "{said:?}"
    );
    let json = said.json();
    assert_eq!((&json["failed_runs"], &json["points"][0]["metrics"]), (&12.into(), &serde_json::json!({})));
    assert_eq!(json["failures"][11]["point"], 3);
    let again =
        run(&["simulate", &place.file, "--max-events", "60", "--out", &place.at("out"), "--json", "--quiet"]);
    assert_eq!((again.code, again.out, again.err.lines().count()), (Some(1), said.out, 1));
}

#[test]
fn figures_of_a_sweep_and_of_definitions() {
    let place = Place::new();
    let out = place.at("out");
    let said = run(&["simulate", &place.file, "--out", &out, "--plot", "goodput_bps"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(place.read("out/figures/goodput_bps.svg").contains("Loss of link space, forward"));
    assert!(place.read("out/report.html").contains("A short transfer"));
    let figures = "[[figure]]\nid = \"F-1\"\ntitle = \"Loss\"\n[figure.panel]\nresults = \"results.jsonl\"\n\
                   x = { axis = \"links.space.forward.loss\", label = \"Loss\" }\n\
                   y = { metric = \"goodput_bps\", label = \"Goodput\" }\n\
                   series = { axis = \"links.space.forward.delay\" }\n";
    std::fs::write(place.path("figures.toml"), figures).unwrap();
    let claims = "[[claim]]\nid = \"F-1-a\"\nitem = \"F-1\"\nstatement = \"More delay, less goodput\"\nsource = \"-\"\n\
                  figure = \"F-1\"\ntest = { kind = \"less\", series = \"50ms\", than = \"20ms\" }\n";
    std::fs::write(place.path("claims.toml"), claims).unwrap();
    let (figures, claims, page) = (place.at("figures.toml"), place.at("claims.toml"), place.at("page"));
    let said = run(&["report", &out, "--figures", &figures, "--claims", &claims, "--out", &page, "--csv"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("reproduced") && said.out == place.read("page/claims.csv"), "{said:?}");
    assert!(place.read("page/report.md").contains("More delay, less goodput"));
    assert!(place.path("page/figures/F-1.png").exists());
    let table = run(&["report", &place.at("out/results.jsonl"), "--markdown"]);
    assert!(table.out.starts_with("| links.space.forward.loss |"), "{table:?}");
}

#[test]
fn the_table_shows_the_goodput_of_each_of_several_flows_and_how_evenly_they_share() {
    let place = Place::new();
    let text = place.read("short.toml");
    let (alone, _) = text.split_once("[sweep]").unwrap();
    let transports = "[transports.cubic]\nprotocol = \"tcp\"\n\
                      [transports.bbr]\nprotocol = \"tcp\"\ncontroller = \"bbr\"\n";
    let flow = |name: &str| {
        format!(
            "[flows.{name}]\nfrom = \"ground\"\nto = \"ship\"\ntransport = \"{name}\"\n\
             workload = {{ kind = \"bulk\", size = \"60kB\" }}\n"
        )
    };
    let several = format!("{alone}{transports}{}{}", flow("cubic"), flow("bbr"));
    let several = crate::common::file(place.dir.path(), "several.toml", several.as_bytes());
    let table = run(&["simulate", several.to_str().unwrap()]);
    assert_eq!(table.code, Some(0), "{table:?}");
    for metric in ["goodput_bps", "flows.bbr.goodput_bps", "flows.cubic.goodput_bps", "jain"] {
        assert!(
            table.out.lines().any(|line| line.split_whitespace().next() == Some(metric)),
            "{metric}: {table:?}"
        );
    }
    let one = run(&["simulate", &place.file]);
    assert!(!one.out.contains("jain"), "of one flow it says nothing: {one:?}");
}

#[test]
fn a_ready_scenario_is_known_by_name_and_a_file_of_that_name_wins() {
    let place = Place::new();
    let at = |name: &str| {
        let mut command = crate::common::skyhaul(&["simulate", name, "--csv", "--quiet"]);
        crate::common::Said::from(command.current_dir(place.dir.path()).output().unwrap())
    };
    let ready = at("steps");
    assert_eq!(ready.code, Some(0), "with its trace, without a folder: {ready:?}");
    assert!(ready.out.contains("goodput_bps"), "{ready:?}");
    let unknown = at("goe");
    assert_eq!(unknown.code, Some(2));
    for words in ["no such file", "did you mean `geo`?", "leo-passes", "whisper-return"] {
        assert!(unknown.err.contains(words), "{words}: {unknown:?}");
    }
    std::fs::copy(&place.file, place.path("geo")).unwrap();
    assert_eq!(at("geo").out, at("short.toml").out, "the file, not the ready scenario");
}

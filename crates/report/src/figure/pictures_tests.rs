//! Draws what is hard to draw. `SKYHAUL_PICTURES=DIR cargo test -p skyhaul-report pictures` leaves the
//! pictures in a folder: look at them after a change of layout. Their numbers are made up by a formula.

use super::figure_tests::TABLE;
use super::*;
use crate::results::parse_results;
use crate::results::results_tests::made_up;

pub(crate) fn keep(name: &str, svg: &str, png: &[u8]) {
    if let Some(folder) = std::env::var_os("SKYHAUL_PICTURES") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.svg")), svg).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }
}

fn drawn(figures: &str, losses: &[f64], names: &[&str]) {
    let results = parse_results(made_up(losses, names, 8).as_bytes(), "made-up").unwrap();
    for definition in Definitions::parse(figures, "pictures").unwrap().figures {
        let figure = Figure::from_results(&definition, &results).unwrap();
        let png = figure.to_png(1.5).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        keep(&definition.id, &figure.to_svg().unwrap(), &png);
        if let Some(folder) = std::env::var_os("SKYHAUL_PICTURES") {
            let path = Path::new(&folder).join(format!("{}.pdf", definition.id));
            std::fs::write(path, figure.to_pdf().unwrap()).unwrap();
        }
    }
}

#[test]
fn pictures_of_two_curves_with_intervals() {
    drawn(
        r#"
[[figure]]
id = "line"
title = "Throughput, bit corruption, mean stays of 10 s"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "loss", label = "Packets dropped in the bad state", unit = "%", scale = 100 }
y = { metric = "goodput_bps", label = "Throughput", unit = "kbit/s", scale = 0.001 }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
marks = [{ on = "y", at = 968, label = "ceiling, 968 kbit/s" }, { on = "x", from = 15, to = 25, label = "the paper's gain is lost" }]
reference = [{ name = "as published", points = [[5, 700], [20, 420]] }]
[[figure]]
id = "bar"
title = "Overhead"
type = "bar"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "loss", label = "Packets dropped in the bad state", unit = "%", scale = 100 }
y = { metric = "overhead_percent", label = "Overhead", unit = "%" }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
[[figure]]
id = "dots"
title = "Goodput"
type = "bar"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "loss", label = "Packets dropped in the bad state", unit = "%", scale = 100 }
y = { metric = "goodput_bps", label = "Throughput", unit = "kbit/s", scale = 0.001, log = true, statistic = "median" }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
[[figure]]
id = "panels"
title = "Both, beside each other, under a title that is so long that it has to be broken into two lines, as some titles are that say all"
[[figure.panels]]
title = "(a) Throughput"
results = "made-up.jsonl"
x = { axis = "loss", label = "Packets dropped in the bad state", unit = "%", scale = 100 }
y = { metric = "goodput_bps", label = "Throughput", unit = "bit/s", log = true }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
[[figure.panels]]
title = "(b) Throughput over overhead"
results = "made-up.jsonl"
x = { axis = "loss", label = "Packets dropped in the bad state", unit = "%", scale = 100 }
y = { metric = "goodput_bps", divided_by = "overhead_percent", label = "Ratio", unit = "kbit/s per %", scale = 0.001 }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
"#,
        &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5],
        &["on", "off"],
    );
}

#[test]
fn pictures_of_a_table() {
    drawn(TABLE, &[0.0, 0.05, 0.5], &["on", "off"]);
}

#[test]
fn pictures_of_many_curves_over_decades() {
    drawn(
        r#"
[[figure]]
id = "decades"
title = "Forward throughput against bit error rate"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "loss", label = "Bit error rate", log = true }
y = { metric = "overhead_percent", label = "Overhead", unit = "%", log = true }
series = { axis = "flows.file.transport" }
[[figure]]
id = "names"
title = "Bars with long names"
type = "bar"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "flows.file.transport", label = "Transport" }
y = { metric = "goodput_bps", label = "Throughput", unit = "Mbit/s", scale = 1e-6 }
filter = { loss = 1e-4 }
"#,
        &[1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-2],
        &[
            "satellite transport protocol",
            "with probing",
            "without probing",
            "SACK with large windows",
            "Reno",
            "declared rate of 10 Mbit/s",
            "seven",
            "eight",
            "nine",
            "ten",
        ],
    );
}

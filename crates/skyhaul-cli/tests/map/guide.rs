//! Every command of the page about the map does what the page says.

use crate::pages::every_command_works;

/// A map of two cheap cells in place of the one that the program has.
fn small(text: &str) -> String {
    let text = text.replace("skyhaul map --quick --out", "skyhaul map small.toml --quick --out");
    let text = text.replace("skyhaul map --out", "skyhaul map small.toml --runs 2 --out");
    text.replace("--scenario 17", "small.toml --scenario 1")
        .replace("--cells 17,23", "small.toml --cells 1,2")
}

#[test]
fn every_command_of_the_page_about_the_map_works() {
    let page = include_str!("../../../../docs/guide/controller-map.md");
    let file = "\n```toml small.toml\ntitle = \"Two cells\"\nseed = 1\ncells = 2\nruns = 1\nas_many = 1\n[axes]\n\
                own = { from = 1, to = 1 }\nhosts = [\"one\"]\ntcps = { from = 1, to = 1 }\nkinds = [\"cubic\"]\n\
                queue = { from = 1, to = 2 }\ndisciplines = [\"droptail\"]\nloss = [0]\n\
                rtt = { from = \"50ms\", to = \"60ms\" }\nrate = { from = \"300kbit/s\", to = \"500kbit/s\" }\n```\n";
    every_command_works(
        &(file.to_string() + page),
        |_| true,
        small,
        (2, 1),
        &["map/cells.csv", "map/figures/map.svg", "map/figures/map.pdf", "map/report.html", "cell-017.toml"],
    );
}

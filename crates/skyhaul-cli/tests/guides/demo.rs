//! The page about the demo.

use crate::common::run;

const PAGE: &str = include_str!("../../../../docs/guide/demo.md");

/// Commands of the page with what it shows of each result.
fn shown() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let blocks = PAGE.split("$ cargo run --release -- ").skip(1);
    let one = |block: &'static str| {
        let mut lines = block.split("\n```").next().unwrap().lines();
        (lines.next().unwrap().split(' ').collect(), lines.collect())
    };
    blocks.map(one).collect()
}

/// Words in front of the figures of a line; `None` for those in between.
fn label(line: &str) -> Option<&str> {
    let label = line.get(2..20)?.trim_end();
    (!label.starts_with([' ', '.']) && !label.is_empty()).then_some(label)
}

#[test]
fn every_command_of_the_page_about_the_demo_works_and_shows_these_lines() {
    let shown = shown();
    assert_eq!(shown.len(), 2);
    for (mut args, lines) in shown {
        let is_through_at_once = !args.contains(&"--size");
        if is_through_at_once {
            args.extend(["--size", "300kB"]);
        } else {
            // The first outage comes after 7 s.
            *args.last_mut().unwrap() = "10MB";
        }
        let said = run(&args);
        assert_eq!(said.code, Some(0), "{args:?}: {said:?}");
        for label in lines.into_iter().filter_map(label) {
            assert!(
                said.out.lines().any(|line| line.starts_with(&format!("  {label:<17} "))),
                "{label}: {said:?}"
            );
        }
    }
}

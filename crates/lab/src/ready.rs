//! Ready scenarios, as they are in `scenarios/`: the program has them, so that they are known by name where
//! that folder is not.

use crate::UnknownName;

macro_rules! files {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../scenarios/", $file)))),*]
    };
}

/// Every file of that folder, by its name: scenarios, and traces that they name.
pub(crate) const FILES: &[(&str, &str)] = files![
    "beside-tcp.toml",
    "deep-queue.toml",
    "explicit-stp.toml",
    "explicit.toml",
    "fairness-rtt.toml",
    "fairness.toml",
    "geo-noisy.toml",
    "geo.toml",
    "joining.toml",
    "leo-handoff.toml",
    "leo-passes.toml",
    "petra-hop.toml",
    "petra.toml",
    "rain-fade.csv",
    "rain-fade.toml",
    "remembered.toml",
    "scps.toml",
    "shallow-queue.toml",
    "starlink.toml",
    "steps.csv",
    "steps.toml",
    "tcp-geo.toml",
    "thin-return.toml",
    "whisper-return.toml",
];

/// Names of the ready scenarios.
pub fn ready_names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(file, _)| file.strip_suffix(".toml"))
}

/// Text of the ready scenario of this name.
pub(crate) fn ready_text(name: &str) -> Result<&'static str, UnknownName> {
    let found = FILES.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    found
        .map(|&(_, text)| text)
        .ok_or_else(|| UnknownName::new("no ready scenario", name, ready_names(), ready_names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_every_scenario_and_trace_of_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(there, FILES.iter().map(|(file, _)| *file).collect::<Vec<_>>());
    }

    #[test]
    fn every_ready_scenario_is_one_without_any_folder() {
        for name in ready_names() {
            let file = crate::load(&crate::standard(), std::path::Path::new(name), &[])
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(file.name(), name);
            assert!(file.points().count() > 0);
        }
    }
}

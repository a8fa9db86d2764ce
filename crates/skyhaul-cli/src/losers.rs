//! Files that failed, in the words of an error.

use std::collections::BTreeMap;

use skyhaul_files::{RawName, SessionReport};

use crate::counted::counted;
use crate::file_lines::{NAME_COLUMNS, REASON_COLUMNS};
use crate::line::shortened;

/// Files, and reasons, that an error names.
const MAX_NAMED: usize = 3;

/// Reasons for which files failed, each with the first of its files, and how many there are.
pub(crate) fn failed_files(report: &SessionReport) -> String {
    let mut reasons: BTreeMap<String, Vec<&RawName>> = BTreeMap::new();
    for (file, failure) in report.failed().filter_map(|file| Some((file, file.failure()?))) {
        reasons.entry(failure.to_string()).or_default().push(&file.name);
    }
    let failures: usize = reasons.values().map(Vec::len).sum();
    let more = if reasons.len() > MAX_NAMED { "; and more" } else { "" };
    let is_one = report.files.len() <= 1;
    let cut = |text: String, columns| if is_one { text } else { shortened(&text, columns) };
    let told = reasons.into_iter().take(MAX_NAMED).map(|(reason, names)| {
        let name = |name: &RawName| cut(name.to_string(), NAME_COLUMNS);
        format!("{} {}", named(&names, name), cut(reason, REASON_COLUMNS))
    });
    let told = told.collect::<Vec<_>>().join("; ");
    match report.files.len() {
        0 | 1 => told,
        all => format!("{failures} of {} failed. {told}{more}", counted(all as u64, "file")),
    }
}

/// Some of these names, as `shown`, and how many more there are.
fn named(names: &[&RawName], shown: impl Fn(&RawName) -> String) -> String {
    let some = names.iter().take(MAX_NAMED).map(|name| format!("'{}'", shown(name)));
    let some = some.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => some + ":",
        more => format!("{some} and {more} more:"),
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{Code, Failure, FileOutcome, FileReport, Reason, Side};

    use super::*;

    #[test]
    fn an_error_names_some_of_the_files_that_failed() {
        let report = |failures: usize| {
            let failed = |i: usize| FileReport {
                outcome: FileOutcome::Failed(Failure {
                    side: Side::Receiver,
                    reason: Reason::new(Code::Exists, "no"),
                }),
                ..FileReport::unfinished(RawName::new(format!("f{i}")), 1, Side::Receiver)
            };
            SessionReport { files: (0..failures).map(failed).collect() }
        };
        assert_eq!(failed_files(&report(1)), "'f0': receiver: no");
        assert_eq!(failed_files(&report(2)), "2 of 2 files failed. 'f0', 'f1': receiver: no");
        assert_eq!(
            failed_files(&report(300)),
            "300 of 300 files failed. 'f0', 'f1', 'f2' and 297 more: receiver: no"
        );
    }
}

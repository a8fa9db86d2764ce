//! The files of a transfer in its table: each, or of many their number and those that failed.

use std::io::{self, Write};

use skyhaul_files::{Failure, FileOutcome, FileReport, RawName, Reason, SessionReport};

use crate::file_results::{FileResult, FileResults};
use crate::line::shortened;

/// Failures that are listed unless every file is asked for, in a table and in a receiver's object.
pub(crate) const MAX_LISTED: usize = 10;
/// Octets of their names and reasons in a receiver's object: ten of ordinary length, or three of the longest.
const MAX_LISTED_BYTES: usize = 4096;
/// Octets of the entries of files that are there, above the bytes of those files, in a receiver's object.
const MAX_STORED_LISTED_BYTES: u64 = 128 * 1024;
/// About what an entry takes beside the name, which stands in it twice.
const ENTRY_BYTES: u64 = 400;
/// Columns of a name and of a reason among several: escapes make them five times as long as they came.
pub(crate) const NAME_COLUMNS: usize = 80;
pub(crate) const REASON_COLUMNS: usize = 255;

/// A line or two for each file if there is one or `all` are wanted, else a bounded number.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_file_lines(out: &mut dyn Write, files: &FileResults, all: bool) -> io::Result<()> {
    if all || files.len() <= 1 {
        return files.iter().try_for_each(|one| put(out, &one));
    }
    let (count, there) = (files.len(), files.delivered());
    match there {
        0 => {}
        _ if there == count => writeln!(out, "  {:<17} {count}, verified: they are what was sent", "files")?,
        _ => writeln!(out, "  {:<17} {there} of {count} verified: they are what was sent", "files")?,
    }
    listed(out, files)
}

/// This report for [`write_file_lines`] without `all`: files that are only counted have no name and no
/// reason. Made fit for a terminal, they would take a kilobyte each.
pub(crate) fn brief(report: &SessionReport) -> SessionReport {
    let is_one = report.files.len() <= 1;
    without_names(report, |file, failures| is_one || file.failure().is_some() && failures <= MAX_LISTED)
}

/// This report for a receiver's object: what it leaves out has no name and no reason.
pub(crate) fn brief_object(report: &SessionReport) -> SessionReport {
    let most_stored_bytes = MAX_STORED_LISTED_BYTES + report.delivered_bytes();
    let (mut bytes, mut stored_bytes) = (0, 0);
    without_names(report, |file, failures| {
        let Some(failure) = file.failure() else {
            stored_bytes += ENTRY_BYTES + 2 * file.name.to_string().len() as u64;
            return stored_bytes <= most_stored_bytes;
        };
        if failures > MAX_LISTED {
            return false;
        }
        bytes += file.name.to_string().len() + failure.to_string().len();
        failures == 1 || bytes <= MAX_LISTED_BYTES
    })
}

/// True for a file that is only counted, as any whose name was empty.
pub(crate) fn is_counted(file: &FileReport) -> bool {
    file.name.as_bytes().is_empty()
}

/// This report, without names and reasons but of files that are listed. `is_listed` is told how many have
/// failed up to a file, itself included.
fn without_names(
    report: &SessionReport,
    mut is_listed: impl FnMut(&FileReport, usize) -> bool,
) -> SessionReport {
    let mut failures = 0;
    let mut is_listed = |file: &FileReport| {
        failures += usize::from(file.failure().is_some());
        is_listed(file, failures)
    };
    let nameless = RawName::new("");
    let counted = |file: &FileReport| {
        let outcome = match &file.outcome {
            FileOutcome::Failed(Failure { side, reason }) => {
                FileOutcome::Failed(Failure { side: *side, reason: Reason::new(reason.code, "") })
            }
            delivered @ FileOutcome::Delivered { .. } => delivered.clone(),
        };
        FileReport { name: nameless.clone(), outcome, ..file.clone() }
    };
    let files = report.files.iter().map(|file| if is_listed(file) { file.clone() } else { counted(file) });
    SessionReport { files: files.collect() }
}

/// The first failures, and how many more there are.
fn listed(out: &mut dyn Write, files: &FileResults) -> io::Result<()> {
    for one in files.failed().take(MAX_LISTED) {
        let name = shortened(&one.name, NAME_COLUMNS);
        let error = one.error.as_ref().map(|error| shortened(error, REASON_COLUMNS));
        put(out, &FileResult { name, error, ..one })?;
    }
    let failures = files.len() - files.delivered();
    if failures > MAX_LISTED {
        writeln!(out, "  {:<17} {} more FAILED: --verbose lists them", "", failures - MAX_LISTED)?;
    }
    Ok(())
}

fn put(out: &mut dyn Write, file: &FileResult) -> io::Result<()> {
    match (&file.digest, &file.error) {
        (Some(digest), _) => {
            writeln!(out, "  {:<17} {}  verified: it is what was sent", "file", file.name)?;
            writeln!(out, "  {:<13} {digest}", "  BLAKE3") // 80 columns
        }
        (None, error) => {
            let error = error.as_deref().unwrap_or("unknown");
            writeln!(out, "  {:<17} {}  FAILED: {error}", "file", file.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{Digest, Side};

    use super::*;

    fn file_lines(files: &FileResults, all: bool) -> String {
        let mut out = Vec::new();
        write_file_lines(&mut out, files, all).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn files(delivered: usize, failed: usize) -> FileResults {
        let names: Vec<String> = (0..delivered + failed).map(|i| format!("f{i}")).collect();
        FileResults::of(names.iter().enumerate().map(|(i, name)| (&name[..], i < delivered)))
    }

    #[test]
    fn many_files_take_few_lines() {
        assert_eq!(
            file_lines(&files(300, 0), false),
            "  files             300, verified: they are what was sent\n"
        );
        let some = file_lines(&files(298, 2), false);
        assert!(some.starts_with("  files             298 of 300 verified"), "{some}");
        assert!(some.ends_with("f299  FAILED: receiver: no\n") && some.lines().count() == 3, "{some}");
        let none = file_lines(&files(0, 300), false);
        assert!(
            none.lines().count() == 11 && none.ends_with("290 more FAILED: --verbose lists them\n"),
            "{none}"
        );
        assert_eq!(
            file_lines(&files(100, 200), true).lines().count(),
            400,
            "each delivered one has its digest"
        );
    }

    #[test]
    fn a_brief_report_has_the_lines_of_the_whole_one() {
        let file = |i: usize| {
            let report = FileReport::unfinished(RawName::new(format!("f{i}")), 1, Side::Receiver);
            let digest = Digest([0; 32]);
            if i.is_multiple_of(3) {
                FileReport { outcome: FileOutcome::Delivered { digest }, ..report }
            } else {
                report
            }
        };
        for files in [0, 1, 2, 12, 60] {
            let whole = SessionReport { files: (0..files).map(file).collect() };
            let lines = |report: &SessionReport| file_lines(&FileResults::new(report), false);
            let short = brief(&whole);
            assert_eq!(lines(&short), lines(&whole));
            assert_eq!(short.delivered_bytes(), whole.delivered_bytes());
            let named = short.files.iter().filter(|file| !file.name.as_bytes().is_empty()).count();
            assert!(named <= MAX_LISTED, "{named}");
        }
    }

    /// An octet of a name that is no text takes four in print.
    #[test]
    fn an_object_lists_failures_by_number_and_by_octets() {
        let of = |name_bytes: usize| {
            let file = |_| FileReport::unfinished(RawName::new(vec![0xff; name_bytes]), 1, Side::Receiver);
            let files =
                FileResults::new(&brief_object(&SessionReport { files: (0..60).map(file).collect() }));
            let listed = serde_json::to_value(&files).unwrap().as_array().unwrap().len();
            assert_eq!(files.left_out(), 60 - listed);
            listed
        };
        assert_eq!([of(20), of(255)], [MAX_LISTED, 3]);
    }

    /// Tens of thousands of empty files made an object of 20 MB.
    #[test]
    fn an_object_lists_small_files_by_octets_and_all_that_have_some() {
        let of = |bytes: u64| {
            let outcome = FileOutcome::Delivered { digest: Digest([0; 32]) };
            let report = |i| FileReport::unfinished(RawName::new(format!("f{i}")), bytes, Side::Receiver);
            let file = |i| FileReport { outcome: outcome.clone(), ..report(i) };
            FileResults::new(&brief_object(&SessionReport { files: (0..5000).map(file).collect() }))
                .left_out()
        };
        assert_eq!([of(500), of(400)], [0, 0]);
        assert!((4650..4700).contains(&of(0)), "{}", of(0));
    }

    #[test]
    fn one_file_is_told_with_its_digest() {
        assert_eq!(file_lines(&files(1, 0), false).lines().count(), 2);
        assert_eq!(file_lines(&files(0, 1), false), "  file              f0  FAILED: receiver: no\n");
    }
}

//! Reads `results.jsonl`: a header, then one line a run, whatever their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::{Axis, AxisValue, Results, ResultsHeader, Run};
use crate::error::{ReportError, listed};

/// The longest line that is read: a run with a few thousand metrics is far below it.
pub const MAX_LINE_BYTES: usize = 4 << 20;
/// The most runs of one file.
pub const MAX_RUNS: usize = 1_000_000;
/// The most points of one file.
const MAX_POINTS: usize = 100_000;

/// Reads a result file, complete or of an interrupted sweep.
///
/// # Errors
/// Names file and line: not a result file, another version, a line that is no run, a point outside of the
/// sweep, a run that stands there twice, more than [`MAX_RUNS`] runs or [`MAX_LINE_BYTES`] in a line. A last
/// line without its end is what an interrupted sweep leaves: it is left out, and [`Results::torn_line`] says
/// so.
pub fn read_results(path: &Path) -> Result<Results, ReportError> {
    let file = File::open(path).map_err(|source| ReportError::read(path, source))?;
    read_from(BufReader::new(file), &path.display().to_string(), |source| ReportError::read(path, source))
}

/// Parses a text; `place` stands for the file's name in messages.
///
/// # Errors
/// As [`read_results`].
pub fn parse_results(text: &[u8], place: &str) -> Result<Results, ReportError> {
    read_from(text, place, |source| ReportError::line(place, 0, source.to_string()))
}

fn read_from(
    mut input: impl BufRead,
    place: &str,
    failed: impl Fn(std::io::Error) -> ReportError,
) -> Result<Results, ReportError> {
    let mut line = Vec::new();
    let mut number = 0;
    let mut header: Option<ResultsHeader> = None;
    let mut runs: Vec<Run> = Vec::new();
    let mut torn_line = None;
    loop {
        line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        if input.by_ref().take(limit).read_until(b'\n', &mut line).map_err(&failed)? == 0 {
            break;
        }
        number += 1;
        if line.len() > MAX_LINE_BYTES {
            return Err(ReportError::line(place, number, format!("longer than {MAX_LINE_BYTES} bytes")));
        }
        let ended = line.ends_with(b"\n");
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(header) = &header else {
            header = Some(read_header(&line, place, number)?);
            continue;
        };
        match read_run(&line, header, place, number) {
            Ok(_) if runs.len() == MAX_RUNS => {
                return Err(ReportError::line(place, number, format!("more than {MAX_RUNS} runs")));
            }
            Ok(run) => runs.push(run),
            Err(_) if !ended => torn_line = Some(number),
            Err(error) => return Err(error),
        }
    }
    let header =
        header.ok_or_else(|| ReportError::line(place, 1, "the file is empty: a header line was expected"))?;
    finish(place, header, runs, torn_line)
}

fn read_header(line: &[u8], place: &str, number: usize) -> Result<ResultsHeader, ReportError> {
    let wrong = |message: String| ReportError::line(place, number, message);
    let header: ResultsHeader = serde_json::from_slice(line).map_err(|error| {
        wrong(format!("this is no header of a result file: {error}; expected {{\"skyhaul_results\":1,...}}"))
    })?;
    if header.skyhaul_results != 1 {
        return Err(wrong(format!("results of version {}; version 1 can be read", header.skyhaul_results)));
    }
    if header.points > MAX_POINTS {
        return Err(wrong(format!("{} points; at most {MAX_POINTS} can be read", header.points)));
    }
    let product = header.axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.values.len()));
    if product != Some(header.points) {
        let sizes = listed(header.axes.iter().map(|axis| format!("{} ({})", axis.key, axis.values.len())));
        return Err(wrong(format!("{} points, but the axes {sizes} make another number", header.points)));
    }
    Ok(header)
}

fn read_run(line: &[u8], header: &ResultsHeader, place: &str, number: usize) -> Result<Run, ReportError> {
    let run: Run = serde_json::from_slice(line)
        .map_err(|error| ReportError::line(place, number, format!("this is no run: {error}")))?;
    if run.point >= header.points {
        let message = format!("point {}, but the sweep has {} (from 0)", run.point, header.points);
        return Err(ReportError::line(place, number, message));
    }
    Ok(run)
}

fn finish(
    place: &str,
    header: ResultsHeader,
    mut runs: Vec<Run>,
    torn_line: Option<usize>,
) -> Result<Results, ReportError> {
    runs.sort_by_key(|run| (run.point, run.replication));
    let same = |pair: &&[Run]| (pair[0].point, pair[0].replication) == (pair[1].point, pair[1].replication);
    if let Some([twice, ..]) = runs.windows(2).find(same) {
        let message = format!("point {} replication {} stands there twice", twice.point, twice.replication);
        return Err(ReportError::item(place, message));
    }
    let mut coordinates: Vec<_> = (0..header.points).map(|point| on_axes(&header.axes, point)).collect();
    for run in &runs {
        for (key, value) in &run.set {
            coordinates[run.point].entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(Results { place: place.to_owned(), header, runs, torn_line, coordinates })
}

/// Keys that a point sets: the last axis varies fastest.
fn on_axes(axes: &[Axis], point: usize) -> BTreeMap<String, AxisValue> {
    let mut rest = point;
    let mut set = BTreeMap::new();
    for axis in axes.iter().rev() {
        // No axis is empty where there is a point: the header's product was checked.
        let value = axis.values[rest % axis.values.len()].clone();
        rest /= axis.values.len();
        set.insert(axis.key.clone(), value);
    }
    set
}

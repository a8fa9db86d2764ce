//! Map: every cell, with the scenario that runs it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use skyhaul_scenario::{File, MAX_FILE_BYTES};
use skyhaul_sim::sweep::{FORMAT, Header, HeaderAxis, RunId};

use super::cell::Cell;
use super::definition::{Definition, check_cost};
use super::error::MapError;
use super::sample::cells;
use crate::standard;

/// Map that is there without a file.
const READY: (&str, &str) = ("maps/controller.toml", include_str!("../../../../maps/controller.toml"));

/// Order of a map.
#[derive(Clone, Debug, Default)]
pub struct MapOrder {
    /// File of the axes; `None`: the one that the program has.
    pub file: Option<PathBuf>,
    /// Runs of each cell; `None`: as the file has it.
    pub runs: Option<u32>,
    /// Numbers of the cells that are run, from 1; none: all.
    pub only: Vec<usize>,
}

/// Map of cells.
#[derive(Clone, Debug)]
pub struct Map {
    /// Title, in a line.
    pub title: String,
    /// Cells that are run, with their numbers.
    pub cells: Vec<(usize, Cell)>,
    /// Header of the results.
    pub header: Header,
    /// How many cells there are in all.
    pub all: usize,
    files: Vec<File>,
}

impl Map {
    /// Map that this order asks for.
    ///
    /// # Errors
    /// The file cannot be read or makes no sense, or what it asks for would take hours.
    pub fn new(order: &MapOrder) -> Result<Self, MapError> {
        match &order.file {
            None => Self::parse(READY.0, READY.1, order),
            Some(path) => Self::parse(&path.display().to_string(), &text_of(path)?, order),
        }
    }

    /// Map of a file's `text`, which is called `label` in messages.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn parse(label: &str, text: &str, order: &MapOrder) -> Result<Self, MapError> {
        let definition = Definition::parse(label, text)?;
        let (title, runs) = (&definition.title, order.runs.unwrap_or(definition.runs));
        let drawn = cells(&definition);
        let all = drawn.len();
        if let Some(&number) = order.only.iter().find(|&&number| !(1..=all).contains(&number)) {
            return Err(MapError::NoCell { number, cells: all });
        }
        let is_asked = |number: &usize| order.only.is_empty() || order.only.contains(number);
        let cells: Vec<_> = (1..).zip(drawn).filter(|(number, _)| is_asked(number)).collect();
        let costs: Vec<Cell> = cells.iter().map(|(_, cell)| cell.clone()).collect();
        check_cost(&costs, runs).map_err(|what| MapError::Absurd { file: label.to_string(), what })?;
        let file = |(number, cell): &(usize, Cell)| {
            let text = cell.scenario(&format!("Cell {number}"), definition.seed);
            File::parse(&standard(), &format!("cell-{number:03}.toml"), &text)
        };
        let files = cells.iter().map(file).collect::<Result<Vec<_>, _>>()?;
        let header = header(&definition, &cells, &files, runs)?;
        Ok(Self { title: title.clone(), cells, header, all, files })
    }

    /// Scenario file of a cell, for `skyhaul simulate`.
    ///
    /// # Errors
    /// There is no cell of this number.
    pub fn scenario_text(&self, number: usize) -> Result<String, MapError> {
        let found = self.cells.iter().find(|(other, _)| *other == number);
        let (_, cell) = found.ok_or(MapError::NoCell { number, cells: self.all })?;
        Ok(cell.scenario(&format!("Cell {number}"), self.header.seed))
    }

    /// Cell of a run, and its scenario file.
    pub(super) fn at(&self, id: RunId) -> (&Cell, &File) {
        (&self.cells[id.point].1, &self.files[id.point])
    }
}

fn header(
    definition: &Definition,
    cells: &[(usize, Cell)],
    files: &[File],
    runs: u32,
) -> Result<Header, MapError> {
    let mut digest = blake3::Hasher::new();
    for file in files {
        digest.update(file.digest()?.as_bytes());
    }
    Ok(Header {
        skyhaul_results: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_string(),
        scenario: "map".to_string(),
        title: definition.title.clone(),
        digest: digest.finalize().to_hex().to_string(),
        wanted: Vec::new(),
        axes: vec![HeaderAxis {
            key: "cell".to_string(),
            values: cells.iter().map(|(number, _)| (*number).into()).collect(),
        }],
        points: cells.len(),
        replications: runs,
        seed: definition.seed,
    })
}

fn text_of(path: &Path) -> Result<String, MapError> {
    let failed = |error| MapError::Read { path: path.to_path_buf(), error };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_FILE_BYTES as u64).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

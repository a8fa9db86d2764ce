//! A scenario file: parsed, its overrides applied, every point of its sweep checked.

use std::path::Path;
use std::sync::Arc;

use super::ScenarioError;
use super::error::{Place, SourceText};
use super::keys::read_table;
use super::model::Scenario;
use super::path::KeyPath;
use super::protocol::Register;
use super::resolve::resolve;
use super::sweep::{Axis, Label, axes, check_apart};
use super::tables::{Document, document_keys};
use super::trace::Traces;
use super::tree::{Node, Table, Value};
use super::wanted::Wanted;

/// Largest file, in bytes.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// Most points of a sweep.
pub const MAX_POINTS: usize = 100_000;

/// A scenario file that makes sense at every point of its sweep.
#[derive(Clone, Debug)]
pub struct File {
    register: Register,
    label: String,
    text: String,
    overrides: Vec<(String, String)>,
    /// Without the sweep.
    base: Node,
    axes: Vec<Axis>,
    settings: Settings,
    traces: Traces,
}

/// Statements of a file about its runs that holds for the whole sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Title: its subject in a line; the file's name if it does not say.
    pub title: String,
    /// Description at length.
    pub description: Option<String>,
    /// Replication r of each point, counted from 0, has this seed plus r.
    pub seed: u64,
    /// Runs of each point.
    pub replications: u32,
    /// Which metrics are asked for.
    pub wanted: Wanted,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its place among all points, counted from 0; the last axis varies fastest.
    pub number: usize,
    /// For each axis, which of its values.
    pub choices: Vec<usize>,
}

impl File {
    /// Reads a file's `text`. Messages call it `label`, its path. Traces of links that it names are read now,
    /// from its folder. Its transports are of the families in `register`.
    pub fn parse(register: &Register, label: &str, text: &str) -> Result<Self, ScenarioError> {
        Self::load(register, label, text, &[])
    }

    /// File with `overrides`: key paths as in `links.space.forward.rate` (`sweep."KEY"` sets an axis,
    /// `sweep = {}` removes them all) and values as TOML has them, where words need no quotes. A file may be
    /// complete only with its overrides.
    pub fn load(
        register: &Register,
        label: &str,
        text: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        Self::load_with(register, label, text, &[], overrides)
    }

    /// File with `overrides` as for [`load`](Self::load), whose traces are sought among these texts, each
    /// with its name, before its folder is.
    pub fn load_with(
        register: &Register,
        label: &str,
        text: &str,
        traces: &'static [(&'static str, &'static str)],
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        let source = source(label, text)?;
        let mut base = Node::document(&source)?;
        let mut axes = take_sweep(&mut base)?;
        for (key, value) in overrides {
            set(&mut base, &mut axes, key, value)?;
        }
        check_apart(&axes)?;
        let traces = Traces::of_file(label, traces);
        let register = register.clone();
        let (label, text, overrides) = (label.to_string(), text.to_string(), overrides.to_vec());
        let mut file =
            Self { register, label, text, overrides, base, axes, settings: Settings::default(), traces };
        file.check()?;
        Ok(file)
    }

    /// File with further overrides, see [`load`](Self::load).
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let overrides = [&self.overrides, overrides].concat();
        Self::load_with(&self.register, &self.label, &self.text, self.traces.texts(), &overrides)
    }

    /// Families that its transports may be of.
    pub fn register(&self) -> &Register {
        &self.register
    }

    /// Name of the file without folder and ending.
    pub fn name(&self) -> &str {
        let stem = Path::new(&self.label).file_stem().and_then(|stem| stem.to_str());
        stem.unwrap_or(&self.label)
    }

    /// Settings that hold for the whole sweep.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The axes of the sweep; none: a single point.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// All points of the sweep, at most [`MAX_POINTS`].
    pub fn points(&self) -> impl Iterator<Item = Point> {
        (0..count(&self.axes).unwrap_or(0)).map(|number| self.point(number))
    }

    /// The values of all axes at a point, by the names of the axes.
    pub fn labels(&self, point: &Point) -> Vec<(&str, &Label)> {
        let chosen = self.axes.iter().zip(&point.choices);
        chosen.map(|(axis, &choice)| (axis.name(), &axis.labels()[choice])).collect()
    }

    /// Overrides that make the file one without a sweep, with the values of a point.
    pub fn overrides_at(&self, point: &Point) -> Vec<(String, String)> {
        let chosen = self.axes.iter().zip(&point.choices);
        let values = chosen.flat_map(|(axis, &choice)| axis.overrides(choice));
        std::iter::once(("sweep".to_string(), "{}".to_string())).chain(values).collect()
    }

    /// Scenario at a point of [`points`](Self::points).
    pub fn scenario_at(&self, point: &Point) -> Result<Scenario, ScenarioError> {
        self.resolved(point).map(|(scenario, _)| scenario)
    }

    /// Scenario at the first point.
    ///
    /// # Errors
    /// As [`scenario_at`](Self::scenario_at).
    pub fn first_scenario(&self) -> Result<Scenario, ScenarioError> {
        self.scenario_at(&self.point(0))
    }

    /// A hash (BLAKE3, in hexadecimal digits) of all that decides about the results: files that differ in
    /// layout, comments, title or number of replications have the same one. The parameters that the
    /// profiles stand for are a part of it.
    pub fn digest(&self) -> Result<String, ScenarioError> {
        let mut hasher = blake3::Hasher::new();
        let axes: Vec<_> = self.axes.iter().map(|axis| (axis.name(), axis.labels())).collect();
        hasher.update(format!("{}\n{:?}\n{axes:?}\n", self.settings.seed, self.settings.wanted).as_bytes());
        for point in self.points() {
            let scenario = Scenario { name: String::new(), ..self.scenario_at(&point)? };
            hasher.update(format!("{scenario:?}\n").as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    fn point(&self, number: usize) -> Point {
        let mut rest = number;
        let mut choices = vec![0; self.axes.len()];
        for (choice, axis) in choices.iter_mut().zip(&self.axes).rev() {
            *choice = rest % axis.labels().len();
            rest /= axis.labels().len();
        }
        Point { number, choices }
    }

    /// Resolves every point, so that a bad value is known before anything runs.
    fn check(&mut self) -> Result<(), ScenarioError> {
        let top = self.base.place.clone();
        if count(&self.axes).is_none() {
            let sizes: Vec<String> = self.axes.iter().map(|axis| axis.labels().len().to_string()).collect();
            let found = format!("{} combinations", sizes.join(" x "));
            return Err(top.refuse("sweep", &found, &format!("at most {MAX_POINTS} points"), ""));
        }
        let mut settings = None;
        for point in self.points() {
            let (_, document) =
                self.resolved(&point).map_err(|error| self.with_circumstances(error, &point))?;
            settings.get_or_insert_with(|| self.settings_of(document));
        }
        self.settings = settings.unwrap_or_default();
        Ok(())
    }

    fn settings_of(&self, document: Document) -> Settings {
        Settings {
            title: document.title.unwrap_or_else(|| self.name().to_string()),
            description: document.description,
            seed: document.run.seed,
            replications: document.run.replications,
            wanted: document.metrics.wanted,
        }
    }

    fn resolved(&self, point: &Point) -> Result<(Scenario, Document), ScenarioError> {
        let mut root = self.base.clone();
        for (axis, &choice) in self.axes.iter().zip(&point.choices) {
            axis.apply(&mut root, choice)?;
        }
        let mut document = Document { register: self.register.clone(), ..Document::default() };
        read_table(document_keys(), &mut document, &root, "")?;
        let scenario = resolve(&document, self.name(), &root.place, &self.traces)?;
        Ok((scenario, document))
    }

    /// A value may be wrong only beside others that the file itself does not show.
    fn with_circumstances(&self, error: ScenarioError, point: &Point) -> ScenarioError {
        let without = Self { axes: Vec::new(), ..self.clone() };
        let none = Point { number: 0, choices: Vec::new() };
        let has_to_do_with_axes = without.resolved(&none).err().as_ref() != Some(&error);
        let overrides = self.overrides.iter().map(|(key, value)| show_override(key, value));
        let set = self.labels(point).into_iter().map(|(name, label)| format!("{name} = {label}"));
        let mut circumstances: Vec<String> = overrides.filter(|shown| *shown != error.place).collect();
        if has_to_do_with_axes {
            circumstances.push(format!("at {}", set.collect::<Vec<_>>().join(", ")));
        }
        if circumstances.is_empty() { error } else { error.under(&circumstances.join(", ")) }
    }
}

fn source(label: &str, text: &str) -> Result<Arc<SourceText>, ScenarioError> {
    if text.len() > MAX_FILE_BYTES {
        let place =
            Place::new(&Arc::new(SourceText { label: label.to_string(), ..SourceText::default() }), 0..0);
        let found = format!("a file of {} bytes", text.len());
        return Err(place.refuse("", &found, &format!("at most {MAX_FILE_BYTES}"), ""));
    }
    Ok(Arc::new(SourceText { label: label.to_string(), text: text.to_string(), is_override: false }))
}

/// The number of points, unless there are too many.
fn count(axes: &[Axis]) -> Option<usize> {
    let product = axes.iter().try_fold(1usize, |product, axis| product.checked_mul(axis.labels().len()));
    product.filter(|&points| points <= MAX_POINTS)
}

fn take_sweep(base: &mut Node) -> Result<Vec<Axis>, ScenarioError> {
    let Value::Table(Table { entries }) = &mut base.value else { return Ok(Vec::new()) };
    match entries.iter().position(|entry| entry.name == "sweep") {
        Some(number) => axes(&entries.remove(number).node),
        None => Ok(Vec::new()),
    }
}

fn show_override(key: &str, value: &str) -> String {
    format!("--set {}={}", as_typed(key), as_typed(value))
}

/// Text as it was typed, but for what no terminal shows as it is.
fn as_typed(text: &str) -> String {
    const PLAIN: [char; 3] = ['"', '\'', '\\'];
    let piece = |piece: &str| {
        let rest = piece.trim_end_matches(PLAIN);
        format!("{}{}", rest.escape_debug(), &piece[rest.len()..])
    };
    text.split_inclusive(PLAIN).map(piece).collect()
}

fn set(base: &mut Node, axes: &mut Vec<Axis>, key: &str, value: &str) -> Result<(), ScenarioError> {
    let source =
        Arc::new(SourceText { label: show_override(key, value), text: value.to_string(), is_override: true });
    let place = Place::new(&source, 0..value.len());
    let Some(path) = KeyPath::parse(key) else {
        let hint =
            "keys are separated by dots, in quotes if they hold other things than letters, digits, - and _";
        return Err(place.refuse("", &format!("`{key}`"), "a key such as links.space.forward.rate", hint));
    };
    let value = override_value(&source, &place)?;
    if let [sweep, below @ ..] = path.keys()
        && sweep == "sweep"
    {
        return set_axes(axes, &KeyPath::nest(below, value), below.is_empty());
    }
    if let Some(axis) = axes.iter().find(|axis| axis.sets(&path)) {
        let found = format!("a key that axis `{}` of the sweep sets", axis.name());
        return Err(place.refuse(&path.to_string(), &found, "another key", &axis.override_hint()));
    }
    path.set(base, value)
}

/// Replaces axes of the same name, and puts others behind those that are there.
fn set_axes(axes: &mut Vec<Axis>, sweep: &Node, anew: bool) -> Result<(), ScenarioError> {
    if anew {
        axes.clear();
    }
    for axis in super::sweep::axes(sweep)? {
        match axes.iter_mut().find(|other| other.name() == axis.name()) {
            Some(other) => *other = axis,
            None => axes.push(axis),
        }
    }
    Ok(())
}

/// A TOML value, or a word without quotes.
fn override_value(source: &Arc<SourceText>, place: &Place) -> Result<Node, ScenarioError> {
    match Node::single(source) {
        Err(_) if !source.text.trim_start().starts_with(['[', '{', '"', '\'']) => {
            Ok(Node { value: Value::Text(source.text.trim().to_string()), place: place.clone() })
        }
        value => value,
    }
}

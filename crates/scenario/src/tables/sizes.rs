//! Sizes of requests and responses, as a file says them: a size, or the table of a distribution.

use std::sync::LazyLock;

use crate::error::ScenarioError;
use crate::keys::{Key, join, read_table};
use crate::kinds::{Bytes, Choice, Kind, Maybe, Number};
use crate::sizes::{MAX_DRAWN_BYTES, Sizes};
use crate::tree::{Node, Value};

/// Values of a key that is read by [`read_sizes`].
pub(super) const ALLOWED: &str = "a size such as \"8kB\", or a table with a `distribution` of sizes";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Distribution {
    #[default]
    Pareto,
    LogNormal,
}

/// Distribution as the file says it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SizesDraft {
    distribution: Distribution,
    mean_bytes: u64,
    median_bytes: Option<u64>,
    shape: Option<f64>,
    max_bytes: u64,
}

pub(crate) fn sizes_keys() -> &'static [Key<SizesDraft>] {
    static KEYS: LazyLock<Vec<Key<SizesDraft>>> = LazyLock::new(|| {
        let drawn = || Bytes::from_to(1, MAX_DRAWN_BYTES);
        let names = Choice(&[("pareto", Distribution::Pareto), ("log-normal", Distribution::LogNormal)]);
        let shape = Number { min: 0.0, max: 100.0 };
        vec![
            Key::new("distribution", names, |s: &mut SizesDraft| &mut s.distribution)
                .means("How sizes are distributed. What is drawn depends on the seed alone.")
                .required(),
            Key::new("mean", drawn(), |s: &mut SizesDraft| &mut s.mean_bytes)
                .means("Mean before the cut; not above it.")
                .required(),
            Key::new("median", Maybe(drawn()), |s: &mut SizesDraft| &mut s.median_bytes)
                .means("Median, of \"log-normal\" alone; below the mean."),
            Key::new("shape", Maybe(shape), |s: &mut SizesDraft| &mut s.shape).means(
                "Shape, of \"pareto\" alone: the smaller, the heavier its tail; above 1, since there is no mean else.",
            ),
            Key::new("max", drawn(), |s: &mut SizesDraft| &mut s.max_bytes)
                .means("Cut: larger ones have this size, which lowers the mean.")
                .required(),
        ]
    });
    &KEYS
}

pub(super) fn read_sizes(sizes: &mut Sizes, node: &Node, path: &str) -> Result<(), ScenarioError> {
    if !matches!(node.value, Value::Table(_)) {
        let refuse = |hint: String| node.place.refuse(path, &node.shown(), ALLOWED, &hint);
        *sizes = Sizes::Fixed(Bytes::at_least(1).read(node).map_err(refuse)?);
        return Ok(());
    }
    let mut draft = SizesDraft::default();
    read_table(sizes_keys(), &mut draft, node, path)?;
    *sizes = draft.sizes().map_err(|(key, problem)| {
        let place =
            node.table().and_then(|table| table.get(key)).map_or(&node.place, |entry| &entry.node.place);
        place.error(&join(path, key), problem.to_string())
    })?;
    Ok(())
}

impl SizesDraft {
    /// Distribution that this says, or a key and what is wrong with it.
    fn sizes(self) -> Result<Sizes, (&'static str, &'static str)> {
        let Self { distribution, mean_bytes, median_bytes, shape, max_bytes } = self;
        if mean_bytes > max_bytes {
            return Err(("mean", "the mean is above the cut `max`: no size could be as large on average"));
        }
        match (distribution, median_bytes, shape) {
            (Distribution::Pareto, None, Some(shape)) if shape > 1.0 => {
                Ok(Sizes::Pareto { mean_bytes, shape, max_bytes })
            }
            (Distribution::Pareto, None, Some(_)) => Err((
                "shape",
                "a Pareto distribution with a shape of 1 or less has no mean; write one above 1",
            )),
            (Distribution::Pareto, None, None) => {
                Err(("shape", "a Pareto distribution needs its shape, above 1"))
            }
            (Distribution::Pareto, Some(_), _) => {
                Err(("median", "mean and shape say all of a Pareto distribution; leave it out"))
            }
            (Distribution::LogNormal, _, Some(_)) => {
                Err(("shape", "mean and median say all of a log-normal distribution; leave it out"))
            }
            (Distribution::LogNormal, Some(median_bytes), None) if median_bytes < mean_bytes => {
                Ok(Sizes::LogNormal { median_bytes, mean_bytes, max_bytes })
            }
            (Distribution::LogNormal, Some(_), None) => {
                Err(("median", "the median of a log-normal distribution lies below its mean"))
            }
            (Distribution::LogNormal, None, None) => {
                Err(("median", "a log-normal distribution needs its median, below the mean"))
            }
        }
    }
}

//! Cells drawn from the axes of a map. Each axis is cut into as many equal parts as there are cells, and each
//! part is used once, in an order of its own: so few cells lie everywhere.

use skyhaul_core::Stream;

use super::cell::{Cell, Hosts};
use super::definition::{Definition, Range};

/// Cells of the map: the given ones, then the drawn ones. Equal files give equal cells on every machine.
pub(super) fn cells(definition: &Definition) -> Vec<Cell> {
    let mut cells: Vec<Cell> = definition.given().collect();
    let count = definition.cells.saturating_sub(cells.len());
    let places = |axis: &str| shuffled(count, &mut Stream::new(definition.seed, &format!("map/{axis}")));
    let axes = &definition.axes;
    let (own, hosts, tcps) = (places("own"), places("hosts"), places("tcps"));
    let (kinds, queue, disciplines) = (places("kinds"), places("queue"), places("disciplines"));
    let (loss, rtt, rate, as_many) = (places("loss"), places("rtt"), places("rate"), places("as_many"));
    for number in 0..count {
        let tcps = whole(axes.tcps, tcps[number]);
        let is_as_many = as_many[number] < definition.as_many && tcps > 0;
        let own = if is_as_many { tcps } else { whole(axes.own, own[number]) };
        cells.push(Cell {
            own,
            hosts: if own == 1 { Hosts::One } else { one_of(&axes.hosts, hosts[number]) },
            tcps,
            kind: one_of(&axes.kinds, kinds[number]),
            queue: rounded(between(axes.queue, queue[number]), 3),
            discipline: one_of(&axes.disciplines, disciplines[number]),
            loss: one_of(&axes.loss, loss[number]),
            rtt_ns: rounded(
                between(Range { from: axes.rtt.from.0, to: axes.rtt.to.0 }.as_floats(), rtt[number]),
                3,
            ) as u64,
            rate_bps: rounded(
                between(Range { from: axes.rate.from.0, to: axes.rate.to.0 }.as_floats(), rate[number]),
                2,
            ) as u64,
        });
    }
    cells
}

/// Middles of `count` equal parts of 0 to 1, in a random order.
fn shuffled(count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut places: Vec<f64> = (0..count).map(|part| (part as f64 + 0.5) / count as f64).collect();
    for last in (1..count).rev() {
        places.swap(last, stream.below(last as u64 + 1) as usize);
    }
    places
}

fn whole(range: Range<u32>, place: f64) -> u32 {
    let values = f64::from(range.to - range.from + 1);
    range.from + (place * values) as u32
}

fn one_of<T: Copy>(values: &[T], place: f64) -> T {
    values[((place * values.len() as f64) as usize).min(values.len() - 1)]
}

/// Value at this place between the logarithms of both ends.
fn between(range: Range<f64>, place: f64) -> f64 {
    range.from * libm::exp(place * libm::log(range.to / range.from))
}

/// Number with so many digits; what differs in the last bits becomes the same.
fn rounded(value: f64, digits: i32) -> f64 {
    let decimals = digits - 1 - libm::floor(libm::log10(value)) as i32;
    let unit = libm::pow(10.0, f64::from(decimals.abs()));
    if decimals >= 0 { libm::round(value * unit) / unit } else { libm::round(value / unit) * unit }
}

impl Range<u64> {
    fn as_floats(self) -> Range<f64> {
        Range { from: self.from as f64, to: self.to as f64 }
    }
}

//! Formulas of [P-XCP IV]: what refused shares may cost at most; and drawings of its networks.

use serde_json::{Map, Value, json};

use super::{Computed, Content, Formula, Values, number, topology};

/// Axis of the part of all flows that refuse their share.
const LIMITED: &str = "limited";
/// Axis of the rule by which routers hand out feedback.
const RULE: &str = "rule";
/// Gain of the spare capacity, alpha.
const ALPHA: f64 = 0.4;
/// Part of the load that changes hands, gamma.
const GAMMA: f64 = 0.1;
/// Part of the refused shares that P-XCP hands out on top, k.
const K: f64 = 0.9;

/// All of them.
pub(in crate::papers) const P_XCP: &[Formula] = &[
    ("dumbbell", Content::Drawing(topology::dumbbell)),
    ("groups-drawn", Content::Drawing(topology::groups)),
    ("formula-b", Content::Results(bounds)),
];

/// Bound (4), where the limited flows carry next to nothing themselves.
fn bounds() -> Computed {
    Computed {
        title: "Rate that refused shares cost at most, formula (4)",
        axes: vec![
            (RULE, ["xcp", "p-xcp"].map(|rule| json!(rule)).to_vec()),
            (LIMITED, [0.1, 0.25, 0.5, 0.75, 0.9, 1.0].map(|part| json!(part)).to_vec()),
        ],
        metrics,
    }
}

/// Spare rate S in the steady state, over what is carried, y, and over the link, S + y: alpha S = gamma r y
/// of XCP, and of P-XCP alpha S = gamma (1 - k) y at most, whatever r is.
fn metrics(set: &Map<String, Value>) -> Values {
    let limited = number(set, LIMITED);
    let lost = if set.get(RULE).is_some_and(|rule| rule == "xcp") { limited } else { limited.min(1.0 - K) };
    let of_carried = GAMMA / ALPHA * lost;
    vec![("of_carried", of_carried), ("of_link", of_carried / (1.0 + of_carried))]
}

//! Drawings of the STP chapter: formats and states of the engine, topologies of the scenario files.

use serde_json::{Value, json};
use skyhaul_stp::segment::layout::{BODIES, HEADER, Layout};
use skyhaul_stp::{Origin, State, TIMERS, TRANSITIONS};

use super::{Content, Formula, topology};

/// All of them.
pub(in crate::papers) const STP: &[Formula] = &[
    ("formats", Content::Drawing(formats)),
    ("states", Content::Drawing(states)),
    ("topology-geo", Content::Drawing(topology::geo)),
    ("topology-leo", Content::Drawing(topology::leo)),
    ("topology-split", Content::Drawing(topology::split)),
    ("way-geo", Content::Results(topology::geo_way)),
    ("way-leo", Content::Results(topology::leo_way)),
];

/// Formats of the types that the chapter has.
fn formats() -> Value {
    let body = |layout: &Layout| {
        let types: Vec<String> = layout.types.iter().map(|bits| format!("0x{bits:02X}")).collect();
        format(&layout.names.join(", "), &format!("type {}", types.join(", ")), layout)
    };
    let all: Vec<Value> =
        std::iter::once(format("common header", "", &HEADER)).chain(BODIES.iter().map(body)).collect();
    json!({ "drawing": "formats", "formats": all })
}

fn format(name: &str, remark: &str, layout: &Layout) -> Value {
    let fields: Vec<Value> =
        layout.fields.iter().map(|field| json!({ "name": field.name, "bits": field.bits })).collect();
    json!({ "name": name, "remark": remark, "fields": fields })
}

/// Name of where a transition begins.
fn name(origin: Origin) -> &'static str {
    match origin {
        Origin::Nothing => "no connection",
        Origin::Listen => "LISTEN",
        Origin::At(state) => state.name(),
        Origin::Any => "any state",
    }
}

/// States, with the timers of each, and the transitions between them.
fn states() -> Value {
    let timers = |name: &str| {
        let run = TIMERS.iter().filter(|(_, states)| states.iter().any(|state| state.name() == name));
        run.map(|(timer, _)| *timer).collect::<Vec<_>>().join(", ")
    };
    let node = |name: &str, kind: &str| {
        let lines: Vec<String> = Some(timers(name)).into_iter().filter(|timers| !timers.is_empty()).collect();
        json!({ "name": name, "kind": kind, "lines": lines })
    };
    let mut nodes = Vec::new();
    for name in TRANSITIONS.iter().flat_map(|row| [name(row.from), row.to.name()]) {
        let is_state = State::ALL.iter().any(|state| state.name() == name) || name == "LISTEN";
        let node = node(name, if is_state { "state" } else { "text" });
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let ways: Vec<Value> = TRANSITIONS
        .iter()
        .map(|row| {
            let line =
                if row.sends.is_empty() { row.on.to_string() } else { format!("{} / {}", row.on, row.sends) };
            json!({ "from": name(row.from), "to": row.to.name(), "lines": [line], "directed": true })
        })
        .collect();
    json!({ "drawing": "graph", "nodes": nodes, "ways": ways })
}

#[cfg(test)]
mod tests {
    use skyhaul_report::figure::drawing::Drawing;

    use super::*;

    fn drawing(name: &str) -> Drawing {
        let found = STP.iter().find(|formula| formula.0 == name).unwrap();
        let (file, text) = found.1.file(name);
        Drawing::parse(&text, file).unwrap()
    }

    #[test]
    fn the_state_picture_has_every_transition_of_the_code() {
        let parts = drawing("states").parts();
        for row in TRANSITIONS {
            let way = format!("{} to {}", name(row.from), row.to.name());
            assert!(parts.contains(&way), "{way}");
        }
        for state in State::ALL {
            assert!(parts.contains(&state.name().to_string()), "{state}");
        }
    }
}

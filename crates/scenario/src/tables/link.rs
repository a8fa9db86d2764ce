//! `[links.NAME]`.

use std::sync::LazyLock;

use skyhaul_core::Instant;
use skyhaul_link::{
    ArqConfig, ChannelConfig, ChannelState, LinkConfig, Outage, PRESETS, StateConfig, preset,
};

use super::{ArqDraft, arq_keys, channel_keys, direction_keys};
use crate::error::{Place, ScenarioError};
use crate::keys::{Key, join, read_table};
use crate::kinds::{Kind, Maybe, Name, Named, Switch, Time};
use crate::nearest::did_you_mean;
use crate::tree::{Node, Value};

/// A link as the file says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkDraft {
    pub(crate) between: Vec<Named>,
    pub(crate) config: LinkConfig,
    pub(crate) every: Option<(Every, Place)>,
    pub(crate) arq: Option<(ArqConfig, Place)>,
    pub(crate) trace: Option<Named>,
    pub(crate) trace_repeats: bool,
}

/// Outages that return.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Every {
    pub(crate) period_ns: u64,
    pub(crate) length_ns: u64,
    pub(crate) first_ns: Option<u64>,
}

pub(crate) fn link_keys() -> &'static [Key<LinkDraft>] {
    static KEYS: LazyLock<Vec<Key<LinkDraft>>> = LazyLock::new(|| {
        let names: Vec<String> = PRESETS.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        vec![
            Key::custom("preset", &names.join(", "), read_preset).means(
                "Built-in link that the other keys change ([links](links.md) has them). Stands for \
             all keys below.",
            ),
            Key::custom("between", "two names of nodes, as in [\"ground\", \"ship\"]", read_between)
                .means("The nodes at its ends. Forward is from the first to the second.")
                .required(),
            Key::table("forward", direction_keys, |l: &mut LinkDraft| &mut l.config.forward)
                .means("From the first node to the second."),
            Key::table("reverse", direction_keys, |l: &mut LinkDraft| &mut l.config.reverse)
                .means("From the second node to the first."),
            Key::custom("channel", "a table", read_channel)
                .means("Changes between a good and a bad state, both directions together."),
            Key::custom("outages", "a list of tables, [[links.NAME.outages]]", read_outages).means(
                "When the link is down, both directions together: in the order of time, not \
             overlapping.",
            ),
            Key::custom("outages_every", "a table", read_every)
                .means("Outages that return, beside those of `outages`. Needs `run.duration`."),
            Key::custom("arq", "a table", read_arq).means(
                "A link layer that repeats what the link loses, both ways ([links](links.md#a-link-that-repeats)). \
             It has the queues.",
            ),
            Key::custom("trace", "the path of a CSV file, seen from the folder of the scenario", read_trace).means(
                "Rates, delays, largest packets and outages that change with time ([links](links.md#traces) has the \
             columns). What it does not say stays as the other keys say it.",
            ),
            Key::new("trace_repeats", Switch, |l: &mut LinkDraft| &mut l.trace_repeats).means(
                "The trace begins again at the time of its last row. Needs `run.duration`. Otherwise the last row \
             holds to the end.",
            ),
        ]
    });
    &KEYS
}

/// An outage of `outages`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    from_ns: u64,
    to_ns: u64,
}

pub(crate) fn outage_keys() -> &'static [Key<Times>] {
    static KEYS: LazyLock<Vec<Key<Times>>> = LazyLock::new(|| {
        vec![
            Key::new("from", Time::default(), |o: &mut Times| &mut o.from_ns)
                .means("First instant down.")
                .required(),
            Key::new("to", Time::default(), |o: &mut Times| &mut o.to_ns)
                .means("First instant up again.")
                .required(),
        ]
    });
    &KEYS
}

pub(crate) fn every_keys() -> &'static [Key<Every>] {
    static KEYS: LazyLock<Vec<Key<Every>>> = LazyLock::new(|| {
        let time = || Time { min_ns: 1 };
        vec![
            Key::new("period", time(), |e: &mut Every| &mut e.period_ns)
                .means("From the beginning of one to that of the next.")
                .required(),
            Key::new("length", time(), |e: &mut Every| &mut e.length_ns)
                .means("How long each lasts; less than the period.")
                .required(),
            Key::new("first", Maybe(Time::default()), |e: &mut Every| &mut e.first_ns)
                .means("When the first begins; without it, after one period."),
        ]
    });
    &KEYS
}

fn read_arq(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut arq = ArqDraft::default();
    read_table(arq_keys(), &mut arq, node, path)?;
    link.arq = arq.enabled.then(|| (arq.config, node.place.clone()));
    Ok(())
}

fn read_preset(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let config = node.text().and_then(preset);
    link.config = config.ok_or_else(|| {
        let names = || PRESETS.iter().map(|&(name, _)| name);
        let hint = did_you_mean(node.text().unwrap_or_default(), names());
        node.place.refuse(path, &node.shown(), &names().collect::<Vec<_>>().join(", "), &hint)
    })?;
    Ok(())
}

fn read_between(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let kind = Name("node");
    let names = match &node.value {
        Value::List(nodes) => nodes.iter().map(|node| kind.read(node)).collect::<Result<Vec<_>, _>>().ok(),
        _ => None,
    };
    link.between = names.filter(|names| names.len() == 2).ok_or_else(|| {
        node.place.refuse(path, &node.shown(), "two names of nodes", "write it like [\"ground\", \"ship\"]")
    })?;
    Ok(())
}

fn read_trace(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let name = node.text().filter(|name| !name.is_empty()).ok_or_else(|| {
        node.place.refuse(path, &node.shown(), "the path of a CSV file", "write it like \"rain-fade.csv\"")
    })?;
    link.trace = Some(Named { name: name.to_string(), place: node.place.clone() });
    Ok(())
}

fn read_channel(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let none = StateConfig { mean_stay_ns: 0, loss: 0.0, min_delay_ns: 0, max_delay_ns: 0 };
    let empty = ChannelConfig { good: none, bad: none, start: ChannelState::Good };
    let channel = link.config.channel.get_or_insert(empty);
    read_table(channel_keys(), channel, node, path)?;
    for (name, state) in [("good", &channel.good), ("bad", &channel.bad)] {
        if state.mean_stay_ns == 0 {
            let key = join(&join(path, name), "mean_stay");
            let at =
                node.table().and_then(|table| table.get(name)).map_or(&node.place, |entry| &entry.node.place);
            return Err(at.refuse(&key, "nothing", &Time::default().allowed(), "it is required"));
        }
    }
    Ok(())
}

fn read_outages(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let Value::List(nodes) = &node.value else {
        let hint = format!("write [[{path}]] in front of each");
        return Err(node.place.refuse(path, &node.shown(), "a list of tables", &hint));
    };
    let outage = |(number, node): (usize, &Node)| {
        let mut times = Times::default();
        read_table(outage_keys(), &mut times, node, &format!("{path}[{number}]"))?;
        Ok(Outage { from: Instant::from_ns(times.from_ns), to: Instant::from_ns(times.to_ns) })
    };
    link.config.outages = nodes.iter().enumerate().map(outage).collect::<Result<_, _>>()?;
    Ok(())
}

fn read_every(link: &mut LinkDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let mut every = Every::default();
    read_table(every_keys(), &mut every, node, path)?;
    if every.length_ns >= every.period_ns {
        let problem = "found a length that is not below the period; the link would never be up";
        return Err(node.place.error(&join(path, "length"), problem.to_string()));
    }
    link.every = Some((every, node.place.clone()));
    Ok(())
}

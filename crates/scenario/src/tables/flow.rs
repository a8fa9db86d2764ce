//! `[flows.NAME]` and its workload.

use std::sync::LazyLock;

use super::requests::read_requests;
use super::utl::read_utl;
use super::via::{ViaDraft, read_via};
use crate::error::ScenarioError;
use crate::keys::{Key, expect_table, join, read_table};
use crate::kinds::{Bytes, Choice, Count, Kind, Maybe, Name, Named, Number, Rate, Time};
use crate::model::{EndToEnd, HEAD_BYTES, MAX_FLOWS_PER_HOST, MAX_OBJECTS};
use crate::model::{WebLoad, Workload};
use crate::tree::Node;
use skyhaul_core::{SECOND, Weight};

/// Flows of a group at most, since all of them end at one host.
const MAX_FLOWS: u64 = MAX_FLOWS_PER_HOST as u64;
/// Bytes that an application writes at a time, unless the file says otherwise.
const CHUNK_BYTES: u64 = 16_384;
/// It is made in one piece.
const MAX_CHUNK_BYTES: u64 = 16 << 20;

/// A group of flows as the file says it.
#[derive(Clone, Debug)]
pub(crate) struct FlowDraft {
    pub(crate) from: Named,
    pub(crate) to: Named,
    pub(crate) transport: Named,
    pub(crate) count: u32,
    pub(crate) start_ns: u64,
    pub(crate) stagger_ns: u64,
    pub(crate) weight: Weight,
    pub(crate) via: Vec<ViaDraft>,
    pub(crate) end_to_end: Option<EndToEnd>,
    pub(crate) workload: Workload,
}

impl Default for FlowDraft {
    fn default() -> Self {
        let [from, to, transport] = [Named::default(), Named::default(), Named::default()];
        let workload = Bulk::default().into();
        let weight = Weight::ONE;
        Self {
            from,
            to,
            transport,
            count: 1,
            start_ns: 0,
            stagger_ns: 0,
            weight,
            via: Vec::new(),
            end_to_end: None,
            workload,
        }
    }
}

pub(crate) fn flow_keys() -> &'static [Key<FlowDraft>] {
    static KEYS: LazyLock<Vec<Key<FlowDraft>>> = LazyLock::new(|| {
        let count = Count { min: 1, max: MAX_FLOWS };
        vec![
            Key::new("from", Name("host"), |f: &mut FlowDraft| &mut f.from)
                .means("The host that opens the connections.")
                .required(),
            Key::new("to", Name("host"), |f: &mut FlowDraft| &mut f.to)
                .means("The host that accepts them.")
                .required(),
            Key::new("transport", Name("transport"), |f: &mut FlowDraft| &mut f.transport)
                .means("What carries them.")
                .required(),
            Key::new("count", count, |f: &mut FlowDraft| &mut f.count).means("How many flows of this kind."),
            Key::new("start", Time::default(), |f: &mut FlowDraft| &mut f.start_ns)
                .means("When the first begins."),
            Key::new("stagger", Time::default(), |f: &mut FlowDraft| &mut f.stagger_ns)
                .means("How much later each further one begins."),
            Key::new("weight", Count { min: 1, max: u8::MAX.into() }, |f: &mut FlowDraft| &mut f.weight).means(
                "How much each gets beside others between the same two hosts, whose connections share the rate of the \
                 path: with twice the weight twice the rate, while all have something to send. It counts where a rate \
                 is declared or measured.",
            ),
            Key::custom("via", "a list of tables, [[flows.NAME.via]]", read_via)
                .means("The relays on their way, in the order of it; `transport` is that of the first hop then."),
            Key::custom("utl", "a table", read_utl)
                .means("Confirmation from end to end above all hops, PETRA's UTL. Without it, none."),
            Key::custom("workload", "a table", read_workload)
                .means("What they carry; its `kind` decides which other keys it has.")
                .required(),
        ]
    });
    &KEYS
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkloadKind {
    Bulk,
    Requests,
    OnOff,
    Web,
}

const KINDS: Choice<WorkloadKind> = Choice(&[
    ("bulk", WorkloadKind::Bulk),
    ("requests", WorkloadKind::Requests),
    ("on_off", WorkloadKind::OnOff),
    ("web", WorkloadKind::Web),
]);

fn read_workload(flow: &mut FlowDraft, node: &Node, path: &str) -> Result<(), ScenarioError> {
    let at = join(path, "kind");
    let Some(entry) = expect_table(node, path)?.get("kind") else {
        return Err(node.place.refuse(&at, "nothing", &KINDS.allowed(), "it is required"));
    };
    let refuse = |hint: String| entry.node.place.refuse(&at, &entry.node.shown(), &KINDS.allowed(), &hint);
    flow.workload = match KINDS.read(&entry.node).map_err(refuse)? {
        WorkloadKind::Bulk => read::<Bulk>(bulk_keys(), node, path)?.into(),
        WorkloadKind::Requests => read_requests(node, path)?,
        WorkloadKind::Web => Workload::Web(read_web(node, path)?),
        WorkloadKind::OnOff => read::<OnOff>(on_off_keys(), node, path)?.into(),
    };
    Ok(())
}

pub(super) fn read<T: Default + 'static>(
    keys: &[Key<T>],
    node: &Node,
    path: &str,
) -> Result<T, ScenarioError> {
    let mut workload = T::default();
    read_table(keys, &mut workload, node, path)?;
    Ok(workload)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bulk {
    size_bytes: Option<u64>,
    rate_bps: Option<u64>,
    chunk_bytes: u64,
}

impl Default for Bulk {
    fn default() -> Self {
        Self { size_bytes: None, rate_bps: None, chunk_bytes: CHUNK_BYTES }
    }
}

impl From<Bulk> for Workload {
    fn from(bulk: Bulk) -> Self {
        Self::Bulk { bytes: bulk.size_bytes, chunk_bytes: bulk.chunk_bytes, rate_bps: bulk.rate_bps }
    }
}

/// Which kind it is has been read before.
pub(super) fn kind_key<T: 'static>() -> Key<T> {
    Key::custom("kind", &KINDS.allowed(), |_, _, _| Ok(()))
        .means("Which of the kinds of workload it is.")
        .required()
}

fn chunk() -> impl Kind<u64> {
    Bytes::at_most(MAX_CHUNK_BYTES)
}

pub(crate) fn bulk_keys() -> &'static [Key<Bulk>] {
    static KEYS: LazyLock<Vec<Key<Bulk>>> = LazyLock::new(|| {
        vec![
            kind_key(),
            Key::new("size", Maybe(Bytes::at_least(1)), |b: &mut Bulk| &mut b.size_bytes)
                .means("Length of the stream. Without it the stream lasts until the run ends."),
            Key::new("rate", Maybe(Rate), |b: &mut Bulk| &mut b.rate_bps).means(
                "Streaming rate of the application. Without it the application always has something \
             to write.",
            ),
            Key::new("chunk", chunk(), |b: &mut Bulk| &mut b.chunk_bytes)
                .means("How much the application writes at a time."),
        ]
    });
    &KEYS
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OnOff {
    rate_bps: u64,
    on_ns: u64,
    off_ns: u64,
    chunk_bytes: u64,
}

impl Default for OnOff {
    fn default() -> Self {
        Self { rate_bps: 0, on_ns: 0, off_ns: 0, chunk_bytes: CHUNK_BYTES }
    }
}

impl From<OnOff> for Workload {
    fn from(from: OnOff) -> Self {
        let OnOff { rate_bps, on_ns, off_ns, chunk_bytes } = from;
        Self::OnOff { rate_bps, on_ns, off_ns, chunk_bytes }
    }
}

pub(crate) fn on_off_keys() -> &'static [Key<OnOff>] {
    static KEYS: LazyLock<Vec<Key<OnOff>>> = LazyLock::new(|| {
        let time = || Time { min_ns: skyhaul_core::US };
        vec![
            kind_key(),
            Key::new("rate", Rate, |o: &mut OnOff| &mut o.rate_bps)
                .means("Rate of the application while it is on.")
                .required(),
            Key::new("on", time(), |o: &mut OnOff| &mut o.on_ns)
                .means("Mean of the exponentially distributed times on.")
                .required(),
            Key::new("off", time(), |o: &mut OnOff| &mut o.off_ns)
                .means("Mean of the exponentially distributed times off.")
                .required(),
            Key::new("chunk", chunk(), |o: &mut OnOff| &mut o.chunk_bytes)
                .means("How much the application writes at a time."),
        ]
    });
    &KEYS
}

/// Keys of a closed loop, which say nothing in an open one.
const CLOSED_KEYS: [&str; 2] = ["parallel", "think"];

fn read_web(node: &Node, path: &str) -> Result<WebLoad, ScenarioError> {
    let load: WebLoad = read(web_keys(), node, path)?;
    let table = expect_table(node, path)?;
    if load.every_ns.is_some()
        && let Some((name, entry)) = CLOSED_KEYS.iter().find_map(|name| Some((name, table.get(name)?)))
    {
        let problem = format!(
            "beside `every` it says nothing: pages begin whatever becomes of those before, and ask for all objects \
             at once; leave out `{name}`, or `every`"
        );
        return Err(entry.node.place.error(&join(path, name), problem));
    }
    Ok(load)
}

impl Default for WebLoad {
    fn default() -> Self {
        Self {
            request_bytes: 350,
            objects: 5.0,
            object_bytes: 12_000,
            shape: 1.2,
            max_object_bytes: 100_000_000,
            parallel: 4,
            think_ns: 10 * SECOND,
            every_ns: None,
            pages: None,
        }
    }
}

pub(crate) fn web_keys() -> &'static [Key<WebLoad>] {
    static KEYS: LazyLock<Vec<Key<WebLoad>>> = LazyLock::new(|| {
        let pages = Count { min: 1, max: 1_000_000_000 };
        let objects = Number { min: 1.0, max: f64::from(MAX_OBJECTS) };
        let shape = Number { min: 1.01, max: 100.0 };
        vec![
            kind_key(),
            Key::new("request", Bytes::from_to(HEAD_BYTES, MAX_CHUNK_BYTES), |w: &mut WebLoad| {
                &mut w.request_bytes
            })
            .means("Size of each request, by the host that opens."),
            Key::new("objects", objects, |w: &mut WebLoad| &mut w.objects)
                .means("Mean number of objects of a page, geometrically distributed."),
            Key::new("object", Bytes::at_least(1), |w: &mut WebLoad| &mut w.object_bytes)
                .means("Mean size of an object, Pareto distributed."),
            Key::new("shape", shape, |w: &mut WebLoad| &mut w.shape)
                .means("Shape of that distribution: the smaller, the heavier its tail."),
            Key::new("max_object", Bytes::at_least(1), |w: &mut WebLoad| &mut w.max_object_bytes)
                .means("Larger objects are cut off at this size, which lowers the mean."),
            Key::new("parallel", Count { min: 1, max: 256 }, |w: &mut WebLoad| &mut w.parallel).means(
                "Connections that a reader has open at a time. The first object of a page comes alone.",
            ),
            Key::new("think", Time::default(), |w: &mut WebLoad| &mut w.think_ns)
                .means("Mean of the exponentially distributed pauses after a page."),
            Key::new("every", Maybe(Time { min_ns: skyhaul_core::US }), |w: &mut WebLoad| &mut w.every_ns).means(
                "Open loop: mean of the exponentially distributed times from the beginning of a page to that of the \
                 next, whatever becomes of those before; all objects of a page are asked for at once. What is asked \
                 for, and when, then depends on the seed alone, so that it is equal beside any other traffic. \
                 Beyond 10000 objects under way further ones fail. `parallel` and `think` belong to the closed loop.",
            ),
            Key::new("pages", Maybe(pages), |w: &mut WebLoad| &mut w.pages)
                .means("How many. Without it they follow each other until the run ends."),
        ]
    });
    &KEYS
}

//! Item of a paper in real time: every contestant at every point.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;

use serde_json::Value;
use skyhaul_scenario::{File, Label, Point};
use skyhaul_sim::sweep::{FORMAT, Finished, Header, HeaderAxis, RunId, caught};
use skyhaul_sim::{Ended, RunError};

use super::definition::{Amount, Item, Who};
use crate::papers::PaperError;
use crate::race::{EndCommand, LiveRace, RaceOrder, RacePlan, RaceRun, Racer, RacerName, run_simulated};
use crate::race::{Work, check_real_time};
use crate::sweep::SweepBacklog;
use crate::{Progress, standard};

/// Axis of results: the contestants.
pub(super) const WHO: &str = "who";

/// Item of a paper, ready to run.
#[derive(Debug)]
pub struct RealItem {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Header of its results.
    pub header: Header,
    /// Folder of its results.
    pub folder: PathBuf,
    pub(super) who: Vec<Contestant>,
    /// Plans by contestant and point of the other axes; the latter vary faster.
    trials: Vec<Trial>,
}

/// Contestant.
#[derive(Clone, Debug)]
pub(super) struct Contestant {
    pub(super) name: String,
    racer: Racer,
    pub(super) is_simulated: bool,
}

/// Contestant at a point.
#[derive(Debug)]
struct Trial {
    plan: RacePlan,
    order: RaceOrder,
}

impl Contestant {
    fn new(who: &Who) -> Result<Self, PaperError> {
        let RacerName(racers) = RacerName::find(&standard(), &who.racer).map_err(PaperError::Racer)?;
        let racer = racers[0]; // a name means one at least
        Ok(Self { name: who.name.clone(), racer, is_simulated: who.simulated })
    }

    fn is_kernels(&self) -> bool {
        self.racer.kernel_controller().is_some()
    }
}

impl RealItem {
    /// Item over the scenario in this file, with results in `folder`.
    pub(super) fn new(
        item: &Item,
        who: &[Who],
        (text, path): (&str, &Path),
        (amount, is_quick): (Amount, bool),
        folder: PathBuf,
    ) -> Result<Self, PaperError> {
        let file = File::parse(&standard(), &path.display().to_string(), text)?;
        let who = who.iter().map(Contestant::new).collect::<Result<Vec<_>, _>>()?;
        let wanted = |point: &Point| {
            let labels = file.labels(point);
            labels.iter().all(|(axis, label)| item.wants(axis, &label.to_string(), is_quick))
        };
        let points: Vec<Point> = file.points().filter(wanted).collect();
        let mut trials = Vec::new();
        for contestant in &who {
            for point in &points {
                trials.push(Trial::new(contestant, (&file, point), path, amount)?);
            }
        }
        let header = header(item, &who, (&file, &points), &trials, amount);
        Ok(Self { name: item.item.clone(), title: item.title.clone(), header, folder, who, trials })
    }

    fn at(&self, id: RunId) -> (&Contestant, &Trial) {
        (&self.who[id.point / self.points()], &self.trials[id.point])
    }

    /// Points that each contestant has.
    pub(super) fn points(&self) -> usize {
        self.trials.len() / self.who.len().max(1)
    }

    /// Does what is to do: first what is simulated, then, `jobs` runs at the same time, what is not, until
    /// all is done or `stop` resolves. Returns remarks about the machine, a line each.
    ///
    /// # Errors
    /// There can be no emulation here; finished runs cannot be kept.
    pub async fn run(
        &self,
        backlog: &mut SweepBacklog,
        end_command: EndCommand,
        jobs: NonZeroUsize,
        stop: impl Future<Output = ()>,
        progress: &dyn Progress,
    ) -> (Vec<String>, Result<(), PaperError>) {
        let (simulated, live): (Vec<RunId>, VecDeque<RunId>) = {
            let is_simulated = |id: &RunId| self.at(*id).0.is_simulated;
            let todo = backlog.todo();
            let simulated = todo.iter().copied().filter(is_simulated).collect();
            (simulated, todo.iter().copied().filter(|id| !is_simulated(id)).collect())
        };
        for id in simulated {
            if let Err(error) = backlog.add(self.in_virtual_time(id), progress) {
                return (Vec::new(), Err(error.into()));
            }
        }
        let state = RefCell::new(State { queue: live, backlog, warnings: Vec::new(), result: Ok(()) });
        let workers = (0..jobs.get()).map(|_| -> Pin<Box<dyn Future<Output = ()> + '_>> {
            Box::pin(self.work(&state, end_command, progress))
        });
        tokio::select! {
            () = all(workers.collect()) => {}
            () = stop => {}
        }
        let State { warnings, result, .. } = state.into_inner();
        (warnings, result)
    }

    fn in_virtual_time(&self, id: RunId) -> Finished {
        let (contestant, trial) = self.at(id);
        let run = caught(|| Ok(run_simulated(&trial.plan, contestant.racer, self.header.seed_of(id))));
        let failed = |error: RunError| RaceRun { error: Some(error.0), ..RaceRun::default() };
        finished(&self.header, id, &run.unwrap_or_else(failed))
    }

    /// Runs one after the other what nobody has begun with.
    async fn work(&self, state: &RefCell<State<'_>>, end_command: EndCommand, progress: &dyn Progress) {
        loop {
            let next = state.borrow_mut().next();
            let Some(id) = next else { return };
            let (contestant, Trial { plan, order }) = self.at(id);
            let seed = self.header.seed_of(id);
            progress.begun(&format!("{}: {} with seed {seed}", self.name, contestant.name));
            let (race, mut warnings) = (LiveRace { plan, order, end_command }, Vec::new());
            let run = match check_real_time(plan, contestant.racer) {
                Ok(()) => race.run((contestant.racer, seed), &mut warnings).await,
                Err(error) => Err(error),
            };
            let mut state = state.borrow_mut();
            state.warnings.append(&mut warnings);
            let kept = match run {
                Ok(run) => {
                    let finished = finished(&self.header, id, &run);
                    state.backlog.add(finished, progress).map_err(PaperError::from)
                }
                Err(error) => Err(PaperError::Race(error)),
            };
            if kept.is_err() && state.result.is_ok() {
                state.result = kept;
            }
        }
    }
}

/// State that the runs at one time share.
struct State<'a> {
    queue: VecDeque<RunId>,
    backlog: &'a mut SweepBacklog,
    warnings: Vec<String>,
    result: Result<(), PaperError>,
}

impl State<'_> {
    /// Next run, unless something has failed.
    fn next(&mut self) -> Option<RunId> {
        self.result.as_ref().ok().and_then(|()| self.queue.pop_front())
    }
}

/// Waits for all of them.
async fn all(mut left: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>) {
    poll_fn(|context| {
        left.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if left.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Trial {
    fn new(
        contestant: &Contestant,
        (file, point): (&File, &Point),
        path: &Path,
        amount: Amount,
    ) -> Result<Self, PaperError> {
        let order = RaceOrder {
            file: path.to_path_buf(),
            set: file.overrides_at(point),
            racers: vec![contestant.racer],
            runs: amount.runs,
            size_bytes: amount.size_bytes,
            rate_bps: None,
            requests: 0,
            time_limit_ns: contestant.is_kernels().then_some(amount.kernel_limit_ns),
        };
        let plan = RacePlan::new(&order, &file.with(&order.set)?).map_err(PaperError::Race)?;
        Ok(Self { plan, order })
    }

    /// All that decides about its runs, but the seed.
    fn decides(&self) -> String {
        let limit_ns = self.order.time_limit_ns.unwrap_or(0);
        let scenarios =
            self.order.racers.iter().map(|&racer| self.plan.scenario(racer, Work::Bulk, limit_ns));
        format!("{:?}", scenarios.collect::<Vec<_>>())
    }
}

fn header(
    item: &Item,
    who: &[Contestant],
    (file, points): (&File, &[Point]),
    trials: &[Trial],
    amount: Amount,
) -> Header {
    let names = who.iter().map(|contestant| contestant.name.as_str().into()).collect();
    let mut axes = vec![HeaderAxis { key: WHO.to_string(), values: names }];
    for (number, axis) in file.axes().iter().enumerate() {
        let mut choices: Vec<usize> = points.iter().map(|point| point.choices[number]).collect();
        choices.sort_unstable();
        choices.dedup();
        let values = choices.iter().map(|&choice| value(&axis.labels()[choice])).collect();
        axes.push(HeaderAxis { key: axis.name().to_string(), values });
    }
    let mut digest = blake3::Hasher::new();
    for (trial, contestant) in trials.iter().zip(who.iter().flat_map(|one| points.iter().map(move |_| one))) {
        digest.update(format!("{} {}\n", contestant.name, trial.decides()).as_bytes());
    }
    Header {
        skyhaul_results: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_string(),
        scenario: format!("{}-real", item.scenario),
        title: item.title.clone(),
        digest: digest.finalize().to_hex().to_string(),
        wanted: Vec::new(),
        axes,
        points: trials.len(),
        replications: amount.runs,
        seed: file.settings().seed,
    }
}

fn value(label: &Label) -> Value {
    match label {
        Label::Integer(number) => (*number).into(),
        Label::Number(number) => (*number).into(),
        Label::Text(text) => text.as_str().into(),
        Label::Switch(on) => (*on).into(),
    }
}

fn finished(header: &Header, id: RunId, run: &RaceRun) -> Finished {
    let ended = if run.complete { Ended::Done } else { Ended::OutOfTime };
    let late = run.lateness.as_ref().map(|lateness| ("late_p99_ms", lateness.p99_ms));
    let metrics = run.metrics().into_iter().chain(late).collect();
    Finished::told(header, id, Some(ended), run.error.clone(), metrics)
}

//! Scenes: what is emulated.

use std::sync::Arc;

use skyhaul_emulator::{Addresses, HostAddress, TestbedError};
use skyhaul_scenario::Scenario;

use super::EmulateArgs;
use crate::failure::Failure;
use crate::output::note;
use skyhaul_lab::{load, standard};

/// A scenario, the seed of its links, and its hosts.
pub(super) struct EmulatedScene {
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) seed: u64,
    pub(super) addresses: Arc<Addresses>,
}

impl EmulatedScene {
    /// The first point of the file, or the link that the arguments say.
    pub(super) fn load(args: &EmulateArgs) -> Result<Self, Failure> {
        let file = match &args.file {
            Some(path) => load(&standard(), path, &args.set)?,
            None => args.plain.file(args.mtu, &args.set)?,
        };
        let point = file.points().next().ok_or_else(|| Failure::new("the sweep of the file is empty"))?;
        let scenario = file.scenario_at(&point).map_err(|error| Failure::new(error.to_string()))?;
        let labels = file.labels(&point);
        if !labels.is_empty() && !args.quiet {
            let at: Vec<String> = labels.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
            note(&format!(
                "the first point of the sweep: {}; --set 'sweep={{}}' and --set of its keys choose another",
                at.join(", ")
            ));
        }
        let addresses = Arc::new(Addresses::new(&scenario));
        let seed = args.seed.unwrap_or(file.settings().seed);
        Ok(Self { name: file.name().to_string(), scenario, seed, addresses })
    }

    /// The host called `name`.
    pub(super) fn host(&self, name: &str) -> Result<&HostAddress, Failure> {
        self.addresses.named(name).ok_or_else(|| {
            let names: Vec<&str> = self.addresses.hosts().iter().map(|host| host.name.as_str()).collect();
            Failure::usage(format!("the scenario has no host '{name}'; its hosts are {}", names.join(", ")))
        })
    }

    /// Host that the first flow comes from; without flows, the first host.
    pub(super) fn first_host(&self) -> Result<&HostAddress, Failure> {
        let hosts = self.addresses.hosts();
        let node = self.scenario.flows.first().map(|flow| flow.from as u32);
        let of_flow = hosts.iter().find(|host| Some(host.node) == node);
        of_flow.or(hosts.first()).ok_or_else(|| Failure::new("the scenario has no host"))
    }
}

/// Reason why there are no hosts, with what works instead.
pub(super) fn no_lab(error: &TestbedError, scene: &EmulatedScene) -> Failure {
    let advice = match error {
        TestbedError::NotPermitted(_) => {
            let names: Vec<&str> = scene.addresses.hosts().iter().map(|host| host.name.as_str()).collect();
            let [a, b] = [0, 1].map(|i| *names.get(i).unwrap_or(&"HOST"));
            format!(
                ".\nUDP relays work without either: skyhaul emulate FILE --udp {a}=127.0.0.1:5000 --udp \
                 {b}=127.0.0.1:5001=PEER:PORT"
            )
        }
        _ => String::new(),
    };
    Failure::new(format!("{error}{advice}"))
}

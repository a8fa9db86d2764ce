//! An emulation with a home and a command for each host.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use skyhaul_scenario::Scenario;
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::host::{Addressing, Cue, HostProcess, HostSetup, Streams};
use crate::{Addresses, Emulation, EmulationReport, Home, HostAddress, TestbedError, terminal};

/// Name of the other end on every host.
const GATEWAY: &str = "gateway";
/// Bytes that are kept of a captured command's output; the rest is dropped.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// Time that hosts may take to end when they were asked to: longer than they give what they run.
const PATIENCE: Duration = Duration::from_secs(6);

/// Destination of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It goes where this program's goes, and this program's input is the command's.
    Terminal,
    /// It goes where this program's goes. There is no input.
    Inherit,
    /// It is kept. There is no input.
    Capture,
}

/// Plan of a host.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Which.
    pub host: HostAddress,
    /// Where it lives.
    pub home: Home,
    /// Command that it runs, with its arguments; only in a [`Home::New`].
    pub command: Option<Vec<String>>,
    /// Destination of its output.
    pub output: Output,
}

/// Options that hold for all hosts.
#[derive(Clone, Debug)]
pub struct TestbedOptions {
    /// Of everything random in the links.
    pub seed: u64,
    /// Largest packet.
    pub mtu_bytes: u32,
    /// Hosts whose packets are larger than a link takes are told so by ICMP.
    pub icmp: bool,
    /// Switches of new namespaces and their values, below `/proc/sys/net`.
    pub sysctls: Vec<(String, String)>,
    /// Added to the environment of the commands.
    pub environment: Vec<(String, String)>,
    /// The program whose subcommands [`HOST_COMMAND`](crate::HOST_COMMAND) and
    /// [`INIT_COMMAND`](crate::INIT_COMMAND) make hosts: this one.
    pub program: PathBuf,
}

impl TestbedOptions {
    /// This program, no switches, packets of 1500 bytes, ICMP.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            mtu_bytes: 1500,
            icmp: true,
            sysctls: Vec::new(),
            environment: Vec::new(),
            program: PathBuf::from("/proc/self/exe"),
        }
    }
}

/// A command that has ended.
#[derive(Clone, Debug)]
pub struct FinishedHost {
    /// Name of its host.
    pub host: String,
    /// There was a command; else the host itself has failed.
    pub had_command: bool,
    /// Its exit code; 128 and the signal, if one ended it.
    pub code: u8,
    /// Its output, if that was captured.
    pub output: Vec<u8>,
}

/// An emulation with a home and a command for each host. Everything ends with it.
///
/// The thread that starts it must live as long as it does: the kernel ends the hosts with that thread. So a
/// runtime of one thread is best.
#[derive(Debug)]
pub struct Testbed {
    emulation: Emulation,
    hosts: BTreeMap<String, TestbedHost>,
    /// A command got the terminal, which was this process's.
    lends_terminal: bool,
    running: JoinSet<(String, io::Result<FinishedHost>)>,
}

#[derive(Debug)]
struct TestbedHost {
    has_command: bool,
    cue: Cue,
    /// Asks it to end.
    end: oneshot::Sender<()>,
}

impl Testbed {
    /// Starts the hosts and, as soon as all of them are there, the links. No command runs yet.
    pub fn start(
        scenario: &Scenario,
        addresses: &Arc<Addresses>,
        plans: Vec<HostPlan>,
        options: &TestbedOptions,
    ) -> Result<Self, TestbedError> {
        let lends_terminal = plans.iter().any(|plan| plan.output == Output::Terminal) && terminal::is_ours();
        let mut processes = Vec::new();
        for plan in plans {
            let streams = Streams {
                has_stdin: plan.output == Output::Terminal,
                is_captured: plan.output == Output::Capture,
            };
            let told = told(&plan, addresses, options);
            processes.push((HostProcess::start(&options.program, &told, streams)?, plan));
        }
        let devices: Result<Vec<_>, TestbedError> = processes
            .iter()
            .map(|(process, plan)| Ok((plan.host.clone(), process.device(&plan.host.name)?)))
            .collect();
        let emulation = Emulation::between_devices(scenario, options.seed, Arc::clone(addresses), devices?);
        let emulation =
            emulation.map_err(|error| TestbedError::other(format!("the links cannot start: {error}")))?;
        emulation.set_icmp(options.icmp);
        let mut lab = Self { emulation, hosts: BTreeMap::new(), lends_terminal, running: JoinSet::new() };
        for (process, plan) in processes {
            lab.add(process, &plan);
        }
        Ok(lab)
    }

    fn add(&mut self, process: HostProcess, plan: &HostPlan) {
        let (child, cue) = process.into_parts();
        let (end, asked) = oneshot::channel();
        let name = plan.host.name.clone();
        self.hosts.insert(name.clone(), TestbedHost { has_command: plan.command.is_some(), cue, end });
        let has_command = plan.command.is_some();
        self.running.spawn(async move {
            let finished = finished(name.clone(), has_command, child, asked).await;
            (name, finished)
        });
    }

    /// The links.
    pub fn emulation(&self) -> &Emulation {
        &self.emulation
    }

    /// Has the host begin with its command.
    pub fn begin(&self, host: &str) -> io::Result<()> {
        let host = self.hosts.get(host).ok_or(io::ErrorKind::NotFound)?;
        host.cue.give()
    }

    /// The next command that has ended; `None` if none is left. A host that fails without having had a
    /// command counts, too.
    pub async fn finished(&mut self) -> io::Result<Option<FinishedHost>> {
        while self.hosts.values().any(|host| host.has_command) {
            let Some(ended) = self.running.join_next().await else { break };
            let (name, finished) = ended.map_err(io::Error::other)?;
            let host = self.hosts.remove(&name);
            let finished = finished?;
            if finished.code != 0 || host.is_some_and(|host| host.has_command) {
                return Ok(Some(finished));
            }
        }
        Ok(None)
    }

    /// Asks everything that still runs to end, makes it end, and stops the links. What the links counted.
    pub async fn stop(mut self) -> EmulationReport {
        for host in std::mem::take(&mut self.hosts).into_values() {
            let _ = host.end.send(());
        }
        let all = async { while self.running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(PATIENCE, all).await;
        self.running.shutdown().await;
        if self.lends_terminal {
            terminal::take_back();
        }
        self.emulation.stop()
    }
}

async fn finished(
    host: String,
    had_command: bool,
    mut child: Child,
    asked: oneshot::Receiver<()>,
) -> io::Result<FinishedHost> {
    let stdout = child.stdout.take();
    let reading = async {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut output).await?;
        }
        io::Result::Ok(output)
    };
    let (output, code) = tokio::try_join!(reading, code(&mut child, asked))?;
    Ok(FinishedHost { host, had_command, code, output })
}

/// The exit code of the process, which is told to end when that is asked for.
async fn code(child: &mut Child, asked: oneshot::Receiver<()>) -> io::Result<u8> {
    let status = tokio::select! {
        status = child.wait() => status?,
        Ok(()) = asked => {
            // It has a number for as long as nobody has waited for it.
            let pid = child.id().and_then(|pid| Pid::from_raw(pid as i32));
            pid.map(|pid| kill_process(pid, Signal::TERM));
            child.wait().await?
        }
    };
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn told(plan: &HostPlan, addresses: &Addresses, options: &TestbedOptions) -> HostSetup {
    let gateway = addresses.gateway(&plan.host);
    let addressing = |host: &HostAddress| Addressing { v4: host.v4, v6: host.v6 };
    let mut environment = options.environment.clone();
    environment.push(("SKYHAUL_HOST".into(), plan.host.name.clone()));
    environment.push(("GATEWAY".into(), gateway.v4.to_string()));
    HostSetup {
        name: plan.host.name.clone(),
        home: plan.home.clone(),
        own: addressing(&plan.host),
        gateway: addressing(gateway),
        mtu_bytes: options.mtu_bytes,
        sysctls: options.sysctls.clone(),
        hosts_file: hosts_file(plan, addresses),
        command: plan.command.clone(),
        takes_terminal: plan.output == Output::Terminal && terminal::is_ours(),
        environment,
    }
}

/// The names of all hosts, for IPv6 only where every link takes it. `gateway` is the one that the default
/// route points at, unless another host has that name; on that host itself, the name means the other end
/// as well.
fn hosts_file(plan: &HostPlan, addresses: &Addresses) -> String {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost\n");
    let gateway = addresses.gateway(&plan.host);
    let is_taken = plan.host.name != GATEWAY && addresses.named(GATEWAY).is_some();
    for host in addresses.hosts() {
        let own = if host.node == plan.host.node && host.name == GATEWAY { "" } else { host.name.as_str() };
        let alias = if host.node == gateway.node && !is_taken { GATEWAY } else { "" };
        if !(own.is_empty() && alias.is_empty()) {
            let names = format!("{own} {alias}");
            let _ = writeln!(text, "{} {}", host.v4, names.trim());
            if addresses.takes_v6() {
                let _ = writeln!(text, "{} {}", host.v6, names.trim());
            }
        }
    }
    text
}

#[cfg(test)]
#[path = "testbed_tests.rs"]
mod tests;

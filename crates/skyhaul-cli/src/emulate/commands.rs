//! Commands on the hosts of a scenario, each in a namespace of its own.

use std::process::ExitCode;
use std::time::Duration;

use skyhaul_emulator::control::ControlSocket;
use skyhaul_emulator::{FinishedHost, Home, HostAddress, HostPlan, Output, Testbed, TestbedOptions};

use super::captured::SceneCapture;
use super::scene::{EmulatedScene, no_lab};
use super::{EmulateArgs, control, shown, stop};
use crate::failure::Failure;
use crate::output::note;

/// From the start of a command to that of the next one, which may want to talk to it.
const STAGGER: Duration = Duration::from_millis(200);
/// Namespaces at most.
const MAX_HOSTS: usize = 64;

/// Commands and their hosts, in the order of their beginnings.
struct Commands {
    /// Host, command, and whether it has the terminal.
    of_hosts: Vec<(String, Vec<String>, bool)>,
}

pub(super) async fn run(args: &EmulateArgs, scene: &EmulatedScene) -> Result<ExitCode, Failure> {
    let commands = Commands::of(args, scene)?;
    let hosts = scene.addresses.hosts();
    if hosts.len() > MAX_HOSTS {
        let text = format!("the scenario has {} hosts; at most {MAX_HOSTS} can have namespaces", hosts.len());
        return Err(Failure::new(text));
    }
    let plans = hosts.iter().map(|host| commands.plan(host)).collect();
    let place = control::place(args)?;
    let environment =
        place.iter().map(|place| (control::VARIABLE.into(), place.path().display().to_string()));
    let options = TestbedOptions {
        mtu_bytes: args.device_mtu_bytes()?,
        icmp: !args.no_icmp,
        environment: environment.collect(),
        ..TestbedOptions::new(scene.seed)
    };
    let capture = SceneCapture::start(args, scene)?;
    let stop = stop::asked(args.duration);
    let mut lab = Testbed::start(&scene.scenario, &scene.addresses, plans, &options)
        .map_err(|error| no_lab(&error, scene))?;
    capture.watch(lab.emulation());
    let ended = commands.play(&mut lab, scene, place.as_ref(), stop).await;
    let report = lab.stop().await;
    capture.finish();
    let ended = ended.map_err(|error| Failure::new(format!("the emulation has failed: {error}")))?;
    if let Some(text) = ended.text().filter(|_| !args.quiet) {
        note(&text);
    }
    let code = ended.code();
    shown::show(args, scene, &report, Some(code), Some(ended.by()))?;
    Ok(ExitCode::from(code))
}

/// End of an emulation with commands.
enum CommandEnd {
    /// The last command has ended, or one has failed.
    Command(FinishedHost),
    /// Before that.
    Early(stop::Why),
}

impl CommandEnd {
    fn code(&self) -> u8 {
        match self {
            Self::Command(finished) => finished.code,
            Self::Early(why) => why.exit_code(),
        }
    }

    fn by(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Early(why) => why.name(),
        }
    }

    /// Message for people, if it did not end well.
    fn text(&self) -> Option<String> {
        match self {
            Self::Command(FinishedHost { code: 0, .. }) | Self::Early(stop::Why::Signal(_)) => None,
            Self::Command(FinishedHost { host, had_command: false, .. }) => {
                Some(format!("the host {host} has failed: its process was ended from outside"))
            }
            Self::Command(FinishedHost { host, code, .. }) => {
                Some(format!("the command on {host} ended with exit code {code}"))
            }
            Self::Early(stop::Why::Time) => Some("the time is over; the command was still running".into()),
        }
    }
}

impl Commands {
    fn of(args: &EmulateArgs, scene: &EmulatedScene) -> Result<Self, Failure> {
        let mut of_hosts = Vec::new();
        for (host, command) in &args.run {
            scene.host(host)?;
            of_hosts.push((host.clone(), vec!["/bin/sh".into(), "-c".into(), command.clone()], false));
        }
        if args.command.is_empty() && !of_hosts.is_empty() && args.at.is_some() {
            return Err(Failure::usage("--at names the host of a command behind --, and there is none"));
        }
        if !args.command.is_empty() || of_hosts.is_empty() {
            let host = args.at.as_ref().map_or_else(|| scene.first_host(), |name| scene.host(name))?;
            let command = if args.command.is_empty() { vec![shell()] } else { args.command.clone() };
            of_hosts.push((host.name.clone(), command, true));
        }
        let mut names: Vec<&str> = of_hosts.iter().map(|(host, ..)| host.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, ..]) = names.windows(2).find(|pair| matches!(pair, [one, next] if one == next)) {
            let text = format!("the host '{twice}' has two commands; join them: 'first; second'");
            return Err(Failure::usage(text));
        }
        Ok(Self { of_hosts })
    }

    fn plan(&self, host: &HostAddress) -> HostPlan {
        let own = self.of_hosts.iter().find(|(name, ..)| *name == host.name);
        let has_terminal = own.is_some_and(|&(.., has_terminal)| has_terminal);
        HostPlan {
            host: host.clone(),
            home: Home::New,
            command: own.map(|(_, command, _)| command.clone()),
            output: if has_terminal { Output::Terminal } else { Output::Inherit },
        }
    }

    /// Runs them until the last one has ended, any has failed, or it is to end before.
    async fn play(
        &self,
        lab: &mut Testbed,
        scene: &EmulatedScene,
        place: Option<&ControlSocket>,
        stop: impl Future<Output = stop::Why>,
    ) -> std::io::Result<CommandEnd> {
        let emulation = lab.emulation().clone();
        tokio::select! {
            ended = self.finish(lab) => ended.map(CommandEnd::Command),
            why = stop => Ok(CommandEnd::Early(why)),
            never = control::answer(place, &emulation, scene) => match never {},
        }
    }

    async fn finish(&self, lab: &mut Testbed) -> std::io::Result<FinishedHost> {
        for (place, (host, ..)) in self.of_hosts.iter().enumerate() {
            if place > 0 {
                tokio::time::sleep(STAGGER).await;
            }
            lab.begin(host)?;
        }
        loop {
            let nobody = || std::io::Error::other("no command is left");
            let ended = lab.finished().await?.ok_or_else(nobody)?;
            let is_last = self.of_hosts.last().is_some_and(|(last, ..)| *last == ended.host);
            if is_last || ended.code != 0 {
                return Ok(ended);
            }
        }
    }
}

fn shell() -> String {
    std::env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into())
}

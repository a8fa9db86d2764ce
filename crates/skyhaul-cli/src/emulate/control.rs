//! `skyhaul control`, and what answers it in an emulation.

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value;
use skyhaul_emulator::Emulation;
use skyhaul_emulator::control::{
    Change, ControlAnswer, ControlRequest, ControlSocket, LinkQuantity, ask, cleanup, running, serve,
};

use super::EmulateArgs;
use super::args::{ControlAction, ControlArgs};
use super::object::EmulationObject;
use super::scene::EmulatedScene;
use crate::failure::Failure;
use crate::output::{note, print};

/// Variable by which commands in an emulation find its socket.
pub(super) const VARIABLE: &str = "SKYHAUL_CONTROL";

/// `skyhaul control`.
pub(crate) fn run(args: &ControlArgs) -> Result<ExitCode, Failure> {
    let down = |link: &String, quantity| Change { link: link.clone(), port: None, quantity };
    let request = match &args.action {
        ControlAction::Set { changes } => ControlRequest::Change(changes.clone()),
        ControlAction::Down { link, for_ns } => {
            ControlRequest::Change(vec![down(link, LinkQuantity::DownNs(*for_ns))])
        }
        ControlAction::Up { link } => ControlRequest::Change(vec![down(link, LinkQuantity::Up)]),
        ControlAction::Status => ControlRequest::Status,
    };
    match ask(&socket(args)?, &request).map_err(|error| Failure::new(error.to_string()))? {
        ControlAnswer::Status(object) => print(&format!("{object}\n"))?,
        ControlAnswer::Done => {}
        ControlAnswer::Refused(why) => return Err(Failure::usage(why)),
    }
    Ok(ExitCode::SUCCESS)
}

fn socket(args: &ControlArgs) -> Result<PathBuf, Failure> {
    if let Some(path) = args.socket.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from)) {
        return Ok(path);
    }
    let mut all = running().map_err(|error| Failure::new(error.to_string()))?;
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Failure::new(
            "no emulation of this user runs at the usual place: start one by `skyhaul emulate FILE`, or name by \
             --socket what its --control named",
        )),
        (Some(last), false) => {
            all.push(last);
            let paths: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
            Err(Failure::usage(format!(
                "several emulations run; choose one by --socket: {}",
                paths.join(", ")
            )))
        }
    }
}

/// The socket of an emulation. Without a folder for it, there is none: said, and no reason not to run.
pub(super) fn place(args: &EmulateArgs) -> Result<Option<ControlSocket>, Failure> {
    if let Some(path) = &args.control {
        return ControlSocket::at(path).map(Some).map_err(|error| Failure::new(format!("--control {error}")));
    }
    match cleanup().and_then(|_| ControlSocket::own()) {
        Ok(place) => Ok(Some(place)),
        Err(error) => {
            note(&format!("`skyhaul control` cannot reach this emulation: {error}"));
            Ok(None)
        }
    }
}

/// Answers `skyhaul control` for as long as somebody waits.
pub(super) async fn answer(
    place: Option<&ControlSocket>,
    emulation: &Emulation,
    scene: &EmulatedScene,
) -> Infallible {
    let status = || {
        let object = EmulationObject::new(scene, &emulation.report(), None, None);
        serde_json::to_value(object).unwrap_or(Value::Null)
    };
    if let Some(place) = place
        && let Err(error) = serve(place, emulation, status).await
    {
        note(&format!("`skyhaul control` cannot reach this emulation: {error}"));
    }
    std::future::pending().await
}

/// `skyhaul emulate --cleanup`.
pub(super) fn clean() -> Result<ExitCode, Failure> {
    let removed = cleanup().map_err(|error| Failure::new(error.to_string()))?;
    if removed.is_empty() {
        note(
            "nothing was left: namespaces, devices and processes end with their emulation, however that ends",
        );
    }
    for path in removed {
        note(&format!("removed {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

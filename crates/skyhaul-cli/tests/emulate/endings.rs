//! However an emulation ends, nothing remains of it.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Said, until};
use crate::namespaces::is_impossible;
use crate::support::{processes, scenario, start};

/// An emulation that runs `sleep` for this unmistakable time, which has begun; `None` where there are no
/// namespaces.
fn sleeping(seconds: &'static str) -> Option<Child> {
    let (_folder, scenario) = scenario();
    // A child of the command, in a session of its own, is the hardest to get rid of.
    let command = format!("ship=setsid sleep {seconds} & sleep {seconds}; true");
    let mut child = start(&[&scenario, "--run", &command]);
    until("the command", || child.try_wait().unwrap().is_some() || processes(seconds).len() >= 2);
    if child.try_wait().unwrap().is_none() {
        return Some(child);
    }
    let said: Said = child.wait_with_output().unwrap().into();
    assert!(is_impossible(&said.err), "{said:?}");
    None
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

fn nothing_remains(seconds: &str) {
    until("the end of all processes", || processes(seconds).is_empty());
}

#[test]
fn sigterm_ends_everything() {
    let Some(child) = sleeping("98761") else { return };
    signal(&child, Signal::TERM);
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(128 + 15), "{said:?}");
    assert!(said.err.contains("space forward"), "what was counted: {said:?}");
    nothing_remains("98761");
}

#[test]
fn an_interrupt_ends_everything() {
    let Some(child) = sleeping("98762") else { return };
    signal(&child, Signal::INT);
    child.wait_with_output().unwrap();
    nothing_remains("98762");
}

#[test]
fn sigkill_leaves_no_process() {
    let Some(mut child) = sleeping("98763") else { return };
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_remains("98763");
}

#[test]
fn a_host_that_is_killed_ends_the_emulation() {
    let Some(child) = sleeping("98764") else { return };
    let init = processes("emulated-init");
    let own = init.into_iter().find(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("98764"))
    });
    kill_process(Pid::from_raw(own.unwrap() as i32).unwrap(), Signal::KILL).unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(128 + 9), "{said:?}");
    nothing_remains("98764");
}

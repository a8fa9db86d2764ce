//! However an emulation ends, nothing remains of it.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

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
        fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("98764"))
    });
    kill_process(Pid::from_raw(own.unwrap() as i32).unwrap(), Signal::KILL).unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(128 + 9), "{said:?}");
    nothing_remains("98764");
}

/// Children of a process.
fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let text = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    text.flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// True if a process has this word in its command line.
fn is_called(pid: u32, word: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|line| line.split('\0').any(|other| other == word))
}

/// True if a process has a handler for SIGTERM.
fn hears_sigterm(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|caught| u64::from_str_radix(caught.trim(), 16).ok())
        .is_some_and(|caught| caught & 1 << 14 != 0)
}

/// Waits as short as can be for what `find` finds, or for the end of the emulation, as where there are no
/// namespaces.
fn at_once<T>(child: &mut Child, mut find: impl FnMut(u32) -> Option<T>) -> Option<T> {
    loop {
        let found = find(child.id());
        if found.is_some() || child.try_wait().unwrap().is_some() {
            return found;
        }
    }
}

/// The first process of a namespace has no default action: what it does not hear is lost.
#[test]
fn an_end_that_comes_before_a_host_is_ready_takes_no_longer() {
    let (_folder, scenario) = scenario();
    let mut child = start(&[&scenario, "--run", "ship=sleep 98765"]);
    let init = |emulation| {
        let of_hosts = children(emulation)
            .into_iter()
            .flat_map(|host| children(host).into_iter().map(move |init| (host, init)));
        of_hosts.into_iter().find(|&(_, init)| is_called(init, "emulated-init"))
    };
    let Some((host, init)) = at_once(&mut child, init) else { return };
    let pid = |pid: u32| Pid::from_raw(pid as i32).unwrap();
    kill_process(pid(init), Signal::STOP).unwrap();
    let hears = at_once(&mut child, |_| hears_sigterm(host).then_some(()));
    assert!(hears.is_some(), "{:?}", Said::from(child.wait_with_output().unwrap()));
    let begin = Instant::now();
    kill_process(pid(host), Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_millis(50)); // it was passed on
    kill_process(pid(init), Signal::CONT).unwrap();
    let said: Said = child.wait_with_output().unwrap().into();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}: {said:?}", begin.elapsed());
    assert_eq!(said.code, Some(128 + 15), "{said:?}");
    nothing_remains("98765");
}

/// Each orphan that ends wakes the process that counts the time.
#[test]
fn a_command_has_its_two_seconds_however_many_orphans_end_meanwhile() {
    let (_folder, scenario) = scenario();
    let orphans = "trap '' TERM; while true; do (setsid sleep 0.398766 &); sleep 0.398766; done";
    let mut child = start(&[&scenario, "--run", &format!("ship={orphans}")]);
    until("orphans", || child.try_wait().unwrap().is_some() || processes("0.398766").len() >= 2);
    if child.try_wait().unwrap().is_some() {
        let said: Said = child.wait_with_output().unwrap().into();
        return assert!(is_impossible(&said.err), "{said:?}");
    }
    let begin = Instant::now();
    signal(&child, Signal::TERM);
    let said: Said = child.wait_with_output().unwrap().into();
    let ms = begin.elapsed().as_millis();
    assert!((1900..3500).contains(&ms), "{ms} ms: {said:?}");
    nothing_remains("0.398766");
}

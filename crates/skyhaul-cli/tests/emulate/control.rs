//! Changing a running emulation, and what is left of one that was killed.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Said, file, run, skyhaul, until};
use crate::support::{scenario, start};

/// True if an emulation listens there: its socket is in the folder a moment before.
fn listens(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// A relay that listens to `skyhaul control`.
struct Relay {
    child: Child,
    folder: TempDir,
}

impl Relay {
    fn start() -> Self {
        let (folder, scenario) = scenario();
        let socket = folder.path().join("control");
        let udp = ["--udp", "ship=127.0.0.1:0", "--udp", "ground=127.0.0.1:0=127.0.0.1:9"];
        let path = socket.to_str().unwrap();
        let child = start(&[&[scenario.as_str(), "--quiet", "--control", path], &udp[..]].concat());
        until("the socket", || listens(&socket));
        Self { child, folder }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    fn ask(&self, words: &[&str]) -> Said {
        run(&[&["control", "--socket", self.socket().to_str().unwrap()], words].concat())
    }

    fn status(&self) -> Value {
        self.ask(&["status"]).json()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_link_goes_down_and_comes_up_as_it_is_told() {
    let relay = Relay::start();
    let is_up = |relay: &Relay| relay.status()["links"]["space"]["up"].as_bool().unwrap();
    assert!(is_up(&relay));
    assert_eq!(relay.ask(&["down", "space"]).code, Some(0));
    assert!(!is_up(&relay));
    assert_eq!(relay.ask(&["up", "space"]).code, Some(0));
    assert!(is_up(&relay));
    assert_eq!(relay.ask(&["down", "space", "--for", "100ms"]).code, Some(0));
    until("the end of the outage", || is_up(&relay));
}

#[test]
fn changes_take_effect_at_once() {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};
    let (folder, scenario) = scenario();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (socket, port) = (folder.path().join("control"), crate::common::free_port());
    let (ship, ground) =
        (format!("ship=127.0.0.1:{port}"), format!("ground=127.0.0.1:0={}", far.local_addr().unwrap()));
    let path = socket.to_str().unwrap();
    let mut child = start(&[&scenario, "--quiet", "--control", path, "--udp", &ship, "--udp", &ground]);
    until("the socket", || listens(&socket));
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    near.connect(("127.0.0.1", port)).unwrap();
    // The ports of the ends may open later than the control socket.
    until("the first packet across", || near.send(b"x").is_ok() && far.recv_from(&mut [0; 9]).is_ok());
    far.set_nonblocking(true).unwrap();
    while far.recv_from(&mut [0; 9]).is_ok() {}
    far.set_nonblocking(false).unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let crossing = || {
        let start = Instant::now();
        near.send(b"x").unwrap();
        far.recv_from(&mut [0; 9]).unwrap();
        start.elapsed()
    };
    assert!(crossing() < Duration::from_millis(400));
    let said =
        run(&["control", "--socket", path, "set", "space.forward.delay=500ms", "space.reverse.loss=1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(crossing() >= Duration::from_millis(500));
    far.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(run(&["control", "--socket", path, "set", "space.loss=1"]).code, Some(0));
    near.send(b"lost").unwrap();
    assert!(far.recv_from(&mut [0; 9]).is_err());
    let counted = run(&["control", "--socket", path, "status"]).json();
    assert_eq!(counted["links"]["space"]["forward"]["dropped"]["random_loss"], 1, "{counted}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_makes_no_sense_changes_nothing_and_is_explained() {
    let relay = Relay::start();
    for (words, why) in [
        (&["set", "mars.rate=2M"][..], "no link 'mars'; there are: space"),
        (&["set", "space.loss=2"], "'2' is no probability"),
        (&["set", "space.rate=5"], "'5' has no unit"),
        (&["set", "space.rate=0bit/s"], "rate"),
        (&["down", "mars"], "no link 'mars'"),
        (&["set", "space.loss=1", "space.forward.loss=-1"], "no probability"),
        (&["set", "space.queue=1"], "'queue' cannot be changed"),
    ] {
        let said = relay.ask(words);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(why), "{words:?}: {said:?}");
    }
}

#[test]
fn without_an_emulation_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let said: Said =
        skyhaul(&["control", "status"]).env("XDG_RUNTIME_DIR", folder.path()).output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("no emulation of this user runs"), "{said:?}");
    let said = run(&["control", "--socket", "/nowhere", "status"]);
    assert_eq!(said.err, "skyhaul: no emulation listens at /nowhere\n", "{said:?}");
}

#[test]
fn what_exists_is_not_replaced() {
    let (folder, scenario) = scenario();
    let precious = file(folder.path(), "precious", b"keep me");
    let listening = folder.path().join("listening");
    let _listener = UnixListener::bind(&listening).unwrap();
    for path in [&precious, &listening] {
        let path = path.to_str().unwrap();
        let said = run(&[
            "emulate",
            &scenario,
            "--control",
            path,
            "--udp",
            "ship=127.0.0.1:0",
            "--udp",
            "ground=127.0.0.1:0",
        ]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("it exists already"), "{said:?}");
    }
    assert_eq!(std::fs::read(&precious).unwrap(), b"keep me");
    assert!(listening.exists());
}

fn in_session(folder: &Path, args: &[&str]) -> Said {
    skyhaul(args).env("XDG_RUNTIME_DIR", folder).output().unwrap().into()
}

#[test]
fn cleanup_removes_what_a_killed_emulation_left_and_nothing_else() {
    let session = tempfile::tempdir().unwrap();
    let (_folder, scenario) = scenario();
    let args = ["emulate", &scenario, "--quiet", "--udp", "ship=127.0.0.1:0", "--udp", "ground=127.0.0.1:0"];
    let start = || skyhaul(&args).env("XDG_RUNTIME_DIR", session.path()).spawn().unwrap();
    let sockets = || crate::common::names(&session.path().join("skyhaul"));
    let mut killed = start();
    until("the socket", || session.path().join("skyhaul").exists() && sockets().len() == 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(sockets().len(), 1, "a killed emulation cannot take its socket away");
    // The next one does.
    let mut living = start();
    let name = format!("emulate-{}.sock", living.id());
    let socket = session.path().join("skyhaul").join(&name);
    until("the new socket", || sockets() == [name.clone()] && listens(&socket));
    std::fs::write(session.path().join("skyhaul/emulate-1.sock"), "a file of somebody's").unwrap();
    assert_eq!(in_session(session.path(), &["control", "status"]).code, Some(0));
    let said = in_session(session.path(), &["emulate", "--cleanup"]);
    assert!(said.err.contains("nothing was left"), "{said:?}");
    living.kill().unwrap();
    living.wait().unwrap();
    let said = in_session(session.path(), &["emulate", "--cleanup"]);
    assert!(said.err.contains("removed") && said.code == Some(0), "{said:?}");
    assert_eq!(sockets(), ["emulate-1.sock"], "what is no socket is not ours");
}

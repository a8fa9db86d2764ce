//! `skyhaul pair` over loopback: two machines, each with folders of its own.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/relay.rs"]
mod relay;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::time::Duration;

use common::{Kept, Said, file, free_port, skyhaul, until};
use relay::{To, relay};
use tempfile::TempDir;

/// Folders of one machine.
struct Machine(TempDir);

/// Machine that waits, and the code that it shows.
struct Waiting {
    child: Kept,
    errors: BufReader<ChildStderr>,
    address: String,
    code: String,
}

impl Machine {
    fn new(name: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        assert_eq!(machine.run(&format!("id --name {name}")).code, Some(0));
        machine
    }

    fn command(&self, line: &str) -> Command {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = skyhaul(&words);
        command.env("XDG_CONFIG_HOME", self.0.path().join("config"));
        command.env("XDG_STATE_HOME", self.0.path().join("state"));
        command
    }

    fn run(&self, line: &str) -> Said {
        self.command(line).output().unwrap().into()
    }

    /// Runs with what somebody types.
    fn typed(&self, line: &str, text: &str) -> Said {
        let mut child = self.command(line).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// Starts the side that shows the code.
    fn waits(&self, options: &str) -> Waiting {
        let address = format!("127.0.0.1:{}", free_port());
        let line = format!("pair --listen {address}{options}");
        let mut child = Kept::new(self.command(&line).spawn().unwrap());
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut code = String::new();
        while !code.starts_with("code: ") {
            code.clear();
            assert!(errors.read_line(&mut code).unwrap() > 0, "it ended");
        }
        let code = code.trim_start_matches("code: ").trim().replace(' ', "-");
        Waiting { child, errors, address, code }
    }

    /// File of the peers.
    fn book(&self) -> PathBuf {
        self.0.path().join("config/skyhaul/peers")
    }

    fn peers(&self) -> serde_json::Value {
        self.run("peers list --json").json()["peers"].clone()
    }

    fn key(&self) -> serde_json::Value {
        self.run("id --json").json()["public_key"].clone()
    }

    /// Secret shared with its only peer, as it stands in the file.
    fn psk(&self) -> String {
        self.peers_psk("")
    }

    /// Secret shared with the first peer whose name begins like this.
    fn peers_psk(&self, name: &str) -> String {
        let text = fs::read_to_string(self.book()).unwrap();
        let line = text.lines().skip(1).find(|line| line.starts_with(name)).unwrap();
        line.split(' ').nth(2).unwrap().to_owned()
    }
}

/// True if a file of peers has one.
fn is_kept(book: &Path) -> bool {
    fs::read_to_string(book).is_ok_and(|text| text.lines().count() > 1)
}

impl Waiting {
    /// What it says until it ends.
    fn end(mut self) -> Said {
        let mut err = String::new();
        std::io::Read::read_to_string(&mut self.errors, &mut err).unwrap();
        let said: Said = self.child.wait_with_output().into();
        Said { err, ..said }
    }
}

/// A code that fits together and is another one.
fn other(code: &str) -> String {
    let number: u64 = code.replace('-', "").parse().unwrap();
    let number = ((number / 100) ^ 1) * 100;
    format!("{:015}", number + 98 - number % 97)
}

#[test]
fn two_machines_are_paired_by_the_code() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground-1"));
    let waiting = ship.waits(" --allow --json");
    let said = ground.typed(&format!("pair {}", waiting.address), &format!("{}\n", waiting.code));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.contains("paired with  ship\n") && said.err.contains("skyhaul peers allow ship"),
        "{said:?}"
    );
    let address = waiting.address.clone();
    let there = waiting.end();
    assert_eq!((there.code, &there.json()["name"]), (Some(0), &"ground-1".into()), "{there:?}");
    let (at_ship, at_ground) = (ship.peers(), ground.peers());
    assert_eq!((&at_ship[0]["name"], &at_ground[0]["name"]), (&"ground-1".into(), &"ship".into()));
    assert_eq!((&at_ship[0]["public_key"], &at_ground[0]["public_key"]), (&ground.key(), &ship.key()));
    assert_eq!((&at_ship[0]["may_send"], &at_ground[0]["may_send"]), (&true.into(), &false.into()));
    assert_eq!(
        (&at_ground[0]["address"], &at_ship[0]["address"]),
        (&address.into(), &serde_json::Value::Null)
    );
    assert_eq!(ship.psk(), ground.psk());
}

#[test]
fn authenticated_machines_tell_their_callsigns_and_pairing_again_makes_a_new_secret() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let mut secrets = Vec::new();
    for _ in 0..2 {
        let waiting = ship.waits(" --mode authenticated --callsign k1abc --as base");
        let line = format!(
            "pair {} --mode authenticated --callsign dl1abc --code {}",
            waiting.address, waiting.code
        );
        let said = ground.run(&line);
        assert_eq!((said.code, waiting.end().code), (Some(0), Some(0)), "{said:?}");
        assert_eq!(ground.peers()[0]["callsign"], "K1ABC");
        assert_eq!(
            (&ship.peers()[0]["callsign"], &ship.peers()[0]["name"]),
            (&"DL1ABC".into(), &"base".into())
        );
        assert_eq!(ship.peers()[0]["mode"], "authenticated");
        secrets.push((ship.psk(), ground.psk()));
    }
    assert!(secrets.iter().all(|(ship, ground)| ship == ground) && secrets[0] != secrets[1]);
}

#[test]
fn a_wrong_code_is_told_at_both_and_ends_it() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits(" --json");
    let (address, code) = (waiting.address.clone(), waiting.code.clone());
    let said = ground.run(&format!("pair {address} --code {} --json", other(&code)));
    assert_eq!((said.code, &said.json()["error"]["code"]), (Some(1), &"pairing-failed".into()), "{said:?}");
    assert!(said.err.contains("the code is wrong"), "{said:?}");
    let there = waiting.end();
    assert_eq!(there.code, Some(1));
    assert!(there.err.contains("a wrong code was tried, so this one is void"), "{there:?}");
    let again = ground.run(&format!("pair {address} --code {code}"));
    assert!(again.code == Some(1) && again.err.contains("nothing waits there"), "no second guess: {again:?}");
    assert!(ship.peers()[0].is_null() && ground.peers()[0].is_null());
}

#[test]
fn a_mistyped_code_is_told_before_anything_is_sent() {
    let ground = Machine::new("ground");
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    nobody.set_nonblocking(true).unwrap();
    let line = format!("pair {}", nobody.local_addr().unwrap());
    for (typed, words) in [
        ("000 431 181 030 513", "mistyped"),
        ("1234", "a code has 15 digits, and these are 4"),
        ("", "these are 0"),
    ] {
        let said = ground.typed(&line, &format!("{typed}\n"));
        assert!(said.code == Some(2) && said.err.contains(words), "{said:?}");
        assert!(said.err.contains("nothing was sent"), "{said:?}");
    }
    let said = ground.run(&format!("{line} --code 000-431-181-030-5l2"));
    assert!(said.code == Some(2) && said.err.contains("digits alone, and 'l' is none"), "{said:?}");
    assert!(nobody.recv(&mut [0; 2000]).is_err(), "nothing was sent");
}

#[test]
fn modes_that_differ_are_told_at_both() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits(" --mode authenticated");
    let said = ground.run(&format!("pair {} --code {}", waiting.address, waiting.code));
    assert!(
        said.code == Some(1) && said.err.contains("here encrypted, at the other machine authenticated"),
        "{said:?}"
    );
    let there = waiting.end();
    assert!(there.code == Some(1) && there.err.contains("here authenticated"), "{there:?}");
    assert!(ship.peers()[0].is_null() && ground.peers()[0].is_null());
}

#[test]
fn who_cannot_be_kept_is_told_at_both_and_may_have_another_name() {
    let (ship, ground, second) = (Machine::new("ship"), Machine::new("ground"), Machine::new("ground"));
    for (opener, options, code_of, words) in [
        (&ground, "", Some(0), "paired with"),
        (&second, "", Some(1), "this machine would have the name of another peer there"),
        (&second, " --as second", Some(0), "paired with"),
    ] {
        let waiting = ship.waits(options);
        let said = opener.run(&format!("pair {} --code {}", waiting.address, waiting.code));
        assert!(said.code == code_of && (said.out + &said.err).contains(words), "{options}");
        let there = waiting.end();
        assert_eq!(there.code, code_of, "{there:?}");
        assert_eq!(there.err.contains("another peer is called 'ground' already"), code_of == Some(1));
    }
    assert_eq!(ship.peers().as_array().unwrap().len(), 2);
}

/// Address behind which the first datagrams from each side cross to `address`, and none later.
fn cut_after(address: &str, datagrams: usize) -> String {
    let (front, back) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let place = front.local_addr().unwrap().to_string();
    back.connect(address).unwrap();
    for socket in [&front, &back] {
        socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    }
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        for _ in 0..datagrams {
            let Ok((length, from)) = front.recv_from(&mut buffer) else { return };
            back.send(&buffer[..length]).unwrap();
            let Ok(length) = back.recv(&mut buffer) else { return };
            front.send_to(&buffer[..length], from).unwrap();
        }
    });
    place
}

#[test]
fn a_machine_that_is_gone_in_mid_pairing_spends_no_code_and_holds_nobody_up_for_long() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits("");
    let through = cut_after(&waiting.address, 2);
    let killed =
        Kept::new(ground.command(&format!("pair {through} --code {}", waiting.code)).spawn().unwrap());
    std::thread::sleep(Duration::from_millis(300));
    drop(killed);
    let said = ground.run(&format!("pair {} --code {}", waiting.address, waiting.code));
    let there = waiting.end();
    assert_eq!((said.code, there.code), (Some(0), Some(0)), "{said:?} {there:?}");
    assert!(there.err.contains("the connection ended before the pairing did; still waiting"), "{there:?}");
}

#[test]
fn who_is_interrupted_in_the_farewell_is_paired() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits("");
    let book = ship.book();
    // What the other end answers to the last words never comes.
    let through = relay(&waiting.address, Duration::ZERO, move |to| to == To::Sender || !is_kept(&book));
    let opening =
        Kept::new(ground.command(&format!("pair {through} --code {}", waiting.code)).spawn().unwrap());
    for (machine, process) in [(&ship, &waiting.child), (&ground, &opening)] {
        until("the other end is kept", || is_kept(&machine.book()));
        Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    }
    for said in [waiting.end(), opening.wait_with_output().into()] {
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.err.contains("nobody is paired"), "{said:?}");
    }
}

#[test]
fn who_cannot_keep_the_machine_that_shows_the_code_is_told_at_both_and_tries_it_under_another_name() {
    let (ship, second, ground) = (Machine::new("ship"), Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits("");
    let said = ground.run(&format!("pair {} --code {}", waiting.address, waiting.code));
    assert_eq!((said.code, waiting.end().code), (Some(0), Some(0)), "{said:?}");
    let waiting = second.waits("");
    let line = format!("pair {} --code {}", waiting.address, waiting.code);
    let said = ground.run(&line);
    assert!(said.code == Some(1) && said.err.contains("another peer is called 'ship' already"), "{said:?}");
    assert!(said.err.contains("the code still holds"), "{said:?}");
    assert!(second.peers()[0].is_null(), "nobody is known at one end alone");
    let said = ground.run(&format!("{line} --as second"));
    let there = waiting.end();
    assert_eq!((said.code, there.code), (Some(0), Some(0)), "{said:?} {there:?}");
    assert!(there.err.contains("this machine would have the name of another peer there"), "{there:?}");
    assert!(there.err.contains("--as NAME there") && there.err.contains("still waiting"), "{there:?}");
    assert_eq!(ground.peers().as_array().unwrap().len(), 2);
    assert_eq!((second.peers().as_array().unwrap().len(), second.psk()), (1, ground.peers_psk("second")));
}

#[test]
fn two_machines_of_one_name_are_told_so_at_both_and_paired_under_other_ones() {
    let (ship, second) = (Machine::new("ship"), Machine::new("ship"));
    let (here, there) = ("this machine is called 'ship', too", "the other one's own name there");
    for (as_there, code_of) in [("", 1), (" --as second", 0)] {
        let waiting = ship.waits(as_there);
        let line = format!("pair {} --code {}", waiting.address, waiting.code);
        let said = second.run(&line);
        assert!(said.code == Some(1) && said.err.contains(here), "{said:?}");
        assert!(said.err.contains("--name NAME") && said.err.contains("--as NAME"), "{said:?}");
        assert!(ship.peers()[0].is_null() && second.peers()[0].is_null());
        let said = second.run(&format!("{line} --as first"));
        let waited = waiting.end();
        assert_eq!([said.code, waited.code], [Some(code_of); 2], "{said:?} {waited:?}");
        assert!(waited.err.contains(there) && waited.err.contains("still waiting"), "{waited:?}");
        assert_eq!(
            said.err.contains(there) && said.err.contains("--name NAME here"),
            code_of == 1,
            "{said:?}"
        );
        assert_eq!(waited.err.contains(here), code_of == 1, "{waited:?}");
    }
    assert_eq!((&ship.peers()[0]["name"], &second.peers()[0]["name"]), (&"second".into(), &"first".into()));
    let said = ship.run("id --name second");
    assert!(said.code == Some(1) && said.err.contains("another peer is called 'second'"), "{said:?}");
}

#[test]
fn strangers_and_a_killed_machine_do_not_spend_the_code() {
    let (ship, ground) = (Machine::new("ship"), Machine::new("ground"));
    let waiting = ship.waits("");
    let letter = file(ground.0.path(), "letter", b"not for you");
    let said = ground.run(&format!("send {} {}", letter.display(), waiting.address));
    assert_eq!(said.code, Some(1), "a pairing takes no files: {said:?}");
    let mut killed =
        ground.command(&format!("pair {}", waiting.address)).stdin(Stdio::piped()).spawn().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let said = ground.run(&format!("pair {} --code {}", waiting.address, waiting.code));
    assert_eq!((said.code, waiting.end().code), (Some(0), Some(0)), "{said:?}");
}

#[test]
fn a_silent_address_is_told_of_while_it_is_asked() {
    let ground = Machine::new("ground");
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let said = ground.run(&format!("pair {address} --code 000-431-181-030-512"));
    let first = format!("{address} has not answered yet; asking for 20 s");
    assert!(said.code == Some(1) && said.err.contains(&first), "{said:?}");
    assert!(said.err.contains("it did not answer"), "{said:?}");
}

#[test]
fn nobody_there_and_bad_arguments_are_told() {
    let ground = Machine::new("ground");
    let code = "000-431-181-030-512";
    let said = ground.run(&format!("pair 127.0.0.1:{} --code {code}", free_port()));
    assert!(said.code == Some(1) && said.err.contains("start `skyhaul pair --listen 127.0.0.1:"), "{said:?}");
    for (line, words) in [
        ("pair", "--listen"),
        ("pair 192.0.2.7", "no port"),
        ("pair 192.0.2.7:1 --listen 127.0.0.1:1", "--listen"),
        ("pair --listen 127.0.0.1:1 --code 1", "--code"),
        ("pair 192.0.2.7:1 --mode plain", "encrypted and authenticated"),
        ("pair 192.0.2.7:1 --as a/b", "a name has 1 to 63"),
    ] {
        let said = ground.run(line);
        assert!(said.code == Some(2) && said.err.contains(words), "{line}: {said:?}");
    }
}

#[test]
fn who_pairs_with_itself_is_told() {
    let ship = Machine::new("ship");
    let waiting = ship.waits("");
    let said = ship.run(&format!("pair {} --code {}", waiting.address, waiting.code));
    assert!(said.code == Some(1) && said.err.contains("this one's identity"), "{said:?}");
    drop(waiting);
    assert!(ship.peers()[0].is_null());
}

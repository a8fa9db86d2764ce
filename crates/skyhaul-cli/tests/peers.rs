//! `skyhaul id` and `skyhaul peers`: what they show and keep, and what they say of bad input.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use common::{Said, file, skyhaul};
use tempfile::TempDir;

const KEY: &str = "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20";
const OTHER: &str = "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13";

/// Folders of one machine.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let psk = file(machine.0.path(), "psk", format!("{}\n", "33".repeat(32)).as_bytes());
        fs::set_permissions(psk, fs::Permissions::from_mode(0o600)).unwrap();
        machine
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, line: &str) -> Said {
        self.run_with(line, "")
    }

    fn run_with(&self, line: &str, input: &str) -> Said {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = skyhaul(&words);
        command.env("XDG_CONFIG_HOME", self.place("config")).env("XDG_STATE_HOME", self.place("state"));
        let mut child = command.current_dir(self.0.path()).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    fn works(&self, line: &str) -> Said {
        let said = self.run(line);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{line}: {said:?}");
        said
    }

    /// What a command that fails by this code says.
    fn fails(&self, line: &str, code: i32, words: &[&str]) {
        let said = self.run(line);
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{line}: {said:?}");
        for word in words {
            assert!(said.err.contains(word), "{line} should mention '{word}': {}", said.err);
        }
    }
}

#[test]
fn an_identity_is_made_at_first_and_stays() {
    let machine = Machine::new();
    let first = machine.works("id --json").json();
    assert_eq!(first["public_key"].as_str().unwrap().len(), 64);
    let named = machine.works("id --name ground-1 --callsign dl1abc --json").json();
    assert_eq!((&named["name"], &named["callsign"]), (&"ground-1".into(), &"DL1ABC".into()));
    assert_eq!(named["public_key"], first["public_key"]);
    let shown = machine.works("id").out;
    let key = first["public_key"].as_str().unwrap();
    assert_eq!(shown, format!("  name        ground-1\n  public key  {key}\n  callsign    DL1ABC\n"));
    let secret = fs::read_to_string(machine.place("config/skyhaul/identity")).unwrap();
    assert!(!secret.contains(key), "the file has the other half");
}

#[test]
fn peers_are_kept_shown_allowed_and_removed() {
    let machine = Machine::new();
    let none = machine.run("peers list");
    assert!(none.code == Some(0) && none.out.is_empty(), "{none:?}");
    assert!(none.err.contains("`skyhaul pair` makes one known"), "{none:?}");
    machine.works(&format!("peers add ship {KEY} --psk psk --address ship.example:4700"));
    machine
        .works(&format!("peers add ground {OTHER} --psk psk --mode authenticated --callsign k1abc --allow"));
    let listed = machine.works("peers list").out;
    assert!(
        listed.contains("ship    encrypted      no        -         ship.example:4700  0faa684e"),
        "{listed}"
    );
    let json = machine.works("peers list --json").json();
    assert_eq!(json["peers"][0]["name"], "ground");
    assert_eq!(json["peers"][0]["mode"], "authenticated");
    assert_eq!((&json["peers"][0]["may_send"], &json["peers"][1]["may_send"]), (&true.into(), &false.into()));
    assert!(!machine.works("peers list --json").out.contains("3333"), "no secret is shown");
    assert_eq!(machine.works("peers allow ship --json").json()["may_send"], true);
    assert_eq!(machine.works("peers allow ground --revoke --json").json()["may_send"], false);
    assert_eq!(machine.works("peers remove ground --json").json()["public_key"], OTHER);
    let json = machine.works("peers list --json").json();
    assert_eq!(json["peers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_secret_may_come_from_the_standard_input() {
    let machine = Machine::new();
    let said = machine.run_with(&format!("peers add ship {KEY} --psk -"), &"44".repeat(32));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(fs::read_to_string(machine.place("config/skyhaul/peers")).unwrap().contains(&"44".repeat(32)));
}

#[test]
fn what_makes_no_sense_is_exit_code_2() {
    let machine = Machine::new();
    machine.fails("peers", 2, &["list", "allow"]);
    machine.fails("id --name a/b", 2, &["a name has 1 to 63 letters"]);
    machine.fails("id --callsign x", 2, &["a callsign has 3 to 15"]);
    machine.fails("peers add moon 1234 --psk psk", 2, &["64 hexadecimal digits"]);
    machine.fails(
        &format!("peers add moon {} --psk psk", "0".repeat(64)),
        2,
        &["key of zeros", "skyhaul id"],
    );
    machine.fails(&format!("peers add moon {OTHER}"), 2, &["--psk"]);
    machine.fails(
        &format!("peers add moon {OTHER} --psk psk --mode plain"),
        2,
        &["encrypted and authenticated"],
    );
    machine.fails(
        &format!("peers add moon {OTHER} --psk psk --address ship"),
        2,
        &["no port", "like ship:4700"],
    );
}

#[test]
fn names_and_keys_that_are_taken_are_told() {
    let machine = Machine::new();
    let own = machine.works("id --json").json()["public_key"].as_str().unwrap().to_owned();
    machine.works(&format!("peers add ship {KEY} --psk psk"));
    machine.fails(&format!("peers add ship {OTHER} --psk psk"), 1, &["another peer is called 'ship'"]);
    machine.fails(&format!("peers add moon {KEY} --psk psk"), 1, &["known already", "'ship'"]);
    machine.fails(&format!("peers add moon {own} --psk psk"), 1, &["this machine's own"]);
    machine.works("id --name moon");
    machine.fails(&format!("peers add moon {OTHER} --psk psk"), 1, &["this machine is called 'moon', too"]);
    machine.fails("id --name ship", 1, &["another peer is called 'ship'"]);
}

#[test]
fn secrets_that_are_none_or_open_to_others_are_told() {
    let machine = Machine::new();
    let add = |psk: &str| format!("peers add ship {KEY} --psk {psk}");
    machine.fails(&add("none"), 1, &["'none'", "cannot be used", "not found"]);
    let short = file(machine.0.path(), "short", b"3333");
    fs::set_permissions(&short, fs::Permissions::from_mode(0o600)).unwrap();
    machine.fails(&add("short"), 1, &["'short' has no 64 hexadecimal digits"]);
    fs::set_permissions(machine.place("psk"), fs::Permissions::from_mode(0o644)).unwrap();
    machine.fails(&add("psk"), 1, &["others may read it (mode 644)"]);
    machine.fails(&add("/dev/zero"), 1, &["not a plain file"]);
}

#[test]
fn names_that_nobody_has_are_told_with_those_that_are_known() {
    let machine = Machine::new();
    machine.fails("peers remove moon", 1, &["no peer is called 'moon'; none is known yet"]);
    machine.works(&format!("peers add ship {KEY} --psk psk"));
    machine.fails("peers allow moon", 1, &["no peer is called 'moon'; there are ship"]);
    machine.fails("peers remove moon --json", 1, &["there are ship"]);
}

#[test]
fn files_that_cannot_be_trusted_are_told_with_what_to_do() {
    let machine = Machine::new();
    machine.works("id");
    let identity = machine.place("config/skyhaul/identity");
    fs::set_permissions(&identity, fs::Permissions::from_mode(0o644)).unwrap();
    machine.fails("id", 1, &[identity.to_str().unwrap(), "others may read it (mode 644); `chmod 600` it"]);
    fs::set_permissions(&identity, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&identity, "skyhaul-identity 1\n").unwrap();
    machine.fails("id", 1, &["it is damaged; put it back from a copy, or remove it"]);
    machine.fails("id --name x", 1, &["it is damaged"]);
    let peers = file(&machine.place("config/skyhaul"), "peers", b"a letter");
    fs::set_permissions(peers, fs::Permissions::from_mode(0o600)).unwrap();
    machine.fails("peers list", 1, &["the file of peers cannot be used", "it is something else"]);
}

#[test]
fn without_folders_there_is_nowhere_to_keep_keys() {
    let mut command = skyhaul(&["id"]);
    let said: Said = command.env_clear().output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("neither XDG_CONFIG_HOME nor HOME is set"), "{said:?}");
}

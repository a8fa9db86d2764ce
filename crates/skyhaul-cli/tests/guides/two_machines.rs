//! Two machines of a page, `ship` and `ground`, each with keys of its own: both are a network namespace that
//! has the ship's address. A comment behind each command says where it is run.

/// Commands that give a namespace the ship's address.
pub const SET_UP: &[&str] = &["link set lo up", "address add 192.0.2.7/32 dev lo"];

/// Pairing that a page takes for done.
const PAIRING: &str = "\
skyhaul pair --listen '[::]:4700' --name ship --allow    # on the ship
skyhaul pair 192.0.2.7:4700                              # on the ground";

/// Functions that run a command as one of the two machines, and what is to be sent.
const MACHINES: &str = "\
[ -e report.pdf ] || head -c 100000 /dev/urandom >report.pdf
mkdir -p photos && head -c 200000 /dev/urandom >photos/1.jpg && cp photos/1.jpg photos.tar && date >notes.txt
as() { machine=$1; shift; XDG_CONFIG_HOME=$PWD/$machine/config XDG_STATE_HOME=$PWD/$machine/state exec \"$@\"; }
ship() { (as ship \"$@\"); }
ground() { (as ground \"$@\"); }
";

/// Commands of a block, each at the machine that stands behind it. A receiver works beside the others, and is
/// interrupted at the end if it waits for more; a block that sends without one gets one. Who shows a code
/// works beside the one that asks for it, which gets it as somebody would type it.
pub fn at_their_machines(text: &str) -> String {
    let has_receiver = text.contains("skyhaul receive ");
    let own = "skyhaul receive --dir inbox --listen '[::]:4700' --overwrite    # on the ship\n";
    let text =
        if text.contains("skyhaul send ") && !has_receiver { own.to_owned() + text } else { text.into() };
    let is_once = text.contains(" --once");
    let stop = if is_once { "" } else { "kill -INT $receiving\n" };
    let end = if text.contains("skyhaul send ") { format!("{stop}wait $receiving\n") } else { String::new() };
    let all = text.lines().map(at_its_machine).collect::<String>() + &end;
    let arrived = ["report.pdf", "photos.tar", "notes.txt"].into_iter().filter(|name| {
        text.lines().any(|line| {
            line.contains("skyhaul send ") && line.contains(&format!(" {name} ")) && !line.contains(" - ")
        })
    });
    let same = arrived.map(|name| format!("cmp {name} inbox/{name}\n"));
    MACHINES.to_owned() + &all + &same.collect::<String>()
}

/// Those of a page that takes the machines for paired.
pub fn once_paired(text: &str) -> String {
    let pairing = at_their_machines(PAIRING);
    format!("[ -e paired ] || {{\n{pairing}touch paired\n}}\n{}", at_their_machines(text))
}

fn at_its_machine(line: &str) -> String {
    let (command, place) = line.split_once('#').unwrap();
    let (command, machine) = (command.trim(), if place.contains("on the ship") { "ship" } else { "ground" });
    let (before, command) = match command.split_once("skyhaul ") {
        Some((before, rest)) => (before, format!("skyhaul {rest}")),
        None => return format!("{command}\n"),
    };
    if command.starts_with("skyhaul receive ") {
        let waits = "until grep -q 'waiting for files' heard 2>/dev/null; do sleep 0.05; done";
        let before = before.trim_end().trim_end_matches("&&");
        let run = format!("(as {machine} {command}) 2>heard & receiving=$!");
        format!("{before}\nrm -f heard\n{run}\n{waits}\n")
    } else if command.contains(" --listen ") {
        let shown = "until grep -q '^code: ' shown 2>/dev/null; do sleep 0.05; done";
        format!("rm -f shown\n{before}{machine} {command} 2>shown & waiting=$!\n{shown}\n")
    } else if command.starts_with("skyhaul pair ") {
        format!("sed -n 's/^code: //p' shown | {machine} {command}\nwait $waiting\n")
    } else {
        format!("{before}{machine} {command}\n")
    }
}

#[test]
fn the_receiver_of_a_block_works_beside_its_sender() {
    let block = "mkdir inbox && skyhaul receive --dir inbox --listen 192.0.2.7:4700    # on the ship\n\
                 tar c a | skyhaul send - ship    # on the ground";
    let text = at_their_machines(block);
    for part in [
        "\nmkdir inbox \n",
        "\n(as ship skyhaul receive --dir inbox --listen 192.0.2.7:4700) 2>heard & receiving=$!\n",
        "\ntar c a | ground skyhaul send - ship\nkill -INT $receiving\nwait $receiving\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.find("until grep") < text.find("skyhaul send"), "{text}");
}

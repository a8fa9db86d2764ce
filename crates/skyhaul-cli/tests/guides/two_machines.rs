//! Two machines of a page: both are a network namespace that has the receiver's address.

/// Address of the receiver in every page, and where it shows in `/proc/net/udp` or `udp6`.
pub const RECEIVER: &str = "192.0.2.7:4700";
const PORT_IN_HEX: &str = ":125C ";

/// Commands that give a namespace the receiver's address.
pub const SET_UP: &[&str] = &["link set lo up", "address add 192.0.2.7/32 dev lo"];

/// The commands of a block, with what the sender has beforehand. The receiver works beside the others, and is
/// interrupted at the end; a block without one gets one.
pub fn in_one_shell(text: &str) -> String {
    let (receive, send): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("skyhaul receive"));
    let own = format!("skyhaul receive --dir inbox --listen {RECEIVER} --overwrite");
    let receive = receive.first().map_or(own.as_str(), |line| line.split('#').next().unwrap());
    let lines = [
        "mkdir -p photos && head -c 200000 /dev/urandom >photos/1.jpg",
        "cp photos/1.jpg photos.tar && head -c 100000 /dev/urandom >report.pdf",
        &format!("({}) & receiver=$!", receive.replace("skyhaul receive", "exec skyhaul receive")),
        &format!("until cat /proc/net/udp* | grep -q '{PORT_IN_HEX}'; do sleep 0.05; done"),
        &send.join("\n"),
        "kill -INT $receiver",
        "wait $receiver",
    ];
    lines.join("\n")
}

#[test]
fn the_receiver_of_a_block_works_beside_its_sender() {
    let block = "mkdir inbox && skyhaul receive --dir inbox --listen 192.0.2.7:4700    # there\nskyhaul send a 192.0.2.7:4700";
    let text = in_one_shell(block);
    assert!(
        text.contains("(mkdir inbox && exec skyhaul receive --dir inbox --listen 192.0.2.7:4700    ) &"),
        "{text}"
    );
    assert!(text.find("until cat") < text.find("skyhaul send a"), "{text}");
}

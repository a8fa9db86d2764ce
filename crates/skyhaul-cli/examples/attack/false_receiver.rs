//! A receiver that lies to `skyhaul send`.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use skyhaul_stp::segment::{Opening, Segment};

use crate::field::Field;
use crate::honest::json;
use crate::peer::echo;
use crate::process::{Process, skyhaul};
use crate::wire::{self, datagram, ip_bytes};

/// What it says to whoever sends to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lies {
    pub(crate) max_payload_bytes: u16,
    pub(crate) window_bytes: u32,
    /// IP octets a second that it takes; what comes faster is lost, and confirmed like the rest.
    pub(crate) taken_bps: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Data packets that came to its address, and IP octets of everything.
    pub(crate) packets: u64,
    pub(crate) octets: u64,
    /// Time from the first to the last.
    pub(crate) seconds: f64,
    /// Time until the sender ended, if it did, and the code of its error.
    pub(crate) given_up: Option<(f64, String)>,
}

/// Runs `skyhaul send` of a file of zeros, of so many octets, to a false receiver, until that ends or the
/// attack has to.
pub(crate) fn lie(field: &Field<'_>, lies: Lies, file_bytes: u64) -> io::Result<Heard> {
    let (socket, folder) = (wire::socket([99, 0, 2])?, tempfile::tempdir()?);
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let path = folder.path().join("zeros.bin");
    std::fs::File::create(&path)?.set_len(file_bytes)?;
    let (path, to) = (path.display().to_string(), socket.local_addr()?.to_string());
    let words = ["send", "--plain", "--json", "--no-memory", "--give-up", "8s", &path, &to];
    let mut command: Command = skyhaul(field.binary, &words);
    let mut sender = Process::start(&mut command)?;
    let (begun, mut ear) = (Instant::now(), Ear::new(socket, lies));
    field.stand();
    while field.goes_on() && sender.ended_within(Duration::ZERO)?.is_none() {
        ear.listen(field);
    }
    let gave_up = field.goes_on().then(|| begun.elapsed().as_secs_f64());
    sender.interrupt()?;
    sender.ended_within(Duration::from_secs(5))?;
    let given_up = match gave_up {
        Some(seconds) => Some((seconds, code(&sender.output()?.stdout))),
        None => None,
    };
    Ok(Heard { given_up, ..ear.heard })
}

fn code(output: &[u8]) -> String {
    json(output)["error"]["code"].as_str().unwrap_or("none").to_string()
}

struct Ear {
    socket: UdpSocket,
    lies: Lies,
    heard: Heard,
    begun: Option<Instant>,
    taken: u64,
    buffer: Vec<u8>,
}

impl Ear {
    fn new(socket: UdpSocket, lies: Lies) -> Self {
        Self { socket, lies, heard: Heard::default(), begun: None, taken: 0, buffer: vec![0; 1 << 16] }
    }

    fn listen(&mut self, field: &Field<'_>) {
        let Ok((bytes, from)) = self.socket.recv_from(&mut self.buffer) else { return };
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let octets = ip_bytes(&self.buffer[..bytes]);
        self.heard.octets += octets;
        self.heard.seconds = begun.elapsed().as_secs_f64();
        let Some(segment) = wire::segment(&self.buffer[..bytes]) else { return };
        self.heard.packets += u64::from(segment.data.is_some());
        let budget = (self.heard.seconds + 0.1) * self.lies.taken_bps as f64 / 8.0;
        if (self.taken + octets) as f64 <= budget {
            self.taken += octets;
            self.answer(field, &segment, from);
        }
    }

    fn answer(&self, field: &Field<'_>, heard: &Segment<'_>, to: SocketAddr) {
        let blank = Segment {
            source_port: heard.destination_port,
            destination_port: heard.source_port,
            instance: heard.instance,
            ..Segment::default()
        };
        let bgnak = heard.bgn.map(|opening| Opening {
            max_payload_bytes: self.lies.max_payload_bytes,
            window_bytes: self.lies.window_bytes,
            ..opening
        });
        let mut stat = heard.poll.map(echo);
        if let Some(stat) = &mut stat {
            stat.report.window_bytes = self.lies.window_bytes;
        }
        if bgnak.is_some() || stat.is_some() {
            field.send_to(&self.socket, &datagram(&Segment { bgnak, stat, ..blank }), to);
        }
    }
}

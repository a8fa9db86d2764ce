//! Fast Open of `send` and `receive` over TCP: what was remembered of the receiver, and what came of it.

use std::net::IpAddr;

use serde::Serialize;
use skyhaul_core::Stats;
use skyhaul_net::{CookieMemory, PathKey};
use skyhaul_tcp::FastOpenFacts;

use crate::remembered::{MemoryArgs, now_unix_s, trouble};

/// Memory of a receiver's cookie, while a connection uses it.
#[derive(Debug)]
pub(crate) struct Cookies {
    memory: Option<CookieMemory>,
    key: PathKey,
    known: FastOpenFacts,
    trouble: Option<String>,
}

impl Cookies {
    /// Looks the receiver up; a file that cannot be used is none, and that is said.
    pub(crate) fn recall(args: &MemoryArgs, local: IpAddr, peer: IpAddr) -> Self {
        let (memory, key) = (args.cookies(), PathKey { local, peer: peer.to_canonical() });
        let mut cookies = Self { memory, key, known: FastOpenFacts::default(), trouble: None };
        match cookies.memory.as_ref().map(|memory| memory.recall(key, now_unix_s())) {
            Some(Ok(known)) => cookies.known = known,
            Some(Err(error)) => cookies.complain("not used", &error),
            None => {}
        }
        cookies
    }

    /// Facts that the connection begins with.
    pub(crate) fn known(&self) -> FastOpenFacts {
        self.known
    }

    /// Keeps what is known after the transfer, and tells what became of it.
    pub(crate) fn finish(mut self, found: FastOpenFacts, stats: &Stats) -> FastOpenResult {
        let kept = self.memory.as_ref().map(|memory| memory.keep(self.key, found, now_unix_s()));
        let is_kept = kept.as_ref().is_some_and(Result::is_ok) && found.cookie.is_some();
        if let Some(Err(error)) = kept {
            self.complain("not kept", &error);
        }
        let begun_with = match self.known {
            FastOpenFacts { spared_ns: 1.., .. } => "spared",
            FastOpenFacts { cookie: Some(_), .. } => "cookie",
            _ => "no-cookie",
        };
        let sender = SenderPart {
            begun_with,
            sent_bytes: stats.opening_sent_bytes,
            cookie_kept: is_kept,
            trouble: self.trouble,
        };
        FastOpenResult { taken_bytes: stats.opening_taken_bytes, sender: Some(sender) }
    }

    fn complain(&mut self, what: &str, error: &skyhaul_store::FileError) {
        if let (None, Some(memory)) = (&self.trouble, &self.memory) {
            self.trouble = Some(trouble("of cookies", what, memory.place(), error));
        }
    }
}

/// Part that the opening had in a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FastOpenResult {
    /// Payload that went with the opening and was taken with it.
    pub(crate) taken_bytes: u64,
    #[serde(flatten)]
    pub(crate) sender: Option<SenderPart>,
}

/// Part that the sender alone knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SenderPart {
    /// What was known of the receiver: "cookie", "no-cookie", or "spared", as openings were lost before.
    pub(crate) begun_with: &'static str,
    /// Payload that the opening carried.
    pub(crate) sent_bytes: u64,
    /// A cookie is remembered for the next time.
    pub(crate) cookie_kept: bool,
    /// Reason why the file could not be used or written.
    pub(crate) trouble: Option<String>,
}

impl FastOpenResult {
    /// Part of a receiver.
    pub(crate) fn received(stats: &Stats) -> Self {
        Self { taken_bytes: stats.opening_taken_bytes, sender: None }
    }

    /// The line of the table.
    pub(crate) fn words(&self) -> String {
        let (taken, Some(sender)) = (self.taken_bytes, &self.sender) else {
            return format!("{} B of data came with it", self.taken_bytes);
        };
        let next = if sender.cookie_kept { "; data goes with the next one" } else { "" };
        match (sender.sent_bytes, sender.begun_with) {
            (0, "spared") => "without data, as openings with its option were lost on this path lately".into(),
            (0, _) => format!("without data{next}"),
            (sent, _) if taken == 0 => {
                format!("{sent} B of data went with it, were not taken, and went again")
            }
            (sent, _) => format!("{sent} B of data went with it, {taken} were taken"),
        }
    }
}

//! Two hosts and one link in virtual time.

use skyhaul_core::{EventSink, Instant};
use skyhaul_link::Link;

use crate::host::{Host, SOURCES_PER_HOST};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Both applications are done.
    Done,
    /// Nothing is left to happen, but an application waits: a deadlock.
    Stuck,
    /// The time allowed is over.
    OutOfTime,
}

/// The event loop: total order by time, then node (hosts 0 and 1, then the link), then sequence.
#[derive(Debug)]
pub struct Pair {
    /// Host 0 is at port 0 of the link.
    pub hosts: [Host; 2],
    /// The link.
    pub link: Link,
    now: Instant,
}

impl Pair {
    /// A simulation at time zero.
    pub fn new(mut hosts: [Host; 2], link: Link) -> Self {
        hosts[1].source_base = SOURCES_PER_HOST;
        Self { hosts, link, now: Instant::ZERO }
    }

    /// Virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs until both applications are done, nothing can happen, or `until`.
    pub fn run(&mut self, until: Instant, sink: &mut dyn EventSink) -> Ended {
        loop {
            self.step(sink);
            if self.hosts.iter().all(|host| host.app.is_done()) {
                return Ended::Done;
            }
            match self.next_time() {
                None => return Ended::Stuck,
                Some(at) if at > until => return Ended::OutOfTime,
                Some(at) => self.now = self.now.max(at),
            }
        }
    }

    fn next_time(&self) -> Option<Instant> {
        let hosts = self.hosts.iter().filter_map(Host::deadline);
        hosts.chain(self.link.deadline()).min()
    }

    /// Everything that happens at this point in time.
    fn step(&mut self, sink: &mut dyn EventSink) {
        while let Some((port, packet)) = self.link.poll_transmit(self.now) {
            let (to, from) = if port == 1 { (1, 0) } else { (0, 1) };
            let address = self.hosts[from].address;
            self.hosts[to].receive(self.now, address, &packet, sink);
        }
        for (port, host) in self.hosts.iter_mut().enumerate() {
            let (link, now) = (&mut self.link, self.now);
            host.work(now, sink, |packet, sink| link.handle(now, port as u32, packet, sink));
        }
    }
}

//! Transports of racers: parameters of both ends.

use skyhaul_congestion::ControllerKind;
use skyhaul_scenario::EndConfig;
use skyhaul_scenario::Transport;
use skyhaul_sim::{STP, TCP};
use skyhaul_stp::ProbingConfig;

use super::racer::Racer;

/// Grounds on which a racer's parameters are laid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grounds<'a> {
    /// Transport that the file has for the flow.
    pub(super) of_file: &'a Transport,
    /// Rate for racers that are told one.
    pub(super) rate_bps: Option<u64>,
    /// Least size of all buffers.
    pub(super) buffer_bytes: u64,
}

impl Grounds<'_> {
    /// Parameters of both ends.
    pub(super) fn transport(self, racer: Racer) -> Transport {
        match racer {
            Racer::Standard => self.stp(racer, true, &skyhaul_stp::Config::standard().controller),
            Racer::Stp { probing, .. } => self.stp(racer, probing, &ControllerKind::SlowStartAvoidance),
            Racer::Tcp(controller) => self.tcp(racer, controller),
        }
    }

    /// Payload of a packet at most, for whoever races; what the MTU leaves may be less.
    pub(super) fn max_payload_bytes(self) -> u16 {
        let opener = &self.of_file.opener;
        u16::try_from(opener.protocol().max_payload_bytes(opener)).unwrap_or(u16::MAX)
    }

    /// STP as the file has it, if it speaks STP.
    fn stp(self, racer: Racer, probing: bool, controller: &ControllerKind) -> Transport {
        let end = |of_file: &EndConfig, rate_bps| {
            let own = of_file.get().cloned().unwrap_or_else(|| skyhaul_stp::Config {
                max_payload_bytes: usize::from(self.max_payload_bytes()),
                ..skyhaul_stp::Config::standard()
            });
            skyhaul_stp::Config {
                rate_bps,
                controller: controller.clone(),
                probing: probing.then(|| own.probing.unwrap_or_else(ProbingConfig::standard)),
                send_limit_bytes: own.send_limit_bytes.max(self.buffer_bytes),
                receive_limit_bytes: own.receive_limit_bytes.max(self.buffer_bytes),
                ..own
            }
        };
        let rate_bps = self.rate_bps.filter(|_| racer.is_declared());
        Transport {
            name: racer.name().into(),
            opener: STP.end(end(&self.of_file.opener, rate_bps)),
            acceptor: STP.end(end(&self.of_file.acceptor, None)),
        }
    }

    /// TCP as a user today has it: the kernel's knows nothing of the file's parameters either.
    fn tcp(self, racer: Racer, controller: &ControllerKind) -> Transport {
        let standard = skyhaul_tcp::Config::standard();
        let end = skyhaul_tcp::Config {
            controller: controller.clone(),
            mss_bytes: self.max_payload_bytes(),
            send_limit_bytes: standard.send_limit_bytes.max(self.buffer_bytes),
            receive_limit_bytes: standard.receive_limit_bytes.max(self.buffer_bytes),
            ..standard
        };
        Transport { name: racer.name().into(), opener: TCP.end(end.clone()), acceptor: TCP.end(end) }
    }
}

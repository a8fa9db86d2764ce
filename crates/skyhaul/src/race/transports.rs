//! What carries the flow: parameters of both ends, by racer.

use skyhaul_congestion::ControllerKind;
use skyhaul_sim::EndConfig;
use skyhaul_sim::scenario::Transport;
use skyhaul_stp::ProbingConfig;

use super::plan::Plan;
use super::racer::Racer;

impl Plan {
    /// Parameters of both ends.
    pub(super) fn transport(&self, racer: Racer) -> Transport {
        match racer {
            Racer::Standard => self.stp(racer, true, skyhaul_stp::Config::standard().controller),
            Racer::Stp { probing, .. } => self.stp(racer, probing, ControllerKind::SlowStartAvoidance),
            Racer::Tcp(controller) => self.tcp(racer, controller),
        }
    }

    /// As the file has it, if it speaks STP.
    fn stp(&self, racer: Racer, probing: bool, controller: ControllerKind) -> Transport {
        let end = |of_file: &EndConfig, rate_bps| {
            let own = of_file.stp().cloned().unwrap_or_else(|| skyhaul_stp::Config {
                max_payload_bytes: usize::from(self.max_payload_bytes()),
                ..skyhaul_stp::Config::standard()
            });
            skyhaul_stp::Config {
                rate_bps,
                controller,
                probing: probing.then(|| own.probing.unwrap_or_else(ProbingConfig::standard)),
                send_limit_bytes: own.send_limit_bytes.max(self.buffer_bytes()),
                receive_limit_bytes: own.receive_limit_bytes.max(self.buffer_bytes()),
                ..own
            }
        };
        let rate_bps = self.rate_bps.filter(|_| racer.is_declared());
        Transport {
            name: racer.name().into(),
            opener: end(&self.transport.opener, rate_bps).into(),
            acceptor: end(&self.transport.acceptor, None).into(),
        }
    }

    /// What a user today would have: the kernel's knows nothing of the file's parameters either.
    fn tcp(&self, racer: Racer, controller: ControllerKind) -> Transport {
        let standard = skyhaul_tcp::Config::standard();
        let end = skyhaul_tcp::Config {
            controller,
            mss_bytes: self.max_payload_bytes(),
            send_limit_bytes: standard.send_limit_bytes.max(self.buffer_bytes()),
            receive_limit_bytes: standard.receive_limit_bytes.max(self.buffer_bytes()),
            ..standard
        };
        Transport { name: racer.name().into(), opener: end.clone().into(), acceptor: end.into() }
    }
}

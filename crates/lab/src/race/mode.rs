//! Time in which a race was run.

/// Time in which a race was run, and with whose TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RaceMode {
    /// In virtual time, TCP by our own engine.
    Simulated,
    /// In real time, TCP by the kernel, of this release.
    RealTime(String),
}

impl RaceMode {
    /// Real time on this machine. Of the kernel's release what is behind its numbers names a build.
    pub fn real_time() -> Self {
        let name = rustix::system::uname();
        let release = name.release().to_string_lossy();
        Self::RealTime(release.split('-').next().unwrap_or_default().into())
    }

    /// Name in objects.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::RealTime(_) => "real-time",
        }
    }

    /// Release of the kernel whose TCP raced; `None` in virtual time.
    pub fn kernel(&self) -> Option<&str> {
        if let Self::RealTime(release) = self { Some(release) } else { None }
    }

    /// Words for people.
    pub fn words(&self) -> String {
        match self {
            Self::Simulated => "in virtual time, TCP by skyhaul's own engine".into(),
            Self::RealTime(release) => {
                format!("in real time, skyhaul sealed, all others plain, TCP by the kernel ({release})")
            }
        }
    }
}

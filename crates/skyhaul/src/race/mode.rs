//! How it was raced.

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In virtual time, TCP by our own engine.
    Simulated,
    /// In real time, TCP by the kernel, of this release.
    RealTime(String),
}

impl Mode {
    /// On this machine.
    pub(super) fn real_time() -> Self {
        Self::RealTime(rustix::system::uname().release().to_string_lossy().into_owned())
    }

    /// Its name in objects.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::RealTime(_) => "real-time",
        }
    }

    /// Release of the kernel whose TCP raced.
    pub(super) fn kernel(&self) -> Option<&str> {
        if let Self::RealTime(release) = self { Some(release) } else { None }
    }

    /// For people.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Simulated => "in virtual time, TCP by skyhaul's own engine".into(),
            Self::RealTime(release) => format!("in real time, TCP by the kernel ({release})"),
        }
    }
}

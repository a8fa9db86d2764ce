//! Factories of controllers: how an engine is given anybody's.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use skyhaul_core::PathController;

use crate::memory::SavedPath;
use crate::{Controller, ControllerConfig};

/// Maker of controllers, for a configuration: cheap to clone, and the same for every connection or path made
/// with it.
pub struct Factory<Start, Made: ?Sized>(Arc<dyn Fn(Start) -> Box<Made> + Send + Sync>);

impl<Start, Made: ?Sized> Factory<Start, Made> {
    /// Factory that calls `make` for each controller.
    pub fn new(make: impl Fn(Start) -> Box<Made> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    /// Controller at its start.
    pub fn build(&self, start: Start) -> Box<Made> {
        (self.0)(start)
    }
}

impl<Start, Made: ?Sized> Clone for Factory<Start, Made> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Start, Made: ?Sized> PartialEq for Factory<Start, Made> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<Start, Made: ?Sized> Eq for Factory<Start, Made> {}

impl<Start, Made: ?Sized> fmt::Debug for Factory<Start, Made> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}

/// Start of a path whose rate is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStart {
    /// Largest payload of a segment.
    pub mss_bytes: u64,
    /// Payload bytes that may leave before anything is known.
    pub first_window_bytes: u64,
    /// Path as an earlier connection found it.
    pub remembered: Option<SavedPath>,
}

/// Factory of controllers of a window.
pub type ControllerFactory = Factory<ControllerConfig, dyn Controller>;

/// Factory of controllers of a path's rate.
pub type PathControllerFactory = Factory<PathStart, dyn PathController>;

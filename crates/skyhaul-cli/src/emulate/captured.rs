//! `emulate --capture`: what crosses the links.

use skyhaul_emulator::Emulation;
use skyhaul_sim::Interfaces;

use super::EmulateArgs;
use super::scene::EmulatedScene;
use crate::capture::Capture;
use crate::failure::Failure;

/// Capture of an emulation's links, if one is asked for.
pub(super) struct SceneCapture {
    capture: Capture,
    interfaces: Interfaces,
}

impl SceneCapture {
    /// Begins it, before anything runs.
    pub(super) fn start(args: &EmulateArgs, scene: &EmulatedScene) -> Result<Self, Failure> {
        let (capture, interfaces) = args.capture.start("skyhaul emulate", &scene.scenario)?;
        Ok(Self { capture, interfaces })
    }

    /// Has it see the packets of `emulation`.
    pub(super) fn watch(&self, emulation: &Emulation) {
        if let Some(inlet) = self.capture.inlet() {
            emulation.set_capture(inlet, self.interfaces.clone());
        }
    }

    /// Ends it.
    pub(super) fn finish(self) {
        self.capture.finish();
    }
}

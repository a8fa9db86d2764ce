//! Disks that are full, or become so.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use skyhaul_files::{Code, Event, ReceiveOptions, silent};

use crate::craft;
use crate::support::*;

#[tokio::test]
async fn a_file_larger_than_the_disk_is_refused_before_its_data() {
    let folder = Folder::new();
    let stream = [craft::opening(1), craft::file(0, b"a", 1 << 47), craft::end(0, b"")].concat();
    let (received, _) = feed(&stream, &folder).await;
    let report = received.unwrap();
    assert_eq!(codes(&report), [Some(Code::NoSpace)]);
    let text = report.files[0].failure().unwrap().reason.to_string();
    assert!(text.starts_with("the file needs 140737488355328 bytes, the destination has "), "{text}");
    assert!(folder.is_empty());
}

/// A file system of one megabyte, where this is allowed. One at a time: a child process that another test
/// starts for its own holds all open files for a moment, and with them the space of removed ones.
struct SmallDisk(Folder, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl SmallDisk {
    fn mount() -> Option<Self> {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::new();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.0.path());
        mount.output().is_ok_and(|output| output.status.success()).then(|| Self(folder, alone))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.0.path()).output();
    }
}

fn fill(folder: &Path, bytes: usize) {
    std::fs::write(folder.join("filler"), vec![1; bytes]).unwrap();
}

#[tokio::test]
async fn a_disk_that_fills_up_fails_the_file_and_says_so_to_both() {
    let Some(disk) = SmallDisk::mount() else {
        return skipped("mounting a small tmpfs needs root");
    };
    let folder = disk.0.0.path().to_owned();
    let mut filled = false;
    // The space is there when the file is announced, and gone when its data comes.
    let watch = |event: &Event<'_>| {
        if let Event::Moved { .. } = event
            && !std::mem::replace(&mut filled, true)
        {
            fill(&folder, 512 * 1024);
        }
    };
    let sources = vec![memory("a", noise(3 * CHUNK, 1)), memory("b", b"small")];
    let (sent, received) = watched(sources, 64 * 1024, &disk.0, silent, watch).await;
    assert_eq!(codes(&sent), [Some(Code::NoSpace), None]);
    assert_eq!(codes(&received), codes(&sent));
    let text = sent.files[0].failure().unwrap().to_string();
    assert_eq!(text, "receiver: the file cannot be written: no space left; make space there");
    assert_eq!(disk.0.names(), [&b"b"[..], b"filler"]);
}

#[tokio::test]
async fn a_full_disk_refuses_before_the_data() {
    let Some(disk) = SmallDisk::mount() else {
        return skipped("mounting a small tmpfs needs root");
    };
    fill(disk.0.0.path(), 900 * 1024);
    let (sent, _) = transfer(vec![memory("a", noise(CHUNK, 1))], &disk.0, &ReceiveOptions::default()).await;
    assert_eq!(codes(&sent), [Some(Code::NoSpace)]);
    let text = sent.files[0].failure().unwrap().to_string();
    assert!(text.starts_with("receiver: the file needs 262144 bytes, the destination has "), "{text}");
}

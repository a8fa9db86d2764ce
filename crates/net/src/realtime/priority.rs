//! Being preferred to other work.

use std::num::NonZeroU64;

use skyhaul_core::US;

/// The lowest of the real-time priorities is above everything that has none.
const PRIORITY: i32 = 1;
/// The kernel may wake a preferred thread so much late; 50 us is the default.
const TIMER_SLACK_NS: u64 = US;
/// Where that is not permitted. It counts only among the programs of one terminal session on systems that
/// group them.
const NICENESS: i32 = -20;

/// Has the kernel prefer this thread to all ordinary ones, where it lets us: what it does takes microseconds,
/// and is to be done now. The kernel leaves 5 % of the time to others, whatever happens.
pub(super) fn raise() {
    // Without it wake-ups are some 50 us later, which the lateness report shows.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS));
    if !is_real_time() {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
    }
}

#[expect(unsafe_code, reason = "scheduling of a thread has no safe wrapper")]
fn is_real_time() -> bool {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: all zeroes is a value of this plain structure.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    // SAFETY: 0 is the calling thread; the kernel reads the parameters and keeps no pointer. (There is no
    // safe wrapper.)
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) == 0 }
}

//! How fast one stream is between two endpoints on this machine, without a link between them, and
//! what it costs. Each endpoint has a thread and a runtime of its own.
//!
//! `cargo bench -p skyhaul-net --bench loopback -- [--bytes 1GiB] [--runs 3] [--mtu 1500]`

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use rustix::time::{ClockId, clock_gettime};
use skyhaul_core::units::{parse_bytes, show_bytes};
use skyhaul_net::{Clock, Endpoint, EndpointOptions};
use skyhaul_stp::{Config, Stats};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PORT: u16 = 7;
const CHUNK_BYTES: usize = 256 << 10;

/// What is to be measured.
#[derive(Clone, Copy)]
struct Plan {
    bytes: u64,
    runs: usize,
    mtu_bytes: u32,
}

/// One transfer.
struct Measurement {
    seconds: f64,
    sender_cpu_s: f64,
    receiver_cpu_s: f64,
    stats: Stats,
    counters: skyhaul_net::Counters,
}

fn main() -> ExitCode {
    let plan = match plan(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("{error}\nusage: loopback [--bytes 1GiB] [--runs 3] [--mtu 1500]");
            return ExitCode::from(2);
        }
    };
    let runs: Vec<Measurement> = (0..plan.runs).map(|run| measured(run, plan)).collect();
    print_medians(plan, &runs);
    ExitCode::SUCCESS
}

fn plan(arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan { bytes: 1 << 30, runs: 3, mtu_bytes: 1500 };
    let mut arguments = arguments.filter(|argument| argument != "--bench");
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u32>().map_err(|_| format!("{name} {value} is no number"));
        match name.as_str() {
            "--bytes" => plan.bytes = parse_bytes(&value)?,
            "--runs" => plan.runs = number()?.max(1) as usize,
            "--mtu" => plan.mtu_bytes = number()?,
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(plan)
}

fn gigabytes_of(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

fn measured(run: usize, plan: Plan) -> Measurement {
    let measurement = transfer(plan);
    let Measurement { seconds, sender_cpu_s, receiver_cpu_s, stats, counters } = &measurement;
    let gigabytes = gigabytes_of(plan.bytes);
    println!(
        "run {}: {} in {seconds:.2} s = {:.2} Gbit/s, CPU-s/GB sender {:.2} receiver {:.2}; \
         {:.1} datagrams a send call, {} sent again, {} waits",
        run + 1,
        show_bytes(plan.bytes),
        8.0 * gigabytes / seconds,
        sender_cpu_s / gigabytes,
        receiver_cpu_s / gigabytes,
        counters.sent_datagrams as f64 / counters.send_calls as f64,
        stats.retransmitted_packets,
        counters.send_waits,
    );
    measurement
}

fn transfer(plan: Plan) -> Measurement {
    let (tell, told) = mpsc::channel();
    let receiver = thread::spawn(move || on_own_runtime(receive(plan, tell)));
    let peer = told.recv().expect("the receiver is there");
    let (sender_cpu_s, (seconds, stats, counters)) = on_own_runtime(send(plan, peer));
    let (receiver_cpu_s, received) = receiver.join().expect("the receiver is well");
    assert_eq!(received, plan.bytes);
    Measurement { seconds, sender_cpu_s, receiver_cpu_s, stats, counters }
}

/// Runs `work`; CPU seconds that this thread spent on it, and the result.
fn on_own_runtime<T>(work: impl Future<Output = T>) -> (f64, T) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let before = cpu_seconds();
    let result = runtime.block_on(work);
    (cpu_seconds() - before, result)
}

/// User and system time of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn options(plan: Plan) -> EndpointOptions {
    EndpointOptions { mtu_bytes: plan.mtu_bytes, ..EndpointOptions::default() }
}

async fn receive(plan: Plan, tell: mpsc::Sender<SocketAddr>) -> u64 {
    let address = "127.0.0.1:0".parse().expect("an address");
    let endpoint = Endpoint::bind(address, options(plan)).expect("a socket");
    let mut listener = endpoint.listen(PORT).expect("a listener");
    tell.send(endpoint.local_addr()).expect("the sender is there");
    let mut stream = listener.accept().await.expect("a connection");
    let (mut room, mut received) = (vec![0; CHUNK_BYTES], 0);
    loop {
        match stream.read(&mut room).await.expect("data") {
            0 => break,
            bytes => received += bytes as u64,
        }
    }
    stream.shutdown().await.expect("the end is confirmed");
    received
}

async fn send(plan: Plan, peer: SocketAddr) -> (f64, Stats, skyhaul_net::Counters) {
    let endpoint = Endpoint::client(peer, options(plan)).expect("a socket");
    let clock = Clock::start();
    let mut stream = endpoint.open(peer, PORT, Config::standard()).expect("a stream");
    let chunk: Vec<u8> = (0..CHUNK_BYTES).map(|place| place as u8).collect();
    let mut left = plan.bytes;
    while left > 0 {
        let part = left.min(CHUNK_BYTES as u64);
        stream.write_all(&chunk[..part as usize]).await.expect("room");
        left -= part;
    }
    stream.shutdown().await.expect("everything is confirmed");
    let seconds = clock.now().as_secs_f64();
    assert_eq!(stream.read(&mut [0]).await.expect("the receiver's end"), 0);
    (seconds, stream.stats(), endpoint.counters())
}

fn print_medians(plan: Plan, runs: &[Measurement]) {
    let gigabytes = gigabytes_of(plan.bytes);
    let median = |value: fn(&Measurement) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "median of {}: {:.2} Gbit/s, CPU-s/GB sender {:.2} receiver {:.2}",
        runs.len(),
        8.0 * gigabytes / median(|run| run.seconds),
        median(|run| run.sender_cpu_s) / gigabytes,
        median(|run| run.receiver_cpu_s) / gigabytes,
    );
}

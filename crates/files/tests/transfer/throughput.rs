//! How much work a byte is. Run with
//! `cargo test --release -p skyhaul-files --test transfer throughput -- --ignored --nocapture`.

use skyhaul_files::ReceiveOptions;

use crate::support::*;

/// Processor time of this process, in its own code and in the kernel, in hundredths of a second.
fn cpu() -> [u64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [11, 12].map(|field| fields[field].parse().unwrap())
}

#[tokio::test]
#[ignore = "takes a gigabyte of memory and of disk"]
async fn throughput() {
    let (folder, len) = (Folder::new(), 1 << 30);
    let source = memory("a", vec![42; len]);
    let before = cpu();
    let (sent, _) = transfer(vec![source], &folder, &ReceiveOptions::default()).await;
    let after = cpu();
    let [own, kernel] = [0, 1].map(|i| (after[i] - before[i]) as f64 / 100.0);
    assert!(sent.all_delivered());
    println!(
        "1 GiB through both ends: {own} s of processor time, {kernel} s more in the kernel for the file"
    );
    assert!(own < 3.0, "{own} s");
}

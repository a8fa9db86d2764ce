use skyhaul_core::Stream;

use super::{MAX_OBJECTS, draw_object_bytes, draw_objects};
use skyhaul_scenario::WebLoad;

#[test]
fn pages_have_as_many_objects_as_was_said_on_average() {
    let mut stream = Stream::new(1, "web");
    for mean in [1.0, 1.5, 5.0, 40.0] {
        let load = WebLoad { objects: mean, ..WebLoad::default() };
        let all: Vec<u32> = (0..20_000).map(|_| draw_objects(&load, &mut stream)).collect();
        assert!(all.iter().all(|&objects| (1..=MAX_OBJECTS).contains(&objects)));
        let found = all.iter().map(|&objects| f64::from(objects)).sum::<f64>() / 20_000.0;
        assert!((found - mean).abs() < 0.03 * mean, "{mean}: {found}");
    }
}

#[test]
fn objects_have_their_mean_size_and_a_heavy_tail() {
    let mut stream = Stream::new(1, "web");
    let load = WebLoad { object_bytes: 10_000, shape: 2.5, ..WebLoad::default() };
    let all: Vec<u64> = (0..50_000).map(|_| draw_object_bytes(&load, &mut stream)).collect();
    let mean = all.iter().sum::<u64>() as f64 / 50_000.0;
    assert!((9700.0..10_300.0).contains(&mean), "{mean}");
    assert!(all.iter().all(|&bytes| bytes >= 6000), "(shape - 1) / shape of the mean is the least");
    assert!(all.iter().any(|&bytes| bytes > 200_000));
}

#[test]
fn no_object_is_larger_than_the_largest() {
    let mut stream = Stream::new(1, "web");
    let load = WebLoad { shape: 1.01, max_object_bytes: 1_000_000_000, ..WebLoad::default() };
    let largest = (0..50_000).map(|_| draw_object_bytes(&load, &mut stream)).max();
    assert!(largest <= Some(1_000_000_000), "{largest:?}");
}

//! The CPU time of this process.

use std::time::Instant;

/// Runs `work` and returns the CPU seconds it took, of all threads; where the system does not tell, the time that
/// passed.
pub fn cpu_seconds(work: &mut dyn FnMut()) -> f64 {
    let (before, started) = (process_cpu_seconds(), Instant::now());
    work();
    match (before, process_cpu_seconds()) {
        (Some(before), Some(after)) if after > before => after - before,
        _ => started.elapsed().as_secs_f64(),
    }
}

/// User and system time from `/proc/self/stat`, in its ticks of 10 ms.
fn process_cpu_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name may hold blanks: count from behind its closing parenthesis.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

//! Temporary.
use cpu_time::ThreadTime;
use kumite_plan::dodge::DodgeScratch;
use kumite_stage::attack_trial::Moment;
use std::sync::Arc;
pub(crate) fn run() {
    let kit = crate::world::kit().unwrap();
    let kits = [Arc::clone(&kit)];
    let n = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(600u64);
    let moments: Vec<Moment> = (0..n).filter_map(|k| Moment::random(&kits, 5000 + k)).collect();
    let d = kit.defence().unwrap();
    let mut scratch = DodgeScratch::default();
    let mut times = vec![f64::INFINITY; moments.len()];
    let reps = std::env::var("REPS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut h = 0u64;
    let mut sum = [0.0f64; 3];
    for r in 0..reps {
        for (m, t) in moments.iter().zip(&mut times) {
            let s = ThreadTime::now();
            let x = d.decide(&m.character, &m.ahead, &m.threats, &mut scratch);
            *t = t.min(s.elapsed().as_secs_f64() * 1e6);
            if r == 0
                && let Ok(x) = x
            {
                h = h.wrapping_mul(31).wrapping_add(
                    format!("{:?}{:?}{:?}{:?}", x.forecast, x.legs, x.leave, x.span)
                        .bytes()
                        .fold(7u64, |a, b| a.wrapping_mul(131).wrapping_add(u64::from(b))),
                );
                if let Some(b) = x.bend {
                    sum[0] += f64::from(b.size);
                    sum[1] += 1.0;
                }
                if x.forecast == kumite_plan::dodge::Forecast::Hit {
                    sum[2] += 1.0;
                }
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let q = |s: f64| times[((times.len() - 1) as f64 * s) as usize];
    println!(
        "p50 {:.0} p90 {:.0} p95 {:.0} p99 {:.0} mean {:.0} hash {h:x} bends {:?}",
        q(0.5),
        q(0.9),
        q(0.95),
        q(0.99),
        times.iter().sum::<f64>() / times.len() as f64,
        sum
    );
}

//! A thread pool for planners, which do not start threads themselves.

use std::sync::atomic::{AtomicUsize, Ordering};

use kumite_plan::Pool;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The calling thread plus helper threads.
#[derive(Debug)]
pub(crate) struct RayonPool {
    /// `None` if no helpers are wanted or none could be started.
    helpers: Option<ThreadPool>,
}

impl RayonPool {
    /// `threads` includes the calling thread.
    pub(crate) fn new(threads: usize) -> RayonPool {
        let helpers = threads.saturating_sub(1);
        RayonPool {
            helpers: (helpers > 0).then(|| ThreadPoolBuilder::new().num_threads(helpers).build().ok()).flatten(),
        }
    }
}

impl Pool for RayonPool {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let take = || {
            while let Some(part) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|part| *part < parts) {
                work(part);
            }
        };
        let Some(helpers) = &self.helpers else { return take() };
        helpers.in_place_scope(|scope| {
            for _ in 1..parts.min(helpers.current_num_threads() + 1) {
                scope.spawn(|_| take());
            }
            take();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_part_is_run_once() {
        for threads in [0, 1, 2, 5] {
            let pool = RayonPool::new(threads);
            for parts in [0, 1, 2, 33] {
                let seen: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
                pool.run(parts, &|part| {
                    seen[part].fetch_add(1, Ordering::Relaxed);
                });
                assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1), "{threads} threads, {parts} parts");
            }
        }
    }
}

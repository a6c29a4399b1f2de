//! Work in parts that know nothing of each other, and who runs them. Planners start no threads: a caller with threads hands in a pool.

use std::fmt;
use std::sync::OnceLock;

/// Runs the parts of a piece of work, in any order and on any threads.
pub trait Pool: Sync + fmt::Debug {
    /// Calls `work` once for each number below `parts`; all calls have returned when this returns.
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// No pool: one part after the other, on the thread that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone;

impl Pool for Alone {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }
}

/// The results of all parts, in their order: the same for any pool.
pub(crate) fn map<T: Send + Sync>(pool: &dyn Pool, parts: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..parts).map(|_| OnceLock::new()).collect();
    pool.run(parts, &|part| {
        if let Some(slot) = slots.get(part) {
            slot.get_or_init(|| work(part));
        }
    });
    // What a pool left out is made up for here.
    slots.into_iter().enumerate().map(|(part, slot)| slot.into_inner().unwrap_or_else(|| work(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs parts backwards, some of them twice, some never, and one that there is not.
    #[derive(Debug)]
    struct Careless;

    impl Pool for Careless {
        fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..=parts).rev().filter(|part| part % 3 != 1).for_each(work);
            work(0);
        }
    }

    #[derive(Debug)]
    struct Threads;

    impl Pool for Threads {
        fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            std::thread::scope(|scope| {
                (0..parts).for_each(|part| drop(scope.spawn(move || work(part))));
            });
        }
    }

    #[test]
    fn results_are_in_order_for_any_pool() {
        let squares: Vec<usize> = (0..17).map(|k| k * k).collect();
        for pool in [&Alone as &dyn Pool, &Careless, &Threads] {
            assert_eq!(map(pool, 17, |k| k * k), squares, "{pool:?}");
            assert_eq!(map(pool, 0, |k| k), Vec::<usize>::new());
        }
    }
}

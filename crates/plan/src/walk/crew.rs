//! Threads that share short waves of work. Who does which part changes nothing: results come in the order of the parts.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Those who share waves. A wave takes some tenths of a millisecond: they wait for the next one awake. `T`: what a part gives.
pub(super) struct Crew<T> {
    /// Counts waves; [`usize::MAX`] when there are no more.
    wave: AtomicUsize,
    next: AtomicUsize,
    end: AtomicUsize,
    /// Bits of what a path must cost less than.
    bound: AtomicU32,
    busy: AtomicUsize,
    broken: AtomicBool,
    done: Mutex<Vec<(usize, T)>>,
}

/// Somebody who works on a wave; done when dropped. After a panic nobody waits for anybody.
struct Busy<'c, T>(&'c Crew<T>);

impl<T> Drop for Busy<'_, T> {
    fn drop(&mut self) {
        self.0.broken.fetch_or(std::thread::panicking(), Ordering::Relaxed);
        self.0.busy.fetch_sub(1, Ordering::Release);
    }
}

/// There are no more waves when this is dropped.
pub(super) struct Dismissed<'c, T>(pub(super) &'c Crew<T>);

impl<T> Drop for Dismissed<'_, T> {
    fn drop(&mut self) {
        self.0.wave.store(usize::MAX, Ordering::Release);
    }
}

impl<T: Send> Crew<T> {
    /// Nobody has anything to do yet.
    pub(super) fn new() -> Crew<T> {
        Crew {
            wave: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            bound: AtomicU32::new(0),
            busy: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            done: Mutex::new(Vec::new()),
        }
    }

    /// Works on waves until there are no more.
    pub(super) fn help(&self, work: &(impl Fn(usize, f32) -> T + Sync)) {
        let mut seen = 0;
        loop {
            let wave = until(|| Some(self.wave.load(Ordering::Acquire)).filter(|wave| *wave != seen));
            if wave == usize::MAX {
                return;
            }
            seen = wave;
            let busy = Busy(self);
            self.take(work);
            drop(busy);
        }
    }

    /// Does a wave with the help of others; in the order of its parts.
    pub(super) fn share(
        &self,
        wave: Range<usize>,
        bound: f32,
        helpers: usize,
        work: &(impl Fn(usize, f32) -> T + Sync),
    ) -> Vec<T> {
        self.next.store(wave.start, Ordering::Relaxed);
        self.end.store(wave.end, Ordering::Relaxed);
        self.bound.store(bound.to_bits(), Ordering::Relaxed);
        self.busy.store(helpers, Ordering::Relaxed);
        self.wave.fetch_add(1, Ordering::Release);
        self.take(work);
        until(|| (self.busy.load(Ordering::Acquire) == 0 || self.broken.load(Ordering::Relaxed)).then_some(()));
        let mut done = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        done.sort_by_key(|d| d.0);
        done.into_iter().map(|d| d.1).collect()
    }

    fn take(&self, work: &impl Fn(usize, f32) -> T) {
        let bound = f32::from_bits(self.bound.load(Ordering::Relaxed));
        let end = self.end.load(Ordering::Relaxed);
        let mut own = Vec::new();
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= end {
                break;
            }
            own.push((part, work(part, bound)));
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    }
}

/// Waits for something that comes soon.
fn until<T>(ready: impl Fn() -> Option<T>) -> T {
    let mut tries = 0u32;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        tries = tries.saturating_add(1);
        if tries < 200 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

//! What makes one person's response differ from another's (chapter 5 of the thesis names age, fitness and personality).

/// A person's factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temper {
    /// Years.
    pub age: f32,
    /// 0 is frail, 0.5 average, 1 an athlete.
    pub fitness: f32,
    /// 0 is timid, 0.5 average, 1 bold.
    pub boldness: f32,
}

impl Default for Temper {
    fn default() -> Self {
        Temper { age: 30.0, fitness: 0.5, boldness: 0.5 }
    }
}

/// Fastest that a hand gets to where it protects, metres per second.
pub const HAND_SPEED: f32 = 8.0;
/// Fastest that a joint of the trunk turns, radians per second: trunk flexion of people who catch themselves is 3 to 6.
pub const TRUNK_SPEED: f32 = 6.0;

impl Temper {
    /// By how much rules are strengthened: the timid cower, the bold hardly do.
    pub fn strength(&self) -> f32 {
        1.2 - 0.4 * self.boldness.clamp(0.0, 1.0)
    }

    /// By how much joints are slower or faster than an average person's: movement slows by 0.6 % a year after 30 (Welford 1977).
    pub fn mobility(&self) -> f32 {
        let age = 1.0 - 0.006 * (self.age.clamp(0.0, 120.0) - 30.0).max(0.0);
        age * (0.7 + 0.6 * self.fitness.clamp(0.0, 1.0))
    }
}

/// Seeded chance, the same on every platform: PCG32 (O'Neill 2014), XSH-RR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// From a seed.
    pub fn new(seed: u64) -> Chance {
        let mut chance = Chance { state: seed.wrapping_add(0x853c_49e6_748f_ea9b) };
        chance.next();
        chance
    }

    /// Any 32 bits.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (((old >> 18) ^ old) >> 27) as u32;
        mixed.rotate_right((old >> 59) as u32)
    }

    /// A number below `bound`, which must not be 0; even up to one part in 2³².
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(bound)) >> 32) as u32
    }

    /// From 0 to just below 1, in steps of 2⁻²⁴.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 8) as f32 / 16_777_216.0
    }
}

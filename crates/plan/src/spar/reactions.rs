//! Which motion of a library answers a blow that has landed.

use crate::spar::moves::{MoveIdx, MoveKind, Moves, Region};

impl Moves {
    /// The reaction to a blow: by what was hit, from which side (positive is the left of whoever is hit), and how hard.
    pub fn reaction(&self, region: Region, side: f32, heavy: bool) -> Option<MoveIdx> {
        let aside = if side > 0.35 {
            "left"
        } else if side < -0.35 {
            "right"
        } else {
            "front"
        };
        let score = |index: &&MoveIdx| {
            let name = &self.get(**index).name;
            let has = |word: &str| i32::from(name.contains(word));
            let strength = if heavy { has("heavy") } else { has("light") - has("heavy") };
            // A leg is hit from one side or the other.
            let near = if side >= 0.0 { has("left") } else { has("right") };
            8 * has(region.name()) + 4 * strength + 2 * has(aside) + near - 6 * has("stagger")
        };
        let all = self.of_kind(MoveKind::React);
        all.iter().max_by_key(|index| (score(index), std::cmp::Reverse(**index))).copied()
    }

    /// The fall after a blow that comes from the front, or from behind.
    pub fn fall(&self, behind: bool) -> Option<MoveIdx> {
        let wanted = if behind { "forward" } else { "back" };
        let falls = |index: &&MoveIdx| self.get(**index).name.contains("knock");
        let all = self.of_kind(MoveKind::Down);
        all.iter().filter(falls).max_by_key(|index| self.get(**index).name.contains(wanted)).copied()
    }
}

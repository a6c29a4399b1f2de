//! What a game has to say so that its players can plan in it. Fights are one; chases and other sports can be others.

use std::ops::AddAssign;

/// Most players of one game: pairs now, groups of neighbours later.
pub const PLAYERS: usize = 4;

/// What has been good and bad for a player so far: the terms of J = F_score + F_control - F_loc (eq. 1-3 of Shum, Komura and Yamazaki 2007, with the sign
/// of the place mended). The unit is a light hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Damage given, weighted.
    pub given: f32,
    /// Damage taken, weighted.
    pub taken: f32,
    /// Short, seldom used and favoured actions.
    pub control: f32,
    /// Distance and facing that are not those wanted, over time.
    pub location: f32,
    /// Standing about.
    pub stall: f32,
}

impl Score {
    /// J.
    #[inline]
    pub fn total(&self) -> f32 {
        self.given - self.taken + self.control - self.location - self.stall
    }

    /// What the place and the choice of actions are worth: all of J but the damage.
    #[inline]
    pub fn manner(&self) -> f32 {
        self.control - self.location - self.stall
    }
}

impl AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        self.given += other.given;
        self.taken += other.taken;
        self.control += other.control;
        self.location += other.location;
        self.stall += other.stall;
    }
}

/// Scores of all players.
pub type Scores = [Score; PLAYERS];

/// A game in continuous time: players choose at their own moments, and between those moments everything follows.
pub trait Contest {
    /// Where everything stands. Small and plain: it is copied at every node.
    type State: Clone;
    /// What a player may choose.
    type Act: Copy + PartialEq;

    /// How many play.
    fn players(&self, state: &Self::State) -> usize;

    /// Ticks of the game so far.
    fn now(&self, state: &Self::State) -> u32;

    /// Goes on to the next moment at which somebody may choose, or to the tick `until`; adds what that is worth.
    fn advance(&self, state: &mut Self::State, until: u32, scores: &mut Scores);

    /// What a player may choose now, the most promising first; nothing if it has nothing to choose.
    fn choices(&self, state: &Self::State, who: usize, out: &mut Vec<Self::Act>);

    /// A player begins something.
    fn play(&self, state: &mut Self::State, who: usize, act: Self::Act, scores: &mut Scores);

    /// Replaces what a player cannot have seen yet by what it has; says whether there was any such thing.
    fn hide(&self, state: &mut Self::State, who: usize) -> bool;

    /// What a player does who does not search: the policy after the last free choice.
    fn habit(&self, state: &Self::State, who: usize) -> Option<Self::Act>;
}

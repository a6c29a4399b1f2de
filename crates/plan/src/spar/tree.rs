//! The game tree: players in continuous time, each with so many free choices, then habits up to one horizon.
//!
//! Depth 2k gives *each* player k free choices in whatever order they fall (odd: one more of one's own). What a player cannot have seen yet is hidden from it
//! inside the tree too. `abstract_duel` measures that depth then wins.

use crate::pool::{self, Pool};
use crate::spar::contest::{Contest, PLAYERS, Score, Scores};

/// How a tree is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeConfig {
    /// Free choices: of each player, and one more of one's own if odd.
    pub depth: u32,
    /// Ticks of the game that every leaf is played to.
    pub horizon: u32,
    /// Choices that are looked at below the root.
    pub beam: usize,
    /// Choices that are looked at at the root in the last, deepest round; the rounds before order them.
    pub root_beam: usize,
    /// Whose score counts.
    pub model: Model,
    /// What depth counts.
    pub count: Count,
    /// Whether everybody sees everything at once, as in the paper.
    pub clairvoyant: bool,
    /// Most nodes of a decision; the deepest round that fits decides.
    pub nodes: u64,
    /// Whether alpha-beta cuts; only off to see what that saves.
    pub cuts: bool,
    /// Whether the most promising choices are followed first; only off to see what that saves.
    pub ordered: bool,
}

impl Default for TreeConfig {
    /// The beam is what issue and spike found enough; a decision at depth 4 takes some 10⁴ nodes.
    fn default() -> Self {
        TreeConfig {
            depth: 4,
            horizon: 150,
            beam: 6,
            root_beam: 8,
            model: Model::SelfInterested,
            count: Count::Choices,
            clairvoyant: false,
            nodes: 400_000,
            cuts: true,
            ordered: true,
        }
    }
}

/// Whose score a player chooses by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Everybody its own.
    #[default]
    SelfInterested,
    /// The damage of both, and the root's own manner: the other is assumed to spoil all of it. Alpha-beta.
    ZeroSum,
    /// J of the one less J of the other, as printed (eq. 4). Alpha-beta.
    Printed,
}

/// What depth counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Free choices of each player.
    #[default]
    Choices,
    /// Choices of all players together, as printed.
    Plies,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeCounts {
    /// Choices that were followed.
    pub nodes: u64,
    /// Ends that were played to the horizon by habit.
    pub leaves: u64,
    /// Choices that the beam left out.
    pub beyond_beam: u64,
    /// Choices that alpha-beta left out.
    pub cut: u64,
}

impl TreeCounts {
    /// Adds others.
    pub fn add(&mut self, other: &TreeCounts) {
        self.nodes += other.nodes;
        self.leaves += other.leaves;
        self.beyond_beam += other.beyond_beam;
        self.cut += other.cut;
    }
}

/// A choice at the root and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<A> {
    /// What is chosen.
    pub act: A,
    /// What it is worth to the one who chooses.
    pub value: f32,
    /// By term.
    pub score: Score,
    /// Of the deepest round that looked at it.
    pub depth: u32,
    /// What is expected to follow: who and what.
    pub line: Vec<(usize, A)>,
}

/// Free choices that are left.
#[derive(Clone, Copy)]
struct Left([u8; PLAYERS]);

impl Left {
    fn of(config: &TreeConfig, depth: u32, players: usize, root: usize) -> Left {
        let mut left = [0u8; PLAYERS];
        match config.count {
            Count::Choices => {
                left[..players].fill((depth / 2).min(200) as u8);
                left[root] += (depth % 2) as u8;
            }
            Count::Plies => left[..players].fill(depth.min(200) as u8),
        }
        Left(left)
    }

    fn has(self, who: usize) -> bool {
        self.0[who] > 0
    }

    fn any(self) -> bool {
        self.0.iter().any(|left| *left > 0)
    }

    fn less(mut self, who: usize, count: Count) -> Left {
        match count {
            Count::Choices => self.0[who] = self.0[who].saturating_sub(1),
            Count::Plies => self.0.iter_mut().for_each(|left| *left = left.saturating_sub(1)),
        }
        self
    }
}

struct Search<'a, C: Contest> {
    game: &'a C,
    config: &'a TreeConfig,
    root: usize,
    end: u32,
    counts: TreeCounts,
    /// One list of choices for each level of the recursion, reused.
    spare: Vec<Vec<C::Act>>,
}

impl<C: Contest> Search<'_, C> {
    fn value(&self, scores: &Scores, who: usize) -> f32 {
        let other = usize::from(self.root == 0);
        match self.config.model {
            Model::SelfInterested => scores[who].total(),
            Model::ZeroSum => {
                let own = &scores[self.root];
                let v = own.given - own.taken + own.manner();
                if who == self.root { v } else { -v }
            }
            Model::Printed => {
                let v = scores[self.root].total() - scores[other].total();
                if who == self.root { v } else { -v }
            }
        }
    }

    /// Plays on by habit to the horizon.
    fn settle(&mut self, mut state: C::State, scores: &mut Scores) {
        self.counts.leaves += 1;
        let players = self.game.players(&state);
        loop {
            for who in 0..players {
                if let Some(act) = self.game.habit(&state, who) {
                    self.game.play(&mut state, who, act, scores);
                }
            }
            if self.game.now(&state) >= self.end {
                return;
            }
            self.game.advance(&mut state, self.end, scores);
        }
    }

    /// What a player who does not know everything would choose: the best by habit in what it believes.
    fn believed(&mut self, belief: &C::State, scores: &Scores, who: usize, choices: &[C::Act]) -> Option<C::Act> {
        let mut best: Option<(f32, C::Act)> = None;
        for act in choices.iter().take(self.config.beam) {
            let (mut state, mut sum) = (belief.clone(), *scores);
            self.counts.nodes += 1;
            self.game.play(&mut state, who, *act, &mut sum);
            self.settle(state, &mut sum);
            let value = self.value(&sum, who);
            if best.is_none_or(|b| value > b.0) {
                best = Some((value, *act));
            }
        }
        best.map(|b| b.1)
    }

    /// Scores at the end of the line that everybody prefers, from player `from` of this moment on. `window` is what alpha-beta knows, by the root's value.
    fn follow(
        &mut self,
        mut state: C::State,
        mut scores: Scores,
        mut left: Left,
        mut from: usize,
        window: (f32, f32),
        line: &mut Vec<(usize, C::Act)>,
    ) -> Scores {
        let players = self.game.players(&state);
        let mut choices = self.spare.pop().unwrap_or_default();
        loop {
            for who in from..players {
                if !left.has(who) {
                    if let Some(act) = self.game.habit(&state, who) {
                        self.game.play(&mut state, who, act, &mut scores);
                    }
                    continue;
                }
                choices.clear();
                self.game.choices(&state, who, &mut choices);
                if choices.is_empty() {
                    continue;
                }
                let mut belief = state.clone();
                if !self.config.clairvoyant && self.game.hide(&mut belief, who) {
                    // What it may choose depends on what it sees, too.
                    choices.clear();
                    self.game.choices(&belief, who, &mut choices);
                    if let Some(act) = self.believed(&belief, &scores, who, &choices) {
                        self.game.play(&mut state, who, act, &mut scores);
                        line.push((who, act));
                    }
                    left = left.less(who, self.config.count);
                    continue;
                }
                self.counts.beyond_beam += choices.len().saturating_sub(self.config.beam) as u64;
                choices.truncate(self.config.beam);
                if !self.config.ordered {
                    choices.reverse();
                }
                let found = self.branch((&state, &scores), who, &choices, left, window, line);
                self.spare.push(choices);
                return found;
            }
            if !left.any() {
                self.settle(state, &mut scores);
                break;
            }
            if self.game.now(&state) >= self.end {
                break;
            }
            self.game.advance(&mut state, self.end, &mut scores);
            from = 0;
        }
        self.spare.push(choices);
        scores
    }

    /// The best of some choices for the one who chooses.
    fn branch(
        &mut self,
        (state, scores): (&C::State, &Scores),
        who: usize,
        choices: &[C::Act],
        left: Left,
        mut window: (f32, f32),
        line: &mut Vec<(usize, C::Act)>,
    ) -> Scores {
        let mut best: Option<(f32, Scores)> = None;
        let zero_sum = self.config.cuts && self.config.model != Model::SelfInterested;
        let begun = line.len();
        let mut tail: Vec<(usize, C::Act)> = Vec::new();
        for (k, act) in choices.iter().enumerate() {
            let (mut next, mut sum) = (state.clone(), *scores);
            self.counts.nodes += 1;
            self.game.play(&mut next, who, *act, &mut sum);
            line.push((who, *act));
            let sum = self.follow(next, sum, left.less(who, self.config.count), who + 1, window, line);
            let value = self.value(&sum, who);
            if best.as_ref().is_none_or(|b| value > b.0) {
                best = Some((value, sum));
                tail.clear();
                tail.extend_from_slice(&line[begun..]);
            }
            line.truncate(begun);
            if zero_sum {
                // The window is told by the root's value.
                if who == self.root {
                    window.0 = window.0.max(value);
                } else {
                    window.1 = window.1.min(-value);
                }
                if window.0 >= window.1 {
                    self.counts.cut += (choices.len() - k - 1) as u64;
                    break;
                }
            }
        }
        line.extend_from_slice(&tail);
        best.map_or(*scores, |b| b.1)
    }
}

/// A decision at the root, in slices: rounds of growing depth, a choice at a time. What is found depends on counts only.
#[derive(Clone, Debug)]
pub struct TreeSearch<C: Contest> {
    state: C::State,
    who: usize,
    config: TreeConfig,
    ranked: Vec<Ranked<C::Act>>,
    /// Depth of the round under way, and the next choice of it.
    round: u32,
    next: usize,
    /// Values of the round under way.
    found: Vec<Ranked<C::Act>>,
    counts: TreeCounts,
    done: bool,
}

impl<C: Contest> TreeSearch<C>
where
    C: Sync,
    C::State: Sync + Send,
    C::Act: Send + Sync,
{
    /// Begins a decision of a player in what it knows. It has nothing to choose from if `choices` is empty.
    pub fn new(state: C::State, who: usize, choices: &[C::Act], config: TreeConfig) -> TreeSearch<C> {
        let rank = |act: &C::Act| Ranked { act: *act, value: 0.0, score: Score::default(), depth: 0, line: Vec::new() };
        let depth = config.depth.clamp(1, 12);
        let config = TreeConfig { depth, ..config };
        TreeSearch {
            state,
            who,
            config,
            ranked: choices.iter().map(rank).collect(),
            round: first_round(depth),
            next: 0,
            found: Vec::new(),
            counts: TreeCounts::default(),
            done: choices.is_empty(),
        }
    }

    /// Goes on for about so many nodes; says whether it is done. A pool is handed choices of the root, as many at a time as it has hands.
    pub fn step(&mut self, game: &C, pool: &dyn Pool, nodes: u64) -> bool {
        let until = self.counts.nodes.saturating_add(nodes);
        while !self.done && self.counts.nodes < until {
            let last = self.round >= self.config.depth;
            let wanted = if last { self.config.root_beam.max(2) } else { usize::MAX }.min(self.ranked.len());
            // Batches are of one size whatever the pool, so that slices end at the same counts.
            let end = wanted.min(self.next + BATCH);
            let (state, who, config, round) = (&self.state, self.who, &self.config, self.round);
            let acts: Vec<C::Act> = self.ranked[self.next..end].iter().map(|r| r.act).collect();
            let found = pool::map(pool, acts.len(), |k| one(game, state, who, acts[k], config, round));
            for (ranked, counts) in found {
                self.counts.add(&counts);
                self.found.push(ranked);
            }
            self.next = end;
            if end == wanted {
                self.finish_round(wanted);
            }
        }
        self.done
    }

    fn finish_round(&mut self, wanted: usize) {
        let rest = self.ranked.split_off(wanted);
        // Values of shallower rounds say less: they stay behind those of this one.
        self.found.sort_by(|a, b| b.value.total_cmp(&a.value));
        self.ranked = std::mem::take(&mut self.found);
        self.ranked.extend(rest);
        let over = self.counts.nodes >= self.config.nodes || self.ranked.len() < 2;
        self.done = self.round >= self.config.depth || over;
        self.round = (self.round + 2).min(self.config.depth);
        self.next = 0;
    }

    /// All choices, the best first.
    pub fn ranked(&self) -> &[Ranked<C::Act>] {
        &self.ranked
    }

    /// What it took so far.
    pub fn counts(&self) -> TreeCounts {
        self.counts
    }
}

/// Choices of the root that are handed to a pool at a time.
const BATCH: usize = 4;

/// Depths grow by two, so that rounds are alike.
fn first_round(depth: u32) -> u32 {
    if depth > 2 { 2 - depth % 2 } else { depth }
}

/// What one choice of the root is worth.
fn one<C: Contest>(
    game: &C,
    state: &C::State,
    who: usize,
    act: C::Act,
    config: &TreeConfig,
    depth: u32,
) -> (Ranked<C::Act>, TreeCounts) {
    let end = game.now(state) + config.horizon;
    let mut search = Search {
        game,
        config,
        root: who,
        end,
        counts: TreeCounts { nodes: 1, ..Default::default() },
        spare: Vec::new(),
    };
    let left = Left::of(config, depth, game.players(state), who).less(who, config.count);
    let (mut next, mut scores) = (state.clone(), Scores::default());
    game.play(&mut next, who, act, &mut scores);
    let mut line = vec![(who, act)];
    // Those before the root in this moment have not chosen yet, those after it neither: equal ticks are simultaneous, so all of them choose below.
    let all = (f32::NEG_INFINITY, f32::INFINITY);
    let scores = search.follow(next, scores, left, who + 1, all, &mut line);
    let value = search.value(&scores, who);
    (Ranked { act, value, score: scores[who], depth, line }, search.counts)
}

/// Decides at once.
pub fn decide<C>(
    game: &C,
    state: &C::State,
    who: usize,
    choices: &[C::Act],
    config: &TreeConfig,
    pool: &dyn Pool,
) -> (Vec<Ranked<C::Act>>, TreeCounts)
where
    C: Contest + Sync,
    C::State: Sync + Send,
    C::Act: Send + Sync,
{
    let mut search = TreeSearch::<C>::new(state.clone(), who, choices, *config);
    while !search.step(game, pool, u64::MAX) {}
    (search.ranked, search.counts)
}

/// Chooses among ranked choices with chance `u`, 0..1: in proportion to exp(value / temperature), all of it on the best at 0 (Russian roulette of § 5).
pub fn choose<A>(ranked: &[Ranked<A>], deepest: u32, temperature: f32, u: f32) -> usize {
    let Some(best) = ranked.first() else { return 0 };
    if temperature <= 1e-4 {
        return 0;
    }
    let weigh = |r: &Ranked<A>| {
        if r.depth < deepest { 0.0 } else { libm::expf(((r.value - best.value) / temperature).clamp(-60.0, 0.0)) }
    };
    let sum: f32 = ranked.iter().map(weigh).sum();
    let mut rest = u * sum;
    for (k, r) in ranked.iter().enumerate() {
        let weight = weigh(r);
        if weight > 0.0 && rest < weight {
            return k;
        }
        rest -= weight;
    }
    0
}

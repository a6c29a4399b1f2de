//! After repair every label is kept and can be reached, with few bridges, which are plausible.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use common::{connected, played, say};
use kumite_bake::graph::{kept, seconds_to};
use kumite_bake::judge::judge;
use kumite_bake::library::{BakeConfig, Baked, bake};
use kumite_bake::repair::{RepairConfig, is_bridge, seconds_until, synthetic_share};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::interrupt::Commitment;
use kumite_motion::{Clip, EdgeIdx, FrameIdx, Layer, NodeIdx, Roles, SpanKind, Vec2};
use kumite_stage::{Chance, Character, Quality, Take};

const ACTIONS: [SpanKind; 3] = [SpanKind::Attack, SpanKind::Avoid, SpanKind::Block];

fn check(name: &str, baked: &Baked) {
    let library = &baked.library;
    for kind in SpanKind::ALL {
        let (kept, all) = kept(library, kind);
        if all > 0 {
            say(&format!("{name}: labelled {} spans kept", kind.name()), 100.0 * kept as f32 / all as f32, "%");
            let mut until =
                if ACTIONS.contains(&kind) { seconds_until(library, kind) } else { seconds_to(library, kind) };
            until.sort_by(f32::total_cmp);
            say(&format!("{name}: {} within, median of all nodes", kind.name()), until[until.len() / 2], "s");
            say(&format!("{name}: {} within, worst node", kind.name()), until[until.len() - 1], "s");
            assert!(until.iter().all(|s| s.is_finite()), "{name}: {} cannot be reached from everywhere", kind.name());
        }
        assert_eq!(all, kept, "{name}: {} spans are lost; {:?}", kind.name(), baked.repaired.left);
    }
    assert!(connected(library.graph()), "{name}");
    let share = synthetic_share(library, 20_000);
    say(&format!("{name}: bridges"), baked.repaired.bridges as f32, "");
    say(&format!("{name}: synthetic, of the seconds played on a random walk"), 100.0 * share, "%");
    assert!(share <= 0.15, "{name}: {share}");
}

/// Baked once for all tests: captures take a while.
fn library(name: &'static str) -> Option<&'static Baked> {
    static MADE: [OnceLock<Option<Baked>>; 3] = [const { OnceLock::new() }; 3];
    let at = ["embedded", "accad-male2", "cmu-fight"].iter().position(|n| *n == name).unwrap();
    MADE[at].get_or_init(|| kumite_captures::library(name)).as_ref()
}

#[test]
fn embedded_keeps_everything_at_hand() {
    let baked = library("embedded").unwrap();
    check("embedded", baked);
    let mut until = until_avoidance();
    until.sort_by(f32::total_cmp);
    say("embedded: an avoidance can be joined, median of all nodes on one's feet", until[until.len() / 2], "s");
    say("embedded: an avoidance can be joined, worst of them", until[until.len() - 1], "s");
    assert!(until[until.len() / 2] <= 0.3 && until[until.len() - 1] <= 0.6 + 1e-3, "{:?}", until.last());
    // What repair left over may delay an avoidance, but never keeps a motion from following another.
    let cannot: Vec<&String> = baked.repaired.left.iter().filter(|l| l.contains("cannot follow")).collect();
    say("embedded: pairs of motions of which one cannot follow the other", cannot.len() as f32, "");
    assert!(cannot.is_empty(), "{cannot:?}");
}

/// Seconds from each node of the committed bundle where nobody lies until an avoidance can be joined, whatever is played.
fn until_avoidance() -> Vec<f32> {
    let library = kumite_captures::whole_library("embedded").unwrap().only(Layer::Fight).unwrap();
    let (graph, interrupts) = (library.graph(), library.interrupts());
    let avoids = |clip, frame| interrupts.at(clip, frame).any(|(n, _)| interrupts.onsets()[n].kind == SpanKind::Avoid);
    let along = |e: EdgeIdx| {
        let edge = graph.edge(e);
        let fps = library.clip(edge.clip).fps();
        let first = (edge.first.0..=edge.last.0).find(|f| avoids(edge.clip, FrameIdx(*f)));
        first.map(|f| (f - edge.first.0) as f32 / fps)
    };
    let nodes: Vec<NodeIdx> = graph.nodes_of(Layer::Fight).collect();
    let mut until = vec![f32::INFINITY; graph.nodes().len()];
    // Enough rounds for the longest way; each looks one edge farther.
    for _ in 0..12 {
        for node in &nodes {
            let after = |e: EdgeIdx| along(e).unwrap_or(graph.edge(e).seconds + until[graph.edge(e).to.at()]);
            let soonest = graph.leaving(*node, Layer::Fight).map(after).fold(f32::INFINITY, f32::min);
            until[node.at()] = until[node.at()].min(soonest);
        }
    }
    let lies = |node: &&NodeIdx| {
        let node = graph.node(**node);
        interrupts.committed_at(node.clip, node.frame).is_some_and(|part| part.why == Commitment::Lying)
    };
    nodes.iter().filter(|node| !lies(node)).map(|node| until[node.at()]).collect()
}

/// After the end of each motion that stays on its feet, each other begins at once or after one edge.
#[test]
fn embedded_motions_follow_each_other() {
    let library = &library("embedded").unwrap().library;
    let graph = library.graph();
    let shows = |edge: EdgeIdx, clip: usize| {
        let e = graph.edge(edge);
        let longest = library.clips()[clip]
            .spans
            .iter()
            .enumerate()
            .max_by(|a, b| (a.1.to - a.1.from).total_cmp(&(b.1.to - b.1.from)));
        let Some((span, s)) = longest else { return false };
        let found = graph.spans(edge).iter().find(|r| r.span as usize == span);
        e.clip.at() == clip && found.is_some_and(|r| r.whole || !ACTIONS.contains(&s.kind))
    };
    let motions: Vec<usize> = (0..library.clips().len())
        .filter(|&c| {
            let spans = &library.clips()[c].spans;
            let stands = !spans.iter().any(|s| matches!(s.kind, SpanKind::Down | SpanKind::Up));
            !is_bridge(&library.clips()[c]) && !spans.is_empty() && stands
        })
        .collect();
    let edges = || (0..graph.edges().len() as u32).map(EdgeIdx);
    let (mut pairs, mut follow) = (0, 0);
    for &one in &motions {
        let ends: Vec<NodeIdx> = edges().filter(|e| shows(*e, one)).map(|e| graph.edge(e).to).collect();
        for &other in &motions {
            let next = |node: NodeIdx| {
                graph.leaving(node, Layer::Fight).any(|e| shows(e, other) || graph.after(e).any(|f| shows(f, other)))
            };
            pairs += 1;
            if ends.iter().any(|n| next(*n)) {
                follow += 1;
            } else {
                println!("{} does not follow {}", library.clips()[other].name, library.clips()[one].name);
            }
        }
    }
    say("embedded: pairs of motions", pairs as f32, "");
    say("embedded: of these follow each other through one step at most", 100.0 * follow as f32 / pairs as f32, "%");
    assert_eq!(pairs, follow);
}

#[test]
fn accad_keeps_everything() {
    if let Some(baked) = library("accad-male2") {
        check("ACCAD", baked);
    }
}

#[test]
fn cmu_keeps_everything() {
    if let Some(baked) = library("cmu-fight") {
        check("CMU", baked);
    }
}

/// The gates hold on walks that take a bridge wherever there is one, and on each bridge by itself.
#[test]
fn bridges_hold_the_quality_gates() {
    for name in ["embedded", "accad-male2", "cmu-fight"] {
        let Some(baked) = library(name) else { continue };
        let library = Arc::new(baked.library.clone());
        let graph = library.graph();
        let is_bridge = |e: EdgeIdx| is_bridge(library.clip(graph.edge(e).clip));
        let mut worst = Quality::default();
        // What the judge says against the takes, by kind: reported only.
        let (mut takes, mut failed, mut faults) = (0, 0, BTreeMap::<&str, u32>::new());
        let mut add = |take: Take| {
            let q = take.quality;
            let verdict = judge(&take.clip, &Roles::canonical(), &Anatomy::of_canonical(take.clip.skeleton()));
            takes += 1;
            failed += u32::from(!verdict.passes());
            let kinds: BTreeSet<&str> = verdict.faults().map(|f| f.what.name()).collect();
            kinds.into_iter().for_each(|kind| *faults.entry(kind).or_default() += 1);
            worst.foot_slide_cm_s = worst.foot_slide_cm_s.max(q.foot_slide_cm_s);
            worst.float_cm = worst.float_cm.max(q.float_cm);
            worst.snap = worst.snap.max(q.snap);
        };
        let mut bridges = 0;
        for seed in 0..12 {
            let mut chance = Chance::new(seed);
            let node = NodeIdx(chance.below(graph.nodes().len() as u32));
            let character = Character::new(Arc::clone(&library), node, Vec2::ZERO, 0.0);
            add(played(character, 10.0, |next| {
                let some: Vec<EdgeIdx> = next.iter().filter(|e| is_bridge(**e)).copied().collect();
                let from = if some.is_empty() { next } else { &some[..] };
                let next = from[chance.below(from.len() as u32) as usize];
                bridges += usize::from(is_bridge(next));
                next
            }));
        }
        let edges = || (0..graph.edges().len() as u32).map(EdgeIdx);
        for bridge in edges().filter(|e| is_bridge(*e)) {
            let before = edges().find(|e| graph.edge(*e).to == graph.edge(bridge).from).unwrap();
            let character = Character::on(Arc::clone(&library), before, Vec2::ZERO, 0.0);
            let mut script = [bridge].into_iter();
            let seconds = graph.edge(before).seconds + graph.edge(bridge).seconds + 2.0;
            add(played(character, seconds, |next| script.next().unwrap_or(next[0])));
            bridges += 1;
        }
        say(&format!("{name}: bridges played for the gates"), bridges as f32, "");
        say(&format!("{name}: takes with bridges that were judged"), takes as f32, "");
        say(&format!("{name}: of these the judge fails"), failed as f32, "");
        for (kind, count) in faults {
            say(&format!("{name}: takes with bridges, {kind}"), count as f32, "");
        }
        say(&format!("{name}: slide on walks by bridges, worst"), worst.foot_slide_cm_s, "cm/s");
        say(&format!("{name}: float on walks by bridges, worst"), worst.float_cm, "cm");
        say(&format!("{name}: snap on walks by bridges, worst"), worst.snap, "");
        assert!(bridges > 0, "{name}");
        assert!(worst.foot_slide_cm_s <= 2.0 && worst.float_cm <= 1.0 && worst.snap <= 1.5, "{name}: {worst:?}");
    }
}

#[test]
fn repair_does_not_depend_on_threads() {
    // Some of all families.
    let clips: Vec<Clip> = kumite_captures::clips("embedded").unwrap().into_iter().step_by(4).collect();
    let baked = [1, 3].map(|threads| {
        let config = BakeConfig { repair: Some(RepairConfig::agile()), ..BakeConfig::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| bake("embedded", clips.clone(), &config).unwrap())
    });
    assert_eq!(baked[0].library, baked[1].library);
}

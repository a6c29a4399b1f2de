use std::sync::Arc;

use kumite_motion::{Chance, Contacts, Pose, Span, Vec3, humanoid, rotation};

use super::*;

/// A body that wanders and waves all limbs: sums of sines, metres from the origin.
fn wanderer(seed: u64, frames: usize) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let mut chance = Chance::new(seed);
    let waves: Vec<[f32; 3]> =
        (0..skeleton.len()).map(|_| [chance.unit() * 0.8, 1.0 + 5.0 * chance.unit(), 6.3 * chance.unit()]).collect();
    let (heading, speed, away) = (6.3 * chance.unit(), 2.0 * chance.unit(), 10.0 * (chance.unit() - 0.5));
    Clip::from_fn("wanderer", Arc::clone(&skeleton), 30.0, frames, |frame, pose| {
        let time = frame as f32 / 30.0;
        *pose = Pose::rest(&skeleton);
        for (joint, [size, rate, phase]) in waves.iter().enumerate() {
            let angle = size * libm::sinf(rate * time + phase);
            pose.rotations[joint] = rotation::from_vector(Vec3::new(angle, 0.3 * angle, -0.5 * angle));
        }
        pose.rotations[0] = rotation::yaw(heading + 0.5 * time) * pose.rotations[0];
        let (sine, cosine) = libm::sincosf(heading);
        pose.translations[0] += Vec3::new(away + sine * speed * time, 0.0, away + cosine * speed * time);
    })
    .unwrap()
}

fn library() -> Vec<Clip> {
    [(1, 70), (2, 33), (3, 3), (4, 201), (5, 1300), (6, 1)].map(|(seed, frames)| wanderer(seed, frames)).to_vec()
}

/// All distances of the upper half, as (window, window) → metres.
fn matrix(cloud: &Cloud, wide: bool) -> Vec<Vec<f32>> {
    let mut all = vec![vec![f32::NAN; cloud.len()]; cloud.len()];
    each_row(cloud, wide, |s, t, row| {
        for (k, d) in row.iter().enumerate().filter(|(k, _)| t + k < cloud.len()) {
            let old = std::mem::replace(&mut all[s][t + k], *d);
            assert!(old.is_nan() || old.to_bits() == d.to_bits(), "twice, and different");
        }
    });
    all
}

#[track_caller]
fn check_against_referee(clips: &[Clip], weights: &[u32], config: &TransitionConfig, tolerance: f64) {
    let config =
        TransitionConfig { weights: weights.iter().map(|w| *w as f32).collect::<Vec<f32>>(), ..config.clone() };
    let cloud = Cloud::new(clips, &config).unwrap();
    let all = matrix(&cloud, true);
    let mut chance = Chance::new(9);
    let (mut worst, mut judged) = (0.0f64, 0);
    while judged < 1500 {
        let s = (chance.unit() * cloud.len() as f32) as usize;
        let near = judged % 3 == 0;
        let t = if near { s + (chance.unit() * 8.0) as usize } else { (chance.unit() * cloud.len() as f32) as usize };
        let (Some(a), Some(b)) = (cloud.place(s), cloud.place(t)) else { continue };
        if s > t {
            continue;
        }
        let points = |p: ClipFrame| referee::points(&clips[p.0.at()], p.1.at(), cloud.window(), weights);
        let truth = referee::distance(&points(a), &points(b));
        let ours = f64::from(all[s][t]);
        // Squares lose half the digits of small distances.
        worst = worst.max((ours - truth * truth).abs());
        let (squared, _) = pair(&cloud, s, t);
        assert!((squared - truth * truth).abs() < 2e-6, "pair {s} {t}: {squared} and {}", truth * truth);
        judged += 1;
    }
    assert!(worst < tolerance, "{worst} m² off");
}

#[test]
fn distances_are_the_referees() {
    let ones = [1; 21];
    check_against_referee(&library(), &ones, &TransitionConfig::default(), 1e-5);
    let mut weights = [1; 21];
    weights[3] = 0;
    weights[16] = 4;
    weights[0] = 3;
    check_against_referee(&library(), &weights, &TransitionConfig::default(), 1e-5);
    for window_seconds in [0.07, 0.5, 2.0] {
        let config = TransitionConfig { window_seconds, ..TransitionConfig::default() };
        check_against_referee(&library(), &ones, &config, 1e-5);
    }
}

#[test]
fn distances_do_not_depend_on_where_and_which_way() {
    let clip = wanderer(4, 90);
    let moved = Planar { turn: 2.0, shift: Vec2::new(40.0, -30.0) }.apply_clip(&clip).unwrap();
    for velocity_seconds in [0.0, 0.1] {
        let config = TransitionConfig { velocity_seconds, ..TransitionConfig::default() };
        let cloud = Cloud::new(&[clip.clone(), moved.clone()], &config).unwrap();
        let all = matrix(&cloud, true);
        for frame in 0..90 {
            let (s, t) = (cloud.window_at(ClipIdx(0), FrameIdx(frame)), cloud.window_at(ClipIdx(1), FrameIdx(frame)));
            assert!(all[s][t] < 1e-5, "{}", all[s][t]);
            let (squared, align) = pair(&cloud, s, t);
            assert!(squared < 1e-8 && wrap(align.turn + 2.0).abs() < 1e-3);
        }
    }
}

#[test]
fn velocities_tell_forward_from_backward() {
    let clip = wanderer(4, 200);
    let mut poses = clip.poses();
    poses.reverse();
    let back = Clip::new("back", Arc::clone(clip.skeleton()), 30.0, &poses).unwrap();
    let squared = |velocity_seconds: f32| {
        let config = TransitionConfig { velocity_seconds, window_seconds: 0.1, ..TransitionConfig::default() };
        let cloud = Cloud::new(&[clip.clone(), back.clone()], &config).unwrap();
        let at = |clip, frame| cloud.window_at(ClipIdx(clip), FrameIdx(frame));
        let (s, t) = (at(0, 100), at(1, 99));
        let (exact, _) = pair(&cloud, s, t);
        assert!((f64::from(matrix(&cloud, true)[s][t]) - exact).abs() < 1e-5);
        exact
    };
    assert!(squared(0.2) > 4.0 * squared(0.0));
}

#[test]
fn both_instruction_sets_give_the_same_bits() {
    let cloud = Cloud::new(&library(), &TransitionConfig::default()).unwrap();
    let bits = |wide| matrix(&cloud, wide).into_iter().flatten().map(f32::to_bits).collect::<Vec<u32>>();
    assert!(bits(true) == bits(false));
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let found = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| find(&library(), &TransitionConfig::default()).unwrap())
    };
    let one = found(1);
    assert!(one.list.len() > 20, "{}", one.list.len());
    assert_eq!(one.pairs, 1608 * 1607 / 2);
    for threads in [2, 3, 8] {
        assert_eq!(found(threads), one);
    }
}

/// The slow way to the same list: the whole matrix, every rule spelled out.
#[test]
fn minima_are_those_of_the_whole_matrix() {
    let mut clips = library();
    clips[3].spans = vec![Span::new(SpanKind::Avoid, "slip", 1.0, 2.0), Span::new(SpanKind::Walk, "", 3.0, 5.0)];
    for (k, clip) in clips.iter_mut().enumerate() {
        let feet = |f: usize| Contacts::from_bits([15, 3, 15, 12][(f / 9 + k) % 4]);
        clip.contacts = (0..clip.frames()).map(feet).collect();
    }
    for policy in [Policy::Anywhere, Policy::Windows { quietest: 0.3 }, Policy::ActionEnds] {
        let config = TransitionConfig { policy, per_frame: usize::MAX, ..TransitionConfig::default() };
        let found = find(&clips, &config).unwrap();
        let cloud = Cloud::new(&clips, &config).unwrap();
        let (all, rules) = (matrix(&cloud, true), rules(&clips, &cloud, &config));
        let at = |s: usize, t: usize| if s <= t { all[s][t] } else { all[t][s] };
        let mut slow = Vec::new();
        let places: Vec<(usize, ClipFrame)> = (0..cloud.len()).filter_map(|w| Some((w, cloud.place(w)?))).collect();
        for (s, from) in &places {
            for (t, to) in &places {
                let d = at(*s, *t);
                let same = from.0 == to.0 && s.abs_diff(*t) < 12;
                if same || d >= found.long_limit * found.long_limit || !rules[*s].joins(rules[*t]) {
                    continue;
                }
                let lower = (s.saturating_sub(1)..=s + 1).any(|a| {
                    (t.saturating_sub(1)..=t + 1).any(|b| {
                        (a, b) != (*s, *t)
                            && cloud.place(a).is_some()
                            && cloud.place(b).is_some()
                            && rules[a].joins(rules[b])
                            && at(a, b) < d
                    })
                });
                if !lower {
                    slow.push((*from, *to));
                }
            }
        }
        slow.sort_unstable();
        assert_eq!(found.list.iter().map(|t| (t.from, t.to)).collect::<Vec<_>>(), slow);
        assert!(!slow.is_empty(), "{policy:?}");
        for t in &found.list {
            let inside = |p: ClipFrame| p.0 == ClipIdx(3) && p.1.0 > 30 && p.1.0 < 60;
            assert!(!inside(t.from) && !inside(t.to));
        }
    }
}

#[test]
fn thresholds_have_no_unit() {
    let scaled = |factor: f32| {
        let clips = library();
        let skeleton = Arc::new(clips[0].skeleton().scaled(factor));
        let big = |clip: &Clip| {
            let mut poses = clip.poses();
            poses.iter_mut().for_each(|p| p.translations[0] *= factor);
            Clip::new(&clip.name, Arc::clone(&skeleton), clip.fps(), &poses).unwrap()
        };
        let found = find(&clips.iter().map(big).collect::<Vec<_>>(), &TransitionConfig::default()).unwrap();
        (found.limit, found.list.iter().map(|t| (t.from, t.to)).collect::<Vec<_>>())
    };
    let ((metres, a), (doubled, b)) = (scaled(1.0), scaled(2.0));
    assert!((doubled / metres - 2.0).abs() < 1e-3);
    let common = a.iter().filter(|t| b.contains(t)).count();
    assert!(common as f32 > 0.98 * a.len().max(b.len()) as f32, "{common} of {} and {}", a.len(), b.len());
}

#[test]
fn feet_are_lifted_in_a_join_but_not_set_down() {
    let rule = |left, right| Rule { leave: true, enter: true, feet: Some((left, right)) };
    let (both, left, right, air) = (rule(true, true), rule(true, false), rule(false, true), rule(false, false));
    let table = [
        (both, both, true),
        (both, left, true),
        (left, both, false),
        (left, right, false),
        (left, left, true),
        (both, air, false),
        (air, left, false),
        (air, air, true),
        (Rule { feet: None, ..left }, right, true),
    ];
    for (from, to, allowed) in table {
        assert_eq!(from.joins(to), allowed, "{from:?} {to:?}");
    }
}

#[test]
fn feet_that_stand_on_both_sides_stand_on_one_spot() {
    let mut clips = library();
    for clip in &mut clips {
        clip.contacts = vec![Contacts::LEFT_TOE; clip.frames()];
    }
    let found = |on_stance_feet| find(&clips, &TransitionConfig { on_stance_feet, ..TransitionConfig::default() });
    let (put, free) = (found(true).unwrap().list, found(false).unwrap().list);
    assert_eq!(put.len(), free.len());
    let toe = kumite_motion::Role::LeftToe.joint();
    let tracks: Vec<kumite_motion::fk::Tracks> = clips.iter().map(kumite_motion::fk::Tracks::of).collect();
    let mut moved = 0;
    for (put, free) in put.iter().zip(&free) {
        let at = |place: ClipFrame| tracks[place.0.at()].get(place.1, toe);
        let apart = put.align.point(at(put.to)) - at(put.from);
        assert!(Vec2::new(apart.x, apart.z).length() < 1e-4);
        assert_eq!((put.align.turn, put.distance), (free.align.turn, free.distance));
        moved += usize::from((put.align.shift - free.align.shift).length() > 1e-3);
    }
    assert!(moved > 0);
}

#[test]
fn no_transition_is_next_to_a_glitch() {
    let mut clips = library();
    let mut poses = clips[4].poses();
    poses[500].rotations[6] = rotation::from_vector(Vec3::Z * 1.5) * poses[500].rotations[6];
    clips[4] = Clip::new("glitch", Arc::clone(clips[4].skeleton()), 30.0, &poses).unwrap();
    let transitions_with = |jolt_percentile| {
        let found =
            find(&clips, &TransitionConfig { jolt_percentile, long_percentile: 1.0, ..TransitionConfig::default() })
                .unwrap();
        let near = |p: ClipFrame| p.0 == ClipIdx(4) && p.1.0.abs_diff(500) <= 3;
        found.list.iter().filter(|t| near(t.from) || near(t.to)).count()
    };
    assert!(transitions_with(1.0) > 0);
    assert_eq!(transitions_with(0.999), 0);
}

#[test]
fn bad_input_is_refused() {
    let config = TransitionConfig::default();
    let error = |clips: &[Clip], config: &TransitionConfig| find(clips, config).unwrap_err().to_string();
    assert_eq!(error(&[], &config), "there are no clips");
    let slow = wanderer(1, 30).with_fps(25.0).unwrap();
    assert_eq!(error(&[wanderer(1, 30), slow], &config), "clip 1 has 25 frames per second, the first 30");
    for weights in [vec![1.0; 4], vec![0.0; 21], vec![-1.0; 21]] {
        let config = TransitionConfig { weights, ..config.clone() };
        assert!(error(&[wanderer(1, 30)], &config).contains("21 numbers"));
    }
}

#[test]
fn trees_hold_every_transition_once() {
    let found = find(&library(), &TransitionConfig::default()).unwrap();
    let (order, branches) = clusters(&found.list);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..found.list.len() as u32).collect::<Vec<_>>());
    let mut leaves = 0;
    for (index, branch) in branches.iter().enumerate() {
        let members = &order[branch.members.start as usize..branch.members.end as usize];
        let distance = |i: u32| found.list[i as usize].distance;
        assert!(members.contains(&branch.best) && members.iter().all(|m| distance(*m) >= distance(branch.best)));
        match branch.parts {
            None => leaves += 1,
            Some(parts) => {
                let [a, b] = parts.map(|p| &branches[p as usize].members);
                assert!(parts.iter().all(|p| *p as usize > index));
                assert_eq!((a.start, a.end, b.end), (branch.members.start, b.start, branch.members.end));
                assert!(a.start < a.end && b.start < b.end);
            }
        }
    }
    assert_eq!(leaves, order.len());
    assert!(clusters(&[]).1.is_empty());
}

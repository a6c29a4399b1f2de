//! Roles from the shape of a skeleton alone: which branches are legs, arms and head, whatever they are called.

use kumite_motion::{JointIdx, Role, Roles, Skeleton, Vec3};

/// Branches shorter than this share of the longest are fingers, eyes, hair, props.
const LIMB: f32 = 0.25;

/// In names of joints that only mark where the bone before them ends. Whatever else a leaf is called, it may be a head or toes: many rigs
/// have no joints behind these.
const ENDS: [&str; 6] = ["end", "nub", "tip", "top", "site", "effector"];

/// A bone from neck to head is shorter than this share of a leg, one from head to crown longer: 0.10 and 0.20 (Drillis and Contini 1966).
const NECK: f32 = 0.16;

/// What the shape of the tree tells: roles, with left and right still to be found out.
pub(crate) struct Shape {
    /// The first leg and arm stand under the left roles.
    pub(crate) roles: Roles,
}

struct Tree<'a> {
    skeleton: &'a Skeleton,
    children: Vec<Vec<JointIdx>>,
    /// Length from a joint's parent down its longest branch.
    reach: Vec<f32>,
}

impl Tree<'_> {
    fn bone(&self, joint: JointIdx) -> f32 {
        self.skeleton.offset(joint).length()
    }

    /// A joint and its longest continuation, to the leaf.
    fn chain(&self, from: JointIdx) -> Vec<JointIdx> {
        let mut chain = vec![from];
        let mut joint = from;
        while let Some(&next) =
            self.children[joint.at()].iter().max_by(|a, b| self.reach[a.at()].total_cmp(&self.reach[b.at()]))
        {
            chain.push(next);
            joint = next;
        }
        chain
    }

    /// A leaf without a tip only marks where the bone before it ends.
    fn is_mark(&self, joint: JointIdx) -> bool {
        self.children[joint.at()].is_empty() && self.skeleton.tip(joint).is_none_or(|t| t.length() < 1e-6)
    }

    /// Whether a joint is called the end of something.
    fn is_called_end(&self, joint: JointIdx) -> bool {
        let name = self.skeleton.name(joint).to_ascii_lowercase();
        ENDS.iter().any(|end| name.contains(end))
    }
}

/// `None` where the tree is not a humanoid: it lacks two pairs of similar limbs, one above the other.
pub(crate) fn by_shape(skeleton: &Skeleton) -> Option<Shape> {
    let tree = tree(skeleton);
    let longest = skeleton.joints().skip(1).map(|j| tree.reach[j.at()]).fold(0.0, f32::max);
    // Like branches of one joint: candidates for a pair of limbs.
    let mut pairs: Vec<(JointIdx, JointIdx, JointIdx, f32)> = Vec::new();
    for joint in skeleton.joints() {
        let limbs: Vec<JointIdx> =
            tree.children[joint.at()].iter().copied().filter(|c| tree.reach[c.at()] > LIMB * longest).collect();
        for (i, &a) in limbs.iter().enumerate() {
            for &b in &limbs[i + 1..] {
                if let Some(likeness) = likeness(&tree, a, b) {
                    pairs.push((joint, a, b, likeness));
                }
            }
        }
    }
    // Legs and arms: two pairs, the second hanging below the first's joint but not from its limbs; the likest of both.
    let mut best: Option<(f32, usize, usize)> = None;
    for (l, legs) in pairs.iter().enumerate() {
        for (a, arms) in pairs.iter().enumerate() {
            let above = arms.0 != legs.0
                && skeleton.is_under(arms.0, legs.0)
                && !skeleton.is_under(arms.0, legs.1)
                && !skeleton.is_under(arms.0, legs.2);
            if above {
                let size = (tree.reach[legs.1.at()] + tree.reach[arms.1.at()]) / longest;
                let score = legs.3 + arms.3 + 0.5 * size;
                if best.is_none_or(|(s, ..)| score > s) {
                    best = Some((score, l, a));
                }
            }
        }
    }
    let (_, l, a) = best?;
    let ((pelvis, leg_a, leg_b, _), (back, arm_a, arm_b, _)) = (pairs[l], pairs[a]);
    let mut roles = Roles::default();
    roles.set(Role::Pelvis, Some(pelvis));
    roles.set(Role::Back, Some(back));
    set_waist(&tree, pelvis, back, &mut roles);
    for (branch, top) in [(leg_a, Role::LeftHip), (leg_b, Role::RightHip)] {
        let chain = tree.chain(branch);
        let at = limb_in(&tree, &chain)?;
        for (k, role) in [(0, top), (1, next(top, 1)), (2, next(top, 2))] {
            roles.set(role, chain.get(at + k).copied());
        }
        let joint = |t: JointIdx| !(tree.is_mark(t) && tree.is_called_end(t)) && tree.bone(t) > 0.0;
        let toe = chain.get(at + 3).copied().filter(|&t| joint(t));
        roles.set(next(top, 3), toe);
    }
    for (branch, collar) in [(arm_a, Role::LeftClavicle), (arm_b, Role::RightClavicle)] {
        let chain = tree.chain(branch);
        let at = limb_in(&tree, &chain)?;
        for k in 0..3 {
            roles.set(next(collar, k + 1), chain.get(at + k).copied());
        }
        roles.set(collar, (at > 0).then(|| chain[at - 1]));
    }
    let leg = [Role::LeftKnee, Role::LeftAnkle].iter().filter_map(|&r| roles.get(r)).map(|j| tree.bone(j)).sum();
    set_head(&tree, back, [arm_a, arm_b], leg, &mut roles);
    Some(Shape { roles })
}

fn next(role: Role, steps: usize) -> Role {
    Role::ALL[role as usize + steps]
}

fn tree(skeleton: &Skeleton) -> Tree<'_> {
    let mut children = vec![Vec::new(); skeleton.len()];
    for joint in skeleton.joints().skip(1) {
        if let Some(parent) = skeleton.parent(joint) {
            children[parent.at()].push(joint);
        }
    }
    let mut reach = vec![0.0f32; skeleton.len()];
    for joint in skeleton.joints().rev() {
        let below = children[joint.at()].iter().map(|c: &JointIdx| reach[c.at()]).fold(0.0, f32::max);
        let tip = skeleton.tip(joint).unwrap_or(Vec3::ZERO).length();
        reach[joint.at()] = skeleton.offset(joint).length() + below.max(tip);
    }
    Tree { skeleton, children, reach }
}

/// How alike two branches are, 0 to 1, bone by bone along their longest chains; `None` if they cannot be a pair of limbs.
fn likeness(tree: &Tree<'_>, a: JointIdx, b: JointIdx) -> Option<f32> {
    let (p, q) = (tree.chain(a), tree.chain(b));
    if p.len() < 3 || q.len() < 3 {
        return None;
    }
    let ratio = |x: f32, y: f32| if x.max(y) < 1e-9 { 1.0 } else { x.min(y) / x.max(y) };
    let whole = ratio(tree.reach[a.at()], tree.reach[b.at()]);
    // Bones weigh by length, from the second on: the first may lead sideways by any amount.
    let (mut same, mut weight) = (0.0, 1e-9);
    for (&x, &y) in p.iter().zip(&q).skip(1) {
        let longer = tree.bone(x).max(tree.bone(y));
        same += longer * ratio(tree.bone(x), tree.bone(y));
        weight += longer;
    }
    let likeness = whole * (same / weight);
    (likeness > 0.7).then_some(likeness)
}

/// Where in a chain the two long bones of a limb begin: the last place where two in a row are both at least half as long
/// as the longest. Before it comes a collar bone or a hip, after it a hand or a foot.
fn limb_in(tree: &Tree<'_>, chain: &[JointIdx]) -> Option<usize> {
    let bones: Vec<f32> = chain.iter().skip(1).map(|&j| tree.bone(j)).collect();
    let longest = bones.iter().copied().fold(0.0, f32::max);
    (0..bones.len().checked_sub(1)?).rev().find(|&i| bones[i] >= 0.5 * longest && bones[i + 1] >= 0.5 * longest)
}

/// The joint of the spine nearest to two fifths of the way from pelvis to back.
fn set_waist(tree: &Tree<'_>, pelvis: JointIdx, back: JointIdx, roles: &mut Roles) {
    let mut spine = Vec::new();
    let mut joint = back;
    let mut length = 0.0;
    while joint != pelvis {
        length += tree.bone(joint);
        match tree.skeleton.parent(joint) {
            Some(parent) => joint = parent,
            None => return,
        }
        if joint != pelvis {
            spine.push((joint, length));
        }
    }
    let off = |from_back: f32| ((length - from_back) / length.max(1e-9) - 0.4).abs();
    let waist = spine.iter().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    roles.set(Role::Waist, waist.map(|w| w.0));
}

fn set_head(tree: &Tree<'_>, back: JointIdx, arms: [JointIdx; 2], leg: f32, roles: &mut Roles) {
    let middle = tree.children[back.at()].iter().copied().filter(|c| !arms.contains(c));
    let Some(neck) = middle.max_by(|a, b| tree.reach[a.at()].total_cmp(&tree.reach[b.at()])) else { return };
    let mut chain = Vec::new();
    let mut joint = neck;
    loop {
        chain.push(joint);
        // Where eyes, jaw or hair branch off is the head. A leaf so near that only a neck is between is one, too; else it marks the crown.
        let near = |j: JointIdx| tree.bone(j) > 0.0 && tree.bone(j) < NECK * leg && !tree.is_called_end(j);
        match tree.children[joint.at()][..] {
            [only] if !tree.is_mark(only) || near(only) => joint = only,
            _ => break,
        }
    }
    if let [.., head] = chain[..] {
        roles.set(Role::Head, Some(head));
    }
    if chain.len() > 1 {
        roles.set(Role::Neck, Some(chain[0]));
    }
}

//! Roles from the names that programs and labs give to joints.

use kumite_motion::{JointIdx, Role, Roles, Skeleton};

/// How one program names joints, in the order of [`Role::ALL`]; empty where it has no such joint. Lower case, without
/// separators and prefixes, `%` for the side.
struct Convention {
    name: &'static str,
    sides: (&'static str, &'static str),
    middle: [&'static str; 5],
    /// Clavicle, shoulder, elbow, wrist, hip, knee, ankle, toe.
    limbs: [&'static str; 8],
}

const CONVENTIONS: &[Convention] = &[
    Convention {
        name: "kumite",
        sides: ("left", "right"),
        middle: ["pelvis", "waist", "back", "neck", "head"],
        limbs: ["%clavicle", "%shoulder", "%elbow", "%wrist", "%hip", "%knee", "%ankle", "%toe"],
    },
    Convention {
        name: "CMU",
        sides: ("left", "right"),
        middle: ["hips", "lowerback", "spine1", "neck", "head"],
        limbs: ["%shoulder", "%arm", "%forearm", "%hand", "%upleg", "%leg", "%foot", "%toebase"],
    },
    Convention {
        name: "MotionBuilder",
        sides: ("left", "right"),
        middle: ["hips", "spine", "spine1", "neck", "head"],
        limbs: ["%shoulder", "%arm", "%forearm", "%hand", "%upleg", "%leg", "%foot", "%toebase"],
    },
    Convention {
        name: "Mixamo",
        sides: ("left", "right"),
        middle: ["hips", "spine", "spine2", "neck", "head"],
        limbs: ["%shoulder", "%arm", "%forearm", "%hand", "%upleg", "%leg", "%foot", "%toebase"],
    },
    Convention {
        name: "LAFAN1",
        sides: ("left", "right"),
        middle: ["hips", "spine", "spine2", "neck", "head"],
        limbs: ["%shoulder", "%arm", "%forearm", "%hand", "%upleg", "%leg", "%foot", "%toe"],
    },
    Convention {
        name: "MotionBuilder, four spine joints",
        sides: ("left", "right"),
        middle: ["hips", "spine", "spine3", "neck", "head"],
        limbs: ["%shoulder", "%arm", "%forearm", "%hand", "%upleg", "%leg", "%foot", "%toebase"],
    },
    Convention {
        name: "joint by joint",
        sides: ("left", "right"),
        middle: ["hips", "chest", "chest2", "neck", "head"],
        limbs: ["%collar", "%shoulder", "%elbow", "%wrist", "%hip", "%knee", "%ankle", "%toes"],
    },
    Convention {
        name: "joint by joint, short spine",
        sides: ("left", "right"),
        middle: ["hips", "ab", "chest", "neck", "head"],
        limbs: ["%collar", "%shoulder", "%elbow", "%wrist", "%hip", "%knee", "%ankle", "%toes"],
    },
    Convention {
        name: "Poser and DAZ",
        sides: ("l", "r"),
        middle: ["hip", "abdomen", "chest", "neck", "head"],
        limbs: ["%collar", "%shldr", "%forearm", "%hand", "%thigh", "%shin", "%foot", "%toe"],
    },
    Convention {
        name: "Acclaim",
        sides: ("l", "r"),
        middle: ["root", "lowerback", "thorax", "lowerneck", "head"],
        limbs: ["%clavicle", "%humerus", "%radius", "%wrist", "%femur", "%tibia", "%foot", "%toes"],
    },
    Convention {
        name: "Unreal",
        sides: ("l", "r"),
        middle: ["pelvis", "spine01", "spine03", "neck01", "head"],
        limbs: ["clavicle%", "upperarm%", "lowerarm%", "hand%", "thigh%", "calf%", "foot%", "ball%"],
    },
    Convention {
        name: "Rigify",
        sides: ("l", "r"),
        middle: ["spine", "spine001", "spine003", "spine004", "spine006"],
        limbs: ["shoulder%", "upperarm%", "forearm%", "hand%", "thigh%", "shin%", "foot%", "toe%"],
    },
    Convention {
        name: "Rigify, basic",
        sides: ("l", "r"),
        middle: ["hips", "spine", "chest", "neck", "head"],
        limbs: ["shoulder%", "upperarm%", "forearm%", "hand%", "thigh%", "shin%", "foot%", "toe%"],
    },
    Convention {
        name: "VRM",
        sides: ("left", "right"),
        middle: ["hips", "spine", "upperchest", "neck", "head"],
        limbs: ["%shoulder", "%upperarm", "%lowerarm", "%hand", "%upperleg", "%lowerleg", "%foot", "%toes"],
    },
    Convention {
        name: "VRoid",
        sides: ("l", "r"),
        middle: ["chips", "cspine", "cupperchest", "cneck", "chead"],
        limbs: ["%shoulder", "%upperarm", "%lowerarm", "%hand", "%upperleg", "%lowerleg", "%foot", "%toebase"],
    },
    Convention {
        name: "3ds Max Biped",
        sides: ("l", "r"),
        middle: ["pelvis", "spine", "spine1", "neck", "head"],
        limbs: ["%clavicle", "%upperarm", "%forearm", "%hand", "%thigh", "%calf", "%foot", "%toe0"],
    },
];

/// Prefixes that rigs put before every name.
const PREFIXES: [&str; 12] = [
    "mixamorig",
    "jbip",
    "bip001",
    "bip01",
    "bip1",
    "def",
    "org",
    "character1",
    "cmu",
    "skeleton",
    "valvebiped",
    "ref",
];

/// Lower case letters and digits only, without a namespace or a known prefix.
fn plain(name: &str) -> String {
    let last = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut text: String = last.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    loop {
        let shorter = PREFIXES.iter().find_map(|p| text.strip_prefix(p).filter(|rest| !rest.is_empty()));
        match shorter {
            Some(rest) => text = rest.to_owned(),
            None => return text,
        }
    }
}

/// The convention that explains most joints, the roles it gives, and the share of its names that were found.
pub(crate) fn by_names(skeleton: &Skeleton) -> Option<(&'static str, Roles, f32)> {
    let names: Vec<String> = skeleton.joints().map(|j| plain(skeleton.name(j))).collect();
    let find = |wanted: &str| names.iter().position(|n| n == wanted).map(|i| JointIdx(i as u16));
    let mut best: Option<(f32, &'static str, Roles, f32)> = None;
    for convention in CONVENTIONS {
        let mut roles = Roles::default();
        let mut found = 0;
        for role in Role::ALL {
            let joint = match role as usize {
                middle @ 0..5 => find(convention.middle[middle]),
                other => {
                    // Left arm, right arm, left leg, right leg, four joints each.
                    let (part, left) = ((other - 5) % 4 + if other >= 13 { 4 } else { 0 }, (other - 5) / 4 % 2 == 0);
                    let side = if left { convention.sides.0 } else { convention.sides.1 };
                    find(&convention.limbs[part].replace('%', side))
                }
            };
            found += usize::from(joint.is_some());
            roles.set(role, joint);
        }
        let share = found as f32 / Role::ALL.len() as f32;
        // Conventions differ in which of the spine's joints carries the arms; the skeleton says which it is.
        let fit = share + if carries_arms(skeleton, &roles) { 0.01 } else { 0.0 };
        if best.as_ref().is_none_or(|b| fit > b.0) && is_a_body(skeleton, &roles) {
            best = Some((fit, convention.name, roles, share));
        }
    }
    best.filter(|b| b.3 >= 0.6).map(|(_, name, roles, share)| (name, roles, share))
}

/// Whether the joint called back is the one the collar bones, or the shoulders, hang on.
fn carries_arms(skeleton: &Skeleton, roles: &Roles) -> bool {
    let top = roles.get(Role::LeftClavicle).or(roles.get(Role::LeftShoulder));
    top.is_some_and(|top| skeleton.parent(top).is_some() && skeleton.parent(top) == roles.get(Role::Back))
}

/// Whether the joints of each limb are connected: names can be wrong, parents cannot.
fn is_a_body(skeleton: &Skeleton, roles: &Roles) -> bool {
    let under = |low: Role, high: Role| match (roles.get(low), roles.get(high)) {
        (Some(low), Some(high)) => low != high && skeleton.is_under(low, high),
        _ => true,
    };
    let needed =
        [Role::LeftElbow, Role::RightElbow, Role::LeftKnee, Role::RightKnee, Role::LeftAnkle, Role::RightAnkle];
    needed.iter().all(|&r| roles.get(r).is_some())
        && Role::ALL.iter().all(|&role| match role.parent() {
            // Legs may hang from the spine (3ds Max does so) and arms from the neck.
            Some(Role::Pelvis | Role::Back) | None => true,
            Some(parent) => under(role, parent),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Joint, Quat, Vec3};

    /// Joint names as a program writes them, children after parents: `name<parent`. Expected: roles in canonical order.
    #[track_caller]
    fn check(convention: &str, joints: &str, expected: [&str; 21]) {
        let mut list: Vec<Joint> = Vec::new();
        for word in joints.split(", ") {
            let (name, parent) = word.split_once('<').map_or((word, None), |(n, p)| (n, Some(p)));
            let parent = parent.map(|p| JointIdx(list.iter().position(|j| j.name == p).unwrap() as u16));
            let offset = Vec3::Y;
            list.push(Joint { name: name.into(), parent, offset, rest: Quat::IDENTITY, tip: None, moves: false });
        }
        let skeleton = Skeleton::new(&list).unwrap();
        let (found, roles, _) = by_names(&skeleton).unwrap_or_else(|| panic!("{convention}: nothing found"));
        for (role, name) in Role::ALL.into_iter().zip(expected) {
            let is = roles.get(role).map_or("", |j| skeleton.name(j));
            assert_eq!(is, name, "{convention} read as {found}: {}", role.name());
        }
    }

    fn limbs(l: [&str; 8], r: [&str; 8], back: &str, pelvis: &str) -> String {
        let chain = |names: &[&str], top: &str| {
            let mut parent = top.to_owned();
            names
                .iter()
                .filter(|n| !n.is_empty())
                .map(|n| {
                    let word = format!(", {n}<{parent}");
                    parent = (*n).to_owned();
                    word
                })
                .collect::<String>()
        };
        [chain(&l[..4], back), chain(&r[..4], back), chain(&l[4..], pelvis), chain(&r[4..], pelvis)].concat()
    }

    #[track_caller]
    fn check_rig(
        name: &str,
        spine: &[&str],
        middle: [&str; 5],
        limb: impl Fn(&str) -> [String; 8],
        sides: (&str, &str),
    ) {
        let (l, r) = (limb(sides.0), limb(sides.1));
        let (l, r): ([&str; 8], [&str; 8]) =
            (std::array::from_fn(|i| l[i].as_str()), std::array::from_fn(|i| r[i].as_str()));
        let mut joints = spine[0].to_owned();
        for pair in spine.windows(2) {
            joints += &format!(", {}<{}", pair[1], pair[0]);
        }
        joints += &limbs(l, r, middle[2], middle[0]);
        let expected: Vec<&str> = [&middle[..], &l[..4], &r[..4], &l[4..], &r[4..]].concat();
        check(name, &joints, expected.try_into().unwrap());
    }

    fn each<const N: usize>(names: [&str; N], side: &str) -> [String; N] {
        names.map(|n| n.replace('%', side))
    }

    #[test]
    fn the_names_of_known_programs_are_understood() {
        let builder = ["%Shoulder", "%Arm", "%ForeArm", "%Hand", "%UpLeg", "%Leg", "%Foot", "%ToeBase"];
        check_rig(
            "CMU",
            &["Hips", "LowerBack", "Spine", "Spine1", "Neck", "Neck1", "Head"],
            ["Hips", "LowerBack", "Spine1", "Neck", "Head"],
            |s| each(builder, s),
            ("Left", "Right"),
        );
        check_rig(
            "ACCAD",
            &["Hips", "ToSpine", "Spine", "Spine1", "Neck", "Head"],
            ["Hips", "Spine", "Spine1", "Neck", "Head"],
            |s| each(builder, s),
            ("Left", "Right"),
        );
        check_rig(
            "MotionBuilder",
            &["Hips", "Spine", "Spine1", "Neck", "Head"],
            ["Hips", "Spine", "Spine1", "Neck", "Head"],
            |s| each(builder, s),
            ("Left", "Right"),
        );
        let mixamo = builder.map(|n| format!("mixamorig:{n}"));
        check_rig(
            "Mixamo",
            &[
                "mixamorig:Hips",
                "mixamorig:Spine",
                "mixamorig:Spine1",
                "mixamorig:Spine2",
                "mixamorig:Neck",
                "mixamorig:Head",
            ],
            ["mixamorig:Hips", "mixamorig:Spine", "mixamorig:Spine2", "mixamorig:Neck", "mixamorig:Head"],
            |s| mixamo.clone().map(|n| n.replace('%', s)),
            ("Left", "Right"),
        );
        check_rig(
            "LAFAN1",
            &["Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"],
            ["Hips", "Spine", "Spine2", "Neck", "Head"],
            |s| each(["%Shoulder", "%Arm", "%ForeArm", "%Hand", "%UpLeg", "%Leg", "%Foot", "%Toe"], s),
            ("Left", "Right"),
        );
        check_rig(
            "Acclaim",
            &["root", "lowerback", "upperback", "thorax", "lowerneck", "upperneck", "head"],
            ["root", "lowerback", "thorax", "lowerneck", "head"],
            |s| each(["%clavicle", "%humerus", "%radius", "%wrist", "%femur", "%tibia", "%foot", "%toes"], s),
            ("l", "r"),
        );
        check_rig(
            "Unreal",
            &["pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"],
            ["pelvis", "spine_01", "spine_03", "neck_01", "head"],
            |s| each(["clavicle_%", "upperarm_%", "lowerarm_%", "hand_%", "thigh_%", "calf_%", "foot_%", "ball_%"], s),
            ("l", "r"),
        );
        check_rig(
            "Rigify",
            &[
                "DEF-spine",
                "DEF-spine.001",
                "DEF-spine.002",
                "DEF-spine.003",
                "DEF-spine.004",
                "DEF-spine.005",
                "DEF-spine.006",
            ],
            ["DEF-spine", "DEF-spine.001", "DEF-spine.003", "DEF-spine.004", "DEF-spine.006"],
            |s| {
                each(
                    [
                        "DEF-shoulder.%",
                        "DEF-upper_arm.%",
                        "DEF-forearm.%",
                        "DEF-hand.%",
                        "DEF-thigh.%",
                        "DEF-shin.%",
                        "DEF-foot.%",
                        "DEF-toe.%",
                    ],
                    s,
                )
            },
            ("L", "R"),
        );
        check_rig(
            "VRM",
            &["hips", "spine", "chest", "upperChest", "neck", "head"],
            ["hips", "spine", "upperChest", "neck", "head"],
            |s| each(["%Shoulder", "%UpperArm", "%LowerArm", "%Hand", "%UpperLeg", "%LowerLeg", "%Foot", "%Toes"], s),
            ("left", "right"),
        );
        check_rig(
            "VRoid",
            &["J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest", "J_Bip_C_Neck", "J_Bip_C_Head"],
            ["J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_UpperChest", "J_Bip_C_Neck", "J_Bip_C_Head"],
            |s| {
                each(
                    [
                        "J_Bip_%_Shoulder",
                        "J_Bip_%_UpperArm",
                        "J_Bip_%_LowerArm",
                        "J_Bip_%_Hand",
                        "J_Bip_%_UpperLeg",
                        "J_Bip_%_LowerLeg",
                        "J_Bip_%_Foot",
                        "J_Bip_%_ToeBase",
                    ],
                    s,
                )
            },
            ("L", "R"),
        );
        check_rig(
            "Biped",
            &["Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Neck", "Bip01 Head"],
            ["Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Neck", "Bip01 Head"],
            |s| {
                each(
                    [
                        "Bip01 % Clavicle",
                        "Bip01 % UpperArm",
                        "Bip01 % Forearm",
                        "Bip01 % Hand",
                        "Bip01 % Thigh",
                        "Bip01 % Calf",
                        "Bip01 % Foot",
                        "Bip01 % Toe0",
                    ],
                    s,
                )
            },
            ("L", "R"),
        );
        check_rig(
            "Poser",
            &["hip", "abdomen", "chest", "neck", "head"],
            ["hip", "abdomen", "chest", "neck", "head"],
            |s| each(["%Collar", "%Shldr", "%ForeArm", "%Hand", "%Thigh", "%Shin", "%Foot", "%Toe"], s),
            ("l", "r"),
        );
    }
}

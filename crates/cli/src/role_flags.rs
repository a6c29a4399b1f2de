//! `--role`: what somebody knows better than the importer about which joint plays which role.

use kumite_bake::understand::{RoleCorrection, role_corrections};
use kumite_motion::{Role, Skeleton};

use crate::failure::{CliResult, Failure};

/// How the flag is written.
const FORM: &str = "[NAME:]ROLE=JOINT";

/// One `--role`.
#[derive(Clone, Debug)]
pub(crate) struct RoleFlag {
    /// For the rig of this character only.
    pub(crate) who: Option<String>,
    role: String,
    joint: String,
}

/// Reads the flags; `names` are the characters of the scene, if there are any.
pub(crate) fn parsed(flags: &[String], names: &[&str]) -> CliResult<Vec<RoleFlag>> {
    let one = |flag: &String| {
        let wrong = |message: String| Failure::bad(message).key("--role");
        let Some((left, joint)) = flag.split_once('=') else {
            return Err(wrong(format!("--role is {flag:?}; it is written {FORM}")).found(flag).allowed(FORM));
        };
        let (who, role) = left.rsplit_once(':').map_or((None, left), |(who, role)| (Some(who), role));
        if let Some(who) = who.filter(|who| !names.contains(who)) {
            return Err(match names {
                [] => {
                    wrong(format!("--role is for {who:?}, but nobody has a name here; write {role}={joint}")).found(who)
                }
                _ => Failure::unknown(&format!("--role is for {who:?}"), who, names.iter().copied()).key("--role"),
            });
        }
        if Role::from_name(role).is_none() {
            let roles = Role::ALL.map(Role::name);
            return Err(Failure::unknown(&format!("--role is for {role:?}"), role, roles).key("--role"));
        }
        Ok(RoleFlag { who: who.map(str::to_owned), role: role.to_owned(), joint: joint.to_owned() })
    };
    flags.iter().map(one).collect()
}

/// The joints of a skeleton that the flags for somebody name.
pub(crate) fn of(flags: &[RoleFlag], who: Option<&str>, skeleton: &Skeleton) -> CliResult<Vec<RoleCorrection>> {
    let mine = flags.iter().filter(|flag| flag.who.is_none() || flag.who.as_deref() == who);
    pairs(mine.map(|flag| (flag.role.as_str(), flag.joint.as_str())), skeleton).map_err(|failure| failure.key("--role"))
}

/// The joints of a skeleton that pairs of role and joint name.
pub(crate) fn pairs<'a>(
    written: impl IntoIterator<Item = (&'a str, &'a str)>,
    skeleton: &Skeleton,
) -> CliResult<Vec<RoleCorrection>> {
    role_corrections(skeleton, written).map_err(|e| {
        let names = e.allowed(skeleton);
        Failure::unknown(&e.to_string(), e.found(), names.iter().map(String::as_str))
    })
}

/// The flags as pairs of role and joint.
pub(crate) fn written(flags: &[RoleFlag]) -> Vec<(String, String)> {
    flags.iter().map(|flag| (flag.role.clone(), flag.joint.clone())).collect()
}

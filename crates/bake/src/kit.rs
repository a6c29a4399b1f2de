//! From clips to both libraries that characters need: the one that fights, and the one that walks.

use kumite_motion::Clip;
use kumite_motion::library::Library;

use crate::library::{BakeConfig, BakeError, Baked, bake};
use crate::repair::RepairConfig;
use crate::walking::{WalkingConfig, walking};

/// What a kit is made from.
#[derive(Clone, Debug)]
pub struct Ingredients {
    /// For people.
    pub name: String,
    /// Credits, one line each.
    pub attribution: Vec<String>,
    /// Clips of the library that fights; those that go somewhere are walked with too.
    pub clips: Vec<Clip>,
    /// More clips to walk with. Fighters have no use for them.
    pub walks: Vec<Clip>,
    /// How what is lost or far away is brought near.
    pub repair: RepairConfig,
}

/// Both libraries, and what became of their clips.
#[derive(Clone, Debug)]
pub struct BakedKit {
    /// The library that fights.
    pub fight: Baked,
    /// The library that walks, or why there is none.
    pub walk: Result<Baked, BakeError>,
}

/// Makes both libraries. Same clips, same libraries, on any number of threads.
pub fn bake_kit(from: Ingredients) -> Result<BakedKit, BakeError> {
    let (fight, walks) = bake_fight(from)?;
    let walk = bake_walk(&fight.library, walks);
    Ok(BakedKit { fight, walk })
}

/// Makes the library that fights, and leaves the clips that are for walking only.
pub fn bake_fight(from: Ingredients) -> Result<(Baked, Vec<Clip>), BakeError> {
    let config = BakeConfig { repair: Some(from.repair), ..BakeConfig::default() };
    let mut baked = bake(&from.name, from.clips, &config)?;
    baked.library.attribution = from.attribution;
    Ok((baked, from.walks))
}

/// Makes the library that walks; `walks` are clips that the one that fights does not have.
pub fn bake_walk(fight: &Library, walks: Vec<Clip>) -> Result<Baked, BakeError> {
    let mut baked = walking(fight, walks, &WalkingConfig { mirror: true, ..WalkingConfig::default() })?;
    baked.library.attribution.clone_from(&fight.attribution);
    Ok(baked)
}

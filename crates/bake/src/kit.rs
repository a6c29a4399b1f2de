//! From clips to the library that characters play: two graphs over one table of clips, merged.

use kumite_motion::Clip;
use kumite_motion::library::Library;

use crate::interrupts;
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
    /// Clips for fighters; those that go somewhere are walked with too.
    pub clips: Vec<Clip>,
    /// More clips to walk with. Fighters have no use for them.
    pub walks: Vec<Clip>,
    /// How what is lost or far away is brought near.
    pub repair: RepairConfig,
}

/// A library, and what became of its clips.
#[derive(Clone, Debug)]
pub struct BakedKit {
    /// For the run time, with both layers of its graph and its interrupts.
    pub library: Library,
    /// How the layer for fighters was made; its own library is in `library`.
    pub fight: Baked,
    /// How the one for walkers was made, or why there is none.
    pub walk: Result<Baked, BakeError>,
}

/// Makes both layers. Same clips, same library, on any number of threads.
pub fn bake_kit(from: Ingredients) -> Result<BakedKit, BakeError> {
    let (fight, walks) = bake_fight(from)?;
    let walk = bake_walk(&fight.library, walks);
    let library = match &walk {
        Ok(walk) => fight.library.clone().with_walks(&walk.library).map_err(BakeError::Library)?,
        Err(_) => fight.library.clone(),
    };
    let library = interrupts::find(&library).map_err(BakeError::Library)?;
    Ok(BakedKit { library, fight, walk })
}

/// Makes the layer for fighters, and leaves the clips that are for walking only.
pub fn bake_fight(from: Ingredients) -> Result<(Baked, Vec<Clip>), BakeError> {
    let config = BakeConfig { repair: Some(from.repair), ..BakeConfig::default() };
    let mut baked = bake(&from.name, from.clips, &config)?;
    baked.library.attribution = from.attribution;
    Ok((baked, from.walks))
}

/// Makes the layer for walkers; `walks` are clips that the one for fighters does not have.
pub fn bake_walk(fight: &Library, walks: Vec<Clip>) -> Result<Baked, BakeError> {
    let mut baked = walking(fight, walks, &WalkingConfig { mirror: true, ..WalkingConfig::default() })?;
    baked.library.attribution.clone_from(&fight.attribution);
    Ok(baked)
}

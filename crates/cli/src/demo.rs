//! `kumite demo`: writes the embedded motions in every format, with a page that shows them.

use std::fmt::Write as _;
use std::time::Instant;

use kumite_formats::{bvh, gltf};
use kumite_motion::{Clip, Roles};
use kumite_picture::Replay;
use kumite_stage::scene;
use serde_json::json;

use crate::args::{DemoArgs, PictureArgs, ThemeArg, ViewArg};
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::{Progress, Report, bake, convert, picture_flags, play, source, stock_scenes};

pub(crate) fn run(args: &DemoArgs, progress: &Progress) -> CliResult<Report> {
    let start = Instant::now();
    std::fs::create_dir_all(&args.output).map_err(|e| Failure::io(&args.output, "make the folder", &e))?;
    let source = source::load(source::BUILT_IN.as_ref(), None)?;
    let clips: Vec<&Clip> = source.motions.iter().map(|m| m.shown()).collect();
    let roles = Some(Roles::canonical());
    let bar = progress.bar(SCENES.len() + clips.len(), "drawing");
    let picture = PictureArgs {
        poses: 8,
        even: false,
        view: vec![ViewArg::ThreeQuarter],
        width: 1600,
        theme: ThemeArg::Light,
        bare: false,
    };
    let mut outputs = Outputs::default();
    let (mut scenes, mut cards) = (Vec::new(), String::new());
    for (name, says) in SCENES {
        let scene = scene::read(&stock_scenes::read(name.as_ref())?)
            .map_err(|e| Failure::bad(e.to_string()).in_file(name.as_ref()))?;
        let loaded = bake::load(&scene.library, "".as_ref(), None, progress)?;
        let played = play::play(&scene, scene.seed, &loaded)?;
        let files = ["html", "glb", "png"].map(|ending| (format!("{name}.{ending}"), ending));
        for (file, ending) in &files {
            let bytes = play::written(
                &picture,
                name,
                ending,
                (&scene.obstacles(), scene.seconds),
                &played,
                &serde_json::Value::Null,
            )?;
            outputs.stage(&args.output.join(file), &bytes)?;
        }
        let _ = writeln!(
            cards,
            "<section><h2>{name}</h2><p>{:.0} s, {says}</p>\
             <a href=\"{name}.html\"><img src=\"{name}.png\" alt=\"{name}, as a film strip\" loading=\"lazy\"></a>\
             <p><a href=\"{name}.html\">play</a> · <a href=\"{name}.glb\">{name}.glb</a></p></section>",
            scene.seconds
        );
        scenes.push(json!({"name": name, "seconds": scene.seconds, "files": files.map(|f| f.0)}));
        bar.inc(1);
    }
    for &clip in &clips {
        let name = &clip.name;
        let replay =
            Replay { title: name.clone(), figures: vec![picture_flags::figure(clip, roles)], ..Replay::default() };
        let character = gltf::GltfCharacter { name, clip, colour: gltf::GltfCharacter::COLOURS[0] };
        let files = [
            (format!("{name}.html"), replay.to_html().into_bytes()),
            (format!("{name}.glb"), gltf::write_glb(name, &[character], &convert::markers(clip))),
            (format!("{name}.png"), picture.strip(clip, roles).render().to_png()),
            (
                format!("{name}.bvh"),
                bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes(),
            ),
        ];
        for (file, bytes) in &files {
            outputs.stage(&args.output.join(file), bytes)?;
        }
        let kinds: Vec<&str> = clip.spans.iter().map(|s| s.kind.name()).collect();
        let _ = writeln!(
            cards,
            "<section><h2>{name}</h2><p>{:.1} s, {}</p>\
             <a href=\"{name}.html\"><img src=\"{name}.png\" alt=\"{name}, as a film strip\" loading=\"lazy\"></a>\
             <p><a href=\"{name}.html\">play</a> · <a href=\"{name}.glb\">{name}.glb</a> · \
             <a href=\"{name}.bvh\">{name}.bvh</a></p></section>",
            clip.seconds(),
            kinds.join(", ")
        );
        scenes.push(json!({"name": name, "seconds": clip.seconds(), "files": files.map(|f| f.0)}));
        bar.inc(1);
    }
    let page = PAGE.replace("{{cards}}", &cards);
    outputs.stage(&args.output.join("index.html"), page.as_bytes())?;
    outputs.commit()?;
    bar.finish_and_clear();
    let index = args.output.join("index.html");
    let text = format!("{} motions in {:.1} s; open {}\n", clips.len(), start.elapsed().as_secs_f32(), index.display());
    Ok(Report { text, json: json!({"scenes": scenes, "wall_seconds": start.elapsed().as_secs_f64()}) })
}

/// What is played: the name of a scene that comes with kumite, and what it shows.
const SCENES: [(&str, &str); 3] = [
    ("duel", "two fighters who plan against each other"),
    ("hit-hard", "what can be neither avoided nor blocked"),
    ("wander", "played by the graph of the embedded library"),
];

const PAGE: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>kumite: what it plays</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; padding: 0 1rem; color: #222; background: #fafaf8 }
section { margin: 0 0 3rem } img { max-width: 100%; display: block; border-radius: 6px }
h1, h2 { font-weight: 600 } h2 { margin-bottom: 0 }
</style>
<h1>What kumite plays</h1>
<p>Each picture opens a replay: turn it with the mouse, space plays and pauses, ? lists the keys.</p>
{{cards}}
</html>
"#;

//! `kumite demo`: the stock motions, written in every format there is, with a page to look at them.

use std::fmt::Write as _;
use std::time::Instant;

use kumite_formats::bvh;
use serde_json::json;

use crate::args::{DemoArgs, LookArgs, ThemeArg, ViewArg};
use crate::failure::{Failure, Outcome};
use crate::output::Outputs;
use crate::{Progress, Report, look, source};

pub(crate) fn run(args: &DemoArgs, progress: &Progress) -> Outcome<Report> {
    let start = Instant::now();
    std::fs::create_dir_all(&args.output).map_err(|e| Failure::io(&args.output, "make the folder", &e))?;
    let source = source::load("embedded".as_ref())?;
    let bar = progress.bar(source.clips.len() + 1, "drawing");
    let look = LookArgs { poses: 8, view: vec![ViewArg::ThreeQuarter], width: 1600, theme: ThemeArg::Light };
    let mut outputs = Outputs::default();
    let (mut scenes, mut cards) = (Vec::new(), String::new());
    for clip in &source.clips {
        let name = &clip.name;
        let files = [
            (format!("{name}.png"), look.strip(clip, source.roles).render().to_png()),
            (format!("{name}.gif"), look::gif(&look, clip, source.roles)),
            (
                format!("{name}.bvh"),
                bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes(),
            ),
        ];
        for (file, bytes) in &files {
            outputs.stage(&args.output.join(file), bytes)?;
        }
        let _ = write!(
            cards,
            "<section><h2>{name}</h2><p>{:.1} s</p><img class=\"gif\" src=\"{name}.gif\" alt=\"{name}, moving\">\
             <img src=\"{name}.png\" alt=\"{name}, as a film strip\"><p><a href=\"{name}.bvh\">{name}.bvh</a></p></section>\n",
            clip.seconds()
        );
        scenes.push(json!({"name": name, "seconds": clip.seconds(), "files": files.map(|f| f.0)}));
        bar.inc(1);
    }
    let page = PAGE.replace("{{cards}}", &cards);
    outputs.stage(&args.output.join("index.html"), page.as_bytes())?;
    outputs.commit()?;
    bar.finish_and_clear();
    let index = args.output.join("index.html");
    let text =
        format!("{} motions in {:.1} s; open {}\n", source.clips.len(), start.elapsed().as_secs_f32(), index.display());
    Ok(Report { text, json: json!({"scenes": scenes, "wall_seconds": start.elapsed().as_secs_f64()}) })
}

const PAGE: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>kumite: what it plays</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; padding: 0 1rem; color: #222; background: #fafaf8 }
section { margin: 0 0 3rem } img { max-width: 100%; display: block; border-radius: 6px } .gif { max-width: 320px; float: right }
h1, h2 { font-weight: 600 } h2 { margin-bottom: 0 }
</style>
<h1>What kumite plays</h1>
{{cards}}
</html>
"#;

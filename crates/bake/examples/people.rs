//! How keyed motions compare with people: `cargo run -p kumite-bake --example people -- library/walk.toml [--curves]`.
//!
//! Says for every action in the file what the judge of people's ways says, every figure beside what people do, and which channels leave the band.
//! With `--curves` also the curves that leave it most, beside the band.

#![allow(clippy::print_stdout, reason = "it is a command")]

use kumite_bake::analyse::labelled;
use kumite_bake::judge::people::{Channel, People, by_family, channels_in_band, in_band, judge_takes, takes, typical};
use kumite_keying::{embedded, read_motion};
use kumite_motion::Clip;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let curves = flags.iter().any(|flag| flag == "--curves");
    let people = People::measured();
    for file in files {
        let motion = read_motion(&std::fs::read_to_string(&file)?).map_err(|e| format!("{file}: {e}"))?;
        for mut clip in embedded::clips_of(&motion).map_err(|e| format!("{file}: {e}"))? {
            labelled::add_strikes(&mut clip);
            compare(&people, &clip, curves);
        }
    }
    Ok(())
}

fn compare(people: &People, clip: &Clip, with_curves: bool) {
    let takes = takes(clip);
    println!("{}: {:.2} s, {} actions", clip.name, clip.seconds(), takes.len());
    for remark in judge_takes(people, &takes) {
        println!("  {} {remark}", if remark.ok { "passes" } else { "FAILS " });
    }
    for (family, takes) in by_family(&takes) {
        let times: Vec<String> = takes.iter().map(|t| format!("{:.2}-{:.2} s", t.at.0, t.at.1)).collect();
        println!("  {}, onset to height: {}", family.name(), times.join(", "));
        let Some(habit) = people.habits.get(&family) else {
            println!("    no capture shows it");
            continue;
        };
        for figure in kumite_bake::judge::people::Figure::ALL {
            let (Some(value), Some(range)) = (typical(&takes, *figure), habit.figures.get(figure)) else { continue };
            println!(
                "    {} {:<16} {value:8.2} {:<4}  people {:.2} to {:.2}: {}",
                if range.holds(*figure, value) { ' ' } else { '!' },
                figure.name(),
                figure.unit(),
                range.least,
                range.most,
                figure.says()
            );
        }
        let Some(share) = in_band(habit, &takes) else { continue };
        println!("    {share:.0} % of the curves in the band; channels that leave it most:");
        for (channel, share) in channels_in_band(habit, &takes).into_iter().filter(|c| c.1 < 95.0) {
            println!("      {:<18} {share:3.0} % inside", channel.name());
            let Some(at) = Channel::ALL.iter().position(|c| *c == channel).filter(|_| with_curves) else { continue };
            let row = |values: &[f32]| values.iter().map(|v| format!("{v:7.2}")).collect::<String>();
            for take in &takes {
                println!("        ours   {}", row(&take.curves[at]));
            }
            println!("        people {}", row(&habit.bands[at].mean));
            println!("        +-     {}", row(&habit.bands[at].half));
        }
    }
}

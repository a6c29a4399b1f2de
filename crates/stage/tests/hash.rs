//! The same bits on any number of threads; `cargo dev test` compares what is printed here with what wasm says.

#![allow(clippy::print_stdout, reason = "compared by cargo dev")]

#[path = "../examples/hash.rs"]
#[allow(unreachable_pub, reason = "exported from wasm")]
mod engine;

#[test]
fn threads_do_not_matter() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let parts: [(&str, extern "C" fn(u32) -> u64); 4] = [
        ("wander", engine::wander),
        ("dodges", engine::dodges),
        ("walks", engine::walks),
        ("one_world", engine::one_world),
    ];
    for (name, part) in parts {
        let one = on(1).install(|| part(4));
        assert_ne!(one, 0, "{name}");
        for threads in [2, 8] {
            assert_eq!(on(threads).install(|| part(4)), one, "{name} on {threads} threads");
        }
        assert_ne!(part(7), one, "{name} with another seed");
        println!("hash {name} {one:016x}");
    }
}

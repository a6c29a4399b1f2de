//! The same bits on any number of threads; `cargo dev test` compares what is printed here with what wasm says.

#![allow(clippy::print_stdout, reason = "compared by cargo dev")]

#[path = "../examples/hash.rs"]
#[allow(unreachable_pub, reason = "exported from wasm")]
mod walk;

#[test]
fn threads_do_not_matter() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = on(1).install(|| walk::hash(7));
    assert_ne!(one, 0);
    for threads in [2, 8] {
        assert_eq!(on(threads).install(|| walk::hash(7)), one, "{threads} threads");
    }
    assert_ne!(walk::hash(8), one);
    println!("hash {one:016x}");
}

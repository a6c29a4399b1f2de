//! The distances of all pairs of windows, tile by tile.
//!
//! With points p, q of two windows, weights that add up to 1 and the best planar motion of q, the mean squared
//! distance is E(p) + E(q) - 2 (h + sqrt(a² + b²)): E the energy about the centre on the ground, h the product of
//! heights, a and b the dot and cross products on the ground about both centres (Kovar, Gleicher and Pighin 2002, §
//! 3.1, with the angle put in). Dot, cross and height products of windows are sums along diagonals of those of
//! frames, so a longer window costs nothing.

use super::cloud::Cloud;

/// Frames side by side in a register.
const WIDE: usize = 8;
/// Rows worked on together, so that a column read once serves them all: nine sums, three columns, one row's numbers
/// and a product fill the sixteen registers.
const TALL: usize = 3;
/// Windows in a band of rows. Sums start anew in each, which bounds their rounding.
pub(super) const BAND: usize = 1024;
/// Padded frames in a strip of columns, at least: points of a strip and the sums of a window stay in the first two
/// caches.
const STRIP: usize = 264;

type Row = [f32; WIDE];

/// Takes rows of squared distances.
pub(super) trait Sink {
    /// Squared distances of window `s` to windows `t`, `t + 1`, …: `here[1]` belongs to `t`. `above` and `below` are
    /// the rows of windows `s - 1` and `s + 1`. Infinite where a window does not lie in one clip.
    fn row(&mut self, s: usize, t: usize, above: &[f32], here: &[f32], below: &[f32]);
}

/// Memory reused from tile to tile.
#[derive(Default)]
pub(super) struct Scratch {
    columns: Vec<[Row; 3]>,
    rows: Vec<[[f32; TALL]; 3]>,
    column_windows: Windows,
    row_windows: Windows,
    /// Products of the last frames: dot, cross, height; each with a margin of zeros to the left.
    ring: Vec<f32>,
    sums: [Vec<f32>; 3],
    before: [Vec<f32>; 3],
    distances: [Vec<f32>; 3],
    frame: Vec<[f32; 3]>,
}

/// What depends on one window only.
#[derive(Default)]
struct Windows {
    energy: Vec<f32>,
    x: Vec<f32>,
    z: Vec<f32>,
    frames: Vec<[f64; 3]>,
}

/// Compares all windows that start in `[band, band + BAND)` with all that start there or later. Each pair of windows
/// comes up once over all bands.
pub(super) fn band(cloud: &Cloud, band: usize, wide: bool, scratch: &mut Scratch, sink: &mut impl Sink) {
    #[cfg(target_arch = "x86_64")]
    if wide && std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the feature was detected on the line above")]
        // SAFETY: band_avx2 needs AVX2 and nothing else.
        unsafe {
            band_avx2(cloud, band, scratch, sink);
        }
        return;
    }
    let _ = wide;
    band_plain(cloud, band, scratch, sink);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn band_avx2(cloud: &Cloud, band: usize, scratch: &mut Scratch, sink: &mut impl Sink) {
    band_plain(cloud, band, scratch, sink);
}

#[inline(always)]
fn band_plain(cloud: &Cloud, band: usize, scratch: &mut Scratch, sink: &mut impl Sink) {
    let width = STRIP.max(4 * cloud.window).next_multiple_of(WIDE);
    // One window more on each side, for the neighbours of those at the rim.
    let inner = width - (cloud.window - 1) - 2;
    let end = (band + BAND).min(cloud.len());
    let Scratch { rows, row_windows, frame, .. } = &mut *scratch;
    pack(cloud, band as isize - 1, tall(cloud, end - band), rows, row_windows, frame);
    for t in (band..cloud.len()).step_by(inner) {
        // Below the diagonal everything has been seen.
        let end = end.min(t + inner);
        tile(cloud, band..end, t, width, scratch, sink);
    }
}

/// Padded frames that some windows and one more on each side take up, in whole groups.
fn tall(cloud: &Cloud, windows: usize) -> usize {
    (windows + 2 + cloud.window - 1).next_multiple_of(TALL)
}

/// Windows `rows` against the windows from `t` on that `width` padded frames hold.
#[inline(always)]
fn tile(
    cloud: &Cloud,
    rows: std::ops::Range<usize>,
    t: usize,
    width: usize,
    scratch: &mut Scratch,
    sink: &mut impl Sink,
) {
    let (window, points) = (cloud.window, cloud.points);
    let Scratch { columns, column_windows, frame, .. } = &mut *scratch;
    pack(cloud, t as isize - 1, width, columns, column_windows, frame);
    let Scratch { columns, rows: packed, column_windows, row_windows, ring, sums, before, distances, .. } = scratch;
    let margin = window.next_multiple_of(WIDE);
    let stride = margin + width;
    let depth = (window + TALL).next_multiple_of(TALL);
    ring.clear();
    ring.resize(depth * 3 * stride, 0.0);
    // Sums have one zero to the left: the diagonal that comes in from there has not begun.
    for row in sums.iter_mut().chain(before.iter_mut()) {
        row.clear();
        row.resize(width + 1, 0.0);
    }
    let across = width - (window - 1);
    for row in distances.iter_mut() {
        row.clear();
        row.resize(across, f32::INFINITY);
    }
    let groups = tall(cloud, rows.len()) / TALL;
    for (group, packed) in packed.chunks_exact(points).take(groups).enumerate() {
        let slot = group * TALL % depth;
        for (block, columns) in columns.chunks_exact(points).enumerate() {
            let out = products(packed, columns);
            for (row, out) in out.iter().enumerate() {
                for (kind, out) in out.iter().enumerate() {
                    let at = ((slot + row) * 3 + kind) * stride + margin + block * WIDE;
                    ring[at..at + WIDE].copy_from_slice(out);
                }
            }
        }
        for row in 0..TALL {
            let i = group * TALL + row;
            std::mem::swap(sums, before);
            for kind in 0..3 {
                let new = ((slot + row) * 3 + kind) * stride + margin;
                // While the window is not full yet the ring still holds zeros there.
                let old = ((slot + row + depth - window) % depth * 3 + kind) * stride + margin - window;
                slide(&mut sums[kind][1..], &before[kind], &ring[new..new + width], &ring[old..old + width]);
            }
            // The window that ends here, in the rows' count.
            let Some(s) = (i + 1).checked_sub(window) else { continue };
            distances.rotate_left(1);
            let own = [row_windows.energy[s], row_windows.x[s], row_windows.z[s]];
            let ended = |kind: usize| &sums[kind][window..];
            finish(&mut distances[2], own, column_windows, [ended(0), ended(1), ended(2)]);
            if s >= 2 && s - 2 < rows.len() {
                let [above, here, below] = &*distances;
                sink.row(rows.start + s - 2, t, above, here, below);
            }
        }
    }
}

/// Dot, cross and height products of `TALL` frames with eight.
#[inline(always)]
fn products(rows: &[[[f32; TALL]; 3]], columns: &[[Row; 3]]) -> [[Row; 3]; TALL] {
    let mut out = [[[0.0f32; WIDE]; 3]; TALL];
    for (own, [x, y, z]) in rows.iter().zip(columns) {
        for row in 0..TALL {
            let (px, py, pz) = (own[0][row], own[1][row], own[2][row]);
            for k in 0..WIDE {
                out[row][0][k] += px * x[k] + pz * z[k];
            }
            for k in 0..WIDE {
                out[row][1][k] += px * z[k] - pz * x[k];
            }
            for k in 0..WIDE {
                out[row][2][k] += py * y[k];
            }
        }
    }
    out
}

/// Sums one step further down their diagonals: what comes in, without what falls out at the back.
#[inline(always)]
fn slide(sums: &mut [f32], before: &[f32], new: &[f32], old: &[f32]) {
    let count = sums.len();
    let (before, new, old) = (&before[..count], &new[..count], &old[..count]);
    for k in 0..count {
        sums[k] = before[k] + (new[k] - old[k]);
    }
}

#[inline(always)]
fn finish(out: &mut [f32], own: [f32; 3], other: &Windows, sums: [&[f32]; 3]) {
    let count = out.len();
    let [energy, x, z] = own;
    let (energies, xs, zs) = (&other.energy[..count], &other.x[..count], &other.z[..count]);
    let (dot, cross, height) = (&sums[0][..count], &sums[1][..count], &sums[2][..count]);
    for k in 0..count {
        let a = dot[k] - (x * xs[k] + z * zs[k]);
        let b = cross[k] - (x * zs[k] - z * xs[k]);
        let d = (energy + energies[k]) - 2.0 * (height[k] + (a * a + b * b).sqrt());
        out[k] = if d > 0.0 { d } else { 0.0 };
    }
}

/// Frames in groups of `N`, so that one value of `N` frames lies together.
fn pack<const N: usize>(
    cloud: &Cloud,
    first: isize,
    count: usize,
    packed: &mut Vec<[[f32; N]; 3]>,
    windows: &mut Windows,
    frame: &mut Vec<[f32; 3]>,
) {
    let points = cloud.points;
    packed.clear();
    packed.resize(count / N * points, [[0.0; N]; 3]);
    unpack(cloud, first, count, windows, frame, |at, values| {
        let group = &mut packed[at / N * points..][..points];
        for (rows, p) in group.iter_mut().zip(values) {
            for (row, v) in rows.iter_mut().zip(p) {
                row[at % N] = *v;
            }
        }
    });
}

/// Hands over the points of padded frames `first..first + count`, each clip's stretch about its own centre on the
/// ground: distances do not depend on it, their rounding does. Frames that do not exist are skipped. Fills in what
/// windows are by themselves.
fn unpack(
    cloud: &Cloud,
    first: isize,
    count: usize,
    windows: &mut Windows,
    frame: &mut Vec<[f32; 3]>,
    mut put: impl FnMut(usize, &[[f32; 3]]),
) {
    let exists = |at: usize| {
        let padded = first + at as isize;
        usize::try_from(padded).ok().filter(|p| *p < cloud.len())
    };
    windows.frames.clear();
    windows.frames.resize(count, [0.0; 3]);
    let mut at = 0;
    while at < count {
        let Some(start) = exists(at) else {
            at += 1;
            continue;
        };
        let stretch = (at..count).take_while(|k| exists(*k).is_some_and(|p| cloud.owner(p) == cloud.owner(start)));
        let length = stretch.count();
        let (mut centre, mut weight) = ([0.0f64; 2], 0.0f64);
        for padded in start..start + length {
            for (p, root) in cloud.frame(padded).iter().zip(&cloud.roots) {
                let root = f64::from(*root);
                centre = [centre[0] + f64::from(p[0]) * root, centre[1] + f64::from(p[2]) * root];
                weight += root * root;
            }
        }
        let [x, z] = centre.map(|c| (c / weight) as f32);
        for padded in start..start + length {
            frame.clear();
            frame.extend_from_slice(cloud.frame(padded));
            let mut sums = [0.0f64; 3];
            for (p, root) in frame.iter_mut().zip(&cloud.roots) {
                *p = [p[0] - x * root, p[1], p[2] - z * root];
                sums[1] += f64::from(p[0] * root);
                sums[2] += f64::from(p[2] * root);
            }
            sums[0] = frame.iter().flatten().map(|v| f64::from(v * v)).sum();
            windows.frames[at] = sums;
            put(at, frame);
            at += 1;
        }
    }
    let starts = count - (cloud.window - 1);
    // Of a window, 1 but for rounding.
    let weight: f64 = cloud.roots.iter().map(|r| f64::from(*r) * f64::from(*r)).sum::<f64>() * cloud.window as f64;
    let unit = 1.0 / weight.sqrt();
    for list in [&mut windows.energy, &mut windows.x, &mut windows.z] {
        list.clear();
    }
    for at in 0..starts {
        let mut sum = [0.0f64; 3];
        for frame in &windows.frames[at..at + cloud.window] {
            sum = [sum[0] + frame[0], sum[1] + frame[1], sum[2] + frame[2]];
        }
        sum = [sum[0], sum[1] * unit, sum[2] * unit];
        let whole = exists(at).is_some_and(|p| cloud.place(p).is_some());
        let energy = sum[0] - sum[1] * sum[1] - sum[2] * sum[2];
        windows.energy.push(if whole { energy as f32 } else { f32::INFINITY });
        windows.x.push(sum[1] as f32);
        windows.z.push(sum[2] as f32);
    }
}

//! Triangles around a solid, by surface nets (Gibson 1998): a vertex in every cell of a grid that the surface passes
//! through, at the mean of where it crosses the cell's edges, joined across every edge it crosses. Fewer and rounder
//! triangles than marching cubes gives, and no table.

use glam::Vec3;

/// A closed surface, seen from outside with corners counter-clockwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) triangles: Vec<u32>,
}

const NO_VERTEX: u32 = u32::MAX;

/// The surface of a solid within a box, on a grid with cells of `cell` metres.
pub(super) fn of(field: impl Fn(Vec3) -> f32, (low, high): (Vec3, Vec3), cell: f32) -> Surface {
    // Cells are centred on x = 0, so that a symmetric solid gets a symmetric surface.
    let margin = Vec3::splat(1.5 * cell);
    let low = ((low - margin) / cell).floor() * cell - Vec3::new(0.5 * cell, 0.0, 0.0);
    let size = ((high + margin - low) / cell).ceil();
    let [nx, ny, nz] = size.to_array().map(|n| n as usize + 1);
    let corner = |x: usize, y: usize, z: usize| low + Vec3::new(x as f32, y as f32, z as f32) * cell;
    let at = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let mut values = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            let mut x = 0;
            while x < nx {
                let value = field(corner(x, y, z));
                values.push(value);
                x += 1;
                // Distances do not change faster than places do: while the surface is far, none of these can matter.
                let mut far = value - 2.0 * cell;
                while far > cell && x < nx {
                    values.push(far);
                    far -= cell;
                    x += 1;
                }
            }
        }
    }
    let mut surface = Surface::default();
    let mut vertex = vec![NO_VERTEX; values.len()];
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corners: [f32; 8] =
                    std::array::from_fn(|i| values[at(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2))]);
                if let Some(inside) = mean_crossing(&corners) {
                    vertex[at(x, y, z)] = surface.positions.len() as u32;
                    surface.positions.push(corner(x, y, z) + inside * cell);
                }
            }
        }
    }
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let here = values[at(x, y, z)] < 0.0;
                for (axis, next) in [at(x + 1, y, z), at(x, y + 1, z), at(x, y, z + 1)].into_iter().enumerate() {
                    if here == (values[next] < 0.0) {
                        continue;
                    }
                    // The four cells around the edge, in turn about it.
                    let quad = match axis {
                        0 => [at(x, y - 1, z - 1), at(x, y, z - 1), at(x, y, z), at(x, y - 1, z)],
                        1 => [at(x - 1, y, z - 1), at(x - 1, y, z), at(x, y, z), at(x, y, z - 1)],
                        _ => [at(x - 1, y - 1, z), at(x, y - 1, z), at(x, y, z), at(x - 1, y, z)],
                    };
                    let [a, b, c, d] = quad.map(|cell| vertex[cell]);
                    let [a, b, c, d] = if here { [a, b, c, d] } else { [d, c, b, a] };
                    // Cut along the shorter diagonal.
                    let place = |v: u32| surface.positions[v as usize];
                    let cut = place(a).distance_squared(place(c)) <= place(b).distance_squared(place(d));
                    let six = if cut { [a, b, c, a, c, d] } else { [b, c, d, b, d, a] };
                    surface.triangles.extend(six);
                }
            }
        }
    }
    for position in &mut surface.positions {
        let slope = gradient(&field, *position, 0.25 * cell);
        let step = (field(*position) / slope.length_squared().max(0.1)).clamp(-0.3 * cell, 0.3 * cell);
        *position -= slope * step;
    }
    surface.normals = surface
        .positions
        .iter()
        .map(|&p| gradient(&field, p, 0.25 * cell).try_normalize().unwrap_or(Vec3::Y))
        .collect();
    surface
}

/// Where in a unit cell the surface is, from the distances at its corners.
fn mean_crossing(corners: &[f32; 8]) -> Option<Vec3> {
    let place = |i: usize| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for i in 0..8_usize {
        for bit in [1, 2, 4] {
            let j = i | bit;
            if j != i && (corners[i] < 0.0) != (corners[j] < 0.0) {
                sum += place(i).lerp(place(j), corners[i] / (corners[i] - corners[j]));
                count += 1.0;
            }
        }
    }
    (count > 0.0).then(|| sum / count)
}

fn gradient(field: &impl Fn(Vec3) -> f32, p: Vec3, h: f32) -> Vec3 {
    let along = |axis: Vec3| field(p + axis * h) - field(p - axis * h);
    Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)) / (2.0 * h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_round_closed_and_not_inside_out() {
        let ball = of(|p| p.length() - 1.0, (Vec3::splat(-1.0), Vec3::splat(1.0)), 0.1);
        assert!(ball.positions.iter().all(|p| (p.length() - 1.0).abs() < 0.01));
        assert!(ball.positions.iter().zip(&ball.normals).all(|(p, n)| p.normalize().dot(*n) > 0.99));
        let at = |i: u32| ball.positions[i as usize];
        let volume: f32 = ball.triangles.chunks_exact(3).map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0).sum();
        assert!((volume - 4.19).abs() < 0.1, "{volume}");
        // Every edge is there once each way.
        let mut edges: Vec<(u32, u32)> =
            ball.triangles.chunks_exact(3).flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
        edges.sort_unstable();
        assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()));
    }
}

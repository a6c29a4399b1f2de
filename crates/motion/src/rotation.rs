//! Rotation vectors, swing and twist, Euler angles: what `glam` does not have, on `libm`.

use crate::{Quat, Vec3};

/// The shortest rotation as axis times angle, radians.
pub fn to_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-7 {
        return v * 2.0;
    }
    v * (2.0 * libm::atan2f(sine, q.w) / sine)
}

/// The inverse of [`to_vector`].
pub fn from_vector(v: Vec3) -> Quat {
    let angle = v.length();
    if angle < 1e-7 {
        return Quat::from_xyzw(0.5 * v.x, 0.5 * v.y, 0.5 * v.z, 1.0).normalize();
    }
    let (sine, cosine) = libm::sincosf(0.5 * angle);
    let axis = v * (sine / angle);
    Quat::from_xyzw(axis.x, axis.y, axis.z, cosine)
}

/// About a unit axis.
pub fn about(axis: Vec3, angle: f32) -> Quat {
    let (sine, cosine) = libm::sincosf(0.5 * angle);
    Quat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine)
}

/// About +Y; 0 looks along +Z, a quarter turn along +X.
pub fn yaw(angle: f32) -> Quat {
    about(Vec3::Y, angle)
}

/// The yaw that turns +Z towards the ground direction of `v`.
pub fn yaw_of(v: Vec3) -> f32 {
    libm::atan2f(v.x, v.z)
}

/// The angle, folded into -π..π.
pub fn wrap(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    let folded = (angle + PI) - TAU * ((angle + PI) / TAU).floor();
    folded - PI
}

/// The angle between two rotations, 0..π.
pub fn between(a: Quat, b: Quat) -> f32 {
    // From the sine as well as the cosine: arc cosine alone is blind below about 0.03 degrees.
    let d = a.conjugate() * b;
    2.0 * libm::atan2f(Vec3::new(d.x, d.y, d.z).length(), d.w.abs())
}

/// The shortest rotation that lays unit vector `from` on unit vector `to`.
pub fn arc(from: Vec3, to: Vec3) -> Quat {
    let cosine = from.dot(to);
    if cosine < -0.999_999 {
        let axis = from.any_orthonormal_vector();
        return Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    let axis = from.cross(to);
    Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cosine).normalize()
}

/// Splits `q` into a swing and a twist about unit `axis`, so that `q = swing * twist`.
pub fn swing_twist(q: Quat, axis: Vec3) -> (Quat, Quat) {
    let along = Vec3::new(q.x, q.y, q.z).dot(axis);
    let twist = Quat::from_xyzw(axis.x * along, axis.y * along, axis.z * along, q.w);
    let length = twist.length();
    // Half a turn of pure swing leaves the twist undefined; none is then the least movement.
    let twist = if length < 1e-6 { Quat::IDENTITY } else { twist * (1.0 / length) };
    (q * twist.conjugate(), twist)
}

/// The signed angle of a rotation about unit `axis`, -π..π; what turns elsewhere is ignored.
pub fn twist_angle(q: Quat, axis: Vec3) -> f32 {
    wrap(2.0 * libm::atan2f(Vec3::new(q.x, q.y, q.z).dot(axis), q.w))
}

/// Spherical interpolation along the shorter way.
pub fn slerp(a: Quat, b: Quat, t: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    a * from_vector(to_vector(a.conjugate() * b) * t)
}

/// Component-wise interpolation along the shorter way, normalised: for neighbours, where it is indistinguishable from [`slerp`].
#[inline]
pub fn nlerp(a: Quat, b: Quat, t: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_rotation() -> impl Strategy<Value = Quat> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0)
            .prop_filter_map("length", |(x, y, z, w)| Quat::from_xyzw(x, y, z, w).try_normalize_checked())
    }

    trait TryNormalize {
        fn try_normalize_checked(self) -> Option<Quat>;
    }
    impl TryNormalize for Quat {
        fn try_normalize_checked(self) -> Option<Quat> {
            (self.length() > 0.05).then(|| self.normalize())
        }
    }

    proptest! {
        #[test]
        fn vectors_round_trip(q in any_rotation()) {
            prop_assert!(between(q, from_vector(to_vector(q))) < 2e-6);
        }

        #[test]
        fn swing_and_twist_recompose(q in any_rotation(), x in -1.0f32..1.0, y in -1.0f32..1.0) {
            let axis = Vec3::new(x, y, 0.5).normalize();
            let (swing, twist) = swing_twist(q, axis);
            prop_assert!(between(swing * twist, q) < 1e-5);
            prop_assert!(to_vector(swing).dot(axis).abs() < 1e-4);
        }

        #[test]
        fn slerp_meets_both_ends(a in any_rotation(), b in any_rotation()) {
            prop_assert!(between(slerp(a, b, 0.0), a) < 1e-5);
            prop_assert!(between(slerp(a, b, 1.0), b) < 1e-5);
        }

        #[test]
        fn arcs_lay_one_direction_on_another(a in any_rotation(), b in any_rotation()) {
            let (from, to) = (a * Vec3::Z, b * Vec3::Z);
            prop_assert!((arc(from, to) * from - to).length() < 2e-3);
        }
    }

    #[test]
    fn yaw_looks_where_it_says() {
        assert!((yaw(0.5) * Vec3::Z - Vec3::new(libm::sinf(0.5), 0.0, libm::cosf(0.5))).length() < 1e-6);
        assert!((yaw_of(yaw(2.5) * Vec3::Z) - 2.5).abs() < 1e-6);
        assert!((wrap(7.0) - (7.0 - std::f32::consts::TAU)).abs() < 1e-6);
    }
}

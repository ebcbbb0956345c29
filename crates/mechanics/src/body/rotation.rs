//! Rotations of space, in the ways people write them.

use super::vector::{
    IDENTITY, Matrix, Vector, across, apply, cross, dot, minus, norm, product, transpose, unit,
};
use leastaction_expr::Advice;
use std::f64::consts::PI;

/// A rotation: how a body is turned against the world.
///
/// It takes directions of the body to directions of the world. In the plane it turns about the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// By rows; the columns are the body's axes in the world.
    matrix: Matrix,
}

/// Why something is not a rotation.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RotationError {
    /// A number is infinite or NaN.
    NotFinite {
        /// The number.
        value: f64,
    },
    /// The axis of a rotation, or a quaternion, has no length.
    Zero {
        /// "axis" or "quaternion".
        what: &'static str,
    },
    /// The columns are not at right angles or not of length 1.
    NotOrthogonal {
        /// The largest difference.
        error: f64,
    },
    /// The matrix mirrors.
    Mirror,
}

impl RotationError {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        match self {
            RotationError::NotFinite { value } => {
                Advice::cause(format!("a rotation has {value} in it")).remedy("numbers must be finite")
            }
            RotationError::Zero { what } => {
                Advice::cause(format!("the {what} of a rotation has length 0")).remedy("give a direction")
            }
            RotationError::NotOrthogonal { error } => Advice::cause("the matrix is not a rotation").remedy(
                format!("RᵀR differs from the identity by {error:.1e}; its columns must be unit vectors at right angles"),
            ),
            RotationError::Mirror => Advice::cause("the matrix mirrors (its determinant is −1)")
                .remedy("swap two axes, or reverse one"),
        }
    }
}

impl std::fmt::Display for RotationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.advice().fmt(f)
    }
}

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation::NONE
    }
}

impl Rotation {
    /// No rotation.
    pub const NONE: Rotation = Rotation { matrix: IDENTITY };

    /// How far RᵀR may be off the identity in a matrix that is given: digits typed by hand pass, and are then made exact.
    const GIVEN: f64 = 1e-6;

    /// The rotation by an angle about the z axis, which is all there is in the plane.
    #[must_use]
    pub fn angle(angle: f64) -> Rotation {
        Rotation::elementary(2, angle)
    }

    /// The rotation by an angle about an axis, by O. Rodrigues' formula.
    ///
    /// # Errors
    /// [`RotationError`] if the axis has no length, or a number is not finite.
    pub fn about(axis: [f64; 3], angle: f64) -> Result<Rotation, RotationError> {
        finite(&axis)?;
        finite(&[angle])?;
        let u = unit(axis).ok_or(RotationError::Zero { what: "axis" })?;
        let half = 0.5 * angle;
        Ok(Rotation::of_unit([half.cos(), half.sin() * u[0], half.sin() * u[1], half.sin() * u[2]]))
    }

    /// The rotation by the smallest angle that takes one direction to another.
    ///
    /// ```
    /// use leastaction_mechanics::Rotation;
    ///
    /// let up = Rotation::shortest([2.0, 0.0, 0.0], [0.0, 0.0, 3.0])?;
    /// assert!(up.apply([1.0, 0.0, 0.0])[2] > 1.0 - 1e-15 && up.apply([0.0, 1.0, 0.0]) == [0.0, 1.0, 0.0]);
    /// # Ok::<(), leastaction_mechanics::RotationError>(())
    /// ```
    ///
    /// # Errors
    /// [`RotationError`] if a direction has no length, or a number is not finite.
    pub fn shortest(from: [f64; 3], to: [f64; 3]) -> Result<Rotation, RotationError> {
        finite(&from)?;
        finite(&to)?;
        let zero = RotationError::Zero { what: "axis" };
        let (from, to) = (unit(from).ok_or(zero)?, unit(to).ok_or(zero)?);
        let axis = cross(from, to);
        let (sine, cosine) = (norm(axis), dot(from, to));
        if sine > 0.0 {
            return Rotation::about(axis, sine.atan2(cosine));
        }
        if cosine > 0.0 { Ok(Rotation::NONE) } else { Rotation::about(across(from)[0], PI) }
    }

    /// The rotation of a quaternion w + xi + yj + zk of any length but 0.
    ///
    /// # Errors
    /// [`RotationError`] if it has no length, or a number is not finite.
    pub fn quaternion(wxyz: [f64; 4]) -> Result<Rotation, RotationError> {
        finite(&wxyz)?;
        let size = wxyz.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        if size == 0.0 {
            return Err(RotationError::Zero { what: "quaternion" });
        }
        let scaled = wxyz.map(|c| c / size);
        let length = scaled.iter().map(|c| c * c).sum::<f64>().sqrt();
        Ok(Rotation::of_unit(scaled.map(|c| c / length)))
    }

    /// Euler's angles: R_z(φ) R_x(θ) R_z(ψ), precession, nutation and spin of a top.
    #[must_use]
    pub fn zxz(phi: f64, theta: f64, psi: f64) -> Rotation {
        Rotation::elementary(2, phi)
            .then_in_body(&Rotation::elementary(0, theta))
            .then_in_body(&Rotation::elementary(2, psi))
    }

    /// R_z(yaw) R_y(pitch) R_x(roll).
    #[must_use]
    pub fn roll_pitch_yaw(roll: f64, pitch: f64, yaw: f64) -> Rotation {
        Rotation::elementary(2, yaw)
            .then_in_body(&Rotation::elementary(1, pitch))
            .then_in_body(&Rotation::elementary(0, roll))
    }

    /// The rotation with this matrix, by rows: its columns are the body's axes in the world.
    ///
    /// # Errors
    /// [`RotationError`] if it is not a rotation; it is made exactly one.
    pub fn matrix(rows: [[f64; 3]; 3]) -> Result<Rotation, RotationError> {
        rows.iter().try_for_each(|row| finite(row))?;
        let gram = product(&transpose(&rows), &rows);
        let off = gram.iter().flatten().zip(IDENTITY.iter().flatten()).map(|(a, b)| (a - b).abs());
        let error = off.fold(0.0, f64::max);
        if error > Rotation::GIVEN {
            return Err(RotationError::NotOrthogonal { error });
        }
        let [x, y, z] = transpose(&rows);
        if dot(cross(x, y), z) < 0.0 {
            return Err(RotationError::Mirror);
        }
        let x = unit(x).unwrap_or(x);
        let y = minus(y, x.map(|c| c * dot(x, y)));
        let y = unit(y).unwrap_or(y);
        Ok(Rotation { matrix: transpose(&[x, y, cross(x, y)]) })
    }

    fn elementary(axis: usize, angle: f64) -> Rotation {
        let (sin, cos) = angle.sin_cos();
        let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut matrix = IDENTITY;
        (matrix[p][p], matrix[q][q], matrix[p][q], matrix[q][p]) = (cos, cos, -sin, sin);
        Rotation { matrix }
    }

    fn of_unit([w, x, y, z]: [f64; 4]) -> Rotation {
        Rotation {
            matrix: [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
            ],
        }
    }

    /// This rotation after another one, which turns about axes of the body.
    #[must_use]
    pub fn then_in_body(&self, other: &Rotation) -> Rotation {
        Rotation { matrix: product(&self.matrix, &other.matrix) }
    }

    /// The rotation back.
    #[must_use]
    pub fn inverse(&self) -> Rotation {
        Rotation { matrix: transpose(&self.matrix) }
    }

    /// The image of a vector.
    #[must_use]
    pub fn apply(&self, vector: [f64; 3]) -> [f64; 3] {
        apply(&self.matrix, vector)
    }

    /// The matrix, by rows.
    #[must_use]
    pub fn rows(&self) -> [[f64; 3]; 3] {
        self.matrix
    }

    /// The angle about the z axis, in [−π, π]: that of the image of the x axis.
    #[must_use]
    pub fn as_angle(&self) -> f64 {
        self.matrix[1][0].atan2(self.matrix[0][0])
    }

    /// The unit quaternion \[w, x, y, z\] with w ≥ 0, by S. W. Shepperd's choice of the largest part (doi:10.2514/3.55767b).
    #[must_use]
    pub fn as_quaternion(&self) -> [f64; 4] {
        let m = &self.matrix;
        let four = [
            1.0 + m[0][0] + m[1][1] + m[2][2],
            1.0 + m[0][0] - m[1][1] - m[2][2],
            1.0 - m[0][0] + m[1][1] - m[2][2],
            1.0 - m[0][0] - m[1][1] + m[2][2],
        ];
        let largest = (0..4).max_by(|&i, &j| four[i].total_cmp(&four[j])).unwrap_or(0);
        let (a, b, c) = (m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]);
        let (d, e, f) = (m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]);
        let rows = [[four[0], a, b, c], [a, four[1], d, e], [b, d, four[2], f], [c, e, f, four[3]]];
        let row = rows[largest];
        let length = row.iter().map(|c| c * c).sum::<f64>().sqrt();
        let sign = if row[0] < 0.0 { -1.0 } else { 1.0 };
        row.map(|c| sign * c / length)
    }

    /// The unit axis and the angle in [0, π]. Without rotation the axis is z.
    #[must_use]
    pub fn as_axis_angle(&self) -> ([f64; 3], f64) {
        let [w, x, y, z] = self.as_quaternion();
        let sine = norm([x, y, z]);
        (unit([x, y, z]).unwrap_or([0.0, 0.0, 1.0]), 2.0 * sine.atan2(w))
    }

    /// Euler's angles (φ, θ, ψ), θ in [0, π]. Where θ is 0 or π only φ ± ψ is determined, and ψ is 0.
    #[must_use]
    pub fn as_zxz(&self) -> [f64; 3] {
        let m = &self.matrix;
        let sine = m[0][2].hypot(m[1][2]);
        let theta = sine.atan2(m[2][2]);
        if sine <= 4.0 * f64::EPSILON {
            return [m[1][0].atan2(m[0][0]), theta, 0.0];
        }
        [m[0][2].atan2(-m[1][2]), theta, m[2][0].atan2(m[2][1])]
    }

    /// (roll, pitch, yaw), pitch in [−π/2, π/2]. Where the pitch is ±π/2 only yaw ∓ roll is determined, and the roll is 0.
    #[must_use]
    pub fn as_roll_pitch_yaw(&self) -> [f64; 3] {
        let m = &self.matrix;
        let cosine = m[0][0].hypot(m[1][0]);
        let pitch = (-m[2][0]).atan2(cosine);
        if cosine <= 4.0 * f64::EPSILON {
            return [0.0, pitch, (-m[0][1]).atan2(m[1][1])];
        }
        [m[2][1].atan2(m[2][2]), pitch, m[1][0].atan2(m[0][0])]
    }

    /// A direction of the world as one of the body.
    pub(crate) fn back(&self, vector: Vector) -> Vector {
        apply(&transpose(&self.matrix), vector)
    }
}

fn finite(numbers: &[f64]) -> Result<(), RotationError> {
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(RotationError::NotFinite { value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    #[track_caller]
    fn near(a: &Rotation, b: &Rotation) {
        for (x, y) in a.rows().iter().flatten().zip(b.rows().iter().flatten()) {
            assert!((x - y).abs() < 1e-14, "{a:?} is not {b:?}");
        }
    }

    #[test]
    fn every_way_to_write_a_rotation_leads_back() {
        for (a, b, c) in [(0.3, 1.1, -2.0), (-3.0, 2.9, 0.4), (1.0, 1e-3, 2.0), (2.0, PI / 2.0, -1.0)] {
            let r = Rotation::zxz(a, b, c);
            near(&Rotation::quaternion(r.as_quaternion()).unwrap(), &r);
            let (axis, angle) = r.as_axis_angle();
            near(&Rotation::about(axis, angle).unwrap(), &r);
            let [phi, theta, psi] = r.as_zxz();
            near(&Rotation::zxz(phi, theta, psi), &r);
            let [roll, pitch, yaw] = r.as_roll_pitch_yaw();
            near(&Rotation::roll_pitch_yaw(roll, pitch, yaw), &r);
            near(&Rotation::matrix(r.rows()).unwrap(), &r);
            near(&r.then_in_body(&r.inverse()), &Rotation::NONE);
            assert!((phi - a).abs() < 1e-12 && (theta - b).abs() < 1e-12 && (psi - c).abs() < 1e-12);
        }
    }

    /// Half turns, where w = 0, and the poles of both sets of angles.
    #[test]
    fn the_hard_places() {
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5]] {
            for angle in [PI, PI - 1e-9, 1e-9, 0.0] {
                let r = Rotation::about(axis, angle).unwrap();
                near(&Rotation::quaternion(r.as_quaternion()).unwrap(), &r);
                let (u, phi) = r.as_axis_angle();
                near(&Rotation::about(u, phi).unwrap(), &r);
            }
        }
        for (phi, theta, psi) in [(0.7, 0.0, 0.4), (0.7, PI, 0.4)] {
            let r = Rotation::zxz(phi, theta, psi);
            let [a, b, c] = r.as_zxz();
            near(&Rotation::zxz(a, b, c), &r);
            assert_eq!(c, 0.0);
        }
        for pitch in [FRAC_PI_2, -FRAC_PI_2] {
            let r = Rotation::roll_pitch_yaw(0.3, pitch, 1.2);
            let [a, b, c] = r.as_roll_pitch_yaw();
            near(&Rotation::roll_pitch_yaw(a, b, c), &r);
        }
    }

    /// x to y to z, and the matrices of the textbook (Goldstein, Poole and Safko, *Classical Mechanics*, eq. 4.46, transposed).
    #[test]
    fn senses_of_rotation() {
        let image = |r: Rotation, v| r.apply(v).map(|x: f64| (x * 1e12).round() / 1e12);
        assert_eq!(image(Rotation::angle(FRAC_PI_2), [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        assert_eq!(
            image(Rotation::about([1.0, 0.0, 0.0], FRAC_PI_2).unwrap(), [0.0, 1.0, 0.0]),
            [0.0, 0.0, 1.0]
        );
        let (phi, theta) = (0.4f64, 0.9f64);
        let z = Rotation::zxz(phi, theta, 1.7).apply([0.0, 0.0, 1.0]);
        let expected = [phi.sin() * theta.sin(), -phi.cos() * theta.sin(), theta.cos()];
        assert!(z.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!((Rotation::angle(2.5).as_angle() - 2.5).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_rotation_is_refused() {
        assert_eq!(Rotation::about([0.0; 3], 1.0), Err(RotationError::Zero { what: "axis" }));
        assert_eq!(Rotation::quaternion([0.0; 4]), Err(RotationError::Zero { what: "quaternion" }));
        assert!(matches!(Rotation::about([1.0, f64::NAN, 0.0], 1.0), Err(RotationError::NotFinite { .. })));
        let sheared = [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert!(matches!(Rotation::matrix(sheared), Err(RotationError::NotOrthogonal { .. })));
        let mirror = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(Rotation::matrix(mirror), Err(RotationError::Mirror));
        let typed = [[0.6, -0.8, 0.0], [0.8000001, 0.6, 0.0], [0.0, 0.0, 1.0]];
        let mended = Rotation::matrix(typed).unwrap();
        near(&mended.then_in_body(&mended.inverse()), &Rotation::NONE);
    }
}

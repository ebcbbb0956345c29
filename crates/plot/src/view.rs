//! From space to the plane of a picture, and how much of that plane is seen.

/// What is larger than this is not drawn: differences of drawn numbers must be numbers.
pub(crate) const LARGEST: f64 = 1e300;

/// Whether a number can be drawn.
pub(crate) fn drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// How space is seen: a parallel projection onto a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The direction that leads to the right in the picture.
    pub right: [f64; 3],
    /// The direction that leads up in the picture.
    pub up: [f64; 3],
}

impl View {
    /// The plane of x and y, y up.
    pub const PLANE: View = View { right: [1.0, 0.0, 0.0], up: [0.0, 1.0, 0.0] };

    /// Seen from an azimuth (from x towards y) and an elevation above the plane of x and y, in degrees; z leads up.
    #[must_use]
    pub fn from(azimuth: f64, elevation: f64) -> View {
        let ((sa, ca), (se, ce)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
        View { right: [-sa, ca, 0.0], up: [-se * ca, -se * sa, ce] }
    }

    /// From a little above, x to the right and y into depth.
    #[must_use]
    pub fn gentle() -> View {
        View::from(-65.0, 22.0)
    }

    /// From high above: of what hardly leaves the plane of x and y.
    #[must_use]
    pub fn steep() -> View {
        View::from(-65.0, 55.0)
    }

    /// How far towards the viewer a position is.
    #[must_use]
    pub fn toward(&self, position: [f64; 3]) -> f64 {
        let ([a, b, c], [d, e, f]) = (self.right, self.up);
        let normal = [b * f - c * e, c * d - a * f, a * e - b * d];
        normal.iter().zip(position).map(|(a, x)| a * x).sum()
    }

    /// Where a position is in the picture.
    #[must_use]
    pub fn project(&self, position: [f64; 3]) -> [f64; 2] {
        [self.right, self.up].map(|axis| axis.iter().zip(position).map(|(a, x)| a * x).sum())
    }
}

/// The part of a plane that holds what is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The corner at the lower left.
    pub low: [f64; 2],
    /// The corner at the upper right.
    pub high: [f64; 2],
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] }
    }
}

impl Bounds {
    /// Widens the bounds so that they hold a point; a point that is not finite has no place anywhere.
    pub fn include(&mut self, point: [f64; 2]) {
        if point.iter().all(|x| drawable(*x)) {
            for axis in 0..2 {
                self.low[axis] = self.low[axis].min(point[axis]);
                self.high[axis] = self.high[axis].max(point[axis]);
            }
        }
    }

    /// Whether they hold nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    /// The longer side; 1 if there is nothing in them, or a single point.
    #[must_use]
    pub fn size(&self) -> f64 {
        let size = (self.high[0] - self.low[0]).max(self.high[1] - self.low[1]);
        if size > 0.0 { size } else { 1.0 }
    }

    /// The middle; the origin if there is nothing in them.
    #[must_use]
    pub fn middle(&self) -> [f64; 2] {
        if self.is_empty() {
            return [0.0; 2];
        }
        [0, 1].map(|axis| 0.5 * self.low[axis] + 0.5 * self.high[axis])
    }

    /// What turns a point into pixels of a picture of this width and height with a margin, both axes alike and the middle in the middle:
    /// the pixels per length, and where the origin is.
    #[must_use]
    pub fn fit(&self, width: f64, height: f64, margin: f64) -> Fit {
        let ratio = |pixels: f64, axis: usize| {
            let length = self.high[axis] - self.low[axis];
            if length > 0.0 { (pixels - 2.0 * margin).max(1.0) / length } else { f64::INFINITY }
        };
        let scale = ratio(width, 0).min(ratio(height, 1));
        // A single point: any scale shows it.
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { width.min(height) / 2.0 };
        let middle = self.middle();
        Fit { scale, middle, center: [width / 2.0, height / 2.0] }
    }
}

/// How points become pixels, counted from the upper left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Pixels per length.
    pub scale: f64,
    /// The point in the middle of the picture.
    pub middle: [f64; 2],
    /// The middle of the picture in pixels.
    pub center: [f64; 2],
}

impl Fit {
    /// The pixel of a point.
    #[must_use]
    pub fn pixel(&self, point: [f64; 2]) -> [f64; 2] {
        let [x, y] = [0, 1].map(|axis| (point[axis] - self.middle[axis]) * self.scale);
        [self.center[0] + x, self.center[1] - y]
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, View};

    #[test]
    fn views_are_orthonormal_with_z_up() {
        for view in [View::PLANE, View::gentle(), View::from(30.0, 60.0)] {
            let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(view.right, view.right) - 1.0).abs() < 1e-15);
            assert!((dot(view.up, view.up) - 1.0).abs() < 1e-15);
            assert!(dot(view.right, view.up).abs() < 1e-15);
        }
        let [x, z] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| View::gentle().project(axis));
        assert!(x[0] > 0.8 && z[0].abs() < 1e-15 && z[1] > 0.9);
        // From the front, x leads to the right; from above, y leads up.
        let front = View::from(-90.0, 0.0).project([1.0, 2.0, 3.0]);
        let above = View::from(-90.0, 90.0).project([1.0, 2.0, 3.0]);
        assert!((front[0] - 1.0).abs() < 1e-15 && (front[1] - 3.0).abs() < 1e-15);
        assert!((above[0] - 1.0).abs() < 1e-15 && (above[1] - 2.0).abs() < 1e-15);
    }

    #[test]
    fn bounds_fit_into_a_picture() {
        let mut bounds = Bounds::default();
        assert!(bounds.is_empty() && bounds.size() == 1.0);
        for point in [[-1.0, 0.0], [3.0, 1.0], [f64::NAN, 9.0], [9.0, f64::INFINITY], [1e301, 0.0]] {
            bounds.include(point);
        }
        assert_eq!((bounds.low, bounds.high), ([-1.0, 0.0], [3.0, 1.0]));
        let fit = bounds.fit(100.0, 200.0, 10.0);
        assert_eq!(fit.scale, 20.0);
        assert_eq!(fit.pixel([-1.0, 0.0]), [10.0, 110.0]);
        assert_eq!(fit.pixel([3.0, 1.0]), [90.0, 90.0]);
    }

    #[test]
    fn a_point_and_nothing_and_the_largest_numbers_fit() {
        let mut bounds = Bounds::default();
        assert_eq!(bounds.fit(10.0, 10.0, 1.0).pixel([0.0, 0.0]), [5.0, 5.0]);
        bounds.include([7.0, 8.0]);
        assert_eq!(bounds.fit(10.0, 10.0, 1.0).pixel([7.0, 8.0]), [5.0, 5.0]);
        let mut bounds = Bounds::default();
        bounds.include([-1e300, 0.0]);
        bounds.include([1e300, 0.0]);
        let fit = bounds.fit(100.0, 100.0, 10.0);
        assert!((fit.pixel([1e300, 0.0])[0] - 90.0).abs() < 1e-9 && fit.pixel([0.0, 0.0]) == [50.0, 50.0]);
    }
}

//! A depth buffer: at each place what is nearest to the viewer (E. Catmull, "A Subdivision Algorithm for Computer Display of Curved Surfaces",
//! University of Utah (1974)).

use super::light::lit;

/// What something is coloured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pigment {
    /// By a quantity, on the scale of colours.
    Scale,
    /// One colour for all: of a mesh without a quantity.
    Plain,
    /// Rods.
    Rod,
    /// Springs.
    Spring,
    /// Lines on bodies.
    Mark,
    /// A ball that stands for a mass, in the colour of its trail.
    Ball(u8),
    /// Where no light comes.
    Shadow,
}

/// What is seen at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speck {
    /// What it is coloured by.
    pub pigment: Pigment,
    /// Where its quantity is on the scale, from 0 to 255.
    pub tone: u8,
    /// How bright it is, from 0 to 255.
    pub light: u8,
}

/// Where something is on the buffer, in its pixels: from the left, from the top, and towards the viewer.
pub(super) type Spot = [f32; 3];

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) at: Spot,
    /// From 0 to 1.
    pub(super) light: f32,
    /// From 0 to 1.
    pub(super) tone: f32,
}

/// The nearest of everything, at each place.
#[derive(Clone, Debug)]
pub(crate) struct DepthBuffer {
    pub(crate) width: usize,
    pub(crate) height: usize,
    depths: Vec<f32>,
    specks: Vec<Option<Speck>>,
}

/// An edge of a triangle is so much darker.
const EDGE: f32 = 0.72;

impl DepthBuffer {
    pub(crate) fn new(width: usize, height: usize) -> DepthBuffer {
        let places = width * height;
        DepthBuffer { width, height, depths: vec![f32::NEG_INFINITY; places], specks: vec![None; places] }
    }

    pub(crate) fn clear(&mut self) {
        self.depths.fill(f32::NEG_INFINITY);
        self.specks.fill(None);
    }

    /// What is seen at each place of a row.
    pub(crate) fn row(&self, y: usize) -> &[Option<Speck>] {
        &self.specks[y * self.width..][..self.width]
    }

    #[inline]
    fn put(&mut self, place: usize, depth: f32, pigment: Pigment, tone: f32, light: f32) {
        if depth > self.depths[place] {
            self.depths[place] = depth;
            let [tone, light] = [tone, light].map(|part| (part * 255.0 + 0.5) as u8);
            self.specks[place] = Some(Speck { pigment, tone, light });
        }
    }

    /// The pixels whose middles are from one place to another, of so many.
    fn middles(from: f32, to: f32, count: usize) -> std::ops::Range<usize> {
        let clamped = |x: f32| (x.max(0.0) as usize).min(count);
        clamped((from - 0.5).ceil())..clamped((to - 0.5).floor() + 1.0)
    }

    /// A triangle, with darker edges of this width if there is one.
    pub(super) fn triangle(&mut self, corners: [Corner; 3], pigment: Pigment, edge: Option<f32>) {
        let [a, b, c] = corners.map(|corner| corner.at);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        if !(area != 0.0 && area.is_finite() && corners.iter().all(|corner| corner.at[2].is_finite())) {
            return;
        }
        let span = |axis: usize| {
            let [a, b, c] = [a, b, c].map(|at: Spot| at[axis]);
            [a.min(b).min(c), a.max(b).max(c)]
        };
        let [[left, right], [top, bottom]] = [span(0), span(1)];
        let (columns, rows) =
            (Self::middles(left, right, self.width), Self::middles(top, bottom, self.height));
        // Shares of the corners at a place are linear: their changes to the right and down.
        let share = |p: Spot, q: Spot, x: f32, y: f32| {
            ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) / area
        };
        let right = [b[1] - c[1], c[1] - a[1], a[1] - b[1]].map(|step| step / area);
        // The distance of a corner from the opposite edge: a share in pixels.
        let height = |p: Spot, q: Spot| area.abs() / (q[0] - p[0]).hypot(q[1] - p[1]);
        let heights = [height(b, c), height(c, a), height(a, b)];
        for y in rows {
            let (x, middle) = (columns.start as f32 + 0.5, y as f32 + 0.5);
            let start = [share(b, c, x, middle), share(c, a, x, middle), share(a, b, x, middle)];
            for (steps, column) in columns.clone().enumerate() {
                let shares: [f32; 3] = std::array::from_fn(|i| start[i] + steps as f32 * right[i]);
                if shares.iter().any(|share| *share < 0.0) {
                    continue;
                }
                let mean = |pick: fn(&Corner) -> f32| {
                    shares[0] * pick(&corners[0])
                        + shares[1] * pick(&corners[1])
                        + shares[2] * pick(&corners[2])
                };
                let mut light = mean(|corner| corner.light);
                if let Some(width) = edge
                    && (0..3).any(|i| shares[i] * heights[i] < width)
                {
                    light *= EDGE;
                }
                let tone = mean(|corner| corner.tone);
                self.put(y * self.width + column, mean(|corner| corner.at[2]), pigment, tone, light);
            }
        }
    }

    /// A ball.
    pub(super) fn ball(&mut self, at: Spot, radius: f32, pigment: Pigment, tone: f32) {
        let [x, y, z] = at;
        if !(at.iter().all(|x| x.is_finite()) && radius > 0.0 && radius.is_finite()) {
            return;
        }
        for row in Self::middles(y - radius, y + radius, self.height) {
            for column in Self::middles(x - radius, x + radius, self.width) {
                let [right, down] = [(column as f32 + 0.5 - x) / radius, (row as f32 + 0.5 - y) / radius];
                let toward = 1.0 - right * right - down * down;
                if toward >= 0.0 {
                    let toward = toward.sqrt();
                    let light = lit([right, -down, toward]);
                    self.put(row * self.width + column, z + radius * toward, pigment, tone, light);
                }
            }
        }
    }

    /// A round rod between two places, with a tone at each.
    pub(super) fn rod(&mut self, [from, to]: [Spot; 2], radius: f32, pigment: Pigment, tones: [f32; 2]) {
        let [across, down] = [to[0] - from[0], to[1] - from[1]];
        let square = across * across + down * down;
        if !(from.iter().chain(&to).all(|x| x.is_finite()) && square.is_finite() && radius > 0.0) {
            return;
        }
        let length = square.sqrt().max(f32::MIN_POSITIVE);
        let side = [-down / length, across / length];
        for row in Self::middles(from[1].min(to[1]) - radius, from[1].max(to[1]) + radius, self.height) {
            // The part of the row that is not farther from the line than the radius.
            let y = row as f32 + 0.5;
            let [mut left, mut right] = [from[0].min(to[0]) - radius, from[0].max(to[0]) + radius];
            if side[0].abs() > 1e-3 {
                let middle = from[0] - (y - from[1]) * side[1] / side[0];
                let reach = radius / side[0].abs();
                (left, right) = (left.max(middle - reach), right.min(middle + reach));
            }
            for column in Self::middles(left, right, self.width) {
                let [dx, dy] = [column as f32 + 0.5 - from[0], y - from[1]];
                let along =
                    if square > 0.0 { ((dx * across + dy * down) / square).clamp(0.0, 1.0) } else { 0.0 };
                let [dx, dy] = [(dx - along * across) / radius, (dy - along * down) / radius];
                let toward = 1.0 - dx * dx - dy * dy;
                if toward >= 0.0 {
                    let toward = toward.sqrt();
                    let depth = from[2] + along * (to[2] - from[2]) + radius * toward;
                    let tone = tones[0] + along * (tones[1] - tones[0]);
                    let light = lit([dx, -dy, toward]);
                    self.put(row * self.width + column, depth, pigment, tone, light);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Corner, DepthBuffer, Pigment};

    fn corners(depth: f32, light: f32) -> [Corner; 3] {
        [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]].map(|[x, y]| Corner { at: [x, y, depth], light, tone: 0.5 })
    }

    #[test]
    fn the_nearer_hides_the_farther_in_whatever_order() {
        for order in [[1.0, 2.0], [2.0, 1.0]] {
            let mut buffer = DepthBuffer::new(10, 10);
            for depth in order {
                buffer.triangle(corners(depth, depth / 2.0), Pigment::Plain, None);
            }
            let speck = buffer.row(2)[2].expect("inside");
            assert_eq!((speck.light, speck.tone), (255, 128), "{order:?}");
            assert_eq!(buffer.row(8)[8], None);
        }
    }

    #[test]
    fn triangles_side_by_side_leave_no_gap() {
        let mut buffer = DepthBuffer::new(64, 64);
        let at = |x: f32, y: f32| Corner { at: [x, y, 0.0], light: 1.0, tone: 0.0 };
        // A fan about a place that is on no pixel's middle.
        let rim: Vec<_> = (0..=12)
            .map(|i| (i as f32 * std::f32::consts::TAU / 12.0).sin_cos())
            .map(|(s, c)| at(31.3 + 30.0 * c, 31.8 + 30.0 * s))
            .collect();
        for pair in rim.windows(2) {
            buffer.triangle([at(31.3, 31.8), pair[0], pair[1]], Pigment::Plain, None);
        }
        for y in 0..64 {
            for x in 0..64 {
                let far = (x as f32 + 0.5 - 31.3).hypot(y as f32 + 0.5 - 31.8);
                if !(28.9..=30.1).contains(&far) {
                    assert_eq!(buffer.row(y)[x].is_some(), far < 28.9, "{x}, {y}");
                }
            }
        }
    }

    #[test]
    fn balls_and_rods_are_round_and_cross_where_they_do() {
        let mut buffer = DepthBuffer::new(40, 40);
        buffer.ball([20.0, 20.0, 0.0], 10.0, Pigment::Plain, 0.0);
        let [middle, rim] = [20, 29].map(|x| buffer.row(20)[x].expect("in the ball").light);
        assert!(middle > rim && buffer.row(5)[20].is_none(), "{middle} {rim}");
        // A rod through the middle of the ball is seen outside only.
        buffer.rod([[2.0, 20.0, 0.0], [38.0, 20.0, 0.0]], 2.0, Pigment::Rod, [0.0; 2]);
        assert_eq!(buffer.row(20)[20].map(|speck| speck.pigment), Some(Pigment::Plain));
        assert_eq!(buffer.row(20)[5].map(|speck| speck.pigment), Some(Pigment::Rod));
        assert!(buffer.row(16)[5].is_none() && buffer.row(20)[39].is_some());
    }

    #[test]
    fn what_is_outside_or_nowhere_is_left_out() {
        let mut buffer = DepthBuffer::new(8, 8);
        for x in [f32::NAN, f32::INFINITY, 1e30, -1e30] {
            let mut wrong = corners(0.0, 1.0);
            wrong[1].at[0] = x;
            wrong[2].at[1] = x;
            if !x.is_finite() {
                buffer.triangle(wrong, Pigment::Plain, None);
            }
            buffer.ball([x, 0.0, 0.0], 2.0, Pigment::Plain, 0.0);
            buffer.rod([[x, x, 0.0], [x, x, 0.0]], 2.0, Pigment::Plain, [0.0; 2]);
        }
        assert!((0..8).all(|y| buffer.row(y).iter().all(Option::is_none)));
    }
}

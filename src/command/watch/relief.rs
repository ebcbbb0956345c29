//! Surfaces on a canvas: the more light, the more dots.

use crate::command::canvas::{Canvas, Ink, TONES};
use leastaction::plot::{Fit, Moment, Pigment, Relief, Scene, Speck};

/// In which order the dots of a square appear as it gets lighter (B. E. Bayer, IEEE Int. Conf. on Communications (1973) 26-11).
const ORDER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// How much light no dots, and all of them, stand for, from 0 to 255.
const LIGHTS: [f64; 2] = [40.0, 235.0];

/// Draws a scene with meshes at a moment; what is behind them is erased. Scales of colours are kept in a relief from picture to picture.
pub(super) fn draw(
    canvas: &mut Canvas,
    kept: &mut Option<Relief>,
    scene: &Scene,
    moment: &Moment<'_>,
    fit: Fit,
    grain: f64,
) {
    let [across, down] = canvas.dots();
    let relief = match kept.take() {
        Some(relief) => relief.resized(across, down),
        None => Relief::new(across, down),
    };
    let relief = kept.insert(relief);
    relief.widen(scene, moment);
    relief.draw(scene, moment, fit, grain);
    for y in 0..down {
        for (x, speck) in relief.row(y).iter().enumerate() {
            let Some(speck) = speck else { continue };
            let place = [x as f64, y as f64];
            let needed = (f64::from(ORDER[y % 4][x % 4]) + 0.5) / 16.0;
            let light = (f64::from(speck.light) - LIGHTS[0]) / (LIGHTS[1] - LIGHTS[0]);
            if light > needed || matches!(speck.pigment, Pigment::Rod | Pigment::Mark | Pigment::Ball(_)) {
                canvas.dot(place, ink(*speck));
            } else {
                canvas.erase(place);
            }
        }
    }
}

fn ink(speck: Speck) -> Ink {
    match speck.pigment {
        Pigment::Scale => Ink::Tone((u32::from(speck.tone) * u32::from(TONES) / 256) as u8),
        Pigment::Plain => Ink::Disc(0),
        Pigment::Rod | Pigment::Mark => Ink::Rod,
        Pigment::Spring => Ink::Spring,
        Pigment::Ball(hue) => Ink::Disc(if hue == u8::MAX { 0 } else { hue }),
        Pigment::Shadow => Ink::Still,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction::field::Mesh;
    use leastaction::language::{Drawing, Tint};
    use leastaction::plot::Bounds;

    #[test]
    fn a_block_is_darker_on_its_right_side_and_hides_what_is_behind() {
        let block = Mesh::cuboid([1.0; 3], [1; 3]).expect("a block");
        let positions = block.nodes().concat();
        let places: Vec<_> = (0..8).map(|node| (format!("block[{node}]"), 3)).collect();
        let scene =
            Scene::new(&Drawing::new().mesh("block", block, 0, Tint::Plain), &places).expect("a scene");
        let moment = Moment { places: &positions, ..Moment::default() };
        let mut bounds = Bounds::default();
        scene.widen(&mut bounds, &moment);
        let mut canvas = Canvas::new(30, 15);
        canvas.line([0.0, 30.0], [59.0, 30.0], Ink::Spring);
        draw(&mut canvas, &mut None, &scene, &moment, bounds.fit(60.0, 60.0, 4.0), 0.5);
        let count = |columns: std::ops::Range<usize>| {
            let cells = columns.flat_map(|i| (6..11).map(move |j| (i, j)));
            cells.map(|(i, j)| (canvas.cell(i, j).0 as u32).saturating_sub(0x2800).count_ones()).sum::<u32>()
        };
        // The front is left of the middle, the side right of it, seen from −65°.
        assert!(count(6..11) > count(23..28), "{} {}", count(6..11), count(23..28));
        assert_eq!([canvas.cell(0, 7).1, canvas.cell(12, 7).1], [Ink::Spring, Ink::Disc(0)]);
    }
}

//! Light and shade.

use super::{Pigment, Speck};
use crate::paper::color::{self, Color};

/// Where the light comes from: over the left shoulder of the viewer. To the right, up, and towards the viewer; of length 1.
const LIGHT: [f32; 3] = [-0.37, 0.51, 0.776];

/// How bright it is where no light comes.
const AMBIENT: f32 = 0.38;

/// The light on a surface with this normal, from 0 to 1 (J. H. Lambert, Photometria (1760)).
pub(super) fn lit(normal: [f32; 3]) -> f32 {
    let along = normal[0] * LIGHT[0] + normal[1] * LIGHT[1] + normal[2] * LIGHT[2];
    AMBIENT + (1.0 - AMBIENT) * along.clamp(0.0, 1.0)
}

/// Meshes without a quantity.
const PLAIN: Color = Color::new(126, 170, 206);

/// Where no light comes on the ground.
const SHADOW: Color = Color::new(205, 205, 205);

/// The colour of what is seen.
pub(crate) fn color(speck: Speck) -> Color {
    let base = match speck.pigment {
        Pigment::Scale => color::scale(f64::from(speck.tone) / 255.0),
        Pigment::Plain => PLAIN,
        Pigment::Rod => color::GREY,
        Pigment::Spring => color::STILL,
        Pigment::Mark => color::INK,
        Pigment::Ball(index) if index < u8::MAX => color::series(usize::from(index)),
        Pigment::Ball(_) => color::GREY,
        Pigment::Shadow => return SHADOW,
    };
    shaded(base, f64::from(speck.light) / 255.0)
}

/// A colour in this light. Dark colours of the scale would swallow all shades, so some of the light is white.
fn shaded(base: Color, light: f64) -> Color {
    let mix = |c: u8| {
        let c = f64::from(c) / 255.0;
        let value = c * (0.3 + 0.8 * light) + 0.24 * light * light * (1.0 - c);
        (255.0 * value.min(1.0)).round() as u8
    };
    let [r, g, b] = base.rgb.map(mix);
    Color::new(r, g, b)
}

/// A colour of the scale in the light that most of a surface has, from 0 to 1.
pub(crate) fn scale(part: f64) -> Color {
    color(Speck { pigment: Pigment::Scale, tone: (255.0 * part.clamp(0.0, 1.0)).round() as u8, light: 235 })
}

/// The colours that meshes of one colour, or of the scale, are made of, about.
pub(crate) fn tones(pigment: Pigment) -> Vec<Color> {
    let (hues, lights) = if pigment == Pigment::Scale { (16, 10) } else { (1, 24) };
    let even = |i: usize, count: usize, from: f64| {
        (from + (255.0 - from) * i as f64 / (count.max(2) - 1) as f64) as u8
    };
    // Edges are darker than anything without light.
    let speck = |hue, light| Speck { pigment, tone: even(hue, hues, 0.0), light: even(light, lights, 60.0) };
    (0..hues).flat_map(|hue| (0..lights).map(move |light| color(speck(hue, light)))).collect()
}

#[cfg(test)]
mod tests {
    use super::{LIGHT, lit, shaded, tones};
    use crate::paper::color::scale;
    use crate::solid::Pigment;

    #[test]
    fn light_comes_from_the_side_of_the_viewer() {
        assert!((LIGHT.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-3);
        assert!(lit([0.0, 0.0, 1.0]) > 0.8 && lit(LIGHT) > 0.99 && lit([0.0, -1.0, 0.0]) < 0.4);
    }

    #[test]
    fn more_light_makes_every_colour_of_the_scale_lighter() {
        for tone in [0.0, 0.3, 0.7, 1.0] {
            let sums: Vec<u32> = (0..=10)
                .map(|i| shaded(scale(tone), f64::from(i) / 10.0).rgb.map(u32::from).iter().sum())
                .collect();
            assert!(sums.windows(2).all(|pair| pair[0] < pair[1]), "{tone}: {sums:?}");
        }
    }

    #[test]
    fn all_tones_find_room_in_the_palette_of_a_gif() {
        let count = tones(Pigment::Scale).len() + tones(Pigment::Plain).len();
        assert!(count <= 190, "{count}");
    }
}

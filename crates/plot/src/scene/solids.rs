//! The shapes of bodies in space, for those who draw them elsewhere.

use super::{Scene, SceneError};
use crate::moment::Sampled;
use leastaction_language::Drawing;
use leastaction_output::Record;

/// A shape of a body: what is seen of it, and where it is at some samples. Points are given in the axes of the shape, from its middle.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// The triangles of its surface.
    pub faces: Vec<[[f64; 3]; 3]>,
    /// Lines by which one sees how it is turned; a rod is nothing else.
    pub lines: Vec<Vec<[f64; 3]>>,
    /// At each sample, its middle and the images of its three axes; nothing where that cannot be told.
    pub places: Vec<Option<[[f64; 3]; 4]>>,
}

impl Solid {
    /// The shapes of the bodies of a drawing, in the order of its parts, at samples of a record.
    ///
    /// # Errors
    /// [`SceneError`] if the drawing names what the record does not have, or if there is nothing to draw.
    pub fn all(drawing: &Drawing, record: &Record, samples: &[usize]) -> Result<Vec<Solid>, SceneError> {
        let (scene, mut sampled) = (Scene::of(drawing, record)?, Sampled::default());
        let solid = |form: &crate::solid::Form| Solid {
            faces: form.faces.iter().map(|facet| facet.map(|(at, _)| at)).collect(),
            lines: form.marks.iter().cloned().chain(form.ends.map(|ends| ends.to_vec())).collect(),
            places: Vec::with_capacity(samples.len()),
        };
        let mut solids: Vec<Solid> = scene.forms().iter().map(solid).collect();
        for &sample in samples {
            sampled.read(record, sample, scene.wanted(false));
            let moment = sampled.moment();
            for (form, solid) in scene.forms().iter().zip(&mut solids) {
                solid.places.push(form.placement(&moment).map(|placement| placement.frame()));
            }
        }
        Ok(solids)
    }
}

#[cfg(test)]
mod tests {
    use super::Solid;
    use leastaction_language::{BodyPart, BodyShape, Drawing, PlacedShape};
    use leastaction_output::{Column, Path, Record};

    #[test]
    fn shapes_are_where_their_bodies_are() {
        let placed = |shape, offset| PlacedShape {
            shape,
            offset,
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        };
        let body = BodyPart {
            name: "b".to_owned(),
            shapes: vec![
                placed(BodyShape::Disk(1.0), [0.0; 3]),
                placed(BodyShape::Rod(2.0), [1.0, 0.0, 0.0]),
            ],
            nodes: [Some(vec!["b_ax".to_owned(), "b_ay".to_owned()]), None, None],
        };
        let column = |name: &str, values: [f64; 2]| Column { name: name.to_owned(), values: values.to_vec() };
        let record = Record {
            times: vec![0.0, 1.0],
            // Turned by a quarter from one sample to the other, at (3, 4).
            coordinates: vec![column("b_ax", [4.0, 3.0]), column("b_ay", [4.0, 5.0])].into(),
            paths: vec![Path { name: "b".to_owned(), axes: vec![vec![3.0; 2], vec![4.0; 2]] }],
            ..Record::default()
        };
        let solids = Solid::all(&Drawing::new().body(body), &record, &[0, 1]).unwrap();
        let [disk, rod] = &solids[..] else { panic!("two shapes") };
        assert!(!disk.faces.is_empty() && rod.faces.is_empty());
        assert_eq!(rod.lines, [vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]]);
        assert_eq!(disk.places[1].unwrap()[..2], [[3.0, 4.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(
            rod.places.iter().map(|place| place.unwrap()[0]).collect::<Vec<_>>(),
            [[4.0, 4.0, 0.0], [3.0, 5.0, 0.0]]
        );
    }
}

//! Animations, decoded again: what must be where.

use leastaction_language::Drawing;
use leastaction_output::{Column, Columns, Path, Record};
use leastaction_plot::{Animation, PictureError, Scene, SceneError, positions_at};

/// A rod about the origin that turns by half a circle in 4 units of time.
fn turning() -> Record {
    let times: Vec<_> = (0..=800).map(|i| f64::from(i) * 0.005).collect();
    let angle = |t: &f64| t * std::f64::consts::PI / 4.0;
    let axes =
        vec![times.iter().map(|t| angle(t).cos()).collect(), times.iter().map(|t| angle(t).sin()).collect()];
    Record { times, paths: vec![Path { name: "tip".to_owned(), axes }], ..Record::default() }
}

/// All frames of a GIF in full: red, green and blue of each pixel.
pub(crate) fn decoded(gif: &[u8]) -> (usize, usize, Vec<Vec<[u8; 3]>>, Vec<u16>) {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut reader = options.read_info(gif).unwrap();
    let (width, height) = (usize::from(reader.width()), usize::from(reader.height()));
    let mut canvas = vec![[0; 3]; width * height];
    let (mut frames, mut delays) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.read_next_frame().unwrap() {
        for (i, rgba) in frame.buffer.chunks_exact(4).enumerate() {
            let row = usize::from(frame.width);
            let (x, y) = (usize::from(frame.left) + i % row, usize::from(frame.top) + i / row);
            if rgba[3] > 0 {
                canvas[y * width + x] = [rgba[0], rgba[1], rgba[2]];
            }
        }
        frames.push(canvas.clone());
        delays.push(frame.delay);
    }
    (width, height, frames, delays)
}

#[test]
fn rods_dots_and_trails_are_where_they_must_be_in_every_frame() {
    let record = turning();
    let drawing = Drawing::new().trail("tip").rod([0.0, 0.0], "tip").dot("tip", 1.0);
    let (tempo, gif) = Animation { record: &record, drawing: &drawing, title: "rod" }.gif().unwrap();
    let (width, height, frames, delays) = decoded(&gif);
    assert_eq!((tempo.frames, tempo.speed, frames.len()), (101, 1.0, 101));
    assert!(delays[..100].iter().all(|delay| *delay == 4) && delays[100] == 100, "{delays:?}");
    let bounds = Scene::of(&drawing, &record).unwrap().bounds(&record);
    let fit = bounds.fit(width as f64, height as f64, 38.0);
    for (frame, pixels) in frames.iter().enumerate() {
        let angle = frame as f64 * 0.04 * std::f64::consts::FRAC_PI_4;
        let pixel = |radius: f64, angle: f64| {
            let [x, y] = fit.pixel([radius * angle.cos(), radius * angle.sin()]);
            pixels[y.round() as usize * width + x.round() as usize]
        };
        // The rod is dark, the dot is blue, and beside the rod it is white.
        assert!(pixel(0.5, angle).iter().all(|c| *c < 110), "frame {frame}: {:?}", pixel(0.5, angle));
        assert_eq!(pixel(1.0, angle), [0, 114, 178], "frame {frame}");
        if frame < 80 {
            assert_eq!(pixel(0.5, angle + 0.3), [255; 3], "frame {frame}");
        }
        // The trail lies behind on the circle, and not ahead.
        if (40..80).contains(&frame) {
            let [red, _, blue] = pixel(1.0, angle - 0.4);
            assert!(red < 200 && blue > red, "frame {frame}: {red} {blue}");
            assert_eq!(pixel(1.0, angle + 0.4), [255; 3], "frame {frame}");
        }
    }
}

#[test]
fn few_samples_are_frames_as_they_are() {
    let whole = turning();
    let every = |values: &[f64]| values.iter().step_by(200).copied().collect::<Vec<_>>();
    let axes = whole.paths[0].axes.iter().map(|axis| every(axis)).collect();
    let paths = vec![Path { name: "tip".to_owned(), axes }];
    let record = Record { times: every(&whole.times), paths, ..Record::default() };
    let (tempo, gif) = Animation { record: &record, drawing: &Drawing::new(), title: "" }.gif().unwrap();
    let (.., frames, delays) = decoded(&gif);
    assert_eq!((tempo.frames, frames.len(), &delays[..]), (5, 5, &[100; 5][..]));
    let one = Record {
        times: vec![0.0],
        paths: vec![Path { name: "a".into(), axes: vec![vec![1.0]; 3] }],
        ..Record::default()
    };
    assert_eq!(Animation { record: &one, drawing: &Drawing::new(), title: "" }.gif().unwrap().0.frames, 1);
}

#[test]
fn without_places_a_phase_portrait_moves() {
    let times: Vec<f64> = (0..=300).map(|i| f64::from(i) * 0.01).collect();
    let column = |name: &str, f: fn(f64) -> f64| Column {
        name: name.to_owned(),
        values: times.iter().map(|t| f(*t)).collect(),
    };
    let (coordinates, velocities) = (vec![column("q", |t| 1e9 * t.cos())], vec![column("q'", |t| -t.sin())]);
    let mut record = Record {
        times: times.clone(),
        coordinates: coordinates.into(),
        velocities: velocities.into(),
        ..Record::default()
    };
    let animation = Animation { record: &record, drawing: &Drawing::new(), title: "spring" };
    let (width, height, frames, _) = decoded(&animation.gif().unwrap().1);
    assert_eq!((width, height, frames.len()), (480, 480, 76));
    assert_ne!(frames[10], frames[60]);
    record.coordinates = Columns::default();
    let nothing = Animation { record: &record, drawing: &Drawing::new(), title: "" }.gif().unwrap_err();
    assert!(matches!(nothing, PictureError::Scene(SceneError::Nothing)), "{nothing}");
}

#[test]
fn what_cannot_be_shown_is_refused_and_what_is_not_finite_is_said() {
    let drawing = Drawing::new().dot("tip", 1.0);
    let refused =
        |record: &Record, drawing: &Drawing| Animation { record, drawing, title: "" }.gif().unwrap_err();
    assert!(matches!(refused(&Record::default(), &drawing), PictureError::Empty));
    let mut record = turning();
    let ending =
        Animation { record: &record, drawing: &drawing, title: "" }.save("film.avi".as_ref()).unwrap_err();
    assert!(ending.to_string().contains(".gif or .mp4"), "{ending}");
    assert!(matches!(refused(&record, &Drawing::new().dot("top", 1.0)), PictureError::Scene(_)));
    // From half of the run on, the tip is nowhere: frames say so beside the time.
    let label = |record: &Record| {
        let (width, height, frames, _) =
            decoded(&Animation { record, drawing: &drawing, title: "" }.gif().unwrap().1);
        let row = |y: usize| y * width + 100..y * width + 220;
        let dark =
            |frame: usize| (height - 30..height).flat_map(row).filter(|&i| frames[frame][i][0] < 128).count();
        (dark(10), dark(90))
    };
    record.paths[0].axes[0][400..].fill(f64::NAN);
    let (before, after) = label(&record);
    assert!(before == 0 && after > 50, "{before} {after}");
    record.paths[0].axes[0].fill(f64::NAN);
    assert!(matches!(refused(&record, &drawing), PictureError::NotFinite { .. }));
}

#[test]
fn a_record_gives_positions_one_after_the_other() {
    let mut positions = vec![7.0; 3];
    positions_at(&turning(), 0, &mut positions);
    assert_eq!(positions, [1.0, 0.0]);
}

#[test]
fn nothing_comes_to_the_corner_of_the_axes_and_the_ground_lies_below() {
    let times: Vec<_> = (0..=800).map(|i| f64::from(i) * 0.005).collect();
    let turn = |t: &f64| t * std::f64::consts::PI;
    let axes = vec![
        times.iter().map(|t| turn(t).cos()).collect(),
        times.iter().map(|t| turn(t).sin()).collect(),
        vec![0.2; times.len()],
    ];
    let paths = vec![Path { name: "wheel".to_owned(), axes }];
    let record = Record { times, paths, ..Record::default() };
    let drawing = Drawing::new().trail("wheel").rod([0.0, 0.0, 0.0], "wheel").dot("wheel", 1.0);
    let (_, gif) = Animation { record: &record, drawing: &drawing, title: "top" }.gif().unwrap();
    let (width, height, frames, _) = decoded(&gif);
    let corner = |frame: &[[u8; 3]]| -> Vec<[u8; 3]> {
        (height - 50..height).flat_map(|y| frame[y * width + width - 50..(y + 1) * width].to_vec()).collect()
    };
    let still = corner(&frames[0]);
    assert!(still.iter().filter(|rgb| rgb[0] < 150).count() > 60, "the axes are there");
    assert!(frames.iter().all(|frame| corner(frame) == still));
    // Around the foot of the rod, in the middle, it is neither white nor dark.
    let ground = frames[0].iter().filter(|rgb| (240..=250).contains(&rgb[0])).count();
    assert!(ground > width * height / 8, "{ground} of {}", width * height);
}

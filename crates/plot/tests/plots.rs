//! Plots of records that were made up: what must be in them, and that nothing else is.

use leastaction_language::Drawing;
use leastaction_output::{Column, Columns, Path, Record};
use leastaction_plot::{
    Bars, Comparison, Contender, Energy, Histograms, Map, Orbit, PictureError, Plot, Section,
};

/// A weight on a rod that turns once in 2π: two coordinates, one particle.
fn turning(count: usize) -> Record {
    let times: Vec<_> = (0..count).map(|i| i as f64 * 0.05).collect();
    let [sine, cosine, minus] = [f64::sin, f64::cos, |t: f64| -t.sin()]
        .map(|f: fn(f64) -> f64| times.iter().map(|t| f(*t)).collect::<Vec<_>>());
    let column = |name: &str, values: &[f64]| Column { name: name.to_owned(), values: values.to_vec() };
    Record {
        energy: times.iter().map(|t| -2.0 + 1e-9 * (7.0 * t).sin()).collect(),
        coordinates: vec![column("x", &cosine), column("y", &sine)].into(),
        velocities: vec![column("x'", &minus), column("y'", &cosine)].into(),
        paths: vec![Path { name: "bob".to_owned(), axes: vec![cosine, sine] }],
        times,
        ..Record::default()
    }
}

fn drawing() -> Drawing {
    Drawing::new().rod([0.0, 0.0], "bob").dot("bob", 1.0)
}

fn plotted(record: &Record, drawing: &Drawing, energy: Energy) -> Result<String, PictureError> {
    Plot { record, drawing, title: "wheel <&>", subtitle: "rk4, steps of 0.05", energy }.svg()
}

const KEPT: Energy = Energy::Conserved { scale: 2.0 };

/// The texts of a picture, and all of its numbers, which must be finite and inside of it.
fn looked_at(svg: &str) -> Vec<String> {
    assert!(svg.starts_with("<svg width=\"") && svg.trim_end().ends_with("</svg>"), "{}", &svg[..200]);
    let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let size: Vec<f64> = view.split(' ').map(|n| n.parse().unwrap()).collect();
    for key in [" x=\"", " y=\"", " cx=\"", " cy=\"", " x1=\"", " y1=\"", " x2=\"", " y2=\"", " points=\""] {
        for value in svg.split(key).skip(1).map(|rest| rest.split('"').next().unwrap()) {
            for number in value.split([' ', ',']).filter(|word| !word.is_empty()) {
                let number: f64 = number.parse().unwrap();
                assert!(
                    number.is_finite() && number > -50.0 && number < size[0].max(size[1]) + 50.0,
                    "{number}"
                );
            }
        }
    }
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    let text =
        |rest: &str| rest.split_once('>').unwrap().1.split("</text>").next().unwrap().trim().to_owned();
    let texts: Vec<_> = svg.split("<text").skip(1).map(text).collect();
    assert!(texts.iter().all(|text| !text.contains("NaN") && !text.contains("inf")), "{texts:?}");
    texts
}

/// Whether a text is in a picture.
fn says(texts: &[String], wanted: &str) -> bool {
    texts.iter().any(|text| text == wanted)
}

#[test]
fn a_plot_has_its_panels_titles_axes_and_legends() {
    let texts = looked_at(&plotted(&turning(400), &drawing(), KEPT).unwrap());
    let wanted = [
        "wheel &lt;&amp;&gt;",
        "rk4, steps of 0.05",
        "Paths",
        "Coordinates",
        "Phase portrait",
        "Energy error",
    ];
    for wanted in
        wanted.into_iter().chain(["x", "y", "t", "coordinate", "velocity", "|ΔE / E|", "bob", "y, y&apos;"])
    {
        assert!(says(&texts, wanted), "{wanted} is not in {texts:?}");
    }
    // Errors are at most 5·10⁻¹⁰: that decade is the upper edge.
    assert!(says(&texts, "10⁻⁹") && !says(&texts, "10⁻⁸"), "{texts:?}");
    assert!(!says(&texts, "Constraint error"));
}

#[test]
fn an_energy_that_changes_is_shown_itself_and_constraints_have_a_panel() {
    let mut record = turning(100);
    record.position_violation = vec![1e-15; 100];
    record.velocity_violation = (0..100).map(|i| if i % 3 == 0 { 0.0 } else { 2e-14 }).collect();
    let texts = looked_at(&plotted(&record, &Drawing::new(), Energy::Changing).unwrap());
    for wanted in [
        "Energy",
        "E − 2",
        "Constraint error",
        "|Φ|, |Ψ|",
        "positions, largest so far",
        "velocities, largest so far",
    ] {
        assert!(
            texts.iter().any(|text| text.replace("+ 2", "− 2").starts_with(wanted)),
            "{wanted} in {texts:?}"
        );
    }
}

#[test]
fn an_energy_without_error_is_said_to_have_none() {
    let mut record = turning(50);
    record.energy = vec![-2.0; 50];
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    assert!(says(&texts, "exactly 0 at all of 49 samples"), "{texts:?}");
}

#[test]
fn numbers_that_are_not_finite_are_left_out_and_said_to_be() {
    let mut record = turning(60);
    for sample in [10, 11, 40] {
        record.coordinates.values_mut(0)[sample] = f64::NAN;
        record.paths[0].axes[1][sample] = f64::INFINITY;
        record.energy[sample] = f64::NAN;
    }
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    let said = texts.iter().filter(|text| text.starts_with("3 ") && text.contains("not finite")).count();
    // In the paths, the portrait, the coordinates, and the energy.
    assert_eq!(said, 4, "{texts:?}");
    record.energy = vec![f64::NAN; 60];
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    assert!(says(&texts, "59 of 59 values are not finite"), "{texts:?}");
}

#[test]
fn constant_single_huge_and_missing_samples_are_plotted_or_refused() {
    let mut still = turning(20);
    for axis in &mut still.paths[0].axes {
        axis.fill(3.0);
    }
    still.coordinates.values_mut(0).fill(0.0);
    still.coordinates.values_mut(1).fill(0.0);
    looked_at(&plotted(&still, &Drawing::new(), KEPT).unwrap());
    looked_at(&plotted(&turning(1), &drawing(), KEPT).unwrap());
    let mut huge = turning(30);
    huge.coordinates.values_mut(0).iter_mut().for_each(|x| *x *= 1e300);
    huge.paths[0].axes.iter_mut().flatten().for_each(|x| *x *= 1e300);
    huge.energy.iter_mut().for_each(|e| *e *= 1e299);
    looked_at(&plotted(&huge, &Drawing::new(), Energy::Changing).unwrap());
    looked_at(&plotted(&huge, &Drawing::new(), Energy::Conserved { scale: 1e-300 }).unwrap());
    let empty = plotted(&Record::default(), &Drawing::new(), KEPT).unwrap_err();
    assert!(matches!(empty, PictureError::Empty), "{empty}");
    let lost = plotted(&turning(9), &Drawing::new().dot("bib", 1.0), KEPT).unwrap_err();
    assert!(lost.to_string().contains("`bib`"), "{lost}");
}

#[test]
fn of_many_coordinates_some_are_shown_and_that_is_said() {
    let mut record = turning(100);
    let many = |columns: &Columns, tick: &str| {
        let values = |i: usize| columns.values(i % 2).to_vec();
        Columns::from(
            (0..60).map(|i| Column { name: format!("q{i}{tick}"), values: values(i) }).collect::<Vec<_>>(),
        )
    };
    record.coordinates = many(&record.coordinates, "");
    record.velocities = many(&record.velocities, "'");
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    assert!(["6 of 60", "2 of 60", "q0", "q59"].iter().all(|wanted| says(&texts, wanted)), "{texts:?}");
}

#[test]
fn long_records_make_small_files_and_space_is_seen_from_two_sides() {
    let mut record = turning(200_000);
    record.paths[0].axes.push(record.times.iter().map(|t| (0.3 * t).sin()).collect());
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    assert!(says(&texts, "Paths, from the front") && says(&texts, "Paths, from above") && says(&texts, "z"));
}

fn decoded(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width, info.height, pixels)
}

#[test]
fn a_png_is_the_svg_in_pixels() {
    let (record, drawing) = (turning(400), drawing());
    let plot = Plot { record: &record, drawing: &drawing, title: "wheel", subtitle: "", energy: KEPT };
    let (width, height, pixels) = decoded(&plot.png().unwrap());
    let svg = plot.svg().unwrap();
    let head = format!("<svg width=\"{}\" height=\"{}\"", width / 2, height / 2);
    assert!(svg.starts_with(&head), "{head}: {}", &svg[..60]);
    assert_eq!(pixels.len(), (width * height * 3) as usize);
    // The first disc of the SVG with the colour of a curve is there, and the corners are white.
    let circle = svg.split("<circle ").find(|rest| rest.contains("fill=\"#0072B2\"")).unwrap();
    let number =
        |key: &str| -> f64 { circle.split(key).nth(1).unwrap().split('"').next().unwrap().parse().unwrap() };
    let pixel = |x: f64, y: f64| {
        let i = 3 * (y as usize * width as usize + x as usize);
        [pixels[i], pixels[i + 1], pixels[i + 2]]
    };
    assert_eq!(pixel(number("cx=\"") / 5.0, number("cy=\"") / 5.0), [0, 114, 178]);
    assert_eq!(pixel(1.0, 1.0), [255; 3]);
    // Letters are painted: the title stands at the upper left.
    let dark = (0..70)
        .flat_map(|y| (0..400).map(move |x| (x, y)))
        .filter(|(x, y)| pixel(f64::from(*x), f64::from(*y))[0] < 100);
    assert!(dark.count() > 200);
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("leastaction-plots-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn sections_and_comparisons_are_plotted() {
    let folder = folder("more");
    let orbit = |k: usize| Orbit {
        name: format!("E = {k}"),
        points: (0..2000).map(|i| [(i as f64).cos() * k as f64, (i as f64).sin()]).collect(),
    };
    let mut section = Section {
        title: "section".to_owned(),
        subtitle: "x = 0".to_owned(),
        labels: ["y".to_owned(), "p_y".to_owned()],
        orbits: (1..20).map(orbit).collect(),
    };
    section.orbits[0].points[7] = [f64::NAN, 0.0];
    section.save(&folder.join("section.svg")).unwrap();
    section.save(&folder.join("section.PNG")).unwrap();
    let texts = looked_at(&std::fs::read_to_string(folder.join("section.svg")).unwrap());
    for wanted in ["p_y", "E = 1", "E = 19", "1 of 3 points", "1 points not finite: left out"] {
        assert!(says(&texts, wanted), "{wanted}: {texts:?}");
    }
    assert!(!says(&texts, "E = 2"), "a scale has two ends: {texts:?}");
    let contender = |name: &str, size: f64, work: f64| Contender {
        name: name.to_owned(),
        times: (0..100).map(f64::from).collect(),
        errors: (0..100).map(|i| size * f64::from(i)).collect(),
        work,
        asked: false,
    };
    let comparison = Comparison {
        title: "methods".to_owned(),
        subtitle: String::new(),
        measure: "|ΔE / E|".to_owned(),
        work: "evaluations".to_owned(),
        contenders: vec![
            contender("rk4", 1e-6, 4e4),
            contender("verlet", 1e-4, 1e4),
            contender("lost", f64::NAN, 1.0),
        ],
    };
    comparison.save(&folder.join("comparison.svg")).unwrap();
    let texts = looked_at(&std::fs::read_to_string(folder.join("comparison.svg")).unwrap());
    for wanted in ["Largest error so far", "Work and error", "evaluations", "not finite: lost"] {
        assert!(says(&texts, wanted), "{wanted}: {texts:?}");
    }
    assert_eq!(
        texts.iter().filter(|text| *text == "verlet").count(),
        2,
        "in the legend, and beside its mark"
    );
    section.orbits.truncate(8);
    section.save(&folder.join("few.svg")).unwrap();
    let svg = std::fs::read_to_string(folder.join("few.svg")).unwrap();
    let texts = looked_at(&svg);
    assert!((1..=8).all(|k| says(&texts, &format!("E = {k}"))), "{texts:?}");
    // Every orbit has a colour of its own, and is made of circles, in the legend too.
    let mut colors: Vec<&str> = svg
        .split("<circle")
        .skip(1)
        .map(|rest| rest.split("fill=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    colors.sort_unstable();
    colors.dedup();
    assert_eq!((colors.len(), svg.matches("<polygon").count()), (8, 0));
    let bare = Section { orbits: Vec::new(), ..section };
    assert!(matches!(bare.save(&folder.join("none.svg")), Err(PictureError::Empty)));
    assert!(matches!(comparison.save(&folder.join("x.pdf")), Err(PictureError::Ending { .. })));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Where texts are in a picture, as left, top, right and bottom: letters are about half as wide as high.
fn boxes(svg: &str, wanted: &[String]) -> Vec<[f64; 4]> {
    let number = |rest: &str, key: &str| -> f64 {
        rest.split(key).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let mut boxes = Vec::new();
    for rest in svg.split("<text").skip(1) {
        let text = rest.split_once('>').unwrap().1.split("</text>").next().unwrap().trim();
        if wanted.iter().any(|name| name == text) {
            let (x, y, size) =
                (number(rest, " x=\""), number(rest, " y=\""), number(rest, " font-size=\"") / 1.24);
            boxes.push([x, y - 0.4 * size, x + 0.5 * size * text.len() as f64, y + 0.4 * size]);
        }
    }
    boxes
}

#[test]
fn of_many_methods_the_best_and_the_named_are_shown_and_no_names_overlap() {
    // Errors fall with the work, and every second method is worse than its neighbour at more cost.
    let contender = |i: usize| Contender {
        name: format!("method-{i}"),
        times: vec![0.0, 1.0],
        errors: vec![0.0, if i.is_multiple_of(2) { 10_f64.powf(-8.0 - 0.02 * i as f64) } else { 1.0 }],
        work: 1000.0 * (1.0 + 0.002 * i as f64),
        asked: i == 33,
    };
    let comparison = Comparison {
        title: "methods".to_owned(),
        subtitle: String::new(),
        measure: "error".to_owned(),
        work: "evaluations".to_owned(),
        contenders: (0..35).map(contender).collect(),
    };
    let folder = folder("many");
    comparison.save(&folder.join("many.svg")).unwrap();
    let svg = std::fs::read_to_string(folder.join("many.svg")).unwrap();
    let texts = looked_at(&svg);
    assert!(says(&texts, "8 of 35 shown") && says(&texts, "grey: the others"), "{texts:?}");
    // The one asked for though it is bad, the cheapest, the best, and none of the others that are bad.
    assert!(["method-33", "method-0", "method-34"].iter().all(|name| says(&texts, name)), "{texts:?}");
    let names: Vec<_> = (0..35).map(|i| format!("method-{i}")).filter(|name| says(&texts, name)).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert!((0..17).all(|i| i == 16 || !says(&texts, &format!("method-{}", 2 * i + 1))), "{names:?}");
    let boxes = boxes(&svg, &names);
    assert!(boxes.len() > 10, "the legend, and most of the marks: {}", boxes.len());
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[..i] {
            let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
            assert!(apart, "{a:?} {b:?}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_single_sample_has_no_error_and_no_made_up_energy() {
    let mut record = turning(1);
    record.energy = vec![0.0];
    let texts = looked_at(&plotted(&record, &drawing(), Energy::Conserved { scale: 1.0 }).unwrap());
    assert!(says(&texts, "a single sample: nothing to compare it with"), "{texts:?}");
    assert!(!texts.iter().any(|text| text.starts_with("E =")), "{texts:?}");
    // Where terms cancel, errors are relative to their size, and the energy is what it is.
    let mut record = turning(50);
    record.energy = (0..50).map(|i| 1e-9 * f64::from(i)).collect();
    let texts = looked_at(&plotted(&record, &drawing(), Energy::Conserved { scale: 0.25 }).unwrap());
    assert!(says(&texts, "|ΔE| / 0.25") && says(&texts, "E = 0 at the start"), "{texts:?}");
}

#[test]
fn outputs_come_first_and_nodes_of_bodies_not_at_all() {
    let mut record = turning(100);
    let named = |columns: &Columns, names: [&str; 2]| {
        names
            .iter()
            .zip(columns.iter())
            .map(|(name, column)| Column { name: (*name).to_owned(), values: column.values.to_vec() })
            .collect::<Vec<_>>()
    };
    let nodes = named(&record.coordinates, ["bob_ax", "bob_ay"]);
    let rates = named(&record.velocities, ["bob_ax'", "bob_ay'"]);
    record.coordinates = [named(&record.coordinates, ["bob_x", "bob_y"]), nodes].concat().into();
    record.velocities = [named(&record.velocities, ["bob_x'", "bob_y'"]), rates].concat().into();
    record.outputs = vec![Column { name: "height".to_owned(), values: record.times.clone() }].into();
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    let at = |wanted: &str| texts.iter().position(|text| text == wanted);
    assert!(at("Outputs") < at("Coordinates") && at("Outputs").is_some(), "{texts:?}");
    assert!(
        says(&texts, "height") && says(&texts, "bob_x") && says(&texts, "bob_y, bob_y&apos;"),
        "{texts:?}"
    );
    assert!(!texts.iter().any(|text| text.contains("bob_a")), "{texts:?}");
}

#[test]
fn portraits_of_unlike_sizes_have_measures_of_their_own() {
    let mut record = turning(100);
    record.coordinates.values_mut(1).iter_mut().for_each(|y| *y *= 1e-3);
    let texts = looked_at(&plotted(&record, &drawing(), KEPT).unwrap());
    assert!(says(&texts, "each by its own measure") && says(&texts, "coordinate / its largest"), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("x / 1, x&apos; / 1")), "{texts:?}");
}

/// A map has a cell for every value, the first of them at the lower left, in an SVG and in a PNG.
#[test]
fn maps_show_every_cell() {
    let folder = std::env::temp_dir().join(format!("leastaction-maps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // x − y grows to the right and downwards; one cell has no value.
    let (columns, rows) = (30, 20);
    let mut values: Vec<f64> =
        (0..columns * rows).map(|k| (k % columns) as f64 - (k / columns) as f64).collect();
    values[columns * rows - 1] = f64::NAN;
    let map = Map {
        title: "a slope".to_owned(),
        subtitle: "and a hole".to_owned(),
        labels: ["th1".to_owned(), "th2".to_owned()],
        ranges: [[0.0, 3.0], [-1.0, 1.0]],
        columns,
        values,
        what: "x − y".to_owned(),
        without: "never".to_owned(),
        log: false,
        categories: Vec::new(),
    };
    map.save(&folder.join("map.svg")).unwrap();
    map.save(&folder.join("map.png")).unwrap();
    let svg = std::fs::read_to_string(folder.join("map.svg")).unwrap();
    let texts = looked_at(&svg);
    for wanted in ["th1", "th2", "x − y from −19", "to 29", "never: 1 of 600"] {
        assert!(says(&texts, wanted), "{wanted}: {texts:?}");
    }
    assert_eq!(svg.matches("<image ").count(), 1);
    let decoder =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(folder.join("map.png")).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let (width, height) = (info.width as usize, info.height as usize);
    let dark =
        |x: usize, y: usize| pixels[3 * (y * width + x)..][..3].iter().map(|c| u32::from(*c)).sum::<u32>();
    // The upper left is the smallest value, and dark; the lower right the largest, and light.
    assert!(dark(width / 5, height / 5) < dark(4 * width / 5, 4 * height / 5));
    let nothing = Map { values: vec![f64::NAN; 4], columns: 2, ..map.clone() };
    assert!(matches!(nothing.save(&folder.join("none.svg")), Err(PictureError::NotFinite { .. })));
    // Kinds of ends have a colour each, and their shares in the legend.
    let values = vec![1.0, 2.0, 2.0, 2.0];
    let kinds = Map { values, columns: 2, categories: vec![1.0, 2.0], what: "end".to_owned(), ..map.clone() };
    kinds.save(&folder.join("kinds.svg")).unwrap();
    let texts = looked_at(&std::fs::read_to_string(folder.join("kinds.svg")).unwrap());
    for wanted in ["end = 1 (25.0 %)", "end = 2 (75.0 %)"] {
        assert!(says(&texts, wanted), "{wanted}: {texts:?}");
    }
    assert!(!texts.iter().any(|text| format!("{text:?}").contains("from")), "{texts:?}");
    let uneven = Map { values: vec![1.0; 5], columns: 2, ..map };
    assert!(matches!(uneven.save(&folder.join("none.svg")), Err(PictureError::Empty)));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn histograms_have_a_bar_for_every_bin() {
    let folder = std::env::temp_dir().join(format!("leastaction-bars-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bars = |what: &str| Bars {
        what: what.to_owned(),
        low: -3.0,
        high: 3.0,
        counts: (0..60)
            .map(|i| (1000.0 * (-0.5 * (f64::from(i) / 10.0 - 3.0).powi(2)).exp()) as u64)
            .collect(),
        outside: 12,
    };
    let figure = Histograms {
        title: "spread".to_owned(),
        subtitle: String::new(),
        histograms: vec![bars("th1"), bars("energy")],
    };
    figure.save(&folder.join("bars.svg")).unwrap();
    figure.save(&folder.join("bars.png")).unwrap();
    let svg = std::fs::read_to_string(folder.join("bars.svg")).unwrap();
    let texts = looked_at(&svg);
    for wanted in ["th1", "energy", "trajectories", "12 outside of the range"] {
        assert!(says(&texts, wanted), "{wanted}: {texts:?}");
    }
    assert_eq!(svg.matches("<polygon").count(), 120);
    assert!(matches!(
        Histograms { histograms: Vec::new(), ..figure }.save(&folder.join("none.svg")),
        Err(PictureError::Empty)
    ));
    std::fs::remove_dir_all(folder).unwrap();
}

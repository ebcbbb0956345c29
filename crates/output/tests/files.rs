//! Files as they are written, and what happens when they cannot be. What is written to `files/` in Cargo's directory for tests is read back
//! by other readers (tests/python).
use leastaction_expr::{Graph, Names};
use leastaction_output::{
    About, Column, Columns, FORMATS, FileError, Path, Record, check, check_apart, replace, write,
};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// A directory of this test alone, empty.
fn shelf(name: &str) -> PathBuf {
    let shelf = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&shelf);
    fs::create_dir_all(&shelf).unwrap();
    shelf
}

fn entries(shelf: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(shelf).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Numbers that are hard to write: signs of zero, subnormals, extremes, 17 digits, and what is not finite.
fn hard(samples: usize) -> Record {
    let mut random = leastaction_expr::Random::new(0x9e37_79b9_7f4a_7c15);
    let special = [
        0.0,
        -0.0,
        5e-324,
        -2.225_073_858_507_201e-308,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        0.1,
        1.0 / 3.0,
        1e16,
        9_007_199_254_740_993.0,
        1e-5,
        1e23,
        1e17,
    ];
    let mut column = |name: &str| {
        let any = std::iter::repeat_with(|| f64::from_bits(random.bits())).filter(|value| value.is_finite());
        Column { name: name.to_owned(), values: special.into_iter().chain(any).take(samples).collect() }
    };
    let paths = vec![Path { name: "bob".to_owned(), axes: vec![column("x").values, column("y").values] }];
    let mut outputs = vec![column("höhe"), column("a \"b\", c")];
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    outputs[0].values.iter_mut().skip(2).zip(odd).for_each(|(value, odd)| *value = odd);
    Record {
        times: column("t").values,
        coordinates: vec![column("th1"), column("th2")].into(),
        velocities: vec![column("th1'"), column("th2'")].into(),
        momenta: vec![column("p_th1"), column("p_th2")].into(),
        paths,
        energy: column("energy").values,
        jacobi: column("jacobi").values,
        supplied: column("supplied").values,
        dissipated: column("dissipated").values,
        multipliers: vec![column("lambda_rod")].into(),
        position_violation: column("").values,
        velocity_violation: column("").values,
        outputs: outputs.into(),
        densities: Vec::new(),
    }
}

fn about() -> About {
    About {
        system: "hard \"numbers\"\\".to_owned(),
        method: "none".to_owned(),
        pace: "step 0.1".to_owned(),
        parameters: vec![("g".to_owned(), 9.81), ("tiny".to_owned(), 5e-324)],
        warnings: vec!["energy \"drifted\"".to_owned()],
        notes: Vec::new(),
        ended: "complete".to_owned(),
    }
}

/// Every format, with no samples, one, some, and more than a page of Parquet takes; beside them, the bits in hexadecimal.
#[test]
fn files_to_read_back() {
    let shelf = shelf("files");
    for samples in [0, 1, 100, 140_000] {
        let record = hard(samples);
        for format in FORMATS.iter().filter(|format| samples <= 100 || format.ending == "parquet") {
            write(&shelf.join(format!("{samples}.{}", format.ending)), &record.table(), &about()).unwrap();
        }
        let bits = |(_, name, values): (_, String, &[f64])| {
            let bits: Vec<_> = values.iter().map(|value| format!("{:016x}", value.to_bits())).collect();
            format!("{name}\t{}\n", bits.join(" "))
        };
        fs::write(shelf.join(format!("{samples}.bits")), record.columns().map(bits).collect::<String>())
            .unwrap();
    }
    assert_eq!(entries(&shelf).len(), 3 * 5 + 2);
}

/// The words of a CSV file, and the numbers of a JSON file, give the same bits by Rust's own reader.
#[test]
fn text_has_every_bit() {
    let (shelf, record) = (shelf("text"), hard(5000));
    let [csv, json] = ["a.csv", "a.json"].map(|name| {
        let path = shelf.join(name);
        write(&path, &record.table(), &about()).unwrap();
        fs::read_to_string(path).unwrap()
    });
    for (i, line) in csv.lines().skip(1).enumerate() {
        for (word, (_, name, values)) in line.split(',').zip(record.columns()) {
            let read: f64 = word.parse().unwrap();
            assert!(
                read.to_bits() == values[i].to_bits() || read.is_nan() && values[i].is_nan(),
                "{name}: {word}"
            );
        }
    }
    assert_eq!(csv.lines().count(), 5001);
    for (_, name, values) in record.columns().take(10) {
        let list = json.split_once(&format!("\n\"{name}\": [")).unwrap().1.split_once(']').unwrap().0;
        for (word, value) in list.split(", ").zip(values) {
            assert_eq!(word.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{name}: {word}");
        }
        assert_eq!(list.split(", ").count(), 5000);
    }
    assert!(json.contains("\"not_finite\": {\"höhe\": 3},"));
}

#[test]
fn nothing_is_left_of_a_file_that_failed() {
    let shelf = shelf("failed");
    let path = shelf.join("run.csv");
    // What the kernel says when a disk is full.
    let full = |writer: &mut dyn Write| {
        writer.write_all(&[b'x'; 1 << 20])?;
        fs::OpenOptions::new().write(true).open("/dev/full")?.write_all(b"x")
    };
    let error = replace(&path, full).unwrap_err();
    assert!(matches!(&error, FileError::Full { .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("run.csv`: there is no room for it (No space left") && message.contains("make room"),
        "{message}"
    );
    assert!(entries(&shelf).is_empty(), "{:?}", entries(&shelf));

    fs::write(&path, "before").unwrap();
    replace(&path, full).unwrap_err();
    let other = replace(&path, |_| Err(io::Error::other("out of ink"))).unwrap_err();
    assert!(other.to_string().ends_with("run.csv`: out of ink"));
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), entries(&shelf)),
        ("before", vec!["run.csv".to_owned()])
    );
    replace(&path, |writer| writer.write_all(b"after")).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), entries(&shelf).len()), ("after", 1));
}

#[test]
fn what_is_in_the_way_is_told() {
    let shelf = shelf("ways");
    fs::create_dir(shelf.join("taken.csv")).unwrap();
    let refused = |name: &str| {
        let path = shelf.join(name);
        let (checked, written) = (check(&path).unwrap_err(), replace(&path, |_| Ok(())).unwrap_err());
        assert_eq!(checked.to_string(), written.to_string());
        checked.to_string().replace(shelf.to_str().unwrap(), "SHELF")
    };
    assert_eq!(refused("taken.csv"), "cannot write `SHELF/taken.csv`: it is a directory; name a file in it");
    assert_eq!(
        refused("no/where/run.csv"),
        "cannot write `SHELF/no/where/run.csv`: there is no directory `SHELF/no/where`; make it first"
    );
    let still = shelf.join("still.csv");
    fs::write(&still, "kept").unwrap();
    let mut permissions = fs::metadata(&still).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&still, permissions).unwrap();
    assert_eq!(
        refused("still.csv"),
        "cannot write `SHELF/still.csv`: it is there and read-only; remove it, or choose another name"
    );
    let message = check("/proc/run.csv".as_ref()).unwrap_err().to_string();
    assert!(message.starts_with("cannot write `/proc/run.csv`: "), "{message}");
    let message = replace("/dev/full".as_ref(), |_| Ok(())).unwrap_err().to_string();
    assert!(message.contains("something that is not a file has this name"), "{message}");
    assert_eq!(entries(&shelf), ["still.csv", "taken.csv"]);
    check(&shelf.join("new.csv")).unwrap();
    assert_eq!(entries(&shelf).len(), 2);
}

#[test]
fn endings_choose_formats() {
    let record = hard(1);
    for name in ["run.txt", "run", "csv", ".csv", "run.csv.gz"] {
        let message = write(name.as_ref(), &record.table(), &about()).unwrap_err().to_string();
        let expected =
            format!("cannot tell how to write `{name}` from its ending: use .csv, .npz, .parquet or .json");
        assert_eq!(message, expected);
    }
    let path = shelf("endings").join("RUN.CSV");
    write(&path, &record.table(), &about()).unwrap();
    assert!(fs::read_to_string(path).unwrap().starts_with("t,th1,th2,th1',"));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let shelf = shelf("links");
    fs::create_dir(shelf.join("far")).unwrap();
    fs::write(shelf.join("far/run.csv"), "before").unwrap();
    std::os::unix::fs::symlink("far/run.csv", shelf.join("run.csv")).unwrap();
    replace(&shelf.join("run.csv"), |writer| writer.write_all(b"after")).unwrap();
    assert!(fs::symlink_metadata(shelf.join("run.csv")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(shelf.join("far/run.csv")).unwrap(), "after");
}

/// Tens of thousands of columns, as of a mesh, take as long as their numbers.
#[test]
fn wide_records_are_written_as_long_ones_are() {
    const WIDE: usize = 30_000;
    let graph = Graph::new();
    let block = graph.block("node", WIDE / 3, &["x", "y", "z"]).unwrap();
    let mut coordinates = Columns::new(Names::of(&block.symbols().collect::<Vec<_>>()));
    for row in 0..2 {
        coordinates.push(&(0..WIDE).map(|i| (i + row) as f64).collect::<Vec<_>>());
    }
    let record = Record { times: vec![0.0, 1.0], coordinates, energy: vec![0.0; 2], ..Record::default() };
    for format in FORMATS {
        let mut bytes = Vec::new();
        format.write(&record.table(), &about(), &mut bytes).unwrap();
        assert!(bytes.len() > 16 * WIDE, "{}: {}", format.ending, bytes.len());
        if format.ending == "csv" {
            let text = String::from_utf8(bytes).unwrap();
            let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
            assert_eq!([lines[0][1], lines[0][WIDE]], ["node[0].x", "node[9999].z"]);
            assert_eq!([lines[1][1], lines[2][WIDE]], ["0.0", "30000.0"]);
        }
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let mut record = hard(3);
    record.outputs = vec![Column { name: "th1".to_owned(), values: vec![0.0; 3] }].into();
    let path = shelf("twice").join("run.npz");
    let message = write(&path, &record.table(), &about()).unwrap_err().to_string();
    assert!(message.ends_with("two columns are called `th1`; give one another name"), "{message}");
    assert!(!path.exists());
}

/// Who may read a file stays who may read it, also while it is written.
#[cfg(unix)]
#[test]
fn a_private_file_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let path = shelf("private").join("run.csv");
    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    replace(&path, |writer| writer.write_all(b"after")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A link to a file that is not there yet stays a link, and the file comes to be where it leads.
#[cfg(unix)]
#[test]
fn a_dangling_link_is_followed() {
    let shelf = shelf("dangling");
    fs::create_dir(shelf.join("far")).unwrap();
    std::os::unix::fs::symlink("far/run.csv", shelf.join("run.csv")).unwrap();
    replace(&shelf.join("run.csv"), |writer| writer.write_all(b"after")).unwrap();
    assert!(fs::symlink_metadata(shelf.join("run.csv")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(shelf.join("far/run.csv")).unwrap(), "after");
    assert_eq!(entries(&shelf.join("far")), ["run.csv"]);
    std::os::unix::fs::symlink("circle.csv", shelf.join("circle.csv")).unwrap();
    let message = check(&shelf.join("circle.csv")).unwrap_err().to_string();
    assert!(message.contains("its links lead in a circle"), "{message}");
}

/// A model is not replaced by its own result, under whatever name.
#[cfg(unix)]
#[test]
fn what_is_read_is_not_written() {
    let shelf = shelf("apart");
    let (model, link) = (shelf.join("swing.motion"), shelf.join("run.csv"));
    fs::write(&model, "coord x").unwrap();
    check_apart(&link, &model).unwrap();
    std::os::unix::fs::symlink("swing.motion", &link).unwrap();
    for path in [&model, &link] {
        assert!(matches!(check_apart(path, &model), Err(FileError::IsRead { .. })));
    }
}

#[test]
fn a_moving_mesh_is_a_series_of_files() {
    use leastaction_field::Mesh;
    use leastaction_field::format::{Data, DataKind, Values};
    use leastaction_output::{MeshPart, MeshSeries};
    let shelf = shelf("series");
    let block = Mesh::cuboid([1.0; 3], [1; 3]).unwrap();
    let mut series = MeshSeries::new(&shelf.join("block.pvd"), MeshPart::Cells).unwrap();
    for time in [0.0, 0.5] {
        let moved: Vec<_> = block.nodes().iter().map(|x| [x[0] + time, x[1], x[2]]).collect();
        let speed = vec![time; block.nodes().len()];
        let data = [Data { name: "speed", kind: DataKind::Nodes, values: Values::Scalars(&speed) }];
        series.add(time, &block, &moved, &data).unwrap();
    }
    // What does not fit leaves nothing behind.
    assert!(series.add(1.0, &block, &block.nodes()[1..], &[]).is_err());
    assert_eq!(entries(&shelf), ["block-000000.vtu", "block-000001.vtu"]);
    let files = series.finish().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(entries(&shelf), ["block-000000.vtu", "block-000001.vtu", "block.pvd"]);
    let list = fs::read_to_string(shelf.join("block.pvd")).unwrap();
    assert!(list.contains("timestep=\"0.5\" group=\"\" part=\"0\" file=\"block-000001.vtu\""), "{list}");
    assert!(MeshSeries::new(&shelf.join("nowhere/block.pvd"), MeshPart::Surface).is_err());
}

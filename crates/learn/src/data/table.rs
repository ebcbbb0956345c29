//! Trajectories in files of others: tables with columns by name, and arrays of NumPy.

use super::measured::{MeasuredError, Raw};
use leastaction_output::npz::{Array, Arrays};
use std::collections::HashMap;
use std::path::Path;

/// What a file has, by name: columns of one length.
struct Columns {
    names: Vec<String>,
    rows: usize,
    values: Vec<Vec<f64>>,
    /// The line of the first row, where rows are lines.
    first_line: Option<Vec<usize>>,
}

/// The trajectories in a file, for a model whose states have these names; of positions only, if velocities are to be found.
pub(super) fn read(path: &Path, names: &[String], positions: bool) -> Result<Vec<Raw>, MeasuredError> {
    let failed = |what: String| MeasuredError::Read { path: path.to_owned(), what };
    let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "csv" => {
            let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|_| failed("it is no text in UTF-8".to_owned()))?;
            by_columns(path, &columns_of_csv(path, &text)?, names, positions)
        }
        "npz" => {
            let arrays = Arrays::read(path).map_err(|error| failed(error.to_string()))?;
            if arrays.text("format").is_some_and(|format| format.starts_with("leastaction dataset")) {
                return Err(failed("it is a dataset already: train on it".to_owned()));
            }
            let several = |name: &str| arrays.numbers(name).is_some_and(|(shape, _)| shape.len() > 1);
            match several("z") || several("q") {
                true => by_arrays(path, &arrays, names.len(), positions),
                false => by_columns(path, &columns_of_arrays(path, &arrays)?, names, positions),
            }
        }
        _ => Err(failed("data are read from .csv and .npz files".to_owned())),
    }
}

/// The fields of a line of CSV; quotes go.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

fn columns_of_csv(path: &Path, text: &str) -> Result<Columns, MeasuredError> {
    let failed = |what: String| MeasuredError::Read { path: path.to_owned(), what };
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, head) = lines.next().ok_or_else(|| failed("it is empty".to_owned()))?;
    let names = fields(head);
    for (place, name) in names.iter().enumerate() {
        if !name.is_empty() && names[..place].contains(name) {
            return Err(failed(format!("there are two columns `{name}`")));
        }
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(failed("its first line has numbers: write the names of the columns there".to_owned()));
    }
    let (mut values, mut places) = (vec![Vec::new(); names.len()], Vec::new());
    for (number, line) in lines {
        let own = fields(line);
        if own.len() != names.len() {
            return Err(failed(format!(
                "line {} has {} fields, and the first line names {}",
                number + 1,
                own.len(),
                names.len()
            )));
        }
        places.push(number + 1);
        // What is no number is told where it is read: other columns may have words.
        values.iter_mut().zip(own).for_each(|(column, field)| column.push(field.parse().unwrap_or(f64::NAN)));
    }
    Ok(Columns { names, rows: places.len(), values, first_line: Some(places) })
}

fn columns_of_arrays(path: &Path, arrays: &Arrays) -> Result<Columns, MeasuredError> {
    let mut columns = Columns { names: Vec::new(), rows: 0, values: Vec::new(), first_line: None };
    for name in arrays.names() {
        let Some(Array::Numbers { shape, values }) = arrays.get(name) else { continue };
        if shape.len() != 1 {
            continue;
        }
        if columns.names.is_empty() {
            columns.rows = values.len();
        } else if values.len() != columns.rows {
            return Err(MeasuredError::Shape {
                path: path.to_owned(),
                name: name.to_owned(),
                found: shape.clone(),
                expected: format!("{} numbers, as many as in `{}`,", columns.rows, columns.names[0]),
            });
        }
        columns.names.push(name.to_owned());
        columns.values.push(values.clone());
    }
    Ok(columns)
}

/// Trajectories from columns by name.
fn by_columns(
    path: &Path,
    columns: &Columns,
    names: &[String],
    positions: bool,
) -> Result<Vec<Raw>, MeasuredError> {
    let n = names.len() / 2;
    let find = |name: &str| columns.names.iter().position(|own| own == name);
    let wanted = if positions { &names[..n] } else { names };
    let mut places = Vec::new();
    for (i, name) in wanted.iter().enumerate() {
        let place = find(name).ok_or_else(|| MeasuredError::Missing {
            path: path.to_owned(),
            what: format!("column `{name}`"),
            there: columns.names.iter().map(|own| format!("`{own}`")).collect(),
            remedy: match i < n {
                true => format!("the model has the coordinates {}", names[..n].join(", ")),
                false => "give velocities, or have them taken from differences of positions (--differences)"
                    .to_owned(),
            },
        })?;
        places.push(place);
    }
    let time = find("t");
    let whose = find("trajectory");
    let mut all: Vec<Raw> = Vec::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for row in 0..columns.rows {
        let at = |place: usize| -> Result<f64, MeasuredError> {
            let value = columns.values[place][row];
            let line = columns.first_line.as_ref().map(|lines| lines[row]);
            match value.is_finite() {
                true => Ok(value),
                false => Err(MeasuredError::Value {
                    place: match line {
                        Some(line) => format!("`{}`, line {line}", path.display()),
                        None => format!("`{}`, row {row}", path.display()),
                    },
                    name: columns.names[place].clone(),
                    value: if line.is_some() { "no finite number".to_owned() } else { value.to_string() },
                }),
            }
        };
        let number = whose.map(at).transpose()?;
        let key = number.unwrap_or(0.0).to_bits();
        let place = *seen.entry(key).or_insert_with(|| {
            let name = match number {
                Some(number) => format!("trajectory {number} of `{}`", path.display()),
                None => format!("`{}`", path.display()),
            };
            all.push(Raw { name, times: Vec::new(), states: Vec::new() });
            all.len() - 1
        });
        if let Some(time) = time {
            all[place].times.push(at(time)?);
        }
        for &column in &places {
            let value = at(column)?;
            all[place].states.push(value);
        }
    }
    match all.is_empty() {
        true => Err(MeasuredError::Short { name: format!("`{}`", path.display()), found: 0, needed: 2 }),
        false => Ok(all),
    }
}

/// Trajectories from arrays with axes.
fn by_arrays(path: &Path, arrays: &Arrays, d: usize, positions: bool) -> Result<Vec<Raw>, MeasuredError> {
    let wrong = |name: &str, found: &[usize], expected: String| MeasuredError::Shape {
        path: path.to_owned(),
        name: name.to_owned(),
        found: found.to_vec(),
        expected,
    };
    // With an axis of trajectories, or without, as of one.
    let table = |name: &str, width: usize| -> Result<(usize, usize, &[f64]), MeasuredError> {
        let there = || arrays.names().map(|name| format!("`{name}`")).collect();
        let (shape, values) = arrays.numbers(name).ok_or_else(|| MeasuredError::Missing {
            path: path.to_owned(),
            what: format!("array `{name}`"),
            there: there(),
            remedy: "save `z`, or `q` and `v`, of (trajectories, samples, numbers); or have velocities taken from differences of positions (--differences)".to_owned(),
        })?;
        match *shape {
            [trajectories, samples, own] if own == width => Ok((trajectories, samples, values)),
            [samples, own] if own == width => Ok((1, samples, values)),
            _ => Err(wrong(
                name,
                shape,
                format!("(trajectories, samples, {width}), or (samples, {width}) of one,"),
            )),
        }
    };
    let (trajectories, samples, states) = match arrays.numbers("z") {
        Some(_) if !positions => {
            let (trajectories, samples, z) = table("z", d)?;
            (trajectories, samples, z.to_vec())
        }
        Some(_) => {
            let (trajectories, samples, z) = table("z", d)?;
            (trajectories, samples, z.chunks_exact(d).flat_map(|state| &state[..d / 2]).copied().collect())
        }
        None => {
            let (trajectories, samples, q) = table("q", d / 2)?;
            if positions {
                (trajectories, samples, q.to_vec())
            } else {
                let (others, more, v) = table("v", d / 2)?;
                if (others, more) != (trajectories, samples) {
                    return Err(wrong(
                        "v",
                        &[others, more, d / 2],
                        format!("({trajectories}, {samples}, {}), as of `q`,", d / 2),
                    ));
                }
                let pairs = q.chunks_exact(d / 2).zip(v.chunks_exact(d / 2));
                (trajectories, samples, pairs.flat_map(|(q, v)| [q, v].concat()).collect())
            }
        }
    };
    let width = if positions { d / 2 } else { d };
    if let Some(place) = states.iter().position(|value| !value.is_finite()) {
        return Err(MeasuredError::Value {
            place: format!(
                "`{}`, trajectory {}, sample {}",
                path.display(),
                place / (samples * width),
                place / width % samples
            ),
            name: format!("number {} of a state", place % width),
            value: states[place].to_string(),
        });
    }
    let times = match (arrays.numbers("t"), arrays.numbers("dt")) {
        (Some((&[count], times)), _) if count == samples => times.to_vec(),
        (Some((shape, _)), _) => {
            return Err(wrong("t", shape, format!("{samples} times, one for each sample,")));
        }
        (None, Some((_, &[dt]))) => (0..samples).map(|sample| sample as f64 * dt).collect(),
        (None, Some((shape, _))) => return Err(wrong("dt", shape, "one number".to_owned())),
        (None, None) => Vec::new(),
    };
    if let Some(sample) = times.iter().position(|t| !t.is_finite()) {
        let place = format!("`{}`, sample {sample}", path.display());
        return Err(MeasuredError::Value { place, name: "t".to_owned(), value: times[sample].to_string() });
    }
    if samples == 0 || trajectories == 0 {
        return Err(MeasuredError::Short { name: format!("`{}`", path.display()), found: 0, needed: 2 });
    }
    let name = |number: usize| format!("trajectory {number} of `{}`", path.display());
    let each = states.chunks_exact(samples * width).enumerate();
    Ok(each
        .map(|(number, states)| Raw { name: name(number), times: times.clone(), states: states.to_vec() })
        .collect())
}

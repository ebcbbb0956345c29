//! What of a record is worth a curve.

use leastaction_output::{ColumnRef, Record};

/// The coordinates by which people know where things are: all but those of a body's nodes, `top_ax` to `top_cz` of a body `top` whose
/// centre is at `top_x`, `top_y` and, in space, `top_z`. Their places in the record.
pub(crate) fn telling(record: &Record) -> Vec<usize> {
    let names = record.coordinates.names().iter().zip(0..);
    names.filter(|(name, _)| !is_node(record, name) && !record.is_integral(name)).map(|(_, i)| i).collect()
}

fn is_node(record: &Record, name: &str) -> bool {
    // Indices stand behind the part: `top_ax[3]` is of `top[3]`.
    let (part, indices) =
        name.split_at(name.rfind('_').and_then(|at| Some(at + name[at..].find('[')?)).unwrap_or(name.len()));
    let Some((body, node)) = part.rsplit_once('_') else { return false };
    let named = matches!(node.as_bytes(), [b'a'..=b'c', b'x'..=b'z']);
    let centre = |axis: &str| record.coordinates.names().contains(&format!("{body}_{axis}{indices}"));
    let whole = format!("{body}{indices}");
    named && record.paths.iter().any(|path| path.name == whole) && centre("x") && centre("y")
}

/// What changes by less than this part of the largest number of its kind does not move: it is rounded.
const STILL: f64 = 1e-14;

/// Coordinates with their velocities, those that move if any does; of a port-Hamiltonian system, one state with another.
pub(crate) fn pairs(record: &Record) -> Vec<(ColumnRef<'_>, ColumnRef<'_>)> {
    let (q, v) = (&record.coordinates, &record.velocities);
    if v.is_empty() {
        return q.get(0).zip(q.get(1)).into_iter().collect();
    }
    let all: Vec<_> = telling(record).into_iter().filter_map(|i| Some((q.get(i)?, v.get(i)?))).collect();
    let largest = |sizes: &mut dyn Iterator<Item = &f64>| {
        sizes.filter(|x| x.is_finite()).fold(0.0_f64, |largest, x| largest.max(x.abs()))
    };
    let sizes = [
        largest(&mut all.iter().flat_map(|(q, _)| q.values)),
        largest(&mut all.iter().flat_map(|(_, v)| v.values)),
    ];
    let moving = |(q, v): &&(ColumnRef<'_>, ColumnRef<'_>)| {
        let moves = |column: &ColumnRef<'_>, size: f64| {
            column.values.iter().any(|x| x.is_nan() || (x - column.values[0]).abs() > STILL * size)
        };
        moves(q, sizes[0]) || moves(v, sizes[1])
    };
    let some: Vec<_> = all.iter().filter(moving).cloned().collect();
    if some.is_empty() { all } else { some }
}

/// At most so many of a number of things, from the first to the last.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    match most {
        0 => Vec::new(),
        1 => vec![0],
        _ => (0..most).map(|i| i * (count - 1) / (most - 1)).collect(),
    }
}

/// What is reported of things that are not shown.
pub(crate) fn note(shown: usize, all: usize) -> Vec<String> {
    if shown < all { vec![format!("{shown} of {all}")] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::{pairs, spread, telling};
    use leastaction_output::{Column, Columns, Path, Record};

    fn columns(names: &[&str]) -> Columns {
        let column =
            |(i, name): (usize, &&str)| Column { name: (*name).to_owned(), values: vec![0.0, i as f64] };
        names.iter().enumerate().map(column).collect::<Vec<_>>().into()
    }

    #[test]
    fn nodes_of_bodies_are_left_out_and_what_is_only_called_like_them_is_not() {
        let names = ["th_ax", "top_x", "top_y", "top_z", "top_ax", "top_cz", "top_dx", "bob_x", "bob_ax"];
        let place = |name: &str| Path { name: name.to_owned(), axes: vec![vec![0.0; 2]; 3] };
        let record = Record {
            times: vec![0.0, 1.0],
            coordinates: columns(&names),
            velocities: columns(&names),
            // Not `th`, and the bob has no `bob_y`: neither is a body.
            paths: vec![place("top"), place("bob")],
            ..Record::default()
        };
        assert_eq!(telling(&record), [0, 1, 2, 3, 6, 7, 8]);
        // The first one stands still.
        let pairs: Vec<_> = pairs(&record).into_iter().map(|(q, _)| q.name).collect();
        assert_eq!(pairs, ["top_x", "top_y", "top_z", "top_dx", "bob_x", "bob_ax"]);

        // What moves by its rounding only does not move, and what is very small does, beside nothing larger.
        let noisy = |size: f64| {
            let column = |name: &str, scale: f64| Column { name: name.to_owned(), values: vec![0.0, scale] };
            let columns = || -> Columns { vec![column("x", 1e-18), column("y", size)].into() };
            Record {
                times: vec![0.0, 1.0],
                coordinates: columns(),
                velocities: columns(),
                ..Record::default()
            }
        };
        let shown = |size: f64| super::pairs(&noisy(size)).len();
        assert_eq!([shown(1.0), shown(1e-17), shown(0.0)], [1, 2, 1]);
    }

    #[test]
    fn some_of_many_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(3, 6), [0, 1, 2]);
        assert_eq!(spread(60, 3), [0, 29, 59]);
        assert_eq!((spread(5, 1), spread(5, 0)), (vec![0], vec![]));
    }
}

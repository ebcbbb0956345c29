//! Inputs from tables: the columns of a file of numbers, and what lies between its rows.

use super::clause::one_of;
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use leastaction_expr::{Expr, Kind, Parser, nearest};
use std::io::Read;
use std::path::Path;

/// More rows are no input of a motion that stops at each of them.
const MOST_ROWS: usize = 500;
/// Files that are larger are not read.
const MOST_BYTES: u64 = 1 << 26;

/// What lies between rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    /// Straight lines.
    Linear,
    /// Polynomials of third degree whose slopes and curvatures meet, the first two being one, and the last two.
    Cubic,
    /// The value of the row before.
    Hold,
}

/// `table "FILE" column NAME [linear | cubic | hold] [held]`: what an input is, and the times that it covers; none if it is held before and after.
pub(super) fn table<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(Expr<'g>, Option<[f64; 2]>), Diagnostic> {
    let (path, span) = parser.quotation("the path of a file in double quotes, as `\"u.csv\"`")?;
    reader.word(parser, "column", "`column` and the name of the column of values")?;
    let (column, place) = match parser.peek().kind {
        Kind::Text => parser.quotation("the name of a column").map(|(text, span)| (text.to_owned(), span))?,
        _ => parser.name().map(|(name, span)| (name.into_owned(), span))?,
    };
    let (mut between, mut held) = (Between::Linear, false);
    while parser.peek().kind == Kind::Name {
        let (word, _) = one_of(
            parser,
            &["linear", "cubic", "hold", "held"],
            "`linear`, `cubic` or `hold` for what lies between rows, or `held` for what lies before and after them",
        )?;
        match word {
            "linear" => between = Between::Linear,
            "cubic" => between = Between::Cubic,
            "hold" => between = Between::Hold,
            _ => held = true,
        }
    }
    let Some(folder) = &reader.folder else {
        let wrong = Diagnostic::at(span, "this text is no file, so there is no place to look for others");
        return Err(wrong.help("save it as a `.motion` file beside the table"));
    };
    let text = text_of(&folder.join(path)).map_err(|why| {
        Diagnostic::at(span, format!("`{path}` cannot be read: {why}"))
            .help("paths are taken from the folder of the model")
    })?;
    let Rows { times, values } = rows(&text, &column).map_err(|wrong| match wrong {
        Wrong::Column { known } => {
            let missing = Diagnostic::at(place, format!("`{path}` has no column `{column}`"));
            missing.help(match nearest(&column, known.iter().map(String::as_str)) {
                Some(other) => format!("did you mean `{other}`?"),
                None => format!("its columns are {}", known.join(", ")),
            })
        }
        Wrong::Time => Diagnostic::at(place, format!("`{column}` is the column of the times of `{path}`"))
            .help("name a column of values"),
        Wrong::Line { line, why } => Diagnostic::at(span, format!("line {line} of `{path}`: {why}")),
        Wrong::All { why, help } => Diagnostic::at(span, format!("`{path}` {why}")).help(help),
    })?;
    let covers = [times[0], times[times.len() - 1]];
    let value = expression(reader.graph.symbol("t"), &times, &values, between);
    Ok((value, (!held).then_some(covers)))
}

fn text_of(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let size = file.metadata().map_err(|error| error.to_string())?;
    if !size.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if read as u64 > MOST_BYTES { Err("it has more than 64 MB".to_owned()) } else { Ok(text) }
}

/// Times that increase, and a value at each.
#[derive(Debug, PartialEq)]
struct Rows {
    times: Vec<f64>,
    values: Vec<f64>,
}

/// Why a file has no such rows.
#[derive(Debug, PartialEq)]
enum Wrong {
    Column { known: Vec<String> },
    Time,
    Line { line: usize, why: String },
    All { why: String, help: String },
}

/// The rows of a text: its first line names the columns; the times are those of `t` or `time`, or of the first one.
fn rows(text: &str, column: &str) -> Result<Rows, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((first, header)) = lines.next() else {
        let help =
            "its first line names the columns, as `t,u`, and each other line has the numbers of a time";
        return Err(Wrong::All { why: "is empty".to_owned(), help: help.to_owned() });
    };
    let separator = [',', ';', '\t'].into_iter().find(|&sign| header.contains(sign)).unwrap_or(',');
    let cell = |text: &str| text.trim().trim_matches('"').trim().to_owned();
    let known: Vec<String> = header.split(separator).map(cell).collect();
    if known.iter().all(|name| name.parse::<f64>().is_ok()) {
        let why = format!("the first line should name the columns, as `t{separator}{column}`");
        return Err(Wrong::Line { line: first, why });
    }
    let is_time = |name: &String| ["t", "time"].contains(&name.to_lowercase().as_str());
    let time = known.iter().position(is_time).unwrap_or(0);
    let Some(place) = known.iter().position(|name| name == column) else {
        return Err(Wrong::Column { known });
    };
    if place == time {
        return Err(Wrong::Time);
    }
    let mut rows = Rows { times: Vec::new(), values: Vec::new() };
    for (line, text) in lines {
        let wrong = |why: String| Wrong::Line { line, why };
        let cells: Vec<&str> = text.split(separator).collect();
        if cells.len() != known.len() {
            return Err(wrong(format!(
                "there are {} columns, and {} names of columns",
                cells.len(),
                known.len()
            )));
        }
        let number = |place: usize| {
            let text = cell(cells[place]);
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(value),
                Ok(_) => Err(wrong(format!("`{}` is {text}: it must be finite", known[place]))),
                Err(_) if text.is_empty() => Err(wrong(format!("`{}` is missing", known[place]))),
                Err(_) => Err(wrong(format!("`{text}` is no number"))),
            }
        };
        let (t, value) = (number(time)?, number(place)?);
        if let Some(&before) = rows.times.last().filter(|before| **before >= t) {
            return Err(wrong(format!("the time {t} does not come after {before}")));
        }
        rows.times.push(t);
        rows.values.push(value);
    }
    if rows.times.len() < 2 {
        let help = "what lies between rows needs two of them; a constant is `input u = 3`".to_owned();
        return Err(Wrong::All { why: "has less than two rows".to_owned(), help });
    }
    if rows.times.len() > MOST_ROWS {
        let why = format!("has {} rows, and an input has {MOST_ROWS} at most", rows.times.len());
        let help = "a motion stops at every row: thin them out, or fit a formula to them".to_owned();
        return Err(Wrong::All { why, help });
    }
    Ok(rows)
}

/// A function of time through these points, constant before the first and after the last. Comparisons tell its pieces apart, so that runs land where these meet.
fn expression<'g>(t: Expr<'g>, times: &[f64], values: &[f64], between: Between) -> Expr<'g> {
    let (graph, n) = (t.graph(), times.len());
    let number = |value: f64| graph.number(value);
    let slopes = if between == Between::Cubic { slopes(times, values) } else { Vec::new() };
    let piece = |i: usize| {
        let (h, rise, since) = (times[i + 1] - times[i], values[i + 1] - values[i], t - number(times[i]));
        let start = number(values[i]);
        match between {
            Between::Hold => start,
            Between::Linear => start + number(rise / h) * since,
            Between::Cubic => {
                let [a, b] = [slopes[i], slopes[i + 1]];
                let second = (3.0 * rise / h - 2.0 * a - b) / h;
                let third = (a + b - 2.0 * rise / h) / (h * h);
                start + since * (number(a) + since * (number(second) + since * number(third)))
            }
        }
    };
    // What lies before row i, and after row i − 1.
    let mut pieces = vec![number(values[0])];
    pieces.extend((0..n - 1).map(piece));
    pieces.push(number(values[n - 1]));
    choose(t, times, &pieces)
}

/// Of the pieces between times the one that holds, by halves.
fn choose<'g>(t: Expr<'g>, times: &[f64], pieces: &[Expr<'g>]) -> Expr<'g> {
    match times.len() {
        0 => pieces[0],
        count => {
            let middle = count / 2;
            let before = choose(t, &times[..middle], &pieces[..=middle]);
            let after = choose(t, &times[middle + 1..], &pieces[middle + 1..]);
            if before == after { before } else { t.lt(times[middle]).select(before, after) }
        }
    }
}

/// The slopes of the cubic spline at its points, with no knot at the second and at the last but one: a cubic is reproduced (C. de Boor, *A Practical Guide to Splines*,
/// 2001, chapter IV). Of three points it is a parabola, of two a line.
fn slopes(times: &[f64], values: &[f64]) -> Vec<f64> {
    let n = times.len();
    let h: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rises: Vec<f64> = values.windows(2).zip(&h).map(|(pair, h)| (pair[1] - pair[0]) / h).collect();
    if n == 2 {
        return vec![rises[0]; 2];
    }
    if n == 3 {
        let bend = (rises[1] - rises[0]) / (h[0] + h[1]);
        return vec![rises[0] - bend * h[0], rises[0] + bend * h[0], rises[1] + bend * h[1]];
    }
    // Rows of three: below, on and above the diagonal; and what they should give.
    let mut rows: Vec<[f64; 4]> = Vec::with_capacity(n);
    let span = h[0] + h[1];
    let first = ((h[0] + 2.0 * span) * h[1] * rises[0] + h[0] * h[0] * rises[1]) / span;
    rows.push([0.0, h[1], span, first]);
    for i in 1..n - 1 {
        let right = 3.0 * (h[i] * rises[i - 1] + h[i - 1] * rises[i]);
        rows.push([h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1], right]);
    }
    let (k, l) = (h[n - 3], h[n - 2]);
    let last = (l * l * rises[n - 3] + (2.0 * (k + l) + l) * k * rises[n - 2]) / (k + l);
    rows.push([k + l, k, 0.0, last]);
    for i in 1..n {
        let [_, on, above, right] = rows[i - 1];
        let factor = rows[i][0] / on;
        rows[i][1] -= factor * above;
        rows[i][3] -= factor * right;
    }
    let mut found = vec![0.0; n];
    for i in (0..n).rev() {
        let next = if i + 1 < n { rows[i][2] * found[i + 1] } else { 0.0 };
        found[i] = (rows[i][3] - next) / rows[i][1];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_expr::Graph;

    fn at(times: &[f64], values: &[f64], between: Between, time: f64) -> f64 {
        let graph = Graph::new();
        let t = graph.symbol("t");
        expression(t, times, values, between).eval(&[(t, time)]).unwrap()
    }

    #[test]
    fn pieces_are_what_they_are_called() {
        let (times, values) = ([0.0, 1.0, 3.0], [2.0, 4.0, 0.0]);
        for (time, linear, hold) in [
            (-1.0, 2.0, 2.0),
            (0.0, 2.0, 2.0),
            (0.5, 3.0, 2.0),
            (1.0, 4.0, 4.0),
            (2.0, 2.0, 4.0),
            (3.0, 0.0, 0.0),
            (9.0, 0.0, 0.0),
        ] {
            assert_eq!(at(&times, &values, Between::Linear, time), linear, "{time}");
            assert_eq!(at(&times, &values, Between::Hold, time), hold, "{time}");
        }
    }

    /// A cubic comes out of its own points, a parabola of three, and a sine to fourth order.
    #[test]
    fn cubics_are_reproduced() {
        let cubic = |t: f64| 1.0 - 2.0 * t + 0.5 * t * t - 0.3 * t * t * t;
        let times = [-1.0, -0.2, 0.1, 0.9, 2.0, 2.3];
        let values = times.map(cubic);
        for time in [-0.9, -0.5, 0.0, 0.4, 1.3, 2.2] {
            let found = at(&times, &values, Between::Cubic, time);
            assert!((found - cubic(time)).abs() < 1e-13, "{time}: {found} {}", cubic(time));
        }
        let found = at(&[0.0, 1.0, 3.0], &[0.0, 1.0, 9.0], Between::Cubic, 2.0);
        assert!((found - 4.0).abs() < 1e-14, "{found}");
        let error = |n: usize| {
            let times: Vec<f64> = (0..=n).map(|i| i as f64 * 3.0 / n as f64).collect();
            let values: Vec<f64> = times.iter().map(|t| t.sin()).collect();
            let off = |i: usize| {
                let time = 3.0 * (i as f64 + 0.37) / 200.0;
                (at(&times, &values, Between::Cubic, time) - time.sin()).abs()
            };
            (0..200).map(off).fold(0.0, f64::max)
        };
        let order = (error(16) / error(32)).log2();
        assert!((order - 4.0).abs() < 0.7, "{order}");
    }

    #[test]
    fn files_are_read_as_people_write_them() {
        let found = rows("\u{feff}# measured\nu;time\n\n1.5;0\n -2 ; 1e-1\r\n", "u").unwrap();
        assert_eq!(found, Rows { times: vec![0.0, 0.1], values: vec![1.5, -2.0] });
        let line = |text: &str| match rows(text, "u") {
            Err(Wrong::Line { line, why }) => (line, why),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(line("t,u\n0,1\n0,2\n"), (3, "the time 0 does not come after 0".to_owned()));
        assert_eq!(line("t,u\n0,1\n1,nan\n"), (3, "`u` is nan: it must be finite".to_owned()));
        assert_eq!(line("t,u\n0,1\n1,\n"), (3, "`u` is missing".to_owned()));
        assert_eq!(line("t,u\n0,1\n1,2,3\n").0, 3);
        assert_eq!(line("t,u\n0,1,5\n1,2\n").0, 2);
        assert_eq!(line("t;u\n0;1\n1,5;2\n"), (3, "`1,5` is no number".to_owned()));
        assert_eq!(line("0,1\n1,2\n").0, 1);
        assert!(matches!(rows("", "u"), Err(Wrong::All { .. })));
        assert!(matches!(rows("t,u\n0,1\n", "u"), Err(Wrong::All { .. })));
        assert_eq!(
            rows("t,v\n0,1\n", "u"),
            Err(Wrong::Column { known: vec!["t".to_owned(), "v".to_owned()] })
        );
        assert_eq!(rows("t,v\n0,1\n", "t"), Err(Wrong::Time));
        let long: String = (0..=MOST_ROWS).map(|i| format!("{i},1\n")).collect();
        assert!(matches!(rows(&format!("t,u\n{long}"), "u"), Err(Wrong::All { .. })));
    }
}

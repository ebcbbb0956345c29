//! Draws how ensembles scale: `scaling FILE.csv FILE.svg`. `make bench-peers` measures it, and writes the table.
//!
//! On the left trajectories a second against threads, one curve for each width of lanes, with the line on which each thread does as much as the
//! first; on the right the most memory that was held against the number of trajectories.

use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

type Fallible<T> = Result<T, Box<dyn Error>>;
type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A row of the table.
struct Row {
    measure: String,
    lanes: u32,
    threads: f64,
    trajectories: f64,
    seconds: f64,
    bytes: f64,
}

const COLORS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
const GREY: RGBColor = RGBColor(170, 170, 170);

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [table, picture] = &arguments[..] else {
        return Err("scaling FILE.csv FILE.svg".into());
    };
    let rows = read(&std::fs::read_to_string(table)?).map_err(|error| format!("{table}: {error}"))?;
    let root = SVGBackend::new(picture, (1000, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(500);
    throughput(&left, &rows)?;
    memory(&right, &rows)?;
    root.present()?;
    Ok(())
}

fn read(text: &str) -> Fallible<Vec<Row>> {
    let mut lines = text.lines();
    if lines.next() != Some("measure,lanes,threads,trajectories,seconds,peak_bytes") {
        return Err("it is not a table of how ensembles scale".into());
    }
    let row = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
        [measure, lanes, threads, trajectories, seconds, bytes] => Ok(Row {
            measure: measure.to_owned(),
            lanes: lanes.parse()?,
            threads: threads.parse()?,
            trajectories: trajectories.parse()?,
            seconds: seconds.parse()?,
            bytes: bytes.parse()?,
        }),
        _ => Err(format!("six columns are needed: {line}").into()),
    };
    lines.map(row).collect()
}

fn throughput(area: &Panel<'_>, rows: &[Row]) -> Fallible<()> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.measure == "throughput").collect();
    let rate = |row: &Row| row.trajectories / row.seconds;
    let most = rows.iter().map(|row| row.threads).fold(1.0, f64::max);
    // Room for the lines of what threads could do.
    let could = |row: &Row| if row.threads == 1.0 { most * rate(row) } else { rate(row) };
    let top = rows.iter().map(|row| could(row)).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption("Trajectories a second", ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..most + 0.5, 0.0..1.1 * top)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .y_label_formatter(&|y| format!("{y:.0}"))
        .x_labels(most as usize + 2)
        .x_label_formatter(&|x| if x.fract() == 0.0 { format!("{x:.0}") } else { String::new() })
        .x_desc("threads")
        .draw()?;
    let mut widths: Vec<u32> = rows.iter().map(|row| row.lanes).collect();
    widths.sort_unstable();
    widths.dedup();
    for (width, color) in widths.into_iter().zip(COLORS) {
        let points: Vec<(f64, f64)> =
            rows.iter().filter(|row| row.lanes == width).map(|row| (row.threads, rate(row))).collect();
        if let Some(&(threads, first)) = points.first() {
            chart.draw_series(LineSeries::new([(0.0, 0.0), (most, first / threads * most)], GREY))?;
        }
        let name = if width == 1 { "one by one".to_owned() } else { format!("{width} lanes") };
        chart
            .draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
        chart.draw_series(points.iter().map(|&at| Circle::new(at, 4, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(GREY)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}

fn memory(area: &Panel<'_>, rows: &[Row]) -> Fallible<()> {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.measure == "memory")
        .map(|row| (row.trajectories, row.bytes / 1e6))
        .collect();
    let (first, last) = (points.first().map_or(1.0, |p| p.0), points.last().map_or(10.0, |p| p.0));
    let top = points.iter().map(|p| p.1).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption("The most memory held, MB", ("sans-serif", 17))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d((first / 2.0..last * 2.0).log_scale(), 0.0..1.5 * top)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&|x| format!("1e{:.0}", x.log10()))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .x_desc("trajectories")
        .draw()?;
    chart.draw_series(LineSeries::new(points.iter().copied(), COLORS[0].stroke_width(2)))?;
    chart.draw_series(points.iter().map(|&at| Circle::new(at, 4, COLORS[0].filled())))?;
    Ok(())
}

//! What a comparison came to, as tables.

use super::paper::published;
use super::{Budget, Outcome, PERTURBED};

/// A table of all outcomes, a row for each, as CSV.
#[must_use]
pub fn results_csv(outcomes: &[Outcome]) -> String {
    let mut text =
        "system,model,seed,steps,mean,geometric_mean,published_mean,published_geometric_mean,energy_error,\
         largest_violation,lost,trajectories,training_seconds\n"
            .to_owned();
    for outcome in outcomes {
        let paper = published(&outcome.case, &outcome.title);
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
        text += &format!(
            "{},{},{},{},{:?},{:?},{},{},{:?},{:?},{},{},{:.1}\n",
            outcome.case,
            outcome.name,
            outcome.seed,
            outcome.steps,
            outcome.mean,
            outcome.geometric_mean,
            number(paper.map(|paper| paper.mean)),
            number(paper.map(|paper| paper.geometric_mean)),
            outcome.energy_mean,
            outcome.violation_most,
            outcome.lost,
            outcome.trajectories,
            outcome.seconds
        );
    }
    text
}

/// Errors over time, a row for each outcome and sample, as CSV.
#[must_use]
pub fn curves_csv(outcomes: &[Outcome]) -> String {
    let mut text = "system,model,seed,t,error,error_low,error_high,energy_error,violation\n".to_owned();
    for outcome in outcomes {
        for (sample, t) in outcome.times().into_iter().enumerate() {
            let error = &outcome.error;
            let violation = outcome.violation.middle.get(sample).copied().unwrap_or(f64::NAN);
            text += &format!(
                "{},{},{},{t:?},{:?},{:?},{:?},{:?},{violation:?}\n",
                outcome.case,
                outcome.name,
                outcome.seed,
                error.middle[sample],
                error.low[sample],
                error.high[sample],
                outcome.energy.middle[sample],
            );
        }
    }
    text
}

/// All of it as Markdown: by which command, what was spent, and a table for each number.
#[must_use]
pub fn markdown(outcomes: &[Outcome], budget: &Budget, command: &str, threads: usize) -> String {
    let Budget { split: [training, validation, test], hidden, optimizer, steps, batch, seeds, substeps } =
        budget;
    let hidden = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let plural = if *seeds == 1 { "seed 0".to_owned() } else { format!("seeds 0 to {}", seeds - 1) };
    let mut text = format!(
        "# Constrained networks, compared\n\n\
         The comparison of M. Finzi, K. A. Wang and A. G. Wilson, *Simplifying Hamiltonian and Lagrangian Neural Networks via Explicit Constraints* \
         (NeurIPS 2020, arXiv:2010.13581), by\n\n```sh\n{command}\n```\n\n\
         Each network learned from {training} trajectories of 100 samples ({validation} for validation), with {hidden} units between its layers, by {steps} steps of `{optimizer}` with batches of \
         {batch} chunks, {plural}; training took {seconds:.0} s in all, in {threads} threads. The publication spent 8000 steps of AdamW, with 256, 256, 256 units. Rollouts are of {test} other trajectories, \
         {substeps} steps of Kutta's 3/8 rule from sample to sample.\n"
    );
    let mut section = |title: &str, about: &str, cell: &dyn Fn(&Outcome) -> String| {
        text += &format!("\n## {title}\n\n{about}\n\n{}", grid(outcomes, cell));
    };
    let truth = format!("*truth* is the true motion from starts that are moved by {PERTURBED:?}.");
    section(
        "Relative error",
        &format!(
            "The geometric mean over time and trajectories of |ẑ − z|/(|ẑ| + |z|), and in brackets the published number. {truth}"
        ),
        &|outcome| {
            let paper = published(&outcome.case, &outcome.title);
            let paper = paper.map_or("–".to_owned(), |paper| short(paper.geometric_mean));
            let lost = if outcome.lost > 0 { format!(", {} lost", outcome.lost) } else { String::new() };
            format!("{} ({paper}{lost})", short(outcome.geometric_mean))
        },
    );
    section(
        "Mean error",
        "The mean over trajectories of the geometric mean over time, and in brackets the published number.",
        &|outcome| {
            let paper = published(&outcome.case, &outcome.title);
            format!("{} ({})", short(outcome.mean), paper.map_or("–".to_owned(), |paper| short(paper.mean)))
        },
    );
    section(
        "Error of the energy",
        "The geometric mean over time and trajectories of |E(ẑ) − E(z)|/(|E(ẑ)| + |E(z)|), with the energy E of the true system.",
        &|outcome| short(outcome.energy_mean),
    );
    section(
        "Violation of constraints",
        "The largest violation of any constraint, at any sample, as the system states it. Networks in angles have no constraints to violate.",
        &|outcome| short(outcome.violation_most),
    );
    let about = "Seconds of training. Where predictions ran away, what had been best on validation until then is judged.";
    section("Training", about, &|outcome| match outcome.steps {
        0 => "–".to_owned(),
        done if done < *steps => format!("{:.0}, ran away at step {done}", outcome.seconds),
        _ => format!("{:.0}", outcome.seconds),
    });
    text
}

/// How errors depend on the number of trajectories that are learned from, as Markdown: for each number all outcomes.
#[must_use]
pub fn efficiency_markdown(all: &[(u64, Vec<Outcome>)], budget: &Budget, command: &str) -> String {
    let Budget { split: [_, validation, test], hidden, optimizer, steps, batch, .. } = budget;
    let hidden = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "# Errors against trajectories to learn from\n\nBy\n\n```sh\n{command}\n```\n\n\
         {steps} steps of `{optimizer}` with batches of {batch} chunks, or as many as there are; {hidden} units between layers; {validation} trajectories for validation. The geometric mean \
         over time and {test} other trajectories of |ẑ − z|/(|ẑ| + |z|). *truth* is the true motion from starts that are moved by {PERTURBED:?}.\n"
    );
    let first = all.first().map_or(&[][..], |(_, outcomes)| outcomes);
    let mut cases: Vec<&str> = first.iter().map(|outcome| outcome.case.as_str()).collect();
    cases.dedup();
    for case in cases {
        let own = |outcomes: &'_ [Outcome]| -> Vec<String> {
            outcomes.iter().filter(|o| o.case == case).map(|o| short(o.geometric_mean)).collect()
        };
        let heads = first.iter().filter(|o| o.case == case).map(|o| match o.seed {
            0 => o.title.clone(),
            seed => format!("{}, seed {seed}", o.title),
        });
        let heads: Vec<String> = heads.collect();
        text += &format!(
            "\n## {case}\n\n| trajectories | {} |\n|---|{}\n",
            heads.join(" | "),
            "---|".repeat(heads.len())
        );
        for (count, outcomes) in all {
            text += &format!("| {count} | {} |\n", own(outcomes).join(" | "));
        }
    }
    text
}

fn short(value: f64) -> String {
    if value.is_finite() { format!("{value:.1e}") } else { "–".to_owned() }
}

/// A table with a row for each system and a column for each model, and seed if there are several.
fn grid(outcomes: &[Outcome], cell: &dyn Fn(&Outcome) -> String) -> String {
    let (mut cases, mut models): (Vec<&str>, Vec<(&str, u64)>) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        if !cases.contains(&outcome.case.as_str()) {
            cases.push(&outcome.case);
        }
        if !models.contains(&(outcome.title.as_str(), outcome.seed)) {
            models.push((&outcome.title, outcome.seed));
        }
    }
    let several = models.iter().any(|(_, seed)| *seed > 0);
    let head = |(title, seed): &(&str, u64)| match several && *title != "truth" {
        true => format!("{title}, {seed}"),
        false => (*title).to_owned(),
    };
    let mut text = format!("| | {} |\n", models.iter().map(head).collect::<Vec<_>>().join(" | "));
    text += &format!("|---|{}\n", "---|".repeat(models.len()));
    for case in cases {
        let found = |(title, seed): &(&str, u64)| {
            let mut all = outcomes.iter();
            let found = all.find(|o| o.case == case && o.title == *title && o.seed == *seed);
            found.map_or("–".to_owned(), cell)
        };
        text += &format!("| {case} | {} |\n", models.iter().map(found).collect::<Vec<_>>().join(" | "));
    }
    text
}

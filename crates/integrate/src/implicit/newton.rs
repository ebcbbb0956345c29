//! Newton's method for lanes that iteration does not solve: (1 − g′(x)) δ = g(x) − x, from x = 0.

use super::{Equation, Front, Lane};
use leastaction_linear::{Factors, NoFactors, Structure};
use leastaction_mechanics::EvalError;

const MAX_ITERATIONS: u32 = 50;

/// Whole matrices of more rows than this are not made.
const MOST_DENSE: usize = 4096;

/// The memory of the iteration.
pub(super) struct Newton {
    /// The entries of g′ in all lanes.
    entries: Vec<f64>,
    /// 1 − g′ of one lane, if it has entries.
    factors: Option<Factors<f64>>,
    side: Vec<f64>,
    /// (1 − g′)⁻¹u where an outer product u vᵀ is added to the entries.
    turned: Vec<f64>,
    /// Unknowns and their image, to see what rounding does.
    spare: [Vec<f64>; 2],
}

impl Newton {
    /// Whether matrices of this structure are made.
    pub(super) fn serves(structure: &Structure) -> bool {
        match structure {
            Structure::Dense(rows) => *rows <= MOST_DENSE,
            Structure::Sparse(_) => true,
            Structure::Free(_) => false,
        }
    }

    pub(super) fn new(structure: &Structure, width: usize) -> Newton {
        let factors = Newton::serves(structure).then(|| match structure {
            Structure::Sparse(pattern) => Factors::sparse(pattern.clone()),
            Structure::Dense(rows) | Structure::Free(rows) => Factors::dense(*rows),
        });
        Newton {
            entries: vec![0.0; factors.as_ref().map_or(0, |_| structure.len() * width)],
            factors,
            side: vec![0.0; structure.rows()],
            turned: Vec::new(),
            spare: [Vec::new(), Vec::new()],
        }
    }

    /// Iterates until all lanes are done, or for a while; not at all where g′ has no entries. Returns how many iterations were made.
    pub(super) fn iterate<const W: usize>(
        &mut self,
        y: &[f64],
        x: &mut [f64],
        front: &mut Front<'_, W>,
        equation: &mut impl Equation,
    ) -> Result<u32, EvalError> {
        if self.factors.is_none() {
            return Ok(0);
        }
        front.restart();
        for (j, lane) in front.progress.iter().enumerate() {
            if lane.state == Lane::Open {
                x.iter_mut().skip(j).step_by(W).for_each(|x| *x = 0.0);
            }
        }
        for k in 0..MAX_ITERATIONS {
            equation.image(x, front.image)?;
            if k == 1 {
                // The scale so far is that of a guess, which may be far too large.
                front.weigh(y, [true; W]);
            }
            front.compare(x);
            if !front.is_done() {
                equation.jacobian(x, &mut self.entries)?;
            }
            for j in 0..W {
                match front.progress[j].state {
                    Lane::Open | Lane::Settling | Lane::Foreseen => {
                        self.correct::<W>(j, x, front.image, equation.outer());
                    }
                    // The image is no better: where steps are long, it is off by many times as much.
                    Lane::Closing | Lane::Resting | Lane::Waiting => {}
                }
            }
            if front.is_done() || front.is_lost() {
                return Ok(k + 1);
            }
        }
        self.spare.iter_mut().for_each(|spare| spare.resize(x.len(), 0.0));
        let [moved, other] = &mut self.spare;
        front.explain(y, x, [moved, other], |x, image| equation.image(x, image))?;
        Ok(MAX_ITERATIONS)
    }

    /// Moves a lane to where its equation would be solved if it were linear.
    fn correct<const W: usize>(
        &mut self,
        lane: usize,
        x: &mut [f64],
        image: &[f64],
        outer: Option<[&[f64]; 2]>,
    ) {
        let Newton { entries, factors, side, turned, .. } = self;
        let Some(factors) = factors else { unreachable!("without entries nothing is iterated") };
        let places = (lane..x.len()).step_by(W);
        let value =
            |row: usize, column: usize, place: usize| f64::from(row == column) - entries[place * W + lane];
        match factors.factor(value) {
            Ok(()) => {
                side.iter_mut().zip(places.clone()).for_each(|(side, i)| *side = image[i] - x[i]);
                factors.solve(side);
                if let Some([u, v]) = outer {
                    turned.clear();
                    turned.extend(places.clone().map(|i| u[i]));
                    factors.solve(turned);
                    add_outer(side, turned, places.clone().map(|i| v[i]));
                }
            }
            // There is no such place, and residuals will say so.
            Err(NoFactors) => side.fill(f64::NAN),
        }
        places.zip(&*side).for_each(|(i, step)| x[i] += step);
    }
}

/// (A − u vᵀ)⁻¹ r from A⁻¹r and A⁻¹u (J. Sherman and W. J. Morrison, Ann. Math. Stat. 21 (1950) 124, doi:10.1214/aoms/1177729893).
fn add_outer(solved: &mut [f64], turned: &[f64], v: impl Iterator<Item = f64> + Clone) {
    let along = |x: &[f64]| v.clone().zip(x).map(|(v, x)| v * x).sum::<f64>();
    let share = along(solved) / (1.0 - along(turned));
    solved.iter_mut().zip(turned).for_each(|(solved, turned)| *solved += share * turned);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A = diag(2, 4), u = (1, 3), v = (5, −1).
    #[test]
    fn an_outer_product_is_solved_with() {
        let (r, u, v) = ([7.0, -1.0], [1.0, 3.0], [5.0, -1.0]);
        let mut x = [r[0] / 2.0, r[1] / 4.0];
        add_outer(&mut x, &[u[0] / 2.0, u[1] / 4.0], v.into_iter());
        let along = v[0] * x[0] + v[1] * x[1];
        assert!((2.0 * x[0] - u[0] * along - r[0]).abs() < 1e-12);
        assert!((4.0 * x[1] - u[1] * along - r[1]).abs() < 1e-12);
    }
}

//! Newton's method for lanes that iteration does not solve: (1 − g′(x)) δ = g(x) − x, from x = 0.
//!
//! Where only products with g′ can be made, δ is found by iteration, of which the factors of M + a²K are the preconditioner. A step δ
//! that leads to where g is not defined, or where residuals are many times as large, is halved.

use super::precondition::Preconditioner;
use super::{Equation, Front, Lane, Products};
use leastaction_linear::{Factors, Gmres, NoFactors, Structure};
use leastaction_mechanics::EvalError;

const MAX_ITERATIONS: u32 = 50;

/// Whole matrices of more rows than this are not made.
const MOST_DENSE: usize = 4096;

/// By products δ is found to this part, by so many of them, with a basis of so many vectors.
const TOLERANCE: f64 = 1e-6;
const PRODUCTS: u32 = 300;
const BASIS: usize = 40;

/// Steps are halved where residuals grow by more than this factor, and are larger than this; so often in a row.
const GROWTH: f64 = 10.0;
const LARGE: f64 = 1e-3;
const HALVINGS: u32 = 10;

/// The memory of the iteration.
pub(super) struct Newton {
    /// The entries of g′ in all lanes.
    entries: Vec<f64>,
    /// 1 − g′ of one lane, if it has entries.
    factors: Option<Factors<f64>>,
    /// What finds δ by products, made when it is first needed.
    krylov: Option<Box<Krylov>>,
    side: Vec<f64>,
    /// The last δ in all lanes.
    steps: Vec<f64>,
    /// (1 − g′)⁻¹u where an outer product u vᵀ is added to the entries.
    turned: Vec<f64>,
    /// Unknowns and their image, to see what rounding does.
    spare: [Vec<f64>; 2],
}

/// δ by products with g′.
struct Krylov {
    gmres: Gmres,
    solution: Vec<f64>,
    /// What is nearly the inverse, for a single state; none if there is none, and not known before it was looked for.
    preconditioner: Option<Option<Box<Preconditioner>>>,
}

/// How a lane came to where it is: what was left before, and how often the step was halved.
#[derive(Clone, Copy)]
struct Way {
    before: f64,
    halvings: u32,
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
            krylov: None,
            side: vec![0.0; structure.rows()],
            steps: Vec::new(),
            turned: Vec::new(),
            spare: [Vec::new(), Vec::new()],
        }
    }

    /// Iterates until all lanes are done, or for a while; not at all where nothing is known of g′. Returns how many iterations were made.
    pub(super) fn iterate<const W: usize>(
        &mut self,
        y: &[f64],
        x: &mut [f64],
        front: &mut Front<'_, W>,
        equation: &mut impl Equation,
    ) -> Result<u32, EvalError> {
        if self.factors.is_none() && equation.products().is_none() {
            return Ok(0);
        }
        front.restart();
        for (j, lane) in front.progress.iter().enumerate() {
            if lane.state == Lane::Open {
                x.iter_mut().skip(j).step_by(W).for_each(|x| *x = 0.0);
            }
        }
        self.steps.clear();
        self.steps.resize(x.len(), 0.0);
        let mut ways = [Way { before: f64::INFINITY, halvings: 0 }; W];
        for k in 0..MAX_ITERATIONS {
            equation.image(x, front.image)?;
            if k == 1 {
                // The scale so far is that of a guess, which may be far too large.
                front.weigh(y, [true; W]);
            }
            front.compare(x);
            let back: [bool; W] = std::array::from_fn(|j| {
                front.progress[j].state == Lane::Open && ways[j].is_wrong(front.progress[j].size, k)
            });
            for j in (0..W).filter(|&j| back[j]) {
                self.halve::<W>(j, x);
            }
            if back.contains(&true)
                && back.iter().zip(&front.progress).all(|(back, lane)| *back || !lane.state.is_moved())
            {
                continue;
            }
            if !front.is_done() {
                match equation.products() {
                    Some(products) if self.factors.is_none() => products.go_to(x)?,
                    _ => equation.jacobian(x, &mut self.entries)?,
                }
            }
            for j in (0..W).filter(|&j| !back[j] && front.progress[j].state.is_moved()) {
                ways[j] = Way { before: front.progress[j].size, halvings: 0 };
                self.correct::<W>(j, x, front.image, equation)?;
            }
            if front.is_done() || !back.contains(&true) && front.is_lost() {
                return Ok(k + 1);
            }
        }
        self.spare.iter_mut().for_each(|spare| spare.resize(x.len(), 0.0));
        let [moved, other] = &mut self.spare;
        front.explain(y, x, [moved, other], |x, image| equation.image(x, image))?;
        Ok(MAX_ITERATIONS)
    }

    /// Takes back half of the last step of a lane.
    fn halve<const W: usize>(&mut self, lane: usize, x: &mut [f64]) {
        let steps = self.steps.iter_mut().skip(lane).step_by(W);
        for (x, step) in x.iter_mut().skip(lane).step_by(W).zip(steps) {
            *step *= 0.5;
            *x -= *step;
        }
    }

    /// Moves a lane to where its equation would be solved if it were linear.
    fn correct<const W: usize>(
        &mut self,
        lane: usize,
        x: &mut [f64],
        image: &[f64],
        equation: &mut impl Equation,
    ) -> Result<(), EvalError> {
        let Newton { entries, factors, krylov, side, turned, steps, .. } = self;
        let places = (lane..x.len()).step_by(W);
        side.iter_mut().zip(places.clone()).for_each(|(side, i)| *side = image[i] - x[i]);
        if let Some(factors) = factors {
            let value = |row: usize, column: usize, place: usize| {
                f64::from(row == column) - entries[place * W + lane]
            };
            match factors.factor(value) {
                Ok(()) => {
                    factors.solve(side);
                    if let Some([u, v]) = equation.outer() {
                        turned.clear();
                        turned.extend(places.clone().map(|i| u[i]));
                        factors.solve(turned);
                        add_outer(side, turned, places.clone().map(|i| v[i]));
                    }
                }
                // There is no such place, and residuals will say so.
                Err(NoFactors) => side.fill(f64::NAN),
            }
        } else if let Some(products) = equation.products() {
            let krylov = krylov.get_or_insert_with(|| Box::new(Krylov::new(side.len())));
            krylov.solve(lane, W == 1, side, products)?;
        }
        for (i, step) in places.zip(&*side) {
            steps[i] = *step;
            x[i] += step;
        }
        Ok(())
    }
}

impl Way {
    /// Whether the last step led to a residual, after so many iterations, from which no other step should be made; counts that it is halved.
    fn is_wrong(&mut self, size: f64, iterations: u32) -> bool {
        // The first residuals have a scale of their own.
        let grown = iterations > 1 && size > LARGE && size > GROWTH * self.before;
        let wrong = iterations > 0
            && self.halvings < HALVINGS
            && (grown || !size.is_finite())
            && self.before.is_finite();
        self.halvings += u32::from(wrong);
        wrong
    }
}

impl Krylov {
    fn new(rows: usize) -> Krylov {
        Krylov { gmres: Gmres::new(rows, BASIS), solution: vec![0.0; rows], preconditioner: None }
    }

    /// Solves (1 − g′) δ = r in a lane; r is replaced by δ. Only single states have a preconditioner.
    fn solve(
        &mut self,
        lane: usize,
        single: bool,
        r: &mut [f64],
        products: &mut dyn Products,
    ) -> Result<(), EvalError> {
        let Krylov { gmres, solution, preconditioner } = self;
        if single {
            let (dynamics, t, q, a) = products.nearly();
            let known = match &*preconditioner {
                None => false,
                Some(found) => found.as_ref().is_none_or(|found| found.is_of(dynamics)),
            };
            if !known {
                *preconditioner = Some(Preconditioner::new(dynamics, t, q)?.map(Box::new));
            }
            if let Some(Some(near)) = preconditioner {
                near.prepare(dynamics, t, q, a)?;
            }
        }
        let mut near = preconditioner.as_mut().and_then(Option::as_mut).filter(|_| single);
        let apply = |d: &[f64], out: &mut [f64]| {
            products.product(lane, d, out)?;
            out.iter_mut().zip(d).for_each(|(out, d)| *out = d - *out);
            Ok(())
        };
        let precondition = |x: &mut [f64]| near.iter_mut().for_each(|near| near.apply(x));
        gmres.solve(r, solution, TOLERANCE, PRODUCTS, apply, precondition)?;
        r.copy_from_slice(solution);
        Ok(())
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

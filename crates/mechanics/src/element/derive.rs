//! Derivatives of the energy of one element, also where it depends on numbers that are given by an equation.
//!
//! With q(s, x) = 0 for an implicit number s, ds = −(∂q/∂x · dx)/(∂q/∂s). So −∂V/∂x at fixed s has (∂V/∂s)/(∂q/∂s) ∂q/∂x added to it, and
//! along a direction s changes with it. What solves for s is put in afterwards, and is never differentiated.

use super::Elements;
use leastaction_expr::{Expr, jvp, rebind, substitute, vjp};

/// A number of an element that is given by an equation, such as the sum of the principal stretches: a symbol that stands for it, what is
/// zero when it is right, and how it is computed. Derivatives follow from the equation, which determines it where its derivative by the
/// symbol is not zero; the solution need not be smooth.
#[derive(Clone, Debug)]
pub struct Implicit<'g> {
    /// The symbol that stands for it in the energy and in the equation.
    pub symbol: Expr<'g>,
    /// What is zero, of the symbol and of what the element reads.
    pub equation: Expr<'g>,
    /// Its value, of what the element reads.
    pub solution: Expr<'g>,
}

rebind!(Implicit { symbol, equation, solution; });

/// What follows from the energy of one element.
pub(super) struct Derived<'g> {
    pub(super) energy: Expr<'g>,
    /// −∂V/∂x.
    pub(super) force: Vec<Expr<'g>>,
    /// The same, with the symbols of implicit numbers in it.
    implicit_force: Vec<Expr<'g>>,
    slopes: Vec<Expr<'g>>,
}

impl<'g> Elements<'g> {
    /// Expressions with implicit numbers put in.
    fn solved(&self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let solutions: Vec<_> = self.implicit.iter().map(|i| (i.symbol, i.solution)).collect();
        if solutions.is_empty() { expressions.to_vec() } else { substitute(expressions, &solutions) }
    }

    pub(super) fn derived(&self) -> Derived<'g> {
        let slopes: Vec<_> = self.implicit.iter().map(|i| i.equation.derivative(i.symbol)).collect();
        let by_energy =
            self.implicit.iter().zip(&slopes).map(|(i, &slope)| self.energy.derivative(i.symbol) / slope);
        let seeds: Vec<_> = std::iter::once(self.energy.like(-1.0)).chain(by_energy).collect();
        let outputs: Vec<_> =
            std::iter::once(self.energy).chain(self.implicit.iter().map(|i| i.equation)).collect();
        let implicit_force = vjp(&outputs, &self.slots, &seeds);
        let force = self.solved(&implicit_force);
        Derived { energy: self.solved(&[self.energy])[0], force, implicit_force, slopes }
    }

    /// How the energy changes along a direction.
    pub(super) fn energy_change(&self, derived: &Derived<'g>, along: &[(Expr<'g>, Expr<'g>)]) -> Expr<'g> {
        self.solved(&jvp(&[self.energy], &self.with_implicit(derived, along)))[0]
    }

    /// A direction with that of implicit numbers.
    fn with_implicit(
        &self,
        derived: &Derived<'g>,
        along: &[(Expr<'g>, Expr<'g>)],
    ) -> Vec<(Expr<'g>, Expr<'g>)> {
        let equations: Vec<_> = self.implicit.iter().map(|i| i.equation).collect();
        let changes = jvp(&equations, along);
        let moved = self.implicit.iter().zip(changes).zip(&derived.slopes);
        let moved = moved.map(|((i, change), &slope)| (i.symbol, -change / slope));
        along.iter().copied().chain(moved).collect()
    }

    /// How forces change along a direction.
    pub(super) fn force_change(
        &self,
        derived: &Derived<'g>,
        along: &[(Expr<'g>, Expr<'g>)],
    ) -> Vec<Expr<'g>> {
        self.solved(&jvp(&derived.implicit_force, &self.with_implicit(derived, along)))
    }

    /// ∂²V/∂x², the lower triangle row by row.
    pub(super) fn hessian(&self, derived: &Derived<'g>) -> Vec<Expr<'g>> {
        let one = self.energy.like(1.0);
        let columns: Vec<_> =
            self.slots.iter().map(|&slot| self.force_change(derived, &[(slot, one)])).collect();
        let entry = |row: usize, column: usize| -columns[column][row];
        (0..self.slots.len())
            .flat_map(|row| (0..=row).map(move |column| (row, column)))
            .map(|(r, c)| entry(r, c))
            .collect()
    }
}

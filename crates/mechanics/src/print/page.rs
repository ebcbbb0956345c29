//! Equations as a textbook prints them: a page of energies, momenta and equations of motion, in the form that is asked for.

use super::RowOf;
use crate::equations::{Equations, Statement, rate, symbols_of};
use leastaction_expr::{Expr, Id, Printed, Random, SymbolKind, Textbook, substitute};
use rustc_hash::FxHashSet;
use std::fmt;

/// The form of the equations of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquationForm {
    /// As they follow from what is stated: M q̈ = … of Lagrange, or q̇ = … and ṗ = … of Hamilton.
    Stated,
    /// Solved for accelerations: q̈ = …
    Solved,
    /// Hamilton's, with momenta: q̇ = ∂H/∂p and ṗ = −∂H/∂q + Q.
    Hamilton,
}

/// Why equations have no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// What determines accelerations or velocities is no formula, or too large to be solved on a page.
    #[error(
        "these equations are not solved on a page: the mass matrix is too large, or an energy is no formula. Leave out the form"
    )]
    TooLarge,
    /// Multipliers of constraints stand in the equations.
    #[error(
        "constraints act here, whose multipliers are found together with the accelerations: the equations cannot be solved one by one. Leave \
         out the form"
    )]
    Constrained,
    /// Velocities are asked for where there are momenta.
    #[error(
        "a Hamiltonian states these equations: they have momenta and no accelerations. Leave out the form"
    )]
    Momenta,
}

/// What a page has on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<'g> {
    /// Energies, each with what it is.
    pub energies: Vec<Row<'g>>,
    /// Momenta as functions of velocities.
    pub momenta: Vec<Row<'g>>,
    /// The equations of motion, and what constraints demand.
    pub equations: Vec<Row<'g>>,
    /// Those of nodes that are computed from numbers, in text and in LaTeX.
    pub nodes: Vec<[String; 2]>,
}

/// A line of a page: an equation.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'g> {
    /// In the notation of the `.motion` language.
    pub text: String,
    /// In LaTeX, with the sign aligned.
    pub latex: String,
    /// Both sides as they are printed.
    pub sides: [Expr<'g>; 2],
}

impl<'g> Page<'g> {
    /// The page without energies and momenta.
    #[must_use]
    pub fn motion_only(self) -> Page<'g> {
        Page { energies: Vec::new(), momenta: Vec::new(), ..self }
    }

    /// All lines that are expressions, those of a kind after each other.
    pub fn rows(&self) -> impl Iterator<Item = &Row<'g>> {
        self.energies.iter().chain(&self.momenta).chain(&self.equations)
    }

    /// In LaTeX, aligned at the equal signs.
    #[must_use]
    pub fn latex(&self) -> String {
        let rows = self.rows().map(|row| row.latex.as_str());
        let lines: Vec<String> = rows
            .chain(self.nodes.iter().map(|[_, latex]| latex.as_str()))
            .map(|line| format!("  {line}"))
            .collect();
        format!("\\begin{{aligned}}\n{}\n\\end{{aligned}}", lines.join(" \\\\\n"))
    }

    /// In Markdown, with LaTeX that most readers of it show.
    #[must_use]
    pub fn markdown(&self) -> String {
        let parts = [
            ("Energies", &self.energies),
            ("Momenta", &self.momenta),
            ("Equations of motion", &self.equations),
        ];
        let whole = |(title, rows): (&str, &Vec<Row<'g>>)| {
            let nodes = if title == "Equations of motion" { self.nodes.clone() } else { Vec::new() };
            let page = Page { energies: Vec::new(), momenta: Vec::new(), equations: rows.clone(), nodes };
            format!("**{title}**\n\n$$\n{}\n$$\n", page.latex())
        };
        let there =
            |(title, rows): &(&str, &Vec<Row<'g>>)| !rows.is_empty() || *title == "Equations of motion";
        parts.into_iter().filter(there).map(whole).collect::<Vec<_>>().join("\n")
    }
}

/// An equation a line.
impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows().map(|row| row.text.as_str());
        let lines: Vec<&str> = rows.chain(self.nodes.iter().map(|[text, _]| text.as_str())).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl<'g> Equations<'g> {
    /// The equations of motion, ready to be printed, with numbers in place of some parameters.
    ///
    /// Lines are printed as a textbook prints them: multiplied out, with what cancels cancelled. What does not become shorter by that stays as
    /// it was derived. A printed line has the values of the derived one, which is made sure of at a few points.
    ///
    /// # Errors
    /// [`FormError`] if the equations do not have this form.
    pub fn page(&self, form: EquationForm, numbers: &[(Expr<'g>, Expr<'g>)]) -> Result<Page<'g>, FormError> {
        let mut writer = Writer::new(self, numbers);
        let equations = self.lines(form)?.into_iter().filter_map(|line| self.of_state(line));
        let equations = equations.map(|line| writer.row(line)).collect();
        let energies = self.energy_lines(form).into_iter().map(|line| writer.row(line)).collect();
        let momenta = self.momentum_lines(form).into_iter().filter_map(|line| self.of_state(line));
        let momenta = momenta.map(|line| writer.row(line)).collect();
        Ok(Page { energies, momenta, equations, nodes: self.node_lines() })
    }

    /// A line in which states have their names; those that say only what states are the rates of are left out.
    fn of_state(&self, line: RowOf<'g>) -> Option<RowOf<'g>> {
        if self.states.is_empty() {
            return Some(line);
        }
        let momenta: Vec<_> = self.states.iter().map(|&i| (self.momenta[i], self.state_symbol(i))).collect();
        let named = |right: Expr<'g>| self.with_states(right).substitute(&momenta);
        let (RowOf::Equation(left, right)
        | RowOf::Definition(left, right)
        | RowOf::Given(left, right)
        | RowOf::Quotient(left, right, _)) = line;
        for &i in &self.states {
            if left == self.velocities[i] || left == self.momenta[i] {
                return None;
            }
            let changes = [rate(self.velocities[i]), rate(self.momenta[i])];
            if let (true, Some(change)) = (changes.contains(&left), self.state_rate(i)) {
                return Some(RowOf::Definition(change, named(right)));
            }
        }
        Some(match line {
            RowOf::Equation(left, right) => RowOf::Equation(left, named(right)),
            RowOf::Definition(left, right) => RowOf::Definition(left, named(right)),
            RowOf::Quotient(left, right, parts) => RowOf::Quotient(left, named(right), parts.map(named)),
            RowOf::Given(left, right) => RowOf::Given(left, named(right)),
        })
    }

    fn lines(&self, form: EquationForm) -> Result<Vec<RowOf<'g>>, FormError> {
        match (form, &self.statement) {
            (EquationForm::Stated, _) => Ok(self.rows()),
            (EquationForm::Hamilton, Statement::Hamiltonian(_)) => Ok(self.rows()),
            (EquationForm::Solved, Statement::Hamiltonian(_)) => Err(FormError::Momenta),
            (EquationForm::Solved, Statement::Lagrangian(_)) => {
                if !self.constraints.is_empty() {
                    return Err(FormError::Constrained);
                }
                let accelerations = self.accelerations().ok_or(FormError::TooLarge)?;
                let left = self.velocities.iter().map(|&v| rate(v));
                let rows = left.zip(accelerations);
                Ok(match self.fractions() {
                    Some((above, below)) => {
                        let rows = rows.zip(above);
                        rows.map(|((left, right), above)| RowOf::Quotient(left, right, [above, below]))
                            .collect()
                    }
                    None => rows.map(|(left, right)| RowOf::Definition(left, right)).collect(),
                })
            }
            (EquationForm::Hamilton, Statement::Lagrangian(_)) => {
                let (rates, forces) = self.phase_rates().ok_or(FormError::TooLarge)?;
                let pulls = self.constraint_forces();
                let pulls = match self.velocities_of_momenta() {
                    Some(velocities) => self.in_phase_space(&pulls, &velocities),
                    None => return Err(FormError::TooLarge),
                };
                let forces = forces.into_iter().zip(pulls).map(|(force, pull)| force + pull);
                let moving = self.velocities.iter().copied().zip(rates);
                let turning = self.momenta.iter().map(|&p| rate(p)).zip(forces);
                let rows = moving.chain(turning).map(|(left, right)| RowOf::Definition(left, right));
                Ok(rows.chain(self.constraint_rows()).collect())
            }
        }
    }

    /// Accelerations by Cramer's rule: what stands above and below the line. As a book would, for few coordinates.
    fn fractions(&self) -> Option<(Vec<Expr<'g>>, Expr<'g>)> {
        let Statement::Lagrangian(l) = &self.statement else { return None };
        let n = self.degrees();
        if n > 3 {
            return None;
        }
        let zero = self.graph.number(0.0);
        let loads: Vec<_> = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force).collect();
        let with = |replaced: Option<usize>| {
            let entry = |i: usize, j: usize| match replaced == Some(j) {
                true => loads[i],
                false => l.mass.get(i, j).unwrap_or(zero),
            };
            determinant(n, &entry)
        };
        Some(((0..n).map(|k| with(Some(k))).collect(), with(None)))
    }

    fn energy_lines(&self, form: EquationForm) -> Vec<RowOf<'g>> {
        let name = |name: &str| self.graph.symbol(name);
        let mut lines = Vec::new();
        let hamilton = form == EquationForm::Hamilton;
        if let (Statement::Hamiltonian(h), _) | (_, Some(h)) =
            (&self.statement, &self.hamiltonian().filter(|_| hamilton))
        {
            lines.push(RowOf::Definition(name("H"), *h));
        } else if let Statement::Lagrangian(_) = &self.statement {
            if !self.kinetic.is_empty() {
                let kinetic = self.graph.sum(self.kinetic.iter().map(|term| term.value));
                lines.push(RowOf::Definition(name("T"), kinetic));
            }
            let potentials: Vec<_> = self.potential.iter().filter_map(|term| term.formula()).collect();
            if !potentials.is_empty() {
                lines.push(RowOf::Definition(name("V"), self.graph.sum(potentials)));
            }
            if !self.direct.is_empty() {
                let direct = self.graph.sum(self.direct.iter().map(|term| term.value));
                lines.push(RowOf::Definition(name("L"), direct));
            }
        }
        lines
    }

    fn momentum_lines(&self, form: EquationForm) -> Vec<RowOf<'g>> {
        match &self.statement {
            Statement::Lagrangian(l) if form == EquationForm::Hamilton => {
                let momenta = self.momenta.iter().copied().zip(l.momenta.iter().copied());
                momenta.map(|(p, value)| RowOf::Definition(p, value)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The determinant of a matrix of up to three rows.
fn determinant<'g>(n: usize, entry: &dyn Fn(usize, usize) -> Expr<'g>) -> Expr<'g> {
    match n {
        1 => entry(0, 0),
        2 => entry(0, 0) * entry(1, 1) - entry(0, 1) * entry(1, 0),
        _ => {
            let minor = |j: usize, k: usize| entry(1, j) * entry(2, k) - entry(1, k) * entry(2, j);
            entry(0, 0) * minor(1, 2) - entry(0, 1) * minor(0, 2) + entry(0, 2) * minor(0, 1)
        }
    }
}

/// Lines longer than this, and than the derived ones, are no textbook's.
const LONG: usize = 160;
/// How often printed lines are compared with derived ones.
const LOOKS: usize = 3;

struct Writer<'g> {
    textbook: Textbook<'g>,
    parameters: FxHashSet<Id>,
    numbers: Vec<(Expr<'g>, Expr<'g>)>,
}

impl<'g> Writer<'g> {
    fn new(equations: &Equations<'g>, numbers: &[(Expr<'g>, Expr<'g>)]) -> Writer<'g> {
        let kinds = |symbols: &[Expr<'g>], kind| symbols.iter().map(move |&s| (s, kind)).collect::<Vec<_>>();
        let parameters: Vec<_> = equations.parameters.iter().map(|(symbol, _)| *symbol).collect();
        let accelerations: Vec<_> = equations.velocities.iter().map(|&v| rate(v)).collect();
        let turning: Vec<_> = equations.momenta.iter().map(|&p| rate(p)).collect();
        let symbols = [
            kinds(&parameters, SymbolKind::Parameter),
            kinds(&equations.coordinates, SymbolKind::Coordinate),
            kinds(&[equations.time], SymbolKind::Coordinate),
            kinds(&equations.velocities, SymbolKind::Velocity),
            kinds(&equations.momenta, SymbolKind::Velocity),
            kinds(&accelerations, SymbolKind::Acceleration),
            kinds(&turning, SymbolKind::Acceleration),
        ];
        let graph = equations.graph;
        Writer {
            textbook: Textbook::new(graph, &symbols.concat()),
            parameters: parameters.iter().map(|p| p.id()).collect(),
            numbers: numbers.to_vec(),
        }
    }

    fn row(&mut self, line: RowOf<'g>) -> Row<'g> {
        let (left, right, [above, below]) = match line {
            RowOf::Equation(left, right) | RowOf::Definition(left, right) | RowOf::Given(left, right) => {
                (left, right, [left, right])
            }
            RowOf::Quotient(left, right, fraction) => (left, right, fraction),
        };
        let known = substitute(&[left, right, above, below], &self.numbers);
        let [left, right, above, below] = [known[0], known[1], known[2], known[3]];
        let derived = Row {
            text: format!("{left} = {right}"),
            latex: format!("{} &= {}", left.latex(), right.latex()),
            sides: [left, right],
        };
        let printed = match line {
            RowOf::Equation(..) => self.textbook.equation(left, right),
            RowOf::Definition(..) => self.textbook.definition(left, right),
            RowOf::Quotient(..) => self.textbook.quotient(left, above, below),
            RowOf::Given(..) => None,
        };
        let Some(row) = printed.and_then(|printed| arranged(&printed)) else { return derived };
        let short = row.text.len() <= derived.text.len().max(LONG);
        let same = !matches!(line, RowOf::Equation(..));
        if short && self.agree(&derived, &row, same) { row } else { derived }
    }

    /// Whether a printed line says what the derived one says, at a few points: their differences of sides are the same, or have one ratio
    /// whatever moves.
    fn agree(&self, derived: &Row<'g>, printed: &Row<'g>, same: bool) -> bool {
        let symbols = symbols_of(&[derived.sides, printed.sides].concat());
        let mut random = Random::new(1);
        let mut values: Vec<_> = symbols.iter().map(|&s| (s, random.between(0.5, 1.5))).collect();
        let mut ratio = None;
        for _ in 0..LOOKS {
            let difference = |row: &Row<'g>| {
                let [left, right] = row.sides.map(|side| side.eval(&values).unwrap_or(f64::NAN));
                (left - right, left.abs() + right.abs())
            };
            let ((before, whole), (after, size)) = (difference(derived), difference(printed));
            if !before.is_finite() || !after.is_finite() || (before == 0.0) != (after == 0.0) {
                return false;
            }
            let expected = *ratio.get_or_insert(if same || after == 0.0 { 1.0 } else { before / after });
            if (before - expected * after).abs() > 1e-9 * (whole + expected.abs() * size) {
                return false;
            }
            let moving = values.iter_mut().filter(|(symbol, _)| !self.parameters.contains(&symbol.id()));
            moving.for_each(|(_, value)| *value = random.between(0.5, 1.5));
        }
        true
    }
}

fn arranged<'g>(printed: &Printed<'g>) -> Option<Row<'g>> {
    let &[left, right] = printed.sides() else { return None };
    Some(Row { text: printed.text(), latex: printed.latex(), sides: [left, right] })
}

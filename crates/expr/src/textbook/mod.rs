//! Expressions as a textbook would print them: multiplied out, with what cancels cancelled, sines and cosines put together, common factors in
//! front, and fractions for numbers that are fractions.
//!
//! This is for reading: what is evaluated stays as it was derived. [`Printed::sides`] gives the printed form back as expressions, so that both
//! can be compared.

mod arrange;
mod poly;
mod ratio;
mod trigonometry;

use crate::{Expr, Graph, Id};
use poly::{AtomId, Atoms, Poly};
use rustc_hash::FxHashMap;

/// What a symbol is in an equation, in the order in which factors are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A number that can be divided by: it does not change.
    Parameter,
    /// What moves.
    Coordinate,
    /// A velocity or a momentum.
    Velocity,
    /// An acceleration, or what else stands on the left.
    Acceleration,
}

/// A way to print expressions with these symbols.
///
/// ```
/// use leastaction_expr::{Graph, SymbolKind, Textbook};
///
/// let graph = Graph::new();
/// let [m, l, g, th] = graph.symbols(["m", "l", "g", "th"]);
/// let [rate, acceleration] = graph.symbols(["th'", "th''"]);
/// let mut textbook = Textbook::new(&graph, &[
///     (m, SymbolKind::Parameter), (l, SymbolKind::Parameter), (g, SymbolKind::Parameter),
///     (th, SymbolKind::Coordinate), (rate, SymbolKind::Velocity), (acceleration, SymbolKind::Acceleration),
/// ]);
/// let inertia = m * (l * th.sin()).pow(2) + m * (l * th.cos()).pow(2);
/// let line = textbook.equation(inertia * acceleration, -(m * g * l * th.sin())).unwrap();
/// assert_eq!(line.text(), "l*th'' = -g*sin(th)");
/// assert_eq!(line.latex(), r"l \, \ddot{\theta} &= -g \, \sin{\theta}");
/// let energy = textbook.expression(0.5 * inertia * rate * rate).unwrap();
/// assert_eq!(energy.text(), "m*l^2*th'^2/2");
/// ```
pub struct Textbook<'g> {
    graph: &'g Graph,
    parts: FxHashMap<Id, (SymbolKind, usize)>,
    atoms: Atoms,
}

/// An expression, or an equation, that is ready to be printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed<'g> {
    texts: Vec<String>,
    latex: Vec<String>,
    sides: Vec<Expr<'g>>,
}

impl Printed<'_> {
    /// In the notation of the `.motion` language.
    #[must_use]
    pub fn text(&self) -> String {
        self.texts.join(" = ")
    }

    /// In LaTeX; an equation has its sign aligned.
    #[must_use]
    pub fn latex(&self) -> String {
        self.latex.join(" &= ")
    }
}

impl<'g> Printed<'g> {
    /// What is printed, as expressions: one, or both sides of an equation.
    #[must_use]
    pub fn sides(&self) -> &[Expr<'g>] {
        &self.sides
    }
}

impl<'g> Textbook<'g> {
    /// Symbols with what they are; those of one kind are printed in this order.
    #[must_use]
    pub fn new(graph: &'g Graph, symbols: &[(Expr<'g>, SymbolKind)]) -> Textbook<'g> {
        let parts = symbols.iter().enumerate().map(|(i, (symbol, part))| (symbol.id(), (*part, i))).collect();
        let mut atoms = Atoms::default();
        // Atoms in the order of symbols, so that sums begin with what comes first.
        for (symbol, _) in symbols {
            atoms.atom(poly::Atom::Symbol(symbol.id()));
        }
        Textbook { graph, parts, atoms }
    }

    /// An expression, if it is not too large for a page.
    pub fn expression(&mut self, value: Expr<'g>) -> Option<Printed<'g>> {
        let poly = self.atoms.read(self.graph, &[value.id()])?.pop()?;
        Some(self.line(&[poly]))
    }

    /// An equation: what has accelerations in it to the left, all else to the right, and without factors that both have and that are no 0.
    pub fn equation(&mut self, left: Expr<'g>, right: Expr<'g>) -> Option<Printed<'g>> {
        let all = self.atoms.read(self.graph, &[(left - right).id()])?.pop()?;
        let (common, number) = self.parameters_in_common(&all);
        let factor = Poly::of(common, number).single().map(|(product, n)| (product.clone(), n))?;
        let inverse = Poly::of(factor.0.iter().map(|&(atom, n)| (atom, -n)).collect(), factor.1.inverse()?);
        let all = self.atoms.times(&all, &inverse)?;
        let (mut left, mut right) = (Poly::default(), Poly::default());
        for (product, &coefficient) in &all.0 {
            match product.iter().any(|&(atom, _)| self.part(atom) == SymbolKind::Acceleration) {
                true => left.add(product.clone(), coefficient),
                false => right.add(product.clone(), coefficient.negated()),
            }
        }
        // Not all that is on the left is negative.
        if left.0.is_empty() || left.0.values().all(|n| n.is_negative()) {
            (left, right) = (left.negated(), right.negated());
        }
        Some(self.line(&[left, right]))
    }

    /// An equation whose left side stays as it is.
    pub fn definition(&mut self, left: Expr<'g>, right: Expr<'g>) -> Option<Printed<'g>> {
        let sides = self.atoms.read(self.graph, &[left.id(), right.id()])?;
        Some(self.line(&sides))
    }

    /// An equation whose left side stays as it is, and whose right side is a fraction.
    pub fn quotient(&mut self, left: Expr<'g>, above: Expr<'g>, below: Expr<'g>) -> Option<Printed<'g>> {
        let sides = self.atoms.read(self.graph, &[left.id(), above.id(), below.id()])?;
        let [left, above, below] = &sides[..] else { unreachable!("there are three of them") };
        let (below, content) = self.atoms.without_content(below);
        let (product, number) = content.single()?;
        let inverse = Poly::of(product.iter().map(|&(atom, n)| (atom, -n)).collect(), number.inverse()?);
        let above = self.atoms.times(above, &inverse)?;
        if below.as_number().is_some_and(ratio::Ratio::is_one) {
            return Some(self.line(&[left.clone(), above]));
        }
        let divisor = self.atoms.atom(poly::Atom::Group(below));
        let fraction = self.fraction(&above, divisor);
        let value =
            self.expression_of(&above) / self.expression_of(&Poly::of(vec![(divisor, 1)], ratio::Ratio::ONE));
        Some(self.printed(vec![self.arranged(left), fraction], vec![self.expression_of(left), value]))
    }

    fn line(&self, sides: &[Poly]) -> Printed<'g> {
        let shown = sides.iter().map(|side| self.arranged(side)).collect();
        self.printed(shown, sides.iter().map(|side| self.expression_of(side)).collect())
    }

    fn printed(&self, shown: Vec<arrange::Shown>, sides: Vec<Expr<'g>>) -> Printed<'g> {
        Printed {
            texts: shown.iter().map(|side| side.text()).collect(),
            latex: shown.iter().map(|side| side.latex()).collect(),
            sides,
        }
    }

    fn part(&self, atom: AtomId) -> SymbolKind {
        match &self.atoms.all[atom as usize] {
            poly::Atom::Symbol(id) => self.parts.get(id).map_or(SymbolKind::Coordinate, |(part, _)| *part),
            poly::Atom::Group(sum) => self.part_of(sum),
            poly::Atom::Call(_, arguments) => {
                arguments.iter().map(|a| self.part_of(a)).max().unwrap_or(SymbolKind::Parameter)
            }
        }
    }

    fn part_of(&self, sum: &Poly) -> SymbolKind {
        let atoms = sum.0.keys().flatten().map(|(atom, _)| self.part(*atom));
        atoms.max().unwrap_or(SymbolKind::Parameter)
    }

    /// Whether an atom is a symbol that stands for a number which may be divided by: those of masses and lengths are.
    fn is_parameter(&self, atom: AtomId) -> bool {
        self.part(atom) == SymbolKind::Parameter
    }

    /// What all terms of a sum have in common, of parameters and numbers.
    fn parameters_in_common(&self, sum: &Poly) -> (poly::Product, ratio::Ratio) {
        let (_, content) = self.atoms.without_content(sum);
        let Some((product, _)) = content.single() else {
            return (poly::Product::new(), ratio::Ratio::ONE);
        };
        let own = product.iter().filter(|(atom, _)| self.is_parameter(*atom)).copied().collect();
        // Decimals stay as they are given, and no fraction is made whole.
        let number = sum.0.values().copied().reduce(ratio::Ratio::shared).unwrap_or(ratio::Ratio::ONE);
        (own, number)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use crate::Random;

    /// A book for the double pendulum and its like.
    fn symbols(graph: &Graph) -> Vec<(Expr<'_>, SymbolKind)> {
        let list = |names: &'static str, kind| names.split(' ').map(move |name| (graph.symbol(name), kind));
        list("m m1 m2 l l1 l2 g k", SymbolKind::Parameter)
            .chain(list("th1 th2 x y r", SymbolKind::Coordinate))
            .chain(list("th1' th2' x' y' r'", SymbolKind::Velocity))
            .chain(list("th1'' th2'' x''", SymbolKind::Acceleration))
            .collect()
    }

    /// What a text is printed as; its value is the same.
    fn printed(text: &str) -> String {
        let graph = Graph::new();
        let known = symbols(&graph);
        let value = graph.parse(text).unwrap();
        let shown = Textbook::new(&graph, &known).expression(value).unwrap();
        let mut random = Random::new(5);
        let at: Vec<_> = known.iter().map(|(symbol, _)| (*symbol, 0.5 + random.between(0.0, 1.0))).collect();
        let (before, after) = (value.eval(&at).unwrap(), shown.sides()[0].eval(&at).unwrap());
        assert!((before - after).abs() <= 1e-13 * (1.0 + before.abs()), "{text}: {before} and {after}");
        let again = graph.parse(&shown.text()).unwrap().eval(&at).unwrap();
        assert!(
            (before - again).abs() <= 1e-13 * (1.0 + before.abs()),
            "{}: {before} and {again}",
            shown.text()
        );
        shown.text()
    }

    #[test]
    fn terms_are_multiplied_out_and_cancelled() {
        assert_eq!(printed("(x + y)*(x - y)"), "x^2 - y^2");
        assert_eq!(printed("x*(y + 1) - x*y - x"), "0");
        assert_eq!(printed("0.5*m*x'^2 + 0.25*m*x'^2"), "3*m*x'^2/4");
        assert_eq!(printed("x/3 + 2*y/3 - 9.81"), "x/3 + 2*y/3 - 9.81");
        assert_eq!(printed("(m1 + m2)*l*x + m1*l*y*g"), "l*(m1 + m2)*x + m1*l*g*y");
        assert_eq!(printed("k*x/(m1 + m2) - x*k/(m1 + m2)"), "0");
        assert_eq!(printed("sqrt(x^2 + y^2)^2 - y^2"), "x^2");
        assert_eq!(printed("k/(x^2 + y^2)^1.5"), "k/sqrt(x^2 + y^2)^3");
    }

    #[test]
    fn sines_and_cosines_are_put_together() {
        assert_eq!(printed("sin(x)^2 + cos(x)^2"), "1");
        assert_eq!(printed("m*g - m*g*sin(x)^2"), "m*g*cos(x)^2");
        assert_eq!(printed("cos(x)*cos(y) + sin(x)*sin(y)"), "cos(x - y)");
        assert_eq!(printed("cos(x)*cos(y) - sin(x)*sin(y)"), "cos(x + y)");
        assert_eq!(printed("sin(y)*cos(x) - cos(y)*sin(x)"), "-sin(x - y)");
        assert_eq!(printed("sin(y)*cos(x) + cos(y)*sin(x)"), "sin(x + y)");
        assert_eq!(printed("sin(-x)*cos(-y)"), "-sin(x)*cos(y)");
        let swung = "(l1*cos(th1)*th1' + l2*cos(th2)*th2')^2 + (l1*sin(th1)*th1' + l2*sin(th2)*th2')^2";
        assert_eq!(printed(swung), "l1^2*th1'^2 + 2*l1*l2*th1'*th2'*cos(th1 - th2) + l2^2*th2'^2");
    }

    #[test]
    fn random_expressions_keep_their_values() {
        let graph = Graph::new();
        let known = symbols(&graph);
        let mut random = Random::new(11);
        let mut printed = 0;
        for _ in 0..400 {
            let mut pool: Vec<Expr<'_>> = known.iter().map(|(symbol, _)| *symbol).collect();
            pool.push(graph.number(2.0));
            pool.push(graph.number(1.0 / 3.0));
            for _ in 0..12 {
                let mut pick = || pool[(random.between(0.0, 1.0) * pool.len() as f64) as usize];
                let (a, b) = (pick(), pick());
                pool.push(match (random.between(0.0, 1.0) * 8.0) as u32 {
                    0 | 1 => a + b,
                    2 => a - b,
                    3 | 4 => a * b,
                    5 => a.sin(),
                    6 => a.cos(),
                    _ => a / b,
                });
            }
            let value = *pool.last().unwrap();
            let Some(shown) = Textbook::new(&graph, &known).expression(value) else { continue };
            printed += 1;
            for _ in 0..3 {
                let at: Vec<_> =
                    known.iter().map(|(symbol, _)| (*symbol, 0.5 + random.between(0.0, 1.0))).collect();
                let before = value.eval(&at).unwrap();
                if before.abs() < 1e6 {
                    let after = shown.sides()[0].eval(&at).unwrap();
                    assert!(
                        (before - after).abs() <= 1e-8 * (1.0 + before.abs()),
                        "{value}: {before} and {after}"
                    );
                }
            }
        }
        assert!(printed > 200, "{printed}");
    }

    #[test]
    fn equations_lose_what_both_sides_have() {
        let graph = Graph::new();
        let known = symbols(&graph);
        let read = |text| graph.parse(text).unwrap();
        let line = |left, right| Textbook::new(&graph, &known).equation(read(left), read(right)).unwrap();
        let pendulum = line("m*l^2*th1''", "-m*g*l*sin(th1)");
        assert_eq!(pendulum.text(), "l*th1'' = -g*sin(th1)");
        assert_eq!(pendulum.latex(), r"l \, \ddot{\theta}_{1} &= -g \, \sin{\theta_{1}}");
        assert_eq!(line("2*x''", "-4*x").text(), "x'' = -2*x");
        assert_eq!(line("m*x''", "-k*x/2 - m*g").text(), "m*x'' = -k*x/2 - m*g");
        assert_eq!(line("-m*x''", "k*x").text(), "m*x'' = -k*x");
        assert_eq!(line("0.1*x''", "0").text(), "x'' = 0");
        assert_eq!(line("0.1*x''", "-0.1*g").text(), "x'' = -g");
        assert_eq!(line("0.3*x''", "-0.3*g*x - 0.3*k").text(), "x'' = -g*x - k");
        assert_eq!(line("0.1*x''", "-0.2*g").text(), "0.1*x'' = -0.2*g");
        assert_eq!(
            line("(m1*sin(x)^2 + m2*cos(x)^2)*th1'' - m*th2''", "0").text(),
            "(m1*sin(x)^2 + m2*cos(x)^2)*th1'' - m*th2'' = 0"
        );
        let [x, above, below] = ["x''", "k*x - 2*k*y", "m1*k + m2*k - m2*k*cos(y)^2"].map(read);
        let fraction = Textbook::new(&graph, &known).quotient(x, above, below).unwrap();
        assert_eq!(fraction.text(), "x'' = (x - 2*y)/(m1 + m2*sin(y)^2)");
        assert_eq!(fraction.latex(), r"\ddot{x} &= \frac{x - 2 \, y}{m_{1} + m_{2} \, \sin^{2}{y}}");
        let latex = line("m*x''", "-k*x/2 - m*g*sin(x - y)^2/r").latex();
        assert_eq!(
            latex,
            r"m \, \ddot{x} &= -\frac{k \, x}{2} - \frac{m \, g}{r} \, \sin^{2}\left(x - y\right)"
        );
    }
}

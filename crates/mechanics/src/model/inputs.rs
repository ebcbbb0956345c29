//! What a model has besides coordinates: inputs, states of first order, and parameters that events set.

use super::Model;
use crate::equations::rate;
use crate::names::integral;
use leastaction_expr::{Expr, IntoExpr};

impl<'g> Model<'g> {
    /// Declares an input u(t), whose value is given when the system runs.
    pub fn input(&mut self, name: &str) -> Expr<'g> {
        let symbol = self.graph.symbol(name);
        self.inputs.push(symbol);
        symbol
    }

    /// Declares an input that is a function of time and parameters. The equations of motion have its name in them, as they have that of any
    /// input; what it is becomes part of the compiled system, which so has whole steps, Taylor series, and another input for every
    /// value of a parameter.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let x = model.coordinate("x");
    /// model.particle("bead", 1.0, [x]);
    /// let a = model.parameter("A", 2.0);
    /// let push = model.stated_input("push", a * model.time());
    /// model.force(x, push);
    /// assert_eq!(model.equations()?.drives[0].to_string(), "push");
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let mut rates = [0.0; 2];
    /// dynamics.rates(&[3.0], &[0.0, 0.0], &mut rates)?;
    /// assert_eq!(rates, [0.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stated_input(&mut self, name: &str, value: impl IntoExpr<'g>) -> Expr<'g> {
        let symbol = self.input(name);
        self.stated_inputs.push((symbol, value.into_expr(self.graph)));
        symbol
    }

    /// States what a declared input is, in place of what was said of it before. Returns whether there is such an input.
    pub fn restate_input(&mut self, name: &str, value: impl IntoExpr<'g>) -> bool {
        let symbol = self.graph.symbol(name);
        let declared = self.inputs.contains(&symbol);
        if declared {
            self.stated_inputs.retain(|(input, _)| *input != symbol);
            self.stated_inputs.push((symbol, value.into_expr(self.graph)));
        }
        declared
    }

    /// The inputs that are stated, with what they are.
    #[must_use]
    pub fn stated_inputs(&self) -> &[(Expr<'g>, Expr<'g>)] {
        &self.stated_inputs
    }

    /// Declares a state of first order, z, such as a current, a temperature, what a filter holds, or a sum that a controller keeps; [`Model::set_rate`] says
    /// how it changes. Forces, rates of states and whatever observes a run may depend on it; energies and constraints may not. It has no energy.
    ///
    /// It is carried as the rate of a coordinate of its own, `int_z`, which therefore is its integral over time, with the momentum `p_int_z`, which is z. So every method
    /// that takes forces which depend on velocities takes states.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// // A mass that is pushed by a filtered signal.
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let x = model.coordinate("x");
    /// model.particle("cart", 2.0, [x]);
    /// let z = model.state("z");
    /// model.set_rate(z, (1.0 - z) / 0.1);
    /// model.force(x, 5.0 * z);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let (start, mut rates) = (dynamics.start(&[("z", 0.5)])?, [0.0; 4]);
    /// dynamics.rates(&[0.0], &start.block(), &mut rates)?;
    /// assert_eq!(rates, [0.0, 0.5, 2.5, 5.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state(&mut self, name: &str) -> Expr<'g> {
        let integral = self.coordinate(&integral(name));
        self.states.push((integral, self.number(0.0)));
        self.define(name, rate(integral))
    }

    /// Says how a state changes, by coordinates, velocities, states, inputs, time and parameters. Without, it stays as it is.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn set_rate(&mut self, state: Expr<'g>, value: impl IntoExpr<'g>) {
        let value = value.into_expr(self.graph);
        let integral = self.definitions.iter().find(|(name, _)| *name == state).map(|(_, value)| *value);
        let found = self.states.iter_mut().find(|(coordinate, _)| Some(rate(*coordinate)) == integral);
        let Some((_, rate)) = found else { unreachable!("`{state}` is declared by `Model::state`") };
        *rate = value;
    }

    /// What an input is, if the model states it.
    #[must_use]
    pub fn stated(&self, input: Expr<'g>) -> Option<Expr<'g>> {
        self.stated_inputs.iter().find(|(symbol, _)| *symbol == input).map(|(_, value)| *value)
    }

    /// Lets events set a parameter, or an input that is stated without time: along a run its value is that of a [state](Model::state) of its name which only events change, and which
    /// starts with the value of the parameter. Everything that is a formula follows it: energies, masses, places, forces, constraints. What is not, such as fields over meshes, and what is held by it, is refused.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// // A spring that events may stiffen.
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let k = model.parameter("k", 3.0);
    /// let x = model.coordinate("x");
    /// model.particle("block", 2.0, [x]);
    /// model.potential("spring", 0.5 * k * x * x);
    /// model.settable(k);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let (start, mut rates) = (dynamics.start(&[("x", 1.0), ("k", 5.0)])?, [0.0; 4]);
    /// dynamics.rates(&[0.0], &start.block(), &mut rates)?;
    /// assert_eq!(rates, [0.0, 5.0, -5.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If it is neither a parameter nor an input of this model.
    pub fn settable(&mut self, symbol: Expr<'g>) {
        let known = self.parameters.iter().any(|(p, _)| *p == symbol) || self.inputs.contains(&symbol);
        assert!(known, "`{symbol}` is a parameter or an input of the model");
        if self.set.iter().all(|(other, _)| *other != symbol) {
            self.stated_inputs.retain(|(input, _)| *input != symbol);
            let integral = self.coordinate(&integral(&symbol.to_string()));
            self.states.push((integral, self.number(0.0)));
            self.set.push((symbol, integral));
        }
    }
}

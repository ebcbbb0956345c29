//! Coordinates that are held: they have values, constant or of time and parameters, and are no unknowns.
//!
//! In formulas the values stand in their places. Energies over elements and opaque ones read them from a table ([`table`]) after the coordinates.
//! What holds a coordinate acts on it with a force, its reaction ([`reaction`]).

pub(crate) mod reaction;
pub(crate) mod table;

use crate::constraint::held_by;
use crate::energy::EnergyError;
use crate::error::{ModelError, TermKind};
use crate::model::{Model, Term};
use leastaction_expr::{Expr, Id, IntoExpr, rebind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Coordinates that are held together, with their values.
#[derive(Clone, Debug)]
pub(crate) struct Hold<'g> {
    pub(crate) name: String,
    pub(crate) values: Vec<(Expr<'g>, Expr<'g>)>,
}

rebind!(Hold { values; name });

impl<'g> Model<'g> {
    /// Holds coordinates at values: numbers, or expressions of time and parameters. They are no unknowns then; energies of every kind read their
    /// values, and positions that follow from them are known. What holds them acts with forces, which
    /// [`Dynamics::reactions`](crate::Dynamics::reactions) gives one by one; their sum is observed as `reaction_` and the name. Coordinates
    /// are found again by [`System::place_of`](crate::System::place_of).
    ///
    /// Whatever the number of coordinates, nothing is solved for. They may be held one by one, or thousands at once:
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::{Elements, Model};
    /// // A chain of springs, whose first bead is moved to and fro, and whose last does not move.
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let amplitude = model.parameter("amplitude", 0.5);
    /// let chain = model.coordinate_block("chain", 4, &[])?;
    /// for i in 0..4 {
    ///     model.particle(&format!("bead {i}"), 2.0, [chain.symbol(i, 0)]);
    /// }
    /// let [a, b] = graph.symbols(["a", "b"]);
    /// model.potential("springs", Elements {
    ///     energy: 5.0 * (b - a - 1.0).pow(2),
    ///     slots: vec![a, b],
    ///     coordinates: [0, 1, 1, 2, 2, 3].into(),
    ///     constants: vec![],
    ///     values: [].into(),
    ///     implicit: vec![],
    /// });
    /// model.hold("hand", [(chain.symbol(0, 0), amplitude * model.time().sin())]);
    /// model.hold("wall", [(chain.symbol(3, 0), 3.0)]);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let start = dynamics.start(&[("chain[1]", 1.5), ("chain[2]", 2.0)])?;
    /// assert_eq!(start.q, [1.5, 2.0]);
    /// let mut reactions = [0.0; 2];
    /// dynamics.reactions(&[0.0], &start.block(), &mut reactions)?;
    /// assert_eq!(reactions, [-5.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hold<V: IntoExpr<'g>>(
        &mut self,
        name: &str,
        coordinates: impl IntoIterator<Item = (Expr<'g>, V)>,
    ) {
        let graph = self.graph;
        let values = coordinates.into_iter().map(|(q, value)| (q, value.into_expr(graph))).collect();
        self.holds.push(Hold { name: name.into(), values });
    }

    /// Replaces coordinates that are held, or that a constraint gives a value, by that value, and takes such constraints out, in a model
    /// of energies.
    pub(crate) fn take_held(&mut self) -> Result<(), ModelError> {
        if !self.hamiltonian.is_empty() {
            return match self.holds.first() {
                Some(hold) => Err(ModelError::HeldByHamiltonian { name: hold.name.clone() }),
                None => Ok(()),
            };
        }
        if self.constraints.is_empty() && self.holds.is_empty() {
            return Ok(());
        }
        let declared = self.coordinates.clone();
        // What reads a coordinate that there is not is refused before numbers change.
        let potentials = self.potential.iter().map(|p| (TermKind::Potential, &p.name, p.reads()));
        let losses =
            self.losses.iter().map(|d| (TermKind::Dissipation, &d.name, &d.elements.coordinates[..]));
        for (kind, name, reads) in potentials.chain(losses) {
            if let Some(&index) = reads.iter().find(|&&i| i as usize >= declared.len()) {
                let source = EnergyError::NoCoordinate { index, count: declared.len() };
                return Err(ModelError::Energy { kind, name: name.clone(), source });
            }
        }
        let fixed = self.parameters.iter().map(|(p, _)| *p).chain([self.time]);
        let fixed: FxHashSet<Id> = fixed.map(|e| e.id()).collect();
        let all: FxHashSet<Id> = declared.iter().map(|q| q.id()).collect();
        let mut free = all.clone();
        for Hold { name, values } in std::mem::take(&mut self.holds) {
            for (coordinate, value) in values {
                if free.remove(&coordinate.id()) {
                    self.definitions.push((coordinate, value));
                    self.held.push((coordinate, name.clone()));
                } else if all.contains(&coordinate.id()) {
                    // Held twice: the second contradicts the first, or agrees with it.
                    self.constraints.push(Term { name: name.clone(), value: coordinate - value });
                } else {
                    return Err(ModelError::HeldUnknown { name, coordinate: coordinate.to_string() });
                }
            }
        }
        self.keep_free(&free);
        loop {
            let resolved = self.substituted()?;
            let held = resolved.constraints.iter().map(|term| held_by(term.value, &fixed, &free));
            let held: Vec<_> = held.collect();
            let before = self.held.len();
            let constraints = std::mem::take(&mut self.constraints);
            for (term, held) in constraints.into_iter().zip(held) {
                match held {
                    // Of two constraints that hold the same coordinate, the second is left to contradict, or to agree with, the first. The last
                    // coordinate stays one, with its constraint: a motion needs something that moves.
                    Some((coordinate, value)) if free.len() > 1 && free.remove(&coordinate.id()) => {
                        self.definitions.push((coordinate, value));
                        self.held.push((coordinate, term.name));
                    }
                    _ => self.constraints.push(term),
                }
            }
            if self.held.len() == before {
                break;
            }
            self.keep_free(&free);
        }
        if self.held.is_empty() {
            return Ok(());
        }
        // Others read free coordinates, then those that are held.
        let order = self.coordinates.iter().copied().chain(self.held.iter().map(|(q, _)| *q));
        let places: FxHashMap<Id, u32> = order.zip(0..).map(|(q, place)| (q.id(), place)).collect();
        let places: Vec<u32> = declared.iter().map(|q| places[&q.id()]).collect();
        self.potential.iter_mut().for_each(|potential| potential.renumber(&places));
        self.losses.iter_mut().for_each(|dissipation| dissipation.elements.renumber(&places));
        self.declared = declared;
        Ok(())
    }

    /// Forgets coordinates that are not free.
    fn keep_free(&mut self, free: &FxHashSet<Id>) {
        let stay: Vec<bool> = self.coordinates.iter().map(|q| free.contains(&q.id())).collect();
        if stay.iter().all(|&stays| stays) {
            return;
        }
        keep(&mut self.coordinates, &stay);
        keep(&mut self.momenta, &stay);
        self.forces.retain(|(on, _)| free.contains(&on.id()));
    }
}

/// Keeps those entries of a list of which this is said.
fn keep<T>(list: &mut Vec<T>, stay: &[bool]) {
    let mut stay = stay.iter();
    list.retain(|_| stay.next() != Some(&false));
}

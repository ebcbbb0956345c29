//! Potential energies: a formula, one formula over many elements, or something opaque.
//!
//! Formulas are differentiated together and become the kernels of a system. What the other two give to a quantity is added to what
//! those kernels compute, in one place: [`EnergySum::add`](sum::EnergySum::add). Where nothing can be read from an expression, facts
//! are declared: which coordinates an energy reads, and whether it depends on time. A potential has no velocities in it.

pub(crate) mod dissipation;
pub(crate) mod opaque;
pub(crate) mod sum;

use crate::element::Elements;
use leastaction_expr::{Expr, Graph, IntoExpr, Rebind, Rebinding, rebind};
use std::fmt;
use std::sync::Arc;

/// A potential energy V(q, t).
#[derive(Clone, Debug)]
pub enum Energy<'g> {
    /// An expression of coordinates, time and parameters.
    Formula(Expr<'g>),
    /// One expression, summed over many elements.
    Elements(Elements<'g>),
    /// Something that computes energies and their derivatives by itself.
    Opaque(Opaque),
}

/// A named potential energy.
#[derive(Clone, Debug)]
pub struct Potential<'g> {
    /// The name under which its share is reported.
    pub name: String,
    /// The energy.
    pub energy: Energy<'g>,
}

rebind!(Potential { energy; name });

impl Rebind for Energy<'_> {
    type To<'h> = Energy<'h>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Energy<'h> {
        match self {
            Energy::Formula(value) => Energy::Formula(value.rebind(graphs)),
            Energy::Elements(elements) => Energy::Elements(elements.rebind(graphs)),
            Energy::Opaque(opaque) => Energy::Opaque(opaque.clone()),
        }
    }
}

impl<'g> Potential<'g> {
    /// The expression of the energy, if it is one.
    #[must_use]
    pub fn formula(&self) -> Option<Expr<'g>> {
        match self.energy {
            Energy::Formula(value) => Some(value),
            Energy::Elements(_) | Energy::Opaque(_) => None,
        }
    }

    /// The coordinates that it reads, by index, where it is no formula.
    pub(crate) fn reads(&self) -> &[u32] {
        match &self.energy {
            Energy::Formula(_) => &[],
            Energy::Elements(elements) => &elements.coordinates,
            Energy::Opaque(opaque) => &opaque.coordinates,
        }
    }

    /// Gives the coordinates their new indices, where it is no formula.
    pub(crate) fn renumber(&mut self, new: &[u32]) {
        let coordinates = match &mut self.energy {
            Energy::Formula(_) => return,
            Energy::Elements(elements) => &mut elements.coordinates,
            Energy::Opaque(opaque) => &mut opaque.coordinates,
        };
        *coordinates = coordinates.iter().map(|&i| new[i as usize]).collect();
    }
}

/// What can be added to a model as a potential energy: expressions and numbers, [`Elements`], and [`Opaque`] energies.
pub trait IntoEnergy<'g> {
    /// The energy, whose expressions live in this graph.
    fn into_energy(self, graph: &'g Graph) -> Energy<'g>;
}

impl<'g, T: IntoExpr<'g>> IntoEnergy<'g> for T {
    fn into_energy(self, graph: &'g Graph) -> Energy<'g> {
        Energy::Formula(self.into_expr(graph))
    }
}

impl<'g> IntoEnergy<'g> for Elements<'g> {
    fn into_energy(self, graph: &'g Graph) -> Energy<'g> {
        Energy::Elements(self.adopted(graph))
    }
}

impl<'g> IntoEnergy<'g> for Opaque {
    fn into_energy(self, _: &'g Graph) -> Energy<'g> {
        Energy::Opaque(self)
    }
}

/// What an opaque energy says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergyFacts {
    /// The coordinates that it reads, by their index in the model, each once.
    pub coordinates: Vec<u32>,
    /// The parameters of the model that it reads, by name.
    pub parameters: Vec<String>,
    /// Whether it depends on time.
    pub time: bool,
}

/// States in lanes: component i of lane j is `q[i * stride + j]`, and there is a lane for each time. Parameters have rows like these, as each
/// lane may have its own.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The time of each lane.
    pub t: &'a [f64],
    /// The components that are read, one row each.
    pub q: &'a [f64],
    /// The parameters that are read, one row each.
    pub parameters: &'a [f64],
    /// How far rows are apart.
    pub stride: usize,
}

/// A potential energy that computes its values and derivatives by itself, for many states at once, as a network does.
///
/// The same state must give the same bits whatever is in the other lanes, and however many there are: trajectories then do not
/// depend on their neighbours. Nothing should be allocated: working memory is given, as much as [`OpaqueEnergy::memory`] asks for.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_mechanics::{Batch, EnergyFacts, Model, Opaque, OpaqueEnergy};
///
/// /// V = k x²/2.
/// struct Spring;
///
/// impl OpaqueEnergy for Spring {
///     fn facts(&self) -> EnergyFacts {
///         EnergyFacts { coordinates: vec![0], parameters: vec!["k".into()], time: false }
///     }
///     fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
///         (0..at.t.len()).for_each(|j| out[j] = 0.5 * at.parameters[j] * at.q[j] * at.q[j]);
///     }
///     fn gradient(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
///         (0..at.t.len()).for_each(|j| out[j] = at.parameters[j] * at.q[j]);
///     }
///     fn hessian_product(&self, at: Batch<'_>, d: &[f64], _: &mut [f64], out: &mut [f64]) {
///         (0..at.t.len()).for_each(|j| out[j] = at.parameters[j] * d[j]);
///     }
/// }
///
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let x = model.coordinate("x");
/// model.parameter("k", 4.0);
/// model.particle("bead", 1.0, [x]);
/// model.potential("spring", Opaque::new(Spring));
/// let mut dynamics = model.system()?.dynamics()?;
/// let mut rates = [0.0; 2];
/// dynamics.rates(&[0.0], &[0.5, 3.0], &mut rates)?;
/// assert_eq!(rates, [3.0, -2.0]);
/// dynamics.set_parameters(&[10.0])?;
/// dynamics.rates(&[0.0], &[0.5, 3.0], &mut rates)?;
/// assert_eq!(rates, [3.0, -5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OpaqueEnergy: Send + Sync {
    /// What is declared about the energy: nothing can be read from it. It is asked for once.
    fn facts(&self) -> EnergyFacts;

    /// How many numbers of working memory so many lanes need.
    fn memory(&self, lanes: usize) -> usize {
        let _ = lanes;
        0
    }

    /// V in each lane.
    fn energy(&self, at: Batch<'_>, memory: &mut [f64], out: &mut [f64]);

    /// ∂V/∂q, in rows as those of q.
    fn gradient(&self, at: Batch<'_>, memory: &mut [f64], out: &mut [f64]);

    /// (∂²V/∂q²) d for a direction d, in rows as those of q.
    fn hessian_product(&self, at: Batch<'_>, direction: &[f64], memory: &mut [f64], out: &mut [f64]);

    /// Σᵢ dᵢ ∂²V/∂qᵢ∂c for a direction d, by each parameter c that is read, in rows as those of the parameters. Returns whether that is known: without it runs
    /// have no gradients by these parameters.
    fn gradient_by_parameters(
        &self,
        at: Batch<'_>,
        direction: &[f64],
        memory: &mut [f64],
        out: &mut [f64],
    ) -> bool {
        let _ = (at, direction, memory, out);
        false
    }
}

/// An [`OpaqueEnergy`] with what it declares.
#[derive(Clone)]
pub struct Opaque {
    energy: Arc<dyn OpaqueEnergy>,
    coordinates: Arc<[u32]>,
    pub(crate) parameters: Arc<[String]>,
    pub(crate) time: bool,
}

impl Opaque {
    /// Takes an energy, and asks it for its facts.
    #[must_use]
    pub fn new(energy: impl OpaqueEnergy + 'static) -> Opaque {
        let EnergyFacts { coordinates, parameters, time } = energy.facts();
        let (coordinates, parameters) = (coordinates.into(), parameters.into());
        Opaque { energy: Arc::new(energy), coordinates, parameters, time }
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Opaque { coordinates, parameters, time, .. } = self;
        let fields: [(&str, &dyn fmt::Debug); 3] =
            [("coordinates", coordinates), ("parameters", parameters), ("time", time)];
        let mut text = f.debug_struct("Opaque");
        fields.into_iter().for_each(|(name, value)| {
            text.field(name, value);
        });
        text.finish()
    }
}

/// What is wrong with an energy that is no formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnergyError {
    /// An element reads nothing.
    #[error("its elements read no coordinates: name the symbols that stand for coordinates")]
    NoSlots,
    /// The list of coordinates does not end with an element.
    #[error("{found} indices of coordinates do not make elements of {slots} each")]
    PartialElement {
        /// How many coordinates an element reads.
        slots: usize,
        /// How many indices there are.
        found: usize,
    },
    /// There is no such coordinate.
    #[error("it reads coordinate {index}, and there are {count}, which are counted from 0")]
    NoCoordinate {
        /// The index.
        index: u32,
        /// How many coordinates there are.
        count: usize,
    },
    /// There is no such parameter.
    #[error("it reads the parameter `{name}`, which the model does not have")]
    NoParameter {
        /// The name.
        name: String,
    },
    /// A coordinate is declared twice.
    #[error("it declares twice that it reads coordinate {index}")]
    Twice {
        /// The index.
        index: u32,
    },
    /// There are too many or too few constants.
    #[error("{expected} constants of elements are expected, {found} are given")]
    Constants {
        /// How many elements and their constants make.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The equation of an implicit number does not have it in it.
    #[error("the equation of its implicit number {number} does not contain it, and so cannot determine it")]
    NoEquation {
        /// Which of them, from 0.
        number: usize,
    },
    /// A dissipation function has numbers that are given by equations.
    #[error("numbers that are given by equations are for potential energies only")]
    ImplicitDissipation,
    /// Dissipation over elements in a model that states a Hamiltonian.
    #[error("dissipation over elements needs velocities: state energies instead of a Hamiltonian")]
    HamiltonianDissipation,
    /// A constant of an element is infinite or NaN.
    #[error("constant {constant} of element {element} is not finite")]
    NotFinite {
        /// The element.
        element: usize,
        /// The constant.
        constant: usize,
    },
}

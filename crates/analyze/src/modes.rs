//! Normal modes: the generalized eigenproblem Kφ = ω²Mφ in the directions that constraints allow, by Lanczos' method on (K + σM)⁻¹M.

use crate::error::AnalyzeError;
use crate::mass::Mass;
use crate::rest::{Rest, dot, largest};
use crate::rigid::{Rigid, rigid};
use crate::shifted::{Shifted, scale};
use crate::spiral::{MOST_COUPLED, Spiral, spirals};
use leastaction_expr::Random;
use leastaction_linear::{Eigenpairs, Lanczos, Structure, SymmetricMap};
use leastaction_mechanics::Dynamics;

/// How good modes are: the residual relative to (ω² + σ)⁻¹.
const TOLERANCE: f64 = 1e-10;
/// The shift, as a part of the largest eigenvalue, where the stiffness is not negative.
const SHIFT: f64 = 1e-9;
/// Forces that are this part of what they are made of do not disturb modes.
const AT_REST: f64 = 1e-6;

/// Squares of frequencies that are this part of the largest cannot be distinguished from zero.
const ZERO: f64 = 1e-11;
/// Bodies have six rigid motions.
const BLOCK: usize = 6;

/// With more coordinates, stiffnesses are not looked at elsewhere: that takes as long as to find modes.
const MOST_TRIED: usize = 3000;
/// More motions that cost no energy are not counted.
const MOST_FREE: usize = 300;
/// A stiffness that changes by this part within the error of the equilibrium is not known.
const CHANGED: f64 = 0.1;

/// What a mode does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// It vibrates.
    Vibration,
    /// It costs no energy: a rigid motion, or another that nothing holds.
    Free,
    /// It grows: the equilibrium is unstable.
    Growing,
}

/// A normal mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// ω²; below 0 for what grows.
    pub square: f64,
    /// How coordinates move, normalised so that φᵀMφ = 1.
    pub shape: Vec<f64>,
    /// What it does.
    pub kind: ModeKind,
    /// Whether its stiffness is about the same as far away as the equilibrium may be off. Where it is not, as at the bottom of x⁴, the frequency depends on how far it
    /// swings, and this one means nothing.
    pub steady: bool,
}

impl Mode {
    /// The coordinate that moves most; of several, the first.
    #[must_use]
    pub fn leading(&self) -> usize {
        leading(&self.shape)
    }

    /// The angular frequency ω; 0 for what does not vibrate.
    #[must_use]
    pub fn frequency(&self) -> f64 {
        if self.kind == ModeKind::Vibration { self.square.max(0.0).sqrt() } else { 0.0 }
    }

    /// The rate of growth √−ω²; 0 for what does not grow.
    #[must_use]
    pub fn growth(&self) -> f64 {
        if self.kind == ModeKind::Growing { (-self.square).max(0.0).sqrt() } else { 0.0 }
    }
}

/// The slowest motions about an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// Without forces that depend on velocities, those with the lowest ω² first.
    pub modes: Vec<Mode>,
    /// What is known of those that cost no energy.
    pub rigid: Rigid,
    /// Whether more than these may cost no energy: the search ended among such.
    pub more_free: bool,
    /// With forces that depend on velocities, such as damping and gyroscopic ones, where there are any and coordinates are few enough.
    pub spirals: Option<Vec<Spiral>>,
    /// Whether damping is left out of all there is.
    pub undamped: bool,
    /// How many modes there are in all: coordinates that constraints leave free.
    pub freedom: usize,
}

/// The lowest normal modes about coordinates q at which forces balance, as [`equilibrium`](crate::equilibrium) finds them.
///
/// # Errors
/// [`AnalyzeError`] says why there are no modes, or how far the search came.
pub fn modes(dynamics: &mut Dynamics, t: f64, q: &[f64], count: usize) -> Result<Modes, AnalyzeError> {
    modes_where(dynamics, t, q, count, 0.0)
}

/// As [`modes`], where forces are made of at least so much.
pub(crate) fn modes_where(
    dynamics: &mut Dynamics,
    t: f64,
    q: &[f64],
    count: usize,
    force_size: f64,
) -> Result<Modes, AnalyzeError> {
    let mut rest = Rest::new(dynamics, t)?;
    let n = rest.n;
    let mut mass = prepare(&mut rest, q, Some(force_size))?;
    let freedom = n - rest.factors.as_ref().map_or(0, |factors| factors.rank(0));
    let count = count.min(freedom);
    let coupled = rest.linear.has_rates();
    let small = n <= MOST_COUPLED;
    if coupled && !small && rest.linear.is_gyroscopic(rest.dynamics, t, q)? {
        return Err(AnalyzeError::Gyroscopic { degrees: n, most: MOST_COUPLED });
    }
    let mut shifted = Shifted::new(&rest, &mass);
    // Rigid motions are known only together.
    let mut wanted = if coupled && small { freedom } else { count.max(7).min(freedom) };
    let mut modes = spectrum(&mut rest, &mut mass, &mut shifted, wanted)?;
    let ends_free = |modes: &[Mode]| modes.last().is_some_and(|mode| mode.kind == ModeKind::Free);
    // Motions that cost no energy are counted all, as far as that is no long work.
    while ends_free(&modes) && wanted < freedom.min(MOST_FREE) && n <= MOST_TRIED {
        wanted = (3 * wanted).min(freedom).min(MOST_FREE);
        match spectrum(&mut rest, &mut mass, &mut shifted, wanted) {
            Ok(more) => modes = more,
            Err(AnalyzeError::Modes { .. }) => break,
            Err(error) => return Err(error),
        }
    }
    let more_free = ends_free(&modes) && modes.len() < freedom;
    let spirals = match coupled && small {
        true => spirals(&mut rest, q, &modes, count)?,
        false => None,
    };
    let shapes: Vec<&[f64]> =
        modes.iter().filter(|mode| mode.kind == ModeKind::Free).map(|mode| &*mode.shape).collect();
    let rigid = rigid(&mut rest, q, &shapes)?;
    modes.truncate(count);
    if n <= MOST_TRIED {
        modes.iter_mut().try_for_each(|mode| {
            mode.steady = is_steady(&mut rest, q, mode)?;
            Ok::<(), AnalyzeError>(())
        })?;
    }
    Ok(Modes { modes, rigid, more_free, undamped: coupled && spirals.is_none(), spirals, freedom })
}

/// The largest angular frequency about coordinates q, which need not be an equilibrium, to a part: explicit methods are stable with steps
/// below 2/ω. It is found from below.
///
/// # Errors
/// [`AnalyzeError`] if something cannot be computed there.
pub fn largest_frequency(
    dynamics: &mut Dynamics,
    t: f64,
    q: &[f64],
    tolerance: f64,
) -> Result<f64, AnalyzeError> {
    // The error of an eigenvalue is of second order in that of its vector.
    let wanted =
        Lanczos { count: 1, tolerance: tolerance.sqrt().min(0.1), most: 600, block: 1, careful: false };
    let pairs = stiffest(dynamics, t, q, 1.0, wanted)?;
    if !pairs.converged && !q.is_empty() {
        return Err(AnalyzeError::Modes { count: 1, products: pairs.products, residual: pairs.residual });
    }
    Ok(pairs.values.first().copied().unwrap_or(0.0).max(0.0).sqrt())
}

/// About the largest rate at which small motions about coordinates q grow, as if forces balanced there: by a few products, and from below.
///
/// # Errors
/// [`AnalyzeError`] if something cannot be computed there.
pub fn largest_growth(dynamics: &mut Dynamics, t: f64, q: &[f64]) -> Result<f64, AnalyzeError> {
    let wanted = Lanczos { count: 1, tolerance: 0.1, most: 32, block: 1, careful: false };
    let pairs = stiffest(dynamics, t, q, -1.0, wanted)?;
    Ok(pairs.values.first().copied().unwrap_or(0.0).max(0.0).sqrt())
}

/// The largest eigenvalues of M⁻¹K at q, or of −M⁻¹K.
fn stiffest(
    dynamics: &mut Dynamics,
    t: f64,
    q: &[f64],
    sign: f64,
    wanted: Lanczos,
) -> Result<Eigenpairs, AnalyzeError> {
    // A few products are sooner done than the stiffness of very many coordinates is put together.
    let mut rest = match q.len() > MANY {
        true => Rest::by_products(dynamics, t)?,
        false => Rest::new(dynamics, t)?,
    };
    let mut mass = prepare(&mut rest, q, None)?;
    let mut map = Direct { rest: &mut rest, mass: &mut mass, sign, shift: 0.0, random: Random::new(1) };
    wanted.largest(&mut map)
}

/// More coordinates than this are very many.
const MANY: usize = 10_000;

/// The stiffness at q with the multipliers that balance forces best, and masses there. Forces must balance if a size of them is given.
fn prepare(rest: &mut Rest<'_>, q: &[f64], at_rest: Option<f64>) -> Result<Mass, AnalyzeError> {
    let mut gradient = vec![0.0; rest.n];
    rest.gradient(q, &mut gradient)?;
    let acting = largest(&gradient).1;
    rest.constrain(q)?;
    let multipliers = rest.balance(&mut gradient);
    rest.stiffen(q, &multipliers)?;
    let size = (rest.force_size(q)? + acting).max(at_rest.unwrap_or(0.0));
    let (at, residual) = largest(&gradient);
    // If all coordinates are 0, the size of forces is not known: a force that moves nothing visibly counts as zero.
    let unseen = 1e-12 * rest.diagonal_size();
    if at_rest.is_some() && (residual > AT_REST * size + unseen || residual.is_nan()) {
        return Err(AnalyzeError::NotAtRest { residual, scale: size, coordinate: rest.name(at) });
    }
    let mass = Mass::new(rest.dynamics, rest.t, q)?;
    match mass.massless() {
        Some(i) => Err(AnalyzeError::NoMass { coordinate: rest.name(i) }),
        None => Ok(mass),
    }
}

/// Whether the stiffness of a mode is about the same one step of Newton's method away: forces that are left, or rounding, say no better where the equilibrium is.
fn is_steady(rest: &mut Rest<'_>, q: &[f64], mode: &Mode) -> Result<bool, AnalyzeError> {
    if mode.kind == ModeKind::Free {
        return Ok(true);
    }
    let mut gradient = vec![0.0; rest.n];
    rest.gradient(q, &mut gradient)?;
    let rounding = f64::EPSILON * rest.force_size(q)?;
    rest.constrain(q)?;
    rest.balance(&mut gradient);
    let left = dot(&gradient, &mode.shape).abs() + rounding * largest(&mode.shape).1;
    let step = left / mode.square.abs();
    let mut away: Vec<f64> = q.iter().zip(&mode.shape).map(|(q, x)| q + step * x).collect();
    rest.project(&mut away)?;
    rest.gradient(&away, &mut gradient)?;
    rest.constrain(&away)?;
    let multipliers = rest.balance(&mut gradient);
    rest.stiffen(&away, &multipliers)?;
    let mut image = vec![0.0; rest.n];
    rest.product(&mode.shape, &mut image)?;
    let square = dot(&mode.shape, &image);
    Ok((square - mode.square).abs() <= CHANGED * mode.square.abs())
}

/// In how many directions the energy falls, at the last place of `rest`.
pub(crate) fn negative_modes(
    rest: &mut Rest<'_>,
    mass: &mut Mass,
    shifted: &mut Shifted,
) -> Result<usize, AnalyzeError> {
    let most = scale(rest, mass)?;
    if shifted.is_factored() && shifted.factor(rest, mass, SHIFT * most.max(f64::MIN_POSITIVE)) || rest.n == 0
    {
        return Ok(0);
    }
    if mass.massless().is_some() {
        // Without masses there are no modes to count; but it is not positive.
        return Ok(1);
    }
    let freedom = rest.n - rest.factors.as_ref().map_or(0, |factors| factors.rank(0));
    let mut count = 8.min(freedom);
    loop {
        let modes = spectrum(rest, mass, shifted, count)?;
        let negative = modes.iter().filter(|mode| mode.kind == ModeKind::Growing).count();
        if negative < count || count == freedom {
            return Ok(negative);
        }
        count = (4 * count).min(freedom);
    }
}

/// The lowest modes at the last place of `rest`, in ascending order.
fn spectrum(
    rest: &mut Rest<'_>,
    mass: &mut Mass,
    shifted: &mut Shifted,
    count: usize,
) -> Result<Vec<Mode>, AnalyzeError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let size = scale(rest, mass)?;
    // A system without stiffness has modes, too: all are free.
    let size = if size > 0.0 { size } else { 1.0 };
    let mut sigma = SHIFT * size;
    if shifted.is_factored() {
        while !shifted.factor(rest, mass, sigma) {
            sigma *= 10.0;
            if sigma > 1e9 * size || !sigma.is_finite() {
                return Err(AnalyzeError::NoFactors);
            }
        }
    } else {
        // Without factors nothing tells that the matrix is positive, but its lowest eigenvalue.
        let top = Lanczos { count: 1, tolerance: 1e-2, most: 120, block: 1, careful: false };
        let mut direct = Direct { rest, mass, sign: 1.0, shift: 0.0, random: Random::new(2) };
        let highest = top.largest(&mut direct)?.values.first().copied().unwrap_or(0.0).abs();
        let mut direct = Direct { rest, mass, sign: -1.0, shift: highest, random: Random::new(3) };
        let lowest = highest - top.largest(&mut direct)?.values.first().copied().unwrap_or(0.0);
        sigma = (1e-6 * highest).max(-2.0 * lowest);
        shifted.factor(rest, mass, sigma);
    }
    let n = rest.n;
    let most = (20 * count + 300).min(n + 8);
    let lanczos = Lanczos { count, tolerance: TOLERANCE, most, block: BLOCK, careful: true };
    let mut map = Inverse { rest, mass, shifted, random: Random::new(7), weighed: vec![0.0; n] };
    let Eigenpairs { vectors, residual, products, converged, .. } = lanczos.largest(&mut map)?;
    if !converged || vectors.len() < count {
        return Err(AnalyzeError::Modes { count, products, residual });
    }
    let mut image = vec![0.0; n];
    let mut modes = Vec::with_capacity(count);
    for mut shape in vectors {
        mass.product(&shape, &mut image);
        let length = dot(&shape, &image).sqrt();
        shape.iter_mut().for_each(|x| *x /= length);
        // The same sign, whatever the method made of it.
        if shape[leading(&shape)] < 0.0 {
            shape.iter_mut().for_each(|x| *x = -*x);
        }
        rest.product(&shape, &mut image)?;
        let square = dot(&shape, &image);
        let noise = noise(rest, &shape, size);
        let kind = if square.abs() <= noise {
            ModeKind::Free
        } else if square < 0.0 {
            ModeKind::Growing
        } else {
            ModeKind::Vibration
        };
        modes.push(Mode { square, shape, kind, steady: true });
    }
    modes.sort_by(|a, b| a.square.total_cmp(&b.square));
    Ok(modes)
}

/// The first of the coordinates that move most, as far as rounding lets tell.
fn leading(shape: &[f64]) -> usize {
    let (at, most) = largest(shape);
    shape.iter().position(|x| x.abs() > (1.0 - 1e-6) * most).unwrap_or(at)
}

/// Below this, φᵀKφ is rounding.
fn noise(rest: &Rest<'_>, shape: &[f64], size: f64) -> f64 {
    let sum = match rest.linear.structure() {
        Structure::Free(_) => 1e2 * size,
        _ => rest.terms(shape),
    };
    // Entries are sums of terms that cancel, each known to rounding.
    1e4 * f64::EPSILON * sum.max(f64::MIN_POSITIVE) + ZERO * size
}

/// x ↦ (K + σM)⁻¹ M x.
struct Inverse<'a, 'b> {
    rest: &'a mut Rest<'b>,
    mass: &'a Mass,
    shifted: &'a mut Shifted,
    random: Random,
    weighed: Vec<f64>,
}

impl SymmetricMap for Inverse<'_, '_> {
    type Error = AnalyzeError;
    fn dimension(&self) -> usize {
        self.rest.n
    }
    fn apply(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), AnalyzeError> {
        self.mass.product(x, &mut self.weighed);
        self.shifted.solve(self.rest, self.mass, &self.weighed, out, 1e-13)?;
        Ok(())
    }
    fn weigh(&self, x: &[f64], out: &mut [f64]) {
        self.mass.product(x, out);
    }
    fn sample(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.random.normal());
        self.rest.restrict(out);
    }
}

/// x ↦ ±M⁻¹K x + shift·x, in the directions that constraints allow.
struct Direct<'a, 'b> {
    rest: &'a mut Rest<'b>,
    mass: &'a mut Mass,
    sign: f64,
    shift: f64,
    random: Random,
}

impl SymmetricMap for Direct<'_, '_> {
    type Error = AnalyzeError;
    fn dimension(&self) -> usize {
        self.rest.n
    }
    fn apply(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), AnalyzeError> {
        self.rest.product(x, out)?;
        self.mass.solve(out);
        out.iter_mut().zip(x).for_each(|(out, x)| *out = self.sign * *out + self.shift * x);
        self.rest.restrict(out);
        Ok(())
    }
    fn weigh(&self, x: &[f64], out: &mut [f64]) {
        self.mass.product(x, out);
    }
    fn sample(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.random.normal());
        self.rest.restrict(out);
    }
}

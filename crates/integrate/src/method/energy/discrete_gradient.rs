//! The midpoint discrete gradient of Gonzalez: the implicit midpoint rule, turned so that the energy balances exactly.
//!
//! $$\Delta=h\,S\,\overline\nabla H,\qquad \overline\nabla H=\nabla H(m)+\alpha\,\Delta,\qquad
//! \alpha=\frac{H(y_0+\Delta)-H(y_0)-\nabla H(m)\cdot\Delta}{|\Delta|^2},\qquad m=y_0+\tfrac12\Delta$$
//!
//! with y′ = S∇H, so that H(y₁) − H(y₀) = ∇̄H·Δ = 0 if S is skew. Forces f act with their values at the middle: Δ = h (S∇̄H + f), and
//! the energy changes by h times their power there; for ports S = J − R at the middle, and it changes by
//! h ∇̄H·(Bu − R∇̄H). In what depends on time, H is that of the middle of the step.
//!
//! α is the small difference of large numbers over a smaller one. Three things keep its noise down: (1) where the
//! energy is conserved, H(y₀) is the energy at the start of the run, so that rounding does not add up; (2) H(y₀ + Δ) is taken
//! at the very numbers that the state will have; (3) α is left as it is once the balance holds to the rounding of H, which
//! near an equilibrium or a turning point, where nothing else could be seen, makes this the implicit midpoint rule.
//!
//! Where H = ½pᵀM⁻¹p + V(q) with M constant, the middle is exact for the first term, and only coordinates are turned: α Δ is (α Δq, 0), and |Δ|² is
//! |Δq|². These are the energy-momentum methods; steps that are long for a stiff force have solutions. Elsewhere one norm measures
//! coordinates and momenta: units should make them alike.

use crate::block::{Block, scale};
use crate::card::{Card, Keeps, Kind, Needs, Sizing};
use crate::error::RunError;
use crate::implicit::{Equation, Past, Products, Solver};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_linear::{Pattern, Structure};
use leastaction_mechanics::{Dynamics, EvalError, Form, Quantity};
use std::sync::Arc;

pub(in crate::method) const CARD: Card = Card {
    name: "discrete-gradient",
    about: "discrete gradient of Gonzalez, at midpoints",
    order: 2,
    keeps: &[Keeps::Reversible, Keeps::Energy],
    needs: Needs::Free,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1007/BF02440162",
    stepper: |dynamics, width, _| DiscreteGradient::stepper(dynamics, width),
};

/// The energy is known to so many units in the last place of what it is the sum of.
const ULPS: f64 = 2.0 * f64::EPSILON;
/// A push that is so small, relative to the step, does no harm. Where rounding would push more, the balance has more room: up to this.
const GENTLE: f64 = 1e-10;
const MOST_ROOM: f64 = 64.0;
/// How near Δ must be to its image, relatively, for α to follow.
const NEAR: f64 = 0.25;
/// α converges in fewer changes than this; after so many it follows noise, and is given twice the room with every few.
const MANY_CHANGES: i32 = 24;

struct DiscreteGradient {
    solver: Solver,
    past: Past,
    /// Δ of the last try.
    change: Vec<f64>,
    balance: Balance,
    /// The energy at the start of the run, and whether it is known: 1, or 0.
    energy: [f64; LANES],
    known: [bool; LANES],
}

/// What Newton's method knows of the derivatives.
enum Slopes {
    /// All entries.
    Whole,
    /// Those of ½ f′(m) and of α S, at places of their own; the rest is an outer product.
    Sparse(Box<SparseSlopes>),
    /// Products: there are too many, and nobody knows where they are.
    Products,
}

struct SparseSlopes {
    /// Where f′ has entries, and where these stand among all.
    field: Arc<Pattern>,
    places: Vec<u32>,
    /// Where S has entries among all, and what they are.
    turns: Vec<(u32, f64)>,
    all: Arc<Pattern>,
    entries: Vec<f64>,
}

impl SparseSlopes {
    fn new(field: Arc<Pattern>, partial: bool) -> SparseSlopes {
        let d = field.rows();
        let canonical = |i: usize| if i < d / 2 { (i, i + d / 2, 1.0) } else { (i, i - d / 2, -1.0) };
        let turns: Vec<_> = (0..d).map(canonical).filter(|turn| !partial || turn.2 < 0.0).collect();
        let others = turns.iter().map(|&(i, k, _)| (i, k)).chain((0..d).map(|i| (i, i)));
        let all = Pattern::new(d, d, field.entries().chain(others).collect());
        let place = |i: usize, k: usize| match all.find(i, k) {
            Some(place) => place as u32,
            None => unreachable!("all entries are those of the parts"),
        };
        SparseSlopes {
            places: field.entries().map(|(i, k)| place(i, k)).collect(),
            turns: turns.into_iter().map(|(i, k, sign)| (place(i, k), sign)).collect(),
            all: Arc::new(all),
            field,
            entries: Vec::new(),
        }
    }
}

/// What the energy of a step must become, and what it takes to find out.
struct Balance {
    ports: bool,
    conserved: bool,
    powered: bool,
    /// Whether only coordinates are turned.
    partial: bool,
    at: Vec<f64>,
    rates: Vec<f64>,
    /// ∇H at the middle, and S Δ.
    gradient: Vec<f64>,
    turned: Vec<f64>,
    /// What ∇H bends by over the step.
    bent: Vec<f64>,
    slopes: Slopes,
    /// u and v, where u vᵀ is what α adds by its own change; and a vector of one lane with what f′ makes of it.
    outer: [Vec<f64>; 2],
    lane: [Vec<f64>; 2],
    /// J and R of ports.
    structure: Vec<f64>,
    shares: Vec<f64>,
    target: [f64; LANES],
    size: [f64; LANES],
    alpha: [f64; LANES],
    changes: [i32; LANES],
    moving: [bool; LANES],
}

impl DiscreteGradient {
    fn stepper(dynamics: &mut Dynamics, width: usize) -> Result<Box<dyn Step>, RunError> {
        let facts = dynamics.system().facts().clone();
        let (d, count) = (dynamics.system().dimension(), dynamics.system().shares().len());
        let (ports, powered) = (facts.form == Form::Ports, facts.dissipative || facts.forced);
        if ports {
            dynamics.prepare(&[Quantity::Structure, Quantity::Gradient])?;
        }
        let memory = || vec![0.0; d * width];
        let partial = facts.separable && facts.constant_mass && !ports;
        let slopes = match dynamics.system().jacobian_structure() {
            _ if ports => Slopes::Whole,
            Structure::Dense(_) => Slopes::Whole,
            Structure::Sparse(field) => Slopes::Sparse(Box::new(SparseSlopes::new(field, partial))),
            Structure::Free(_) => Slopes::Products,
        };
        let mut method = DiscreteGradient {
            solver: Solver::new(d * width),
            past: Past::of_coefficients(1, d * width),
            change: memory(),
            balance: Balance {
                ports,
                powered,
                partial,
                slopes,
                outer: Default::default(),
                lane: Default::default(),
                conserved: facts.autonomous && !powered,
                at: memory(),
                rates: memory(),
                gradient: memory(),
                turned: memory(),
                bent: memory(),
                structure: vec![0.0; if ports { 2 * d * d * width } else { 0 }],
                shares: vec![0.0; count * width],
                target: [0.0; LANES],
                size: [0.0; LANES],
                alpha: [0.0; LANES],
                changes: [0; LANES],
                moving: [false; LANES],
            },
            energy: [0.0; LANES],
            known: [false; LANES],
        };
        // Energies make room when they are first asked for; what they are here does not matter.
        let (t, Balance { at, shares, target, .. }) = (&[0.0; LANES][..width], &mut method.balance);
        let _ = dynamics.shares(t, at, shares);
        let _ = dynamics.hamiltonian(t, at, &mut target[..width]);
        Ok(Box::new(method))
    }
}

impl Step for DiscreteGradient {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let DiscreteGradient { solver, past, change: kept, balance, energy, known } = self;
        let width = interval.h.len();
        let y = block.values();
        if past.is_empty(width) {
            motion.rates(interval, 0.5, y, change)?;
            scale(change, interval.h);
        }
        past.guess(interval.h, change);
        let times: [f64; LANES] =
            std::array::from_fn(|j| if j < width { interval.t[j] + 0.5 * interval.h[j] } else { 0.0 });
        let times = &times[..width];
        balance.begin(motion.dynamics(), times, y)?;
        for lane in (0..width).filter(|_| balance.conserved) {
            if !known[lane] {
                (energy[lane], known[lane]) = (balance.target[lane], true);
            }
            balance.target[lane] = energy[lane];
        }
        let mut equation = Balanced { motion, interval, times, block, balance };
        let iterations = solver.solve(interval.t, y, change, &mut equation)?;
        motion.work_mut().iterations += u64::from(iterations);
        kept.copy_from_slice(change);
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        self.past.keep(lanes, &self.change);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        self.past.memory(visit);
        visit(Kept::Numbers(&mut self.energy));
        visit(Kept::Flags(&mut self.known));
    }
}

impl Balance {
    /// The energy, and the size of its terms, where a step begins.
    fn begin(&mut self, dynamics: &mut Dynamics, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        dynamics.hamiltonian(t, y, &mut self.target[..t.len()])?;
        dynamics.shares(t, y, &mut self.shares)?;
        self.size = self.target.map(f64::abs);
        for shares in self.shares.chunks_exact(t.len()) {
            self.size.iter_mut().zip(shares).for_each(|(size, share)| *size += share.abs());
        }
        (self.alpha, self.changes) = ([0.0; LANES], [0; LANES]);
        Ok(())
    }

    /// Takes from ∇H(y₁) what ∇H would be there if it were linear about the middle.
    fn bend(&mut self, change: &[f64], jacobian: &[f64], width: usize) {
        self.bent.iter_mut().zip(&self.gradient).for_each(|(bent, middle)| *bent -= middle);
        if self.ports {
            return;
        }
        let d = change.len() / width;
        for (i, rows) in jacobian.chunks_exact(change.len()).enumerate() {
            let (to, sign) = turned_row(i, d);
            for (place, (entry, change)) in rows.iter().zip(change).enumerate() {
                self.bent[to * width + place % width] -= sign * entry * change;
            }
        }
    }

    /// The derivatives where few of them are not zero: ½ f′ + α S are entries, and SΔ ⊗ α′ is an outer product.
    fn fill_sparse(&mut self, change: &[f64], h: &[f64], all: &mut [f64]) {
        let (width, d) = (h.len(), change.len() / h.len());
        let Slopes::Sparse(slopes) = &mut self.slopes else {
            unreachable!("only sparse entries are filled in")
        };
        let SparseSlopes { field, places, turns, entries, .. } = &mut **slopes;
        self.bent.iter_mut().zip(&self.gradient).for_each(|(bent, middle)| *bent -= middle);
        all.fill(0.0);
        for (i, (row, place)) in field.entries().zip(&*places).enumerate() {
            let (entry, (to, sign)) = (&entries[i * width..][..width], turned_row(row.0, d));
            let out = &mut all[*place as usize * width..][..width];
            for lane in 0..width {
                self.bent[to * width + lane] -= sign * entry[lane] * change[row.1 * width + lane];
                out[lane] = h[lane] * 0.5 * entry[lane];
            }
        }
        for (place, sign) in &*turns {
            let out = &mut all[*place as usize * width..][..width];
            (0..width).for_each(|lane| out[lane] += h[lane] * sign * self.alpha[lane]);
        }
        self.find_outer(change, h);
    }

    /// SΔ ⊗ α′, of what ∇H bends by.
    fn find_outer(&mut self, change: &[f64], h: &[f64]) {
        let width = h.len();
        let rows = if self.partial { change.len() / 2 } else { change.len() };
        let mut squares = [0.0; LANES];
        for (i, change) in change[..rows].iter().enumerate() {
            squares[i % width] += change * change;
        }
        let [u, v] = &mut self.outer;
        u.clear();
        u.extend(self.turned.iter().enumerate().map(|(i, turned)| h[i % width] * turned));
        v.clear();
        v.extend(self.bent.iter().enumerate().map(|(i, bent)| {
            let lane = i % width;
            let turned_by = if i < rows { 2.0 * self.alpha[lane] * change[i] } else { 0.0 };
            if self.moving[lane] { (bent - turned_by) / squares[lane] } else { 0.0 }
        }));
    }

    /// Whether a number of the state is turned.
    fn counts(&self, place: usize) -> bool {
        !self.partial || place < self.at.len() / 2
    }

    /// S x: of canonical coordinates, or with J − R.
    fn turn(&mut self, x: &[f64], width: usize) {
        if !self.ports {
            let half = x.len() / 2;
            match self.partial {
                true => self.turned[..half].fill(0.0),
                false => self.turned[..half].copy_from_slice(&x[half..]),
            }
            self.turned[half..].iter_mut().zip(x).for_each(|(turned, q)| *turned = -q);
            return;
        }
        let d = x.len() / width;
        let (j, r) = self.structure.split_at(d * d * width);
        for (i, turned) in self.turned.chunks_exact_mut(width).enumerate() {
            turned.fill(0.0);
            for (k, x) in x.chunks_exact(width).enumerate() {
                let at = (i * d + k) * width;
                (0..width).for_each(|lane| turned[lane] += (j[at + lane] - r[at + lane]) * x[lane]);
            }
        }
    }
}

/// Where a row of the field's derivatives stands in those of ∇H = (−p′, q′), and half of its sign.
fn turned_row(i: usize, d: usize) -> (usize, f64) {
    if i < d / 2 { (i + d / 2, 0.5) } else { (i - d / 2, -0.5) }
}

/// Δ = h (f(m) + α S Δ), with the α that balances the energy.
struct Balanced<'a, 'd> {
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    /// The middle of the step.
    times: &'a [f64],
    block: &'a Block,
    balance: &'a mut Balance,
}

impl Balanced<'_, '_> {
    /// The field and ∇H at y₀ + c Δ, at the middle's time.
    fn look(&mut self, c: f64, change: &[f64]) -> Result<(), EvalError> {
        let balance = &mut *self.balance;
        let points = self.block.values().iter().zip(change).map(|(y, change)| y + c * change);
        balance.at.iter_mut().zip(points).for_each(|(at, y)| *at = y);
        self.motion.rates(self.interval, 0.5, &balance.at, &mut balance.rates)?;
        if balance.ports {
            return self.motion.dynamics().gradient(self.times, &balance.at, &mut balance.gradient);
        }
        // What forces add to this is what they do along Δ, and is taken out as power.
        let (velocities, pushes) = balance.rates.split_at(change.len() / 2);
        balance.gradient[pushes.len()..].copy_from_slice(velocities);
        balance.gradient.iter_mut().zip(pushes).for_each(|(gradient, push)| *gradient = -push);
        Ok(())
    }

    /// The field and ∇H in the middle, and S Δ.
    fn go(&mut self, change: &[f64]) -> Result<(), EvalError> {
        self.look(0.5, change)?;
        if self.balance.ports {
            let Balance { at, structure, .. } = &mut *self.balance;
            self.motion.dynamics().structure(self.times, at, structure)?;
        }
        self.balance.turn(change, self.times.len());
        Ok(())
    }

    /// Changes α in lanes where the energy does not balance.
    fn weigh(&mut self, change: &[f64]) -> Result<(), EvalError> {
        let (width, h) = (self.times.len(), self.interval.h);
        let balance = &mut *self.balance;
        let [mut end, mut power] = [[0.0; LANES]; 2];
        if balance.powered && !balance.ports {
            self.motion.dynamics().force_power(self.times, &balance.at, &mut power[..width])?;
        }
        self.block.after(0, change, &mut balance.at);
        self.motion.dynamics().hamiltonian(self.times, &balance.at, &mut end[..width])?;
        for lane in 0..width {
            let places = (lane..change.len()).step_by(width);
            let (mut along, mut square, mut terms) = (0.0, 0.0, balance.size[lane]);
            let (mut off, mut whole) = (0.0, 0.0);
            for i in places {
                let image = h[lane] * (balance.rates[i] + balance.alpha[lane] * balance.turned[i]);
                off += (image - change[i]) * (image - change[i]);
                along += balance.gradient[i] * change[i];
                whole += change[i] * change[i];
                square += if balance.counts(i) { change[i] * change[i] } else { 0.0 };
                terms += (balance.gradient[i] * balance.at[i]).abs();
            }
            let numerator = (end[lane] - balance.target[lane]) - h[lane] * power[lane] - along;
            let left = numerator - balance.alpha[lane] * square;
            let rounding = ULPS * terms;
            // What rounding would push by, relative to the step.
            let push = h[lane].abs() * rounding / (square * whole).sqrt();
            let patience = 2.0_f64.powi((balance.changes[lane] - MANY_CHANGES).max(0) / 4);
            let room = patience * (push / GENTLE).clamp(1.0, MOST_ROOM);
            let balanced = left.abs() <= room * rounding;
            // Far from the solution, an energy says nothing about it.
            balance.moving[lane] = !balanced && off < NEAR * NEAR * whole && square > 0.0;
            if balance.moving[lane] {
                balance.alpha[lane] = numerator / square;
                balance.changes[lane] += 1;
            } else if square == 0.0 {
                balance.alpha[lane] = 0.0;
            }
        }
        Ok(())
    }
}

impl Equation for Balanced<'_, '_> {
    fn image(&mut self, change: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        self.go(change)?;
        self.weigh(change)?;
        let (width, Balance { rates, turned, alpha, .. }) = (self.times.len(), &*self.balance);
        let rows = rates.chunks_exact(width).zip(turned.chunks_exact(width));
        for (image, (rates, turned)) in image.chunks_exact_mut(width).zip(rows) {
            (0..width).for_each(|lane| image[lane] = rates[lane] + alpha[lane] * turned[lane]);
        }
        scale(image, self.interval.h);
        Ok(())
    }

    fn structure(&self) -> Structure {
        let d = self.block.dimension();
        match &self.balance.slopes {
            Slopes::Whole => Structure::Dense(d),
            Slopes::Sparse(slopes) => Structure::Sparse(slopes.all.clone()),
            Slopes::Products => Structure::Free(d),
        }
    }

    fn outer(&self) -> Option<[&[f64]; 2]> {
        match &self.balance.slopes {
            Slopes::Sparse(_) => Some([&self.balance.outer[0], &self.balance.outer[1]]),
            Slopes::Whole | Slopes::Products => None,
        }
    }

    fn products(&mut self) -> Option<&mut dyn Products> {
        match self.balance.slopes {
            Slopes::Products => Some(self),
            Slopes::Whole | Slopes::Sparse(_) => None,
        }
    }

    /// h (½ f′(m) + α S + SΔ ⊗ α′), with α′ = (∇H(y₁) − ∇H(m) − ½H″(m)Δ − 2αΔ)/|Δ|².
    fn jacobian(&mut self, change: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        let width = self.times.len();
        self.look(1.0, change)?;
        self.balance.bent.copy_from_slice(&self.balance.gradient);
        if self.balance.ports {
            // H″ is not at hand: H″(m)Δ is ∇H(y₁) − ∇H(y₀) up to a term of third order.
            self.look(0.0, change)?;
            let Balance { bent, gradient, .. } = &mut *self.balance;
            bent.iter_mut().zip(&*gradient).for_each(|(bent, start)| *bent = 0.5 * (*bent + start));
        }
        self.go(change)?;
        let Balance { at, slopes, .. } = &mut *self.balance;
        if let Slopes::Sparse(slopes) = slopes {
            slopes.entries.resize(slopes.field.len() * width, 0.0);
            self.motion.jacobian_entries(self.interval, 0.5, at, &mut slopes.entries)?;
            self.balance.fill_sparse(change, self.interval.h, matrix);
            return Ok(());
        }
        self.motion.jacobian(self.interval, 0.5, &self.balance.at, matrix)?;
        self.balance.bend(change, matrix, width);
        let d = self.block.dimension();
        let Balance { ports, partial, structure, alpha, turned, bent, moving, .. } = &*self.balance;
        let mut squares = [0.0; LANES];
        let rows = if *partial { change.len() / 2 } else { change.len() };
        for change in change[..rows].chunks_exact(width) {
            squares.iter_mut().zip(change).for_each(|(square, change)| *square += change * change);
        }
        for (place, row) in matrix.chunks_exact_mut(width).enumerate() {
            let (i, k) = (place / d, place % d);
            for lane in 0..width {
                let turn = if *ports {
                    structure[place * width + lane] - structure[(d * d + place) * width + lane]
                } else {
                    f64::from(k == i + d / 2 && !partial) - f64::from(i == k + d / 2)
                };
                let at = k * width + lane;
                let share = if moving[lane] { 1.0 / squares[lane] } else { 0.0 };
                let turned_by = if at < rows { 2.0 * alpha[lane] * change[at] } else { 0.0 };
                let bend = share * (bent[at] - turned_by);
                row[lane] = 0.5 * row[lane] + alpha[lane] * turn + turned[i * width + lane] * bend;
            }
        }
        scale(matrix, self.interval.h);
        Ok(())
    }
}

impl Products for Balanced<'_, '_> {
    fn go_to(&mut self, change: &[f64]) -> Result<(), EvalError> {
        let (width, half) = (self.times.len(), change.len() / 2);
        self.look(1.0, change)?;
        self.balance.bent.copy_from_slice(&self.balance.gradient);
        self.go(change)?;
        let Balance { at, gradient, bent, lane: [vector, product], .. } = &mut *self.balance;
        bent.iter_mut().zip(&*gradient).for_each(|(bent, middle)| *bent -= middle);
        for lane in 0..width {
            vector.clear();
            vector.extend(change.iter().skip(lane).step_by(width));
            product.resize(vector.len(), 0.0);
            self.motion.jacobian_product(self.interval, 0.5, at, lane, vector, product)?;
            // ½ H″(m) Δ, where ∇H is (−p′, q′).
            let (velocities, pushes) = product.split_at(product.len() / 2);
            let (places, momenta) = bent.split_at_mut(half);
            let lanes = |block| <[f64]>::iter_mut(block).skip(lane).step_by(width);
            lanes(places).zip(pushes).for_each(|(bent, push)| *bent += 0.5 * push);
            lanes(momenta).zip(velocities).for_each(|(bent, velocity)| *bent -= 0.5 * velocity);
        }
        self.balance.find_outer(change, self.interval.h);
        Ok(())
    }

    fn product(&mut self, lane: usize, d: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        let (width, h, half) = (self.times.len(), self.interval.h[lane], d.len() / 2);
        let Balance { at, alpha, partial, outer: [u, v], .. } = &*self.balance;
        self.motion.jacobian_product(self.interval, 0.5, at, lane, d, out)?;
        let in_lane = |block: &'_ [f64], i: usize| block[i * width + lane];
        let along: f64 = d.iter().enumerate().map(|(i, d)| in_lane(v, i) * d).sum();
        for (i, out) in out.iter_mut().enumerate() {
            let turned = match i < half {
                true if *partial => 0.0,
                true => d[i + half],
                false => -d[i - half],
            };
            *out = h * (0.5 * *out + alpha[lane] * turned) + in_lane(u, i) * along;
        }
        Ok(())
    }

    fn nearly(&mut self) -> (&mut Dynamics, f64, &[f64], f64) {
        let (y, a) = (self.block.values(), 0.5 * self.interval.h[0]);
        (self.motion.dynamics(), self.times[0], &y[..y.len() / 2], a)
    }
}

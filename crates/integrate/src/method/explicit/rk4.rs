//! The classical Runge–Kutta method.
//!
//! $$k_1=f(t,y),\quad k_2=f(t+\tfrac h2,y+\tfrac h2k_1),\quad k_3=f(t+\tfrac h2,y+\tfrac h2k_2),\quad k_4=f(t+h,y+hk_3)$$
//! $$y_1=y+\tfrac h6(k_1+2k_2+2k_3+k_4)$$

use crate::block::{Block, combine, shift};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::step::{Interval, Motion, Step, StepError};

pub(in crate::method) const CARD: Card = Card {
    name: "rk4",
    about: "classical Runge–Kutta",
    order: 4,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "W. Kutta, Z. Math. Phys. 46 (1901) 435",
    stepper: |dynamics, width, _| Ok(Box::new(Rk4::new(dynamics.system().dimension() * width))),
};

struct Rk4 {
    slopes: [Vec<f64>; 4],
    at: Vec<f64>,
}

impl Rk4 {
    fn new(len: usize) -> Rk4 {
        Rk4 { slopes: std::array::from_fn(|_| vec![0.0; len]), at: vec![0.0; len] }
    }
}

impl Step for Rk4 {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Rk4 { slopes: [k1, k2, k3, k4], at } = self;
        let (y, h) = (block.values(), interval.h);
        motion.rates(interval, 0.0, y, k1)?;
        shift(at, y, 0.5, h, k1);
        motion.rates(interval, 0.5, at, k2)?;
        shift(at, y, 0.5, h, k2);
        motion.rates(interval, 0.5, at, k3)?;
        shift(at, y, 1.0, h, k3);
        motion.rates(interval, 1.0, at, k4)?;
        combine(change, h, [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0], [k1, k2, k3, k4]);
        Ok(())
    }
}

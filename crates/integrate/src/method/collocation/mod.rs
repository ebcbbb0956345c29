//! Implicit Runge–Kutta methods: polynomials that follow the field at the nodes of a quadrature.
//!
//! Their engines are those of [`implicit`](crate::implicit): one for symplectic methods and pairs, one for stiff systems.

pub(super) mod gauss;
pub(super) mod implicit_midpoint;
pub(super) mod lobatto;
pub(super) mod radau5;

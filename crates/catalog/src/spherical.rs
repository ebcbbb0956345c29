//! Spherical angles about the x axis, where a pendulum that hangs is not at a pole.
//!
//! $$(x,y,z)=(-\cos\theta,\ \sin\theta\sin\varphi,\ \sin\theta\cos\varphi)$$

/// The unit vector of (φ, θ), and how it changes if they change at these rates. (π, π/2) points down.
pub(crate) fn direction([phi, theta]: [f64; 2], [phi_rate, theta_rate]: [f64; 2]) -> [[f64; 3]; 2] {
    let ((sp, cp), (st, ct)) = (phi.sin_cos(), theta.sin_cos());
    [
        [-ct, st * sp, st * cp],
        [
            theta_rate * st,
            theta_rate * ct * sp + phi_rate * st * cp,
            theta_rate * ct * cp - phi_rate * st * sp,
        ],
    ]
}

//! Networks for energies that are learned, and their derivatives.
//!
//! A [`Network`] is a multilayer perceptron on batches of inputs. What mechanics asks of one is more than its value: forces are its derivatives by the *input*, and to train it these are
//! differentiated once more by the weights. So a [`Pass`] of a batch through a network offers three things, each with its reverse:
//!
//! | | of x | its reverse |
//! |---|---|---|
//! | [`Pass::values`] | y(x) | [`Pass::reverse_values`]: of ȳ·y, by x and all weights |
//! | [`Pass::pull`] | ȳᵀ J(x), as −force of an energy | [`Pass::reverse_pull`]: of ȳᵀ J(x) ẋ, by x, ȳ and all weights |
//! | [`Pass::push`] | J(x) ẋ | [`Pass::reverse_push`]: the same, by x, ẋ and all weights |
//!
//! What a pull or a push leaves behind for its reverse is a [`Sweep`], of which a pass may have any number; [`Room`] is working memory that passes share.
//! [`Pass::curve`] is a product with the second derivatives by x, for which [`Bends`] is working memory, and [`Pass::reverse_curve`] its reverse.
//!
//! Numbers of a batch stand side by side, feature by feature, as states in lanes do elsewhere: feature f of sample b is at `f*batch + b`.
//!
//! *Invariant:* pure, without `unsafe` or threads: who has two gives each a share of the batch. A pass allocates once. Samples do not depend on their neighbours but for the rounding of products.

mod activation;
mod curve;
mod each;
mod energy;
mod initial;
mod network;
mod pass;
mod real;
mod weights;

pub use activation::{Activation, NoActivation};
pub use curve::{Bends, CurveAdjoints, Curved};
pub use energy::{EnergyShapeError, Feature, FeatureKind, NetworkEnergy};
pub use initial::Initial;
pub use network::{Network, NetworkError};
pub use pass::{Pass, Room, Sweep};
pub use real::Real;
pub use weights::{Tensor, Tensors, WeightsError, sha256};

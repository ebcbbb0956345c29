//! Things in space with light and shade: what is nearer hides what is farther.
//!
//! A [`Skin`] is what is seen of a mesh. A `Stage` sees it from somewhere and lays triangles, balls and rods into a `DepthBuffer`, which keeps the
//! nearest at each place. A `Form` is a body with a shape. A [`Relief`] is all that for a whole scene. What becomes of it, colours on paper or dots of a terminal, is not
//! known to it.

mod buffer;
mod form;
mod light;
mod relief;
mod skin;
mod stage;

pub use buffer::{Pigment, Speck};
pub(crate) use form::{Form, outline};
pub(crate) use light::{color, scale, tones};
pub use relief::Relief;
pub(crate) use skin::Skin;

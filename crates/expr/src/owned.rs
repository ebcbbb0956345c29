//! Things made of expressions, kept together with their graph.

use crate::{Expr, Graph};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// What is made of expressions, and so borrows their graph. [`rebind!`](crate::rebind) writes it for a struct.
pub trait Rebind {
    /// The same over another graph.
    type To<'h>;

    /// The same expressions, by their ids, over another graph.
    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Self::To<'h>;
}

/// From which graph expressions go to which.
#[derive(Clone, Copy, Debug)]
pub struct Rebinding<'a, 'h> {
    from: &'a Graph,
    to: &'h Graph,
}

impl<'a, 'h> Rebinding<'a, 'h> {
    /// From a graph to none, so that nothing is borrowed.
    pub(crate) fn detached(from: &'a Graph) -> Rebinding<'a, 'static> {
        Rebinding { from, to: &NOWHERE }
    }

    /// To the graph that it was detached from, or a copy of it.
    pub(crate) fn attached(to: &'h Graph) -> Rebinding<'static, 'h> {
        Rebinding { from: &NOWHERE, to }
    }
}

impl Rebind for Expr<'_> {
    type To<'h> = Expr<'h>;

    fn rebind<'h>(&self, Rebinding { from, to }: Rebinding<'_, 'h>) -> Expr<'h> {
        Expr { graph: to, id: from.adopt(*self).id }
    }
}

impl Rebind for &Graph {
    type To<'h> = &'h Graph;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> &'h Graph {
        graphs.to
    }
}

impl<T: Rebind> Rebind for Vec<T> {
    type To<'h> = Vec<T::To<'h>>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Vec<T::To<'h>> {
        self.iter().map(|each| each.rebind(graphs)).collect()
    }
}

impl<T: Rebind> Rebind for Option<T> {
    type To<'h> = Option<T::To<'h>>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Option<T::To<'h>> {
        self.as_ref().map(|it| it.rebind(graphs))
    }
}

impl<T: Rebind> Rebind for Box<T> {
    type To<'h> = Box<T::To<'h>>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Box<T::To<'h>> {
        Box::new((**self).rebind(graphs))
    }
}

impl<T: Rebind> Rebind for Arc<T> {
    type To<'h> = Arc<T::To<'h>>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Arc<T::To<'h>> {
        Arc::new((**self).rebind(graphs))
    }
}

impl<T: Rebind, const N: usize> Rebind for [T; N] {
    type To<'h> = [T::To<'h>; N];

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> [T::To<'h>; N] {
        self.each_ref().map(|each| each.rebind(graphs))
    }
}

impl<A: Rebind, B: Rebind> Rebind for (A, B) {
    type To<'h> = (A::To<'h>, B::To<'h>);

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> (A::To<'h>, B::To<'h>) {
        (self.0.rebind(graphs), self.1.rebind(graphs))
    }
}

impl<K: Clone + Ord, T: Rebind> Rebind for BTreeMap<K, T> {
    type To<'h> = BTreeMap<K, T::To<'h>>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> BTreeMap<K, T::To<'h>> {
        self.iter().map(|(key, each)| (key.clone(), each.rebind(graphs))).collect()
    }
}

macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Rebind for $type {
            type To<'h> = $type;

            fn rebind<'h>(&self, _: Rebinding<'_, 'h>) -> $type {
                self.clone()
            }
        }
    )*};
}

plain! { f64 usize String }

/// Writes [`Rebind`] for a struct with one lifetime: its fields that hold expressions, and after a semicolon those that are plain.
///
/// ```
/// use leastaction_expr::{Expr, Graph, Owned, rebind};
/// use std::sync::Arc;
///
/// struct Spring<'g> {
///     name: String,
///     energy: Expr<'g>,
/// }
/// rebind!(Spring { energy; name });
///
/// let graph = Arc::new(Graph::new());
/// let [k, x] = graph.symbols(["k", "x"]);
/// let spring = Owned::new(Arc::clone(&graph), &Spring { name: "spring".to_owned(), energy: 0.5 * k * x * x });
/// let elsewhere = std::thread::spawn(move || spring.get().energy.to_string());
/// assert_eq!(elsewhere.join().unwrap(), "0.5*k*x^2");
/// ```
#[macro_export]
macro_rules! rebind {
    ($type:ident { $($field:ident),* $(; $($plain:ident),*)? }) => {
        impl $crate::Rebind for $type<'_> {
            type To<'h> = $type<'h>;

            fn rebind<'h>(&self, graphs: $crate::Rebinding<'_, 'h>) -> $type<'h> {
                $type {
                    $($field: $crate::Rebind::rebind(&self.$field, graphs),)*
                    $($($plain: self.$plain.clone(),)*)?
                }
            }
        }
    };
}

/// Where expressions are bound that are kept: here are none of their nodes, so that nothing can be done with them.
static NOWHERE: LazyLock<Graph> = LazyLock::new(Graph::new);

/// Something made of expressions, with a share of their graph: it borrows nothing, and can be kept and sent to other threads.
///
/// It holds ids, and [`Owned::get`] gives the handles to work with, for as long as they are needed. That copies the lists of handles,
/// but no expression. `T` is the thing with the lifetime `'static`.
#[derive(Clone)]
pub struct Owned<T> {
    graph: Arc<Graph>,
    kept: T,
}

impl<T: Rebind> Owned<T> {
    /// Keeps something. Expressions of other graphs are copied into this one.
    pub fn new(graph: Arc<Graph>, value: &impl Rebind<To<'static> = T>) -> Owned<T> {
        let kept = value.rebind(Rebinding::detached(&graph));
        Owned { graph, kept }
    }

    /// The thing.
    #[must_use]
    pub fn get(&self) -> T::To<'_> {
        self.kept.rebind(Rebinding::attached(&self.graph))
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }
}

impl<T> fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("graph", &self.graph).finish_non_exhaustive()
    }
}

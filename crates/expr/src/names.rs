//! Lists of names: of coordinates, momenta, columns.

use crate::Expr;
use crate::graph::Node;
use crate::symbols::{Shape, member};
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A list of names: single ones, and those of [blocks](crate::Graph::block), which are made when they are asked for.
///
/// ```
/// use leastaction_expr::{Graph, Names};
/// let graph = Graph::new();
/// let rope = graph.block("rope", 1_000_000, &["x", "y"])?;
/// let symbols: Vec<_> = [graph.symbol("angle")].into_iter().chain(rope.symbols()).collect();
/// let names = Names::of(&symbols);
/// assert_eq!((names.len(), names.at(0), names.at(5)), (2_000_001, "angle".into(), "rope[2].x".into()));
/// assert_eq!(names.position("rope[2].x"), Some(5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Names {
    /// Where each part begins, and what it is.
    parts: Arc<[(usize, Part)]>,
    count: usize,
    /// The place of each single name and each part of a block, made when a name is looked for.
    places: Arc<OnceLock<Places>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    One(String),
    /// Some of the symbols of a block, with so many dots.
    Block {
        shape: Shape,
        dots: u8,
        places: Range<usize>,
    },
}

#[derive(Default)]
struct Places {
    ones: FxHashMap<String, usize>,
    /// By name and dots.
    blocks: FxHashMap<(Arc<str>, u8), Vec<usize>>,
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::One(_) => 1,
            Part::Block { places, .. } => places.len(),
        }
    }

    fn name(&self, place: usize) -> String {
        match self {
            Part::One(name) => name.clone(),
            Part::Block { shape, dots, places } => {
                shape.name_at(places.start + place) + &"'".repeat((*dots).into())
            }
        }
    }
}

impl Names {
    /// The names of symbols, as they are written in expressions.
    #[must_use]
    pub fn of(symbols: &[Expr<'_>]) -> Names {
        let mut parts: Vec<Part> = Vec::new();
        for symbol in symbols {
            let store = symbol.graph.store();
            let member = match store.node(symbol.id) {
                Node::Symbol(index) => store.symbols.in_block(index),
                _ => None,
            };
            match (member, parts.last_mut()) {
                (Some((shape, dots, place)), Some(Part::Block { shape: last, dots: d, places }))
                    if last.name == shape.name && *d == dots && places.end == place =>
                {
                    places.end += 1;
                }
                (Some((shape, dots, place)), _) => {
                    parts.push(Part::Block { shape: shape.clone(), dots, places: place..place + 1 });
                }
                (None, _) => {
                    drop(store);
                    parts.push(Part::One(symbol.to_string()));
                }
            }
        }
        Names::from_parts(parts)
    }

    fn from_parts(parts: Vec<Part>) -> Names {
        let mut count = 0;
        let begin = |part: Part| {
            let begin = count;
            count += part.len();
            (begin, part)
        };
        let parts = parts.into_iter().map(begin).collect();
        Names { parts, count, places: Arc::default() }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A name.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn at(&self, place: usize) -> String {
        assert!(place < self.count, "name {place} of {}", self.count);
        let (begin, part) = &self.parts[self.parts.partition_point(|(begin, _)| *begin <= place) - 1];
        part.name(place - begin)
    }

    /// All names, one after the other.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter { names: self, places: 0..self.count }
    }

    /// Where a name stands.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let places = self.places.get_or_init(|| self.index());
        if let Some(&place) = places.ones.get(name) {
            return Some(place);
        }
        let base = name.trim_end_matches('\'');
        let dots = u8::try_from(name.len() - base.len()).ok()?;
        let (block, number, component) = member(base)?;
        let mut parts = places.blocks.get(&(block.into(), dots))?.iter().map(|&part| &self.parts[part]);
        parts.find_map(|(begin, part)| match part {
            Part::One(_) => None,
            Part::Block { shape, places, .. } => {
                let place = shape.place(number, component).filter(|place| places.contains(place))?;
                Some(begin + place - places.start)
            }
        })
    }

    fn index(&self) -> Places {
        let mut index = Places::default();
        for (number, (begin, part)) in self.parts.iter().enumerate() {
            match part {
                Part::One(name) => {
                    index.ones.entry(name.clone()).or_insert(*begin);
                }
                Part::Block { shape, dots, .. } => {
                    index.blocks.entry((Arc::clone(&shape.name), *dots)).or_default().push(number);
                }
            }
        }
        index
    }

    /// Whether a name is among them.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// The blocks among them: the places of each, and the shape of the block that they are of.
    pub fn blocks(&self) -> impl Iterator<Item = (Range<usize>, &Shape)> {
        self.parts.iter().filter_map(|(begin, part)| match part {
            Part::One(_) => None,
            Part::Block { shape, .. } => Some((*begin..begin + part.len(), shape)),
        })
    }

    /// The single names, and the first of each block, with their places: enough to tell what they are like.
    pub fn firsts(&self) -> impl Iterator<Item = (usize, String)> {
        self.parts.iter().map(|(begin, part)| (*begin, part.name(0)))
    }

    /// All names with something between them.
    #[must_use]
    pub fn join(&self, between: &str) -> String {
        self.iter().collect::<Vec<_>>().join(between)
    }
}

/// The names of a list, one after the other.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    names: &'a Names,
    places: Range<usize>,
}

impl Iterator for Iter<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.places.next().map(|place| self.names.at(place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<String> {
        self.places.nth(n).map(|place| self.names.at(place))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<String> {
        self.places.next_back().map(|place| self.names.at(place))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Names {
    type Item = String;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Names {
        Names::from_parts(names.into_iter().map(Part::One).collect())
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Names) -> bool {
        self.count == other.count && (self.parts == other.parts || self.iter().eq(other.iter()))
    }
}

impl<T: AsRef<str>, const N: usize> PartialEq<[T; N]> for &Names {
    fn eq(&self, other: &[T; N]) -> bool {
        self.count == N && self.iter().zip(other).all(|(a, b)| a == b.as_ref())
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

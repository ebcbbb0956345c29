//! The symbols of a graph: single ones, and blocks of many whose names are made when they are asked for.

use crate::Expr;
use crate::graph::{Graph, Id, Node, Store};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// A named quantity, or one of its time derivatives.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol {
    /// The name, without primes.
    pub name: Arc<str>,
    /// How many times it is differentiated by time: the primes in `x''`.
    pub dots: u8,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        (0..self.dots).try_for_each(|_| f.write_str("'"))
    }
}

impl Symbol {
    /// Whether this is how the symbol is called: its name with its primes.
    pub(crate) fn is_called(&self, text: &str) -> bool {
        let primes = text.strip_prefix(&*self.name).filter(|primes| primes.len() == usize::from(self.dots));
        primes.is_some_and(|primes| primes.bytes().all(|byte| byte == b'\''))
    }
}

/// The shape of a block: so many members under one name, each with the same components.
///
/// The names of its symbols are `rope[0].x`, `rope[0].y`, `rope[1].x` …; without components they are `s[0]`, `s[1]` …
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The name of all.
    pub name: Arc<str>,
    /// How many members there are.
    pub count: usize,
    /// The names of the components; none where a member is one symbol.
    pub components: Arc<[Box<str>]>,
}

impl Shape {
    /// How many symbols there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count * self.width()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many symbols a member has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.components.len().max(1)
    }

    /// The name of a symbol, by its place in the block.
    #[must_use]
    pub fn name_at(&self, place: usize) -> String {
        let (member, component) = (place / self.width(), place % self.width());
        match self.components.get(component) {
            Some(component) => format!("{}[{member}].{component}", self.name),
            None => format!("{}[{member}]", self.name),
        }
    }

    /// The place in the block of a symbol of this member and component.
    pub(crate) fn place(&self, member: usize, component: Option<&str>) -> Option<usize> {
        let component = match component {
            None => self.components.is_empty().then_some(0),
            Some(name) => self.components.iter().position(|c| **c == *name),
        };
        component.filter(|_| member < self.count).map(|component| member * self.width() + component)
    }
}

/// `rope[17].x` as its block, member and component.
pub(crate) fn member(name: &str) -> Option<(&str, usize, Option<&str>)> {
    let (block, rest) = name.split_once('[')?;
    let (digits, rest) = rest.split_once(']')?;
    // One way only to write a number.
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    let component = if rest.is_empty() { None } else { Some(rest.strip_prefix('.')?) };
    Some((block, digits.parse().ok().filter(|_| plain)?, component))
}

/// Symbols that follow each other, in their indices and in the arena.
#[derive(Clone)]
struct Run {
    index: u32,
    id: Id,
    what: What,
}

#[derive(Clone)]
enum What {
    One(Symbol),
    Block(Shape, u8),
}

/// All symbols of a graph.
#[derive(Clone, Default)]
pub(crate) struct Symbols {
    /// By ascending index.
    runs: Vec<Run>,
    count: u32,
    named: FxHashMap<Symbol, Id>,
    /// So many of the first runs are single symbols: their numbers are their indices.
    leading: usize,
    /// The derivatives by time of single symbols, by index, as far as they were asked for.
    rates: FxHashMap<u32, Id>,
    /// The runs of a block, and of its derivatives by time.
    blocks: FxHashMap<Arc<str>, Vec<usize>>,
}

impl Symbols {
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    fn run(&self, index: u32) -> &Run {
        match (index as usize) < self.leading {
            true => &self.runs[index as usize],
            false => &self.runs[self.runs.partition_point(|run| run.index <= index) - 1],
        }
    }

    /// The shape, the dots and the place of a symbol that is of a block.
    pub(crate) fn in_block(&self, index: u32) -> Option<(&Shape, u8, usize)> {
        let run = self.run(index);
        match &run.what {
            What::One(_) => None,
            What::Block(shape, dots) => Some((shape, *dots, (index - run.index) as usize)),
        }
    }

    pub(crate) fn get(&self, index: u32) -> Symbol {
        let run = self.run(index);
        match &run.what {
            What::One(symbol) => symbol.clone(),
            What::Block(shape, dots) => {
                Symbol { name: shape.name_at((index - run.index) as usize).into(), dots: *dots }
            }
        }
    }

    /// Whether there is such a block, or can be one.
    fn room_for(&self, shape: &Shape) -> Result<(), BlockError> {
        match self.block(&shape.name, 0) {
            Some((known, _)) if known == shape => Ok(()),
            Some(_) => Err(BlockError { name: shape.name.to_string() }),
            None => {
                let of_block = |symbol: &&Symbol| member(&symbol.name).is_some_and(|m| *m.0 == *shape.name);
                let in_the_way = self.named.keys().find(of_block);
                in_the_way.map_or(Ok(()), |symbol| Err(BlockError { name: symbol.to_string() }))
            }
        }
    }

    /// The shape of a block, and its run of so many derivatives by time, if there is one yet.
    fn block(&self, name: &str, dots: u8) -> Option<(&Shape, Option<&Run>)> {
        let mut runs = self.blocks.get(name)?.iter().map(|&run| &self.runs[run]);
        let What::Block(shape, _) = &runs.clone().next()?.what else {
            unreachable!("the runs of a block are blocks")
        };
        Some((shape, runs.find(|run| matches!(run.what, What::Block(_, d) if d == dots))))
    }
}

impl Store {
    pub(crate) fn intern_symbol(&mut self, symbol: Symbol) -> Id {
        if let Some(&id) = self.symbols.named.get(&symbol) {
            return id;
        }
        let of_block = member(&symbol.name).and_then(|(block, number, component)| {
            let (shape, _) = self.symbols.block(block, 0)?;
            Some((shape.clone(), shape.place(number, component)?))
        });
        if let Some((shape, place)) = of_block {
            return Id(self.intern_block(&shape, symbol.dots).0 + place as u32);
        }
        let (index, run) = (self.symbols.count, What::One(symbol.clone()));
        let id = self.push_run(run, 1);
        debug_assert_eq!(self.node(id), Node::Symbol(index));
        self.symbols.named.insert(symbol, id);
        id
    }

    /// The first symbol of a block, or of its derivatives by time.
    fn intern_block(&mut self, shape: &Shape, dots: u8) -> Id {
        if let Some((_, Some(run))) = self.symbols.block(&shape.name, dots) {
            return run.id;
        }
        let place = self.symbols.runs.len();
        self.symbols.blocks.entry(Arc::clone(&shape.name)).or_default().push(place);
        self.push_run(What::Block(shape.clone(), dots), shape.len())
    }

    /// Puts symbols that follow each other into the arena.
    fn push_run(&mut self, what: What, count: usize) -> Id {
        let (index, first) = (self.symbols.count, self.len());
        let fits = u32::try_from(first + count).is_ok();
        assert!(fits, "a graph holds fewer than 2^32 nodes");
        let id = Id(first as u32);
        if matches!(what, What::One(_)) && self.symbols.leading == self.symbols.runs.len() {
            self.symbols.leading += 1;
        }
        self.symbols.runs.push(Run { index, id, what });
        self.symbols.count += count as u32;
        self.push_symbols(index..self.symbols.count);
        id
    }

    /// The symbol whose name has something before it; nothing for anything else.
    pub(crate) fn prefixed(&mut self, id: Id, prefix: &str) -> Option<Id> {
        let Node::Symbol(index) = self.node(id) else { return None };
        let run = self.symbols.run(index);
        let place = index - run.index;
        let (shape, dots) = match &run.what {
            What::One(Symbol { name, dots }) => {
                let symbol = Symbol { name: format!("{prefix}{name}").into(), dots: *dots };
                return Some(self.intern_symbol(symbol));
            }
            What::Block(shape, dots) => (shape, *dots),
        };
        let shape = Shape { name: format!("{prefix}{}", shape.name).into(), ..shape.clone() };
        match self.symbols.room_for(&shape) {
            Ok(()) => Some(Id(self.intern_block(&shape, dots).0 + place)),
            // Something else has such a name: by it, one finds out what.
            Err(_) => Some(self.intern_symbol(Symbol { name: shape.name_at(place as usize).into(), dots })),
        }
    }

    /// The derivative by time of a symbol; nothing for anything else.
    pub(crate) fn rate(&mut self, id: Id) -> Option<Id> {
        let Node::Symbol(index) = self.node(id) else { return None };
        if let Some(&rate) = self.symbols.rates.get(&index) {
            return Some(rate);
        }
        let run = self.symbols.run(index);
        let place = index - run.index;
        match run.what.clone() {
            What::One(Symbol { name, dots }) => {
                let rate = self.intern_symbol(Symbol { name, dots: dots.checked_add(1)? });
                self.symbols.rates.insert(index, rate);
                Some(rate)
            }
            What::Block(shape, dots) => Some(Id(self.intern_block(&shape, dots.checked_add(1)?).0 + place)),
        }
    }
}

/// Why there is no such block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` names something else already")]
pub struct BlockError {
    /// The name of the block, or of the symbol that is in its way.
    pub name: String,
}

/// Many symbols under one name: a handle on the first, which knows where the others are.
///
/// ```
/// # let graph = leastaction_expr::Graph::new();
/// let rope = graph.block("rope", 1000, &["x", "y"])?;
/// let [x, y] = [rope.symbol(17, 0), rope.symbol(17, 1)];
/// assert_eq!((x * x + y * y).to_string(), "rope[17].x^2 + rope[17].y^2");
/// assert_eq!(graph.parse("rope[17].x'")?, x.dot().unwrap());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SymbolBlock<'g> {
    graph: &'g Graph,
    first: Id,
    count: usize,
    width: usize,
}

impl<'g> SymbolBlock<'g> {
    /// How many members there are.
    #[must_use]
    pub fn count(self) -> usize {
        self.count
    }

    /// How many symbols each has.
    #[must_use]
    pub fn width(self) -> usize {
        self.width
    }

    /// A symbol, by its member and component.
    ///
    /// # Panics
    /// If there is no such member or component.
    #[must_use]
    pub fn symbol(self, member: usize, component: usize) -> Expr<'g> {
        let SymbolBlock { count, width, .. } = self;
        assert!(member < count && component < width, "no [{member}].{component} in {count} of {width}");
        self.at(member * width + component)
    }

    /// All symbols, in their order.
    pub fn symbols(self) -> impl Iterator<Item = Expr<'g>> {
        (0..self.count * self.width).map(move |place| self.at(place))
    }

    fn at(self, place: usize) -> Expr<'g> {
        Expr { graph: self.graph, id: Id(self.first.0 + place as u32) }
    }
}

impl Graph {
    /// The block of symbols of this name: so many members, each with these components, or none if each is one symbol. They take no
    /// room for names: `rope[17].x` is made when it is printed, and understood when it is read.
    ///
    /// # Errors
    /// [`BlockError`] if there is a block of this name and another shape, or a symbol that is called like one of the block's.
    pub fn block(
        &self,
        name: &str,
        count: usize,
        components: &[&str],
    ) -> Result<SymbolBlock<'_>, BlockError> {
        let components: Arc<[Box<str>]> = components.iter().map(|&c| c.into()).collect();
        let shape = Shape { name: name.into(), count, components };
        let mut store = self.store();
        store.symbols.room_for(&shape)?;
        let first = store.intern_block(&shape, 0);
        Ok(SymbolBlock { graph: self, first, count, width: shape.width() })
    }
}

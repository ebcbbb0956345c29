//! The terms of a sum: one formula with slots, and for each choice of indices what stands in them.

use super::super::arrays::Array;
use super::super::write::Writer;
use super::form::{Constant, Filled, Forms, Known};
use super::index::{Index, Indices, number};
use super::{Lists, MOST_TERMS, Many};
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader, symbols_in};
use leastaction_expr::{Expr, Id, Span, Value};
use leastaction_mechanics::{Elements, TermKind};
use rustc_hash::FxHashMap;

/// A term with slots.
pub(super) struct OneTerm<'g> {
    pub(super) indices: Indices<'g>,
    pub(super) value: Expr<'g>,
    pub(super) slots: Vec<Slot<'g>>,
    pub(super) condition: Option<Condition<'g>>,
    pub(super) bounds: Vec<[Index<'g>; 2]>,
}

/// On which choices of indices there is a term.
pub(super) enum Condition<'g> {
    OfIndices(Expr<'g>),
    /// It has slots in it.
    OfPlaces(Expr<'g>),
}

/// A member of an array, whose indices depend on those of the sum.
pub(super) struct Slot<'g> {
    pub(super) array: String,
    pub(super) index: Vec<Index<'g>>,
    /// A symbol for each component; one for a number.
    pub(super) symbols: Vec<Expr<'g>>,
    span: Span,
}

/// What a member is, component by component.
type Row = Vec<Filled>;

/// The members of an array, by their indices.
struct Table<'a> {
    array: &'a Array,
    rows: Vec<Option<Row>>,
}

impl Table<'_> {
    /// Where a member stands.
    fn place(array: &Array, index: &[i64]) -> Option<usize> {
        let mut place = 0;
        for (&(low, high), &i) in array.ranges.iter().zip(index) {
            let i = u64::try_from(i).ok().filter(|i| (low..=high).contains(i))?;
            place = place * (high - low + 1) as usize + (i - low) as usize;
        }
        Some(place)
    }

    fn row(&self, index: &[i64]) -> Option<&Row> {
        self.rows.get(Table::place(self.array, index)?)?.as_ref()
    }
}

/// Terms of one form.
struct Group {
    forms: Vec<u32>,
    coordinates: Vec<u32>,
    constants: Vec<Constant>,
    /// Of one term.
    slots: usize,
    own: usize,
}

impl<'g, 's> Reader<'g, 's> {
    /// The terms of a sum, read once.
    pub(super) fn term_of(&mut self, many: &Many<'g, 's>) -> Result<OneTerm<'g>, Diagnostic> {
        let indices = Indices::of(many, self.graph);
        let writer = Writer::symbolic(self, &many.template, &indices.names);
        let (body, mut places) = writer.symbols_of(&many.body)?;
        let condition = match &many.clause.condition {
            None => None,
            Some(tokens) => {
                let mut writer = Writer::symbolic(self, &many.template, &indices.names);
                writer.places = places;
                let (text, more) = writer.symbols_of(tokens)?;
                places = more;
                Some((text, super::super::whole(tokens).unwrap_or(many.span)))
            }
        };
        let mut slots = Vec::new();
        for (number, place) in places.iter().enumerate() {
            slots.push(self.slot(number, place, &indices)?);
        }
        let value = self.with_slots(&indices, &body, many.span)?;
        let value = value.scalar().map_err(|found| {
            Diagnostic::at(many.span, format!("the terms of an energy are numbers, and not {found}"))
        })?;
        let condition = match condition {
            None => None,
            Some((text, span)) => {
                let value = self.with_slots(&indices, &text, span)?;
                let value = value.scalar().map_err(|found| {
                    Diagnostic::at(span, format!("a condition is expected here, as `i != j`, not {found}"))
                })?;
                let moving = slots.iter().flat_map(|slot: &Slot<'g>| &slot.symbols);
                let used = symbols_in(value);
                Some(match moving.into_iter().any(|symbol| used.contains(symbol)) {
                    true => Condition::OfPlaces(value),
                    false => Condition::OfIndices(self.known_indices(value, &indices, span)?),
                })
            }
        };
        // Indices may stand in the terms as numbers.
        let bounds = self.bounds_of(many, &indices)?;
        Ok(OneTerm { indices, value, slots, condition, bounds })
    }

    /// A condition with parameters as numbers.
    fn known_indices(
        &self,
        value: Expr<'g>,
        indices: &Indices<'g>,
        span: Span,
    ) -> Result<Expr<'g>, Diagnostic> {
        let mut known = Vec::new();
        for symbol in symbols_in(value) {
            if let Some(&number) = self.parameters.get(&symbol.id()) {
                self.fix(&symbol.to_string(), span);
                known.push((symbol, self.graph.number(number)));
            } else if !indices.symbols.contains(&symbol) {
                return Err(Diagnostic::at(span, format!("this depends on `{symbol}`")).help(
                    "a condition is one of indices and parameters, or a cut-off as `norm(a[i] - a[j]) < R`",
                ));
            }
        }
        Ok(value.substitute(&known))
    }

    /// Reads a text in which slots have names.
    fn with_slots(&mut self, indices: &Indices<'g>, text: &str, span: Span) -> Result<Value<'g>, Diagnostic> {
        self.with_indices(indices, text).map_err(|error| {
            let wrong = Diagnostic { span: Some(span), related: Vec::new(), ..Diagnostic::from(error) };
            match wrong.message.contains(super::MARK) {
                true => Diagnostic::at(span, "something in this sum cannot be read")
                    .help("what has indices may have components and a rate, as `b[i].x'`"),
                false => wrong,
            }
        })
    }

    /// Gives a slot its name and symbols.
    fn slot(
        &mut self,
        number: usize,
        place: &(String, Vec<String>, Span),
        indices: &Indices<'g>,
    ) -> Result<Slot<'g>, Diagnostic> {
        let (array, texts, span) = place;
        let Some(known) = self.arrays.get(array) else {
            return Err(Diagnostic::at(*span, format!("`{array}` is no array")).unknown(array));
        };
        if known.ranges.len() != texts.len() {
            let count = known.ranges.len();
            return Err(Diagnostic::at(
                *span,
                format!("`{array}` has {count} indices, and {} here", texts.len()),
            ));
        }
        // The members of an array are alike; if not, the sum is refused below.
        let first: String = known.ranges.iter().map(|(low, _)| format!("[{low}]")).collect();
        let last: String = known.ranges.iter().map(|(_, high)| format!("[{high}]")).collect();
        let shape = [last, first].into_iter().find_map(|index| self.scope.get(&format!("{array}{index}")));
        let components = match shape {
            Some(Value::Vector(components)) => components.len(),
            Some(Value::Scalar(_)) => 0,
            None => {
                return Err(Diagnostic::at(
                    *span,
                    format!("`{array}` has no value that could stand in a sum"),
                ));
            }
        };
        let name = format!("{}slot[{number}]", super::MARK);
        let symbol = |part: &str| self.graph.symbol(&format!("{name}{part}"));
        let symbols: Vec<Expr<'g>> = match components {
            0 => vec![symbol("")],
            _ => (0..components).map(|i| symbol(&format!(".{i}"))).collect(),
        };
        let rates: Vec<Expr<'g>> = symbols.iter().filter_map(|symbol| symbol.dot()).collect();
        for (prime, all) in [("", &symbols), ("'", &rates)] {
            if components == 0 {
                self.scope.define(&format!("{name}{prime}"), all[0]);
                continue;
            }
            self.scope.define(&format!("{name}{prime}"), all.clone());
            for (axis, &component) in AXES.iter().zip(all) {
                self.scope.define(&format!("{name}.{axis}{prime}"), component);
            }
        }
        let mut index = Vec::new();
        for text in texts {
            index.push(self.index_of(indices, text, *span)?);
        }
        Ok(Slot { array: array.clone(), index, symbols, span: *span })
    }

    /// The terms of a sum as elements, those of each form by themselves.
    pub(super) fn elements_of(
        &mut self,
        many: &Many<'g, 's>,
        term: &OneTerm<'g>,
        coefficient: Expr<'g>,
        kind: TermKind,
    ) -> Result<Lists<'g>, Diagnostic> {
        if let Some(Condition::OfPlaces(_)) = &term.condition {
            let span = many.clause.condition.as_deref().and_then(super::super::whole).unwrap_or(many.span);
            return Err(Diagnostic::at(span, "this condition depends on where things are").help(
                "of pairs in space those within a cut-off are chosen: `sum(i < j in 1..N where norm(a[i] - a[j]) < R: …)`, where `a[i]` is `[x[i], y[i], z[i]]` of coordinates that are declared together",
            ));
        }
        let fast = term.slots.iter().flat_map(|slot| &slot.symbols).filter_map(|symbol| symbol.dot());
        if kind != TermKind::Dissipation && fast.clone().any(|rate| symbols_in(term.value).contains(&rate)) {
            return Err(Diagnostic::at(many.span, "a potential energy does not depend on velocities")
                .help("write friction as `dissipation …`"));
        }
        let coordinates: FxHashMap<Id, u32> =
            self.setup.model.declared_coordinates().iter().map(|q| q.id()).zip(0..).collect();
        let velocities: FxHashMap<Id, u32> = match kind {
            TermKind::Dissipation => {
                let all = self.setup.model.declared_coordinates().iter().zip(0..);
                all.filter_map(|(q, i)| Some((q.dot()?.id(), i))).collect()
            }
            _ => FxHashMap::default(),
        };
        let known =
            Known { coordinates: &coordinates, velocities: &velocities, parameters: &self.parameters };
        let mut forms = Forms::default();
        let mut tables: FxHashMap<&str, Table<'_>> = FxHashMap::default();
        for slot in &term.slots {
            if !tables.contains_key(&*slot.array) {
                tables.insert(&slot.array, self.table(&slot.array, &mut forms, &known));
            }
        }
        let rows: Vec<&Table<'_>> = term.slots.iter().map(|slot| &tables[&*slot.array]).collect();
        let used: Vec<bool> = {
            let symbols = symbols_in(term.value);
            term.indices.symbols.iter().map(|symbol| symbols.contains(symbol)).collect()
        };
        let mut groups: Vec<Group> = Vec::new();
        let mut count = 0_usize;
        self.choices(many, term, &mut |at| {
            count += 1;
            if count > MOST_TERMS {
                return Err(Diagnostic::at(many.span, format!("this sum has more than {MOST_TERMS} terms")).help(
                    "pairs of bodies in space may be more: `sum(i < j in 1..N: …)` of their places `[x[i], y[i], z[i]]`, whose coordinates are declared together",
                ));
            }
            let mut found: Vec<&Filled> = Vec::with_capacity(4);
            for (slot, table) in term.slots.iter().zip(&rows) {
                let mut index = [0_i64; 8];
                let index = &mut index[..slot.index.len().min(8)];
                for (to, from) in index.iter_mut().zip(&slot.index) {
                    *to = from.value(&term.indices.symbols, at)?;
                }
                let row = table.row(index).filter(|row| row.len() == slot.symbols.len());
                let row = row.ok_or_else(|| self.no_such(slot, index, &term.indices, at))?;
                found.extend(row);
            }
            let group = groups.iter().position(|group| {
                group.forms.iter().zip(&found).all(|(form, filled)| *form == filled.form)
            });
            let group = match group {
                Some(group) => group,
                None => {
                    groups.push(Group {
                        forms: found.iter().map(|filled| filled.form).collect(),
                        coordinates: Vec::new(),
                        constants: Vec::new(),
                        slots: found.iter().map(|filled| filled.coordinates.len()).sum(),
                        own: found.iter().map(|filled| filled.constants.len()).sum::<usize>()
                            + used.iter().filter(|used| **used).count(),
                    });
                    groups.len() - 1
                }
            };
            let group = &mut groups[group];
            for filled in &found {
                group.coordinates.extend(&filled.coordinates);
                group.constants.extend(&filled.constants);
            }
            let own = at.iter().zip(&used).filter(|(_, used)| **used);
            group.constants.extend(own.map(|(&i, _)| Constant::Number(i as f64)));
            Ok(())
        })?;
        Ok(groups.into_iter().map(|group| self.of_group(term, coefficient, &forms, group, &used)).collect())
    }

    /// Says that an index is out of range.
    fn no_such(&self, slot: &Slot<'g>, index: &[i64], indices: &Indices<'g>, at: &[i64]) -> Diagnostic {
        let brackets: String = index.iter().map(|i| format!("[{i}]")).collect();
        let name = format!("{}{brackets}", slot.array);
        let wrong = match self.no_member(&name, slot.span) {
            Some(wrong) => wrong,
            None => Diagnostic::at(
                slot.span,
                format!("`{name}` is not like the other members of `{}`", slot.array),
            ),
        };
        indices.names.iter().zip(at).fold(wrong, |wrong, (name, value)| {
            let message = format!("{}; `{name}` is {value} here", wrong.message);
            Diagnostic { message, ..wrong }
        })
    }

    /// The members of an array, by their forms.
    fn table<'a>(&'a self, name: &str, forms: &mut Forms, known: &Known<'_>) -> Table<'a> {
        let array = &self.arrays[name];
        let all: u64 = array.ranges.iter().map(|(low, high)| high - low + 1).product();
        let mut index: Vec<u64> = array.ranges.iter().map(|(low, _)| *low).collect();
        let mut rows = Vec::with_capacity(all as usize);
        for _ in 0..all {
            let brackets: String = index.iter().map(|i| format!("[{i}]")).collect();
            rows.push(match self.scope.get(&format!("{name}{brackets}")) {
                None => None,
                Some(Value::Scalar(value)) => Some(vec![forms.read(self.graph, *value, known)]),
                Some(Value::Vector(components)) => {
                    Some(components.iter().map(|&value| forms.read(self.graph, value, known)).collect())
                }
            });
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] <= array.ranges[axis].1 {
                    break;
                }
                index[axis] = array.ranges[axis].0;
            }
        }
        Table { array, rows }
    }

    /// The elements of one form.
    fn of_group(
        &self,
        term: &OneTerm<'g>,
        coefficient: Expr<'g>,
        forms: &Forms,
        group: Group,
        used: &[bool],
    ) -> Elements<'g> {
        let count = match (group.slots, group.own) {
            (0, 0) => 1,
            (0, own) => group.constants.len() / own,
            (slots, _) => group.coordinates.len() / slots,
        };
        let slot = |i: usize| self.graph.symbol(&format!("{}q{i}", super::MARK));
        let slots: Vec<Expr<'g>> = (0..group.slots.max(1)).map(slot).collect();
        let mut symbols: Vec<Expr<'g>> = Vec::new();
        let (mut own, mut differing) = (Vec::new(), Vec::new());
        for place in 0..group.own {
            let mut all = group.constants.iter().skip(place).step_by(group.own);
            let first = all.next().copied().unwrap_or(Constant::Number(0.0));
            match (all.all(|other| *other == first), first) {
                (true, Constant::Number(value)) => symbols.push(self.graph.number(value)),
                (true, Constant::Parameter(id)) => symbols.push(self.graph.at(id)),
                (false, _) => {
                    let symbol = self.graph.symbol(&format!("{}c{place}", super::MARK));
                    symbols.push(symbol);
                    own.push(symbol);
                    differing.push(place);
                }
            }
        }
        let value = |constant: &Constant| match constant {
            Constant::Number(value) => *value,
            Constant::Parameter(id) => {
                self.fix(
                    &self.graph.at(*id).to_string(),
                    term.slots.first().map_or(Span { start: 0, end: 0 }, |slot| slot.span),
                );
                self.parameters[id]
            }
        };
        let rows = group.constants.chunks_exact(group.own.max(1));
        let values: Vec<f64> = rows
            .flat_map(|row| differing.iter().map(|&place| value(&row[place])).collect::<Vec<_>>())
            .collect();

        let components = term.slots.iter().flat_map(|slot| &slot.symbols);
        let (mut next, mut next_own) = (0, 0);
        let mut known: Vec<(Expr<'g>, Expr<'g>)> = Vec::new();
        for (&component, &form) in components.zip(&group.forms) {
            let words = &forms.all[form as usize];
            use super::form::Word;
            let moving = words.iter().filter(|w| matches!(w, Word::Coordinate | Word::Velocity)).count();
            let constant = words.iter().filter(|w| matches!(w, Word::Constant)).count();
            let written = forms.write(
                self.graph,
                form,
                &slots[next..next + moving],
                &symbols[next_own..next_own + constant],
            );
            next += moving;
            next_own += constant;
            known.push((component, written));
            // Velocities of what moves follow from its form.
            if let Some(rate) = component.dot() {
                known.push((rate, self.setup.model.velocity(written)));
            }
        }
        let numbers = term.indices.symbols.iter().zip(used).filter(|(_, used)| **used);
        known.extend(numbers.zip(&symbols[next_own..]).map(|((&index, _), &symbol)| (index, symbol)));
        // Symbols of constants have no rates.
        let still: Vec<(Expr<'g>, Expr<'g>)> =
            own.iter().filter_map(|symbol| Some((symbol.dot()?, self.graph.number(0.0)))).collect();
        let energy = (coefficient * term.value).substitute(&known).substitute(&still);
        let coordinates = match group.slots {
            0 => vec![0; count],
            _ => group.coordinates,
        };
        Elements {
            energy,
            slots,
            coordinates: coordinates.into(),
            constants: own,
            values: values.into(),
            implicit: Vec::new(),
        }
    }

    /// Calls something for each choice of indices of which there is a term.
    fn choices(
        &self,
        many: &Many<'g, 's>,
        term: &OneTerm<'g>,
        action: &mut dyn FnMut(&[i64]) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let count = term.indices.symbols.len();
        self.choose_from(many, term, 0, &mut vec![0; count], 0, action)
    }

    fn choose_from(
        &self,
        many: &Many<'g, 's>,
        term: &OneTerm<'g>,
        range: usize,
        at: &mut Vec<i64>,
        index: usize,
        action: &mut dyn FnMut(&[i64]) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let Some(own) = many.clause.ranges.get(range) else {
            if let Some(Condition::OfIndices(condition)) = &term.condition
                && number(*condition, &term.indices.symbols, at) == 0.0
            {
                return Ok(());
            }
            return action(at);
        };
        let [low, high] = [&term.bounds[range][0], &term.bounds[range][1]];
        let (low, high) = (low.value(&term.indices.symbols, at)?, high.value(&term.indices.symbols, at)?);
        if high < low - 1 {
            return Err(Diagnostic::at(own.span, format!("this range is empty: {low}..{high}")));
        }
        for value in low..=high {
            at[index] = value;
            match own.second {
                None => self.choose_from(many, term, range + 1, at, index + 1, action)?,
                Some((_, strict)) => {
                    for after in value + i64::from(strict)..=high {
                        at[index + 1] = after;
                        self.choose_from(many, term, range + 1, at, index + 2, action)?;
                    }
                }
            }
        }
        Ok(())
    }
}

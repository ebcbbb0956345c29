//! States of first order: `state`.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span};
use leastaction_mechanics::integral;

type Outcome = Result<(), Diagnostic>;

/// `state NAME' = EXPRESSION, …`, and `state NAME` for one that only events change. All of a statement may depend on each other.
pub(super) fn state<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let declared = declare(reader, &mut parser.clone())?;
    for symbol in declared {
        parser.name()?;
        if parser.accept("'") {
            reader.sign(parser, "=", "`=` and the rate of the state")?;
            let (value, place) = reader.scalar(parser)?;
            reader.setup.source_map.mark(Mention::State, &symbol.to_string(), place);
            reader.setup.model.set_rate(symbol, value);
            reader.scope.define(&format!("{symbol}'"), value);
        } else {
            reader.scope.define(&format!("{symbol}'"), reader.graph.number(0.0));
        }
        if !parser.accept(",") {
            return Ok(());
        }
    }
    Ok(())
}

/// Declares all states of a statement.
fn declare<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<Vec<Expr<'g>>, Diagnostic> {
    let mut declared = Vec::new();
    loop {
        let (name, span) = new_state(reader, parser)?;
        let symbol = reader.setup.model.state(&name);
        reader.scope.define(&name, symbol);
        reader.declare(&name, span, Role::State);
        let whole = integral(&name);
        reader.scope.define(&whole, reader.graph.symbol(&whole));
        reader.names.insert(whole, (Role::State, span));
        reader.states.push(name);
        declared.push(symbol);
        // On to the next, past the rate.
        let mut depth = 0_usize;
        loop {
            match parser.peek().kind {
                Kind::End => return Ok(declared),
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                Kind::Sign(",") if depth == 0 => break,
                _ => {}
            }
            parser.advance();
        }
        parser.advance();
    }
}

/// The name of a new state, with the sign behind it: a state has a rate, or nothing.
fn new_state<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(String, Span), Diagnostic> {
    let mut ahead = parser.clone();
    let (name, span) = ahead.name()?;
    let sign = ahead.peek();
    if let Kind::Sign("=") = sign.kind {
        return Err(Diagnostic::at(span.to(sign.span), format!("`{name}` has no value here")).help(format!(
            "say how it changes, `state {name}' = …`, and where it begins, `start {name} = …`"
        )));
    }
    if ahead.accept("'") && ahead.accept("'") {
        let wrong = Diagnostic::at(span.to(ahead.previous()), format!("`{name}''` is a second rate"));
        return Err(wrong.help(
            "a state is of first order: write a second one for its rate, or a coordinate with a mass",
        ));
    }
    let is_new = !reader.names.contains_key(&*name);
    if let Some((first, place)) = reader.names.get(&integral(&name)).filter(|_| is_new) {
        let wrong = Diagnostic::at(
            span,
            format!(
                "`{name}` cannot be a state: its integral over time is called `{}`, which is {} already",
                integral(&name),
                first.what()
            ),
        );
        return Err(wrong.related(*place, "declared here").help("rename one of them"));
    }
    // Its rate is written behind it, as that of no other name that is declared.
    let found = reader.new_name_with_rate(parser, Role::State)?;
    Ok(found)
}

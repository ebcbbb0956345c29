//! Names: `param`, `coord`, `momentum`, `input`, `let`.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Parser, Span, Value, needs_quotes};

type Outcome = Result<(), Diagnostic>;

/// `param NAME = NUMBER, …`
pub(super) fn param<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let (name, span) = reader.new_name(parser, Role::Parameter)?;
        reader.sign(parser, "=", "`=` and the parameter's value")?;
        let (expr, place) = reader.scalar(parser)?;
        if let Some(other) = crate::reader::symbols(expr).first() {
            return Err(Diagnostic::at(place, format!("the parameter `{name}` depends on `{other}`"))
                .label("a number is expected here")
                .help(format!("write `let {name} = {}`", parser.text(place))));
        }
        let stated = reader.known(expr, place)?;
        let value = reader.values.get(&name).copied().unwrap_or(stated);
        let symbol = reader.setup.model.parameter(&name, value);
        reader.parameters.insert(symbol.id(), value);
        reader.scope.define(&name, symbol);
        reader.declare(&name, span, Role::Parameter);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// `coord NAME, …`
pub(super) fn coord<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    symbols(reader, parser, Role::Coordinate)
}

/// `momentum NAME, …`
pub(super) fn momentum<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    symbols(reader, parser, Role::Momentum)
}

fn symbols<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>, role: Role) -> Outcome {
    loop {
        let (name, span) = reader.new_name(parser, role)?;
        if parser.peek().kind == Kind::Sign("=") {
            return Err(Diagnostic::at(parser.peek().span, format!("`{name}` has no value here"))
                .help(format!("where it begins is said by `start {name} = …`")));
        }
        if role == Role::Coordinate {
            let symbol = reader.setup.model.coordinate(&name);
            let rate = reader.setup.model.velocity(symbol);
            reader.scope.define(&name, symbol);
            reader.scope.define(&format!("{name}'"), rate);
            reader.add_coordinate(&name);
        } else {
            let symbol = reader.setup.model.momentum(&name);
            reader.momenta += 1;
            reader.scope.define(&name, symbol);
        }
        reader.declare(&name, span, role);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// Whether a table comes, and nothing of that name.
fn is_table(parser: &Parser<'_, '_>) -> bool {
    parser.text(parser.peek().span) == "table" && parser.peek_next().kind == Kind::Text
}

/// `input NAME = EXPRESSION, …`, and `input NAME = table "FILE" column NAME …`
pub(super) fn input<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let (name, span) = reader.new_name(parser, Role::Input)?;
        let stated = parser.accept("=");
        let symbol = if stated && is_table(parser) {
            let start = parser.advance().span;
            let (value, covers) = super::table::table(reader, parser)?;
            reader.setup.source_map.mark(Mention::Input, &name, start.to(parser.previous()));
            reader.setup.tables.extend(covers.map(|covers| (name.clone(), covers)));
            reader.setup.model.stated_input(&name, value)
        } else if stated {
            let (value, place) = reader.scalar(parser)?;
            only(reader, value, place, &["t"], "an input is a function of time `t` and parameters")?;
            reader.setup.source_map.mark(Mention::Input, &name, place);
            reader.setup.model.stated_input(&name, value)
        } else {
            reader.setup.model.input(&name)
        };
        reader.scope.define(&name, symbol);
        reader.declare(&name, span, Role::Input);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// Makes sure that an expression uses only parameters and these names.
pub(super) fn only<'g>(
    reader: &Reader<'g, '_>,
    value: Expr<'g>,
    span: Span,
    allowed: &[&str],
    rule: &str,
) -> Outcome {
    let parameter = |name: &str| matches!(reader.names.get(name), Some((Role::Parameter, _)));
    let found = crate::reader::symbols(value).into_iter();
    match found.into_iter().find(|name| !(parameter(name) || allowed.contains(&name.as_str()))) {
        Some(name) => Err(Diagnostic::at(span, format!("this depends on `{name}`")).help(rule)),
        None => Ok(()),
    }
}

/// `let NAME = EXPRESSION, …` and `let NAME(ARGUMENT, …) = EXPRESSION`
pub(super) fn define<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let role = match parser.peek_next().kind {
            Kind::Sign("(") => Role::Function,
            _ => Role::Definition,
        };
        let (name, span) = reader.new_name(parser, role)?;
        if role == Role::Function {
            function(reader, parser, &name)?;
        } else {
            reader.sign(parser, "=", "`=` and what the name stands for")?;
            let value = reader.value(parser)?;
            if let Value::Scalar(expr) = &value {
                reader.setup.model.define(&name, *expr);
            }
            reader.define(&name, &value);
        }
        reader.declare(&name, span, role);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// The arguments and the value of a function. Within it, arguments hide other names.
fn function<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>, name: &str) -> Outcome {
    parser.advance();
    let mut arguments: Vec<String> = Vec::new();
    loop {
        let quoted = parser.peek().kind == Kind::Quoted;
        let (argument, span) = parser.name()?;
        if quoted || argument.contains(['.', '[']) || needs_quotes(&argument) {
            let wrong = Diagnostic::at(span, format!("`{argument}` cannot be the name of an argument"));
            return Err(
                wrong.help("choose a name of letters, digits and underscores that means nothing else")
            );
        }
        if arguments.iter().any(|other| *other == argument) {
            return Err(Diagnostic::at(span, format!("`{name}` has two arguments `{argument}`"))
                .help("rename one of them"));
        }
        arguments.push(argument.into_owned());
        if !parser.accept(",") {
            break;
        }
    }
    reader.sign(parser, ")", "`,` or `)`")?;
    reader.sign(parser, "=", "`=` and the value of the function")?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    parser.function(&mut reader.scope, name, &arguments).map_err(|error| reader.explain(error))
}

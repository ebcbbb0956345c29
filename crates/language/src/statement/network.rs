//! Networks: potential energies that were learned, or are to be.

use super::clause::{one_of, twice};
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::setup::{NetworkTerm, NetworkWeights};
use crate::source_map::Mention;
use leastaction_expr::{Expr, Kind, Node, Op, Parser, Span, nearest};
use leastaction_mechanics::{Opaque, TermKind};
use leastaction_network::{Activation, Feature, FeatureKind, NetworkEnergy, Tensors};

type Outcome = Result<(), Diagnostic>;

/// So many units in a layer, and layers, are more than anybody trains here.
const MOST_UNITS: f64 = 65536.0;
const MOST_LAYERS: usize = 32;

/// `network NAME of COORDINATE, … from "FILE" [hash "HEX"]`, or `network NAME of COORDINATE, … hidden N, … [units KIND]`
pub(super) fn network<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let (name, span) = parser.name()?;
    let name = name.into_owned();
    let mention = Mention::Term(TermKind::Potential);
    if let Some(first) = reader.setup.source_map.find(mention, &name) {
        return Err(Diagnostic::at(span, format!("there are two potential energies `{name}`"))
            .related(first, "the first one")
            .help("rename one of them"));
    }
    reader.word(parser, "of", "`of` and the coordinates that the network reads")?;
    let mut features = Vec::new();
    loop {
        features.push(feature(reader, parser)?);
        if !parser.accept(",") {
            break;
        }
    }
    let (word, place) = one_of(
        parser,
        &["from", "hidden"],
        "`from` and a file of weights, or `hidden` and numbers of units",
    )?;
    let weights = match word {
        "from" => from_file(reader, parser, &name, &features)?,
        _ => sizes(reader, parser, place)?,
    };
    reader.setup.source_map.mark(mention, &name, start.to(parser.previous()));
    reader.declare_energy(TermKind::Potential.word(), &name);
    match &weights {
        NetworkWeights::Trained(network) => {
            let energy = NetworkEnergy::new(network, &features);
            let energy = energy.map_err(|error| Diagnostic::at(span, format!("`{name}`: {error}")))?;
            reader.setup.model.potential(&name, Opaque::new(energy));
        }
        // Something that is not declared: there is no system before there are weights.
        NetworkWeights::Untrained { .. } => {
            let weights = reader.graph.symbol(&format!("the weights of {name}"));
            reader.setup.model.potential(&name, weights);
        }
    }
    reader.setup.networks.push(NetworkTerm { name, features, weights });
    Ok(())
}

/// A coordinate, or its cosine or sine.
fn feature<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Feature, Diagnostic> {
    let (value, span) = reader.scalar(parser)?;
    let (of, inner) = match value.node() {
        Node::Apply(Op::Cos, [inner, ..]) => (FeatureKind::Cosine, reader.graph.at(inner)),
        Node::Apply(Op::Sin, [inner, ..]) => (FeatureKind::Sine, reader.graph.at(inner)),
        _ => (FeatureKind::Plain, value),
    };
    let coordinate = coordinate(reader, inner).ok_or_else(|| {
        Diagnostic::at(span, "a network reads coordinates, and cosines and sines of coordinates")
            .help("write their names, as in `network V of x, y, cos(th), sin(th) from \"V.safetensors\"`")
    })?;
    Ok(Feature { coordinate, of })
}

/// The index of a coordinate.
fn coordinate(reader: &Reader<'_, '_>, symbol: Expr<'_>) -> Option<u32> {
    symbol.as_symbol()?;
    reader.setup.model.coordinate_index(reader.graph.adopt(symbol)).map(|index| index as u32)
}

/// `"FILE" [hash "HEX"]`
fn from_file<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
    features: &[Feature],
) -> Result<NetworkWeights, Diagnostic> {
    let (path, span) = parser.quotation("the path of a file in double quotes, as `\"V.safetensors\"`")?;
    let mut hash = None;
    if parser.accept_word("hash") {
        let (text, span) = parser.quotation("the hash of the file in double quotes")?;
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()) {
            return Err(Diagnostic::at(span, "a hash is 64 hexadecimal digits in small letters")
                .help("it is the SHA-256 of the file; leave it out, and the file is not checked"));
        }
        hash = Some(text);
    }
    let at = |message: String| Diagnostic::at(span, message);
    let Some(folder) = &reader.folder else {
        return Err(at("this text is no file, so there is no place to look for others".to_owned())
            .help("save it as a `.motion` file beside the weights"));
    };
    let tensors = Tensors::read(&folder.join(path), hash)
        .map_err(|error| at(error.to_string()).help("paths are taken from the folder of the model"))?;
    let names = tensors.networks();
    let chosen = match names.iter().find(|other| **other == name) {
        Some(chosen) => chosen,
        None => match &names[..] {
            [only] => only,
            [] => return Err(at(format!("`{path}` has no network in it"))),
            several => {
                let wrong = at(format!("`{path}` has several networks, and none is called `{name}`"));
                return Err(match nearest(name, several.iter().map(String::as_str)) {
                    Some(other) => wrong.help(format!("did you mean `{other}`?")),
                    None => wrong.help(format!("call this one as one of them: {}", several.join(", "))),
                });
            }
        },
    };
    let network = tensors.network(chosen).map_err(|what| at(format!("`{path}`: {what}")))?;
    if network.inputs() != features.len() {
        return Err(at(format!(
            "the network `{chosen}` in `{path}` has {} inputs, and `{name}` reads {}",
            network.inputs(),
            features.len()
        )));
    }
    Ok(NetworkWeights::Trained(network))
}

/// `N, … [units KIND]`
fn sizes<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    first: Span,
) -> Result<NetworkWeights, Diagnostic> {
    let (mut hidden, mut activation) = (Vec::new(), Activation::Tanh);
    loop {
        let (value, span) = reader.number(parser)?;
        if value.fract() != 0.0 || !(1.0..=MOST_UNITS).contains(&value) {
            return Err(Diagnostic::at(span, format!("a layer has from 1 to 65536 units, not {value}")));
        }
        hidden.push(value as usize);
        if hidden.len() > MOST_LAYERS {
            return Err(Diagnostic::at(first, format!("a network has {MOST_LAYERS} layers at most")));
        }
        if !parser.accept(",") {
            break;
        }
    }
    let mut given = None;
    while parser.peek().kind != Kind::End {
        let (_, span) = one_of(parser, &["units"], "`units` and what they are")?;
        if let Some(first) = given.replace(span) {
            return Err(twice("units", span, first));
        }
        let names = Activation::ALL.map(Activation::name);
        let (word, span) = one_of(parser, &names, "what units are")?;
        activation = word.parse().map_err(|error| Diagnostic::at(span, format!("{error}")))?;
    }
    Ok(NetworkWeights::Untrained { hidden, activation })
}

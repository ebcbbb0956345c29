//! Where a text says what: errors that are found after reading are shown there.

use crate::diagnostic::{Diagnostic, Errors};
use crate::include::Whole;
use crate::setup::Setup;
use crate::sheet::Sheets;
use leastaction_expr::{Advice, Kind, Span, tokens};
use leastaction_mechanics::{
    DimensionsExpected, ModelError, ProjectionError, SettingError, Site, StartError, StartQuantity, TermKind,
    suffixed,
};
use rustc_hash::FxHashMap as HashMap;

/// The places of a text: of declared names, masses, positions, terms, forces, starts and clauses of a run. Empty for what comes from
/// no text.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceMap {
    pub(crate) source: String,
    /// What was written out from it.
    pub(crate) sheets: Sheets,
    /// The text with all that it includes.
    pub(crate) whole: Whole,
    places: HashMap<(Mention, String), Span>,
    /// Bodies whose start nobody gave.
    pub(crate) unplaced: Vec<String>,
    /// Parameters whose values were used up in numbers when the text was read.
    pub(crate) fixed: Vec<Fixed>,
}

/// A parameter whose value was used up in a number.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) parameter: String,
    /// Where.
    pub(crate) span: Span,
    /// The clause of `run`, or `tolerance`, that the number is of, if it is of one.
    pub(crate) clause: Option<&'static str>,
}

/// What stands at a place, or has the name that stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mention {
    /// Something declared.
    Name,
    /// What has the weight of this name.
    Weight,
    Mass,
    Position,
    /// It has no name.
    Gravity,
    Term(TermKind),
    Force,
    /// What an input is.
    Input,
    /// The rate of a state.
    State,
    /// Where a start sets something.
    Start,
    /// Where something is given an absolute tolerance.
    Tolerance,
    /// A clause of `run`.
    Clause,
    /// The first word of the first statement that begins with it.
    Statement,
    Output,
    Event,
}

impl SourceMap {
    /// Keeps a place, unless there is one already; gives that one.
    pub(crate) fn mark(&mut self, mention: Mention, name: &str, span: Span) -> Option<Span> {
        match self.places.entry((mention, name.to_owned())) {
            std::collections::hash_map::Entry::Occupied(first) => Some(*first.get()),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(span);
                None
            }
        }
    }

    pub(crate) fn find(&self, mention: Mention, name: &str) -> Option<Span> {
        self.places.get(&(mention, name.to_owned())).copied()
    }

    /// What is wrong, at its place in the file that says it.
    pub(crate) fn shown(&self, wrong: Diagnostic) -> Errors {
        self.whole.placed(self.sheets.traced_all(wrong)).into()
    }

    /// Where forces are, and rates of states.
    fn forces(&self) -> impl Iterator<Item = Span> {
        let all = self.places.iter();
        all.filter(|((mention, _), _)| matches!(mention, Mention::Force | Mention::State))
            .map(|(_, span)| *span)
    }

    fn site(&self, site: &Site) -> Option<Span> {
        match site {
            Site::Mass(particle) => {
                self.find(Mention::Mass, particle).or_else(|| self.find(Mention::Name, particle))
            }
            Site::Position(particle) => {
                self.find(Mention::Position, particle).or_else(|| self.find(Mention::Name, particle))
            }
            Site::Gravity => self.find(Mention::Gravity, ""),
            Site::Term(kind, name) => self.term(*kind, name),
            Site::Force(coordinate) => self.find(Mention::Force, coordinate),
            Site::State(name) => self.find(Mention::State, name).or_else(|| self.find(Mention::Name, name)),
            Site::Input(name) => self.find(Mention::Input, name).or_else(|| self.find(Mention::Name, name)),
            Site::Held(name) => self.find(Mention::Term(TermKind::Constraint), name),
            Site::Matrix(_) => None,
        }
    }

    /// A term, or what has an energy of this name.
    fn term(&self, kind: TermKind, name: &str) -> Option<Span> {
        self.find(Mention::Term(kind), name).or_else(|| self.owner(name))
    }

    /// The particle or body that has an energy of this name.
    fn owner(&self, name: &str) -> Option<Span> {
        self.find(Mention::Weight, name).or_else(|| self.find(Mention::Name, name))
    }

    /// A term of any kind, or what has a kinetic energy.
    fn any_term(&self, name: &str) -> Option<Span> {
        let terms = TermKind::ALL.into_iter();
        terms.filter_map(|kind| self.find(Mention::Term(kind), name)).next().or_else(|| self.owner(name))
    }

    /// Where a start sets a coordinate, its velocity or its momentum, or else where the coordinate is declared.
    fn start_of(&self, name: &str) -> Option<Span> {
        let base = name.trim_end_matches('\'');
        self.find(Mention::Start, name)
            .or_else(|| self.find(Mention::Start, base))
            .or_else(|| self.find(Mention::Name, base))
    }

    /// The body without a start that has one of these coordinates or constraints.
    fn unplaced(&self, names: &[&str]) -> Option<&str> {
        let of = |body: &&String| {
            names.iter().any(|name| {
                let part = name.rsplit_once('_').map(|(_, part)| part.split('[').next().unwrap_or(part));
                part.is_some_and(|part| suffixed(body, part) == **name)
            })
        };
        self.unplaced.iter().find(of).map(String::as_str)
    }

    /// Blames a start on a body of which none is given, if there is one.
    fn blame(&self, wrong: Diagnostic, body: Option<&str>) -> Diagnostic {
        let Some(body) = body else { return wrong };
        let cause = format!("no place was found for the body `{body}` that joints and constraints allow");
        Diagnostic { message: cause, ..wrong }
            .maybe_at(self.find(Mention::Name, body))
            .help(format!("say where it starts: `start {body} at …`"))
    }

    /// Where a name, which may have primes, is written within a place.
    fn use_of(&self, name: &str, within: Span) -> Option<Span> {
        let (base, primes) = name.split_at(name.find('\'').unwrap_or(name.len()));
        let text = match self.sheets.text(within) {
            Some((text, begins)) => text.get(within.start - begins..within.end.checked_sub(begins)?)?,
            None => self.source.get(within.start..within.end)?,
        };
        let tokens = tokens(text).ok()?;
        let found = tokens.windows(1 + primes.len()).find(|window| {
            let [first, rest @ ..] = window else { return false };
            &text[first.span.start..first.span.end] == base
                && rest.iter().all(|token| token.kind == Kind::Sign("'"))
        })?;
        let (first, last) = (found.first()?.span, found.last()?.span);
        Some(Span { start: within.start + first.start, end: within.start + last.end })
    }
}

/// An error that is found after reading, which a text can explain.
pub trait Locate {
    /// The error at its place in the text.
    fn locate(&self, setup: &Setup<'_>) -> Diagnostic;
}

impl<'g> Setup<'g> {
    /// An error of the model, of its start or of its settings at the place where the text says what is wrong. A setup that comes from
    /// no text gives the error alone.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    ///
    /// let graph = Graph::new();
    /// let text = "coord x, y\nkinetic x'^2/2\n";
    /// let setup = leastaction_language::read(&graph, text, &[])?;
    /// let error = setup.model.system().unwrap_err();
    /// let shown = setup.explain(&error).render("ball.motion", text, false);
    /// assert!(shown.contains("ball.motion:1:10"));
    /// # Ok::<(), leastaction_language::Errors>(())
    /// ```
    #[must_use]
    pub fn explain(&self, error: &impl Locate) -> Errors {
        self.source_map.shown(error.locate(self))
    }

    /// The place where the value of a parameter was used up in a number when the text was read, if there is one: what was made of it does not follow when
    /// the parameter is changed afterwards. Clauses of `run` that something else stands in for, such as "until", do not count.
    #[must_use]
    pub fn fixed(&self, parameter: &str, replaced: &[&str]) -> Option<Errors> {
        let counts = |clause: Option<&str>| clause.is_none_or(|clause| !replaced.contains(&clause));
        let mut all = self.source_map.fixed.iter();
        let found = all.find(|fixed| fixed.parameter == parameter && counts(fixed.clause))?;
        let wrong =
            format!("`{parameter}` cannot be sampled: this is computed from it once, for all trajectories");
        let help = match found.clause {
            Some("until") => {
                format!("give the end with --until, or run each value with `--set {parameter}=…`")
            }
            Some(clause) => {
                format!("give a number for `{clause}`, or run each value with `--set {parameter}=…`")
            }
            None => format!("sample something else, or run each value with `--set {parameter}=…`"),
        };
        Some(self.source_map.shown(Diagnostic::at(found.span, wrong).help(help)))
    }

    /// An output that has the name of something that is recorded anyway.
    pub(crate) fn explain_output(&self, name: &str) -> Errors {
        let whole = name.rsplit_once('.').map_or(name, |(whole, _)| whole);
        let place = self
            .source_map
            .find(Mention::Output, name)
            .or_else(|| self.source_map.find(Mention::Output, whole));
        let wrong = Diagnostic::of_all(format!("`{name}` is recorded anyway, and is something else"));
        self.source_map.shown(wrong.maybe_at(place).help("rename the output"))
    }

    /// Says that something which has an absolute tolerance is no part of the state.
    #[must_use]
    pub fn explain_tolerance(&self, name: &str) -> Errors {
        let wrong = Diagnostic::of_all(format!("`{name}` is no part of the state: it has no tolerance"))
            .maybe_at(self.source_map.find(Mention::Tolerance, name))
            .help("tolerances are of coordinates that move freely, and of their momenta");
        self.source_map.shown(wrong)
    }

    /// An error that an input leads to.
    #[must_use]
    pub fn explain_input(&self, input: &str, message: &str) -> Errors {
        let wrong = Diagnostic::of_all(message).maybe_at(self.source_map.find(Mention::Input, input));
        self.source_map.shown(wrong)
    }

    /// An error that an event leads to.
    #[must_use]
    pub fn explain_event(&self, event: &str, message: &str) -> Errors {
        let wrong = Diagnostic::of_all(message).maybe_at(self.source_map.find(Mention::Event, event));
        self.source_map.shown(wrong)
    }

    /// An error that a clause of `run`, such as "method", leads to.
    #[must_use]
    pub fn explain_clause(&self, clause: &str, advice: Advice) -> Errors {
        let place = self.source_map.find(Mention::Clause, clause);
        self.source_map.shown(Diagnostic::from(advice).maybe_at(place))
    }
}

impl Diagnostic {
    fn maybe_at(self, span: Option<Span>) -> Diagnostic {
        Diagnostic { span, ..self }
    }

    fn maybe_related(self, span: Option<Span>, label: &str) -> Diagnostic {
        match span {
            Some(span) if self.span != Some(span) => self.related(span, label),
            _ => self,
        }
    }
}

impl Locate for ModelError {
    fn locate(&self, setup: &Setup<'_>) -> Diagnostic {
        let map = &setup.source_map;
        let wrong = Diagnostic::from(self.advice());
        match self {
            ModelError::NoCoordinates => {
                wrong.help("declare what can move with `coord`: for a pendulum `coord th`, its angle")
            }
            ModelError::OnlyStates => wrong.help("write `coord still` and `kinetic still'^2/2`"),
            ModelError::NoEnergy => wrong.help(
                "add what has inertia: `particle NAME mass M at [X, Y]`, `kinetic …`, `lagrangian …`, or `hamiltonian …`",
            ),
            ModelError::IdleGravity => wrong
                .maybe_at(map.find(Mention::Gravity, ""))
                .help("gravity pulls on particles and bodies; write other weights as `potential m*g*y`"),
            ModelError::DuplicateName { name, .. } => wrong.maybe_at(map.find(Mention::Name, name)),
            ModelError::DuplicateParticle { name } => wrong.maybe_at(map.find(Mention::Name, name)),
            ModelError::DuplicateTerm { kind, name } => {
                wrong.maybe_at(map.term(*kind, name)).maybe_related(map.owner(name), "it has this name too")
            }
            ModelError::BadName { name, .. } => wrong.maybe_at(map.find(Mention::Name, name.trim_matches('`'))),
            ModelError::NotFinite { place, .. } => wrong
                .maybe_at(map.site(place))
                .help("look for a division by 0, or a root or logarithm of what is not positive"),
            ModelError::UnknownName { place, name, .. } | ModelError::MisplacedName { place, name, .. } => {
                let span = map.site(place);
                let exact = span.and_then(|span| map.use_of(name, span));
                let velocity = name.ends_with('\'');
                let wrong = match place {
                    Site::Term(TermKind::Hamiltonian, _) if velocity => wrong.help(format!(
                        "a Hamiltonian depends on momenta: declare `momentum p`, and write `p` for what belongs to `{name}`"
                    )),
                    Site::Term(TermKind::Potential, _) if velocity => wrong.help(
                        "write an energy that depends on velocities as `lagrangian …`, friction as `dissipation …`",
                    ),
                    Site::Mass(_) => wrong.help("a mass is constant: use numbers and parameters only"),
                    _ => wrong,
                };
                let wrong = wrong.maybe_at(exact.or(span));
                let defined = map.find(Mention::Name, name.trim_end_matches('\''));
                // Where the name is not written, a definition brings it in.
                if exact.is_some() { wrong } else { wrong.maybe_related(defined, "declared here") }
            }
            ModelError::Energy { kind, name, .. } => wrong.maybe_at(map.term(*kind, name)),
            ModelError::SetBeyondFormulas { name, .. } => wrong.maybe_at(map.find(Mention::Name, name)),
            ModelError::ForceOnUnknown { name } => wrong.maybe_at(map.find(Mention::Force, name)),
            ModelError::MixedForms { name } => {
                let hamiltonian = map.find(Mention::Statement, "hamiltonian");
                Diagnostic::of_all("the model states a Hamiltonian, and a kinetic energy or Lagrangian besides")
                    .maybe_at(map.any_term(name))
                    .maybe_related(hamiltonian, "the Hamiltonian")
                    .help("state the motion one way: with `hamiltonian`, to which potentials may be added, or without")
            }
            ModelError::CoupledNode { nodes, .. } => wrong.maybe_at(map.find(Mention::Mass, nodes)),
            ModelError::MomentaCount { .. } => wrong
                .maybe_at(map.find(Mention::Statement, "momentum"))
                .maybe_related(map.find(Mention::Statement, "coord"), "the coordinates"),
            ModelError::BadMass { particle, .. } => wrong.maybe_at(map.site(&Site::Mass(particle.clone()))),
            ModelError::Dimensions { particle, found, expected: DimensionsExpected::OfGravity(gravity) } => {
                let plural = if *gravity == 1 { "" } else { "s" };
                Diagnostic::of_all(format!(
                    "gravity has {gravity} component{plural}, and the position of `{particle}` has {found}"
                ))
                .maybe_at(map.find(Mention::Gravity, ""))
                .maybe_related(map.site(&Site::Position(particle.clone())), "the position")
                .help("give both as many components")
            }
            ModelError::Dimensions { particle, .. } | ModelError::JumpingPlace { particle, .. } => {
                wrong.maybe_at(map.site(&Site::Position(particle.clone())))
            }
            ModelError::UnusedCoordinate { name } => wrong.maybe_at(map.find(Mention::Name, name)).help(format!(
                "use it: in the position of a particle, or in a kinetic energy such as `kinetic m*{name}'^2/2`; or remove it"
            )),
            ModelError::NoInertia { name } => wrong.maybe_at(map.find(Mention::Name, name)).help(format!(
                "give it a kinetic energy with the square of `{name}'`, or let a particle's position depend on it"
            )),
            ModelError::SingularMass { coordinates } => {
                let mut places = coordinates.iter().map(|name| map.find(Mention::Name, name));
                let wrong = wrong.maybe_at(places.next().flatten());
                places.fold(wrong, |wrong, span| wrong.maybe_related(span, "and this one"))
            }
            ModelError::BadParameter { name, .. } => wrong.maybe_at(map.find(Mention::Name, name)),
            ModelError::Cycle { names } => wrong.maybe_at(names.first().and_then(|name| map.find(Mention::Name, name))),
            ModelError::Contradiction { body: Some(body), .. } => wrong.maybe_at(map.find(Mention::Name, body)),
            ModelError::Contradiction { constraint, .. }
            | ModelError::NonlinearConstraint { constraint }
            | ModelError::AngleProportion { constraint, .. }
            | ModelError::JumpingConstraint { constraint, .. }
            | ModelError::VelocityConstraint { constraint } => wrong.maybe_at(map.find(Mention::Term(TermKind::Constraint), constraint)),
            ModelError::HeldUnknown { name, .. } | ModelError::HeldByHamiltonian { name } => {
                wrong.maybe_at(map.site(&Site::Held(name.clone())))
            }
            ModelError::Multiplier { name, .. } => {
                let mut forces: Vec<Span> = map.forces().collect();
                forces.sort_by_key(|span| span.start);
                let used = forces.iter().find_map(|&span| map.use_of(name, span));
                wrong.maybe_at(used.or(forces.first().copied()))
            }
            ModelError::NoFictitiousTime { .. }
            | ModelError::MatrixSize { .. }
            | ModelError::Code(_) => wrong,
        }
    }
}

impl Locate for StartError {
    fn locate(&self, setup: &Setup<'_>) -> Diagnostic {
        let map = &setup.source_map;
        let wrong = Diagnostic::from(self.advice());
        match self {
            StartError::UnknownName { name, .. } | StartError::Twice { name } => {
                wrong.maybe_at(map.start_of(name))
            }
            StartError::Mixed { velocity, momentum } => {
                let (velocity, momentum) = (map.start_of(velocity), map.start_of(momentum));
                wrong.maybe_at(momentum).maybe_related(velocity, "a velocity")
            }
            StartError::NotFinite { what, .. } => {
                let place = match what {
                    StartQuantity::Share(name) | StartQuantity::Element(name, _) => map.any_term(name),
                    StartQuantity::Given(name)
                    | StartQuantity::Momentum(name)
                    | StartQuantity::Rate(name) => map.start_of(name),
                    StartQuantity::Time | StartQuantity::Energy => None,
                };
                let help = match what {
                    StartQuantity::Element(..) => {
                        "it is inverted there, or its nodes meet, or parameters are no numbers for it: look where `start` puts its nodes"
                    }
                    _ => {
                        "look for a division by 0, or a root or logarithm of what is not positive, with the values of the start"
                    }
                };
                wrong.maybe_at(place).help(help)
            }
            StartError::SingularMass { coordinates, .. } => {
                let place = coordinates.iter().find_map(|name| map.find(Mention::Start, name));
                let declared = coordinates.iter().find_map(|name| map.find(Mention::Name, name));
                wrong.maybe_at(place.or(declared))
            }
            StartError::OtherVelocity { name, .. } => wrong.maybe_at(map.start_of(name)),
            StartError::Held { name, constraint, .. } => wrong
                .maybe_at(map.start_of(name))
                .maybe_related(map.find(Mention::Term(TermKind::Constraint), constraint), "the constraint"),
            StartError::FarFromConstraints { coordinate, .. } => {
                map.blame(wrong.maybe_at(map.start_of(coordinate)), map.unplaced(&[coordinate]))
            }
            StartError::Projection(error) => {
                let constraints = match error {
                    ProjectionError::Unmet { constraints, .. }
                    | ProjectionError::UnmetRates { constraints, .. } => &constraints[..],
                    ProjectionError::Eval(_) => &[],
                };
                let names: Vec<&str> = constraints.iter().map(|(name, _)| name.as_str()).collect();
                // Joints that cannot be met may have to do with any body.
                let body = map.unplaced(&names).or(map.unplaced.first().map(String::as_str));
                map.blame(wrong.maybe_at(map.find(Mention::Statement, "start")), body)
            }
            StartError::Setting(_) | StartError::Eval(_) => {
                wrong.maybe_at(map.find(Mention::Statement, "start"))
            }
            StartError::NotSkew { .. } | StartError::NotDissipative { .. } => wrong,
        }
    }
}

impl Locate for SettingError {
    fn locate(&self, setup: &Setup<'_>) -> Diagnostic {
        let map = &setup.source_map;
        let wrong = Diagnostic::from(self.advice());
        match self {
            SettingError::NotFinite { name, .. } | SettingError::Stated { name } => {
                wrong.maybe_at(map.find(Mention::Name, name))
            }
            SettingError::BadMass { particle, .. } => wrong.maybe_at(map.site(&Site::Mass(particle.clone()))),
            SettingError::Unknown { .. }
            | SettingError::Count { .. }
            | SettingError::OutOfRange { .. }
            | SettingError::NoLane { .. }
            | SettingError::Eval(_) => wrong,
        }
    }
}

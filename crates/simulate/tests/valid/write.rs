//! Valid models at random: every statement, every shape and joint, every function, with a parameter `A` in many places.

use leastaction_expr::Random;
use std::fmt::Write as _;

/// A text, and what may be asked of it.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) text: String,
    /// All its functions have derivatives of every order.
    pub(crate) smooth: bool,
    /// Its forces follow from a Lagrangian alone, without constraints.
    pub(crate) natural: bool,
}

/// The model of a seed: the same for the same one.
pub(crate) fn model(seed: u64) -> Model {
    let mut writer = Writer::new(seed);
    match seed % 8 {
        0..3 => writer.energies(),
        3 => writer.hamiltonian(),
        4 => writer.held(),
        5 => writer.rolling(),
        6 => writer.chain(),
        _ if seed % 40 == 39 => writer.soft(),
        _ => writer.body_in_space(),
    }
    writer.finish()
}

/// Writes one model.
pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) lines: Vec<String>,
    pub(super) coordinates: Vec<&'static str>,
    /// What can be drawn.
    pub(super) places: Vec<String>,
    pub(super) smooth: bool,
    pub(super) natural: bool,
    /// Whether functions may have kinks in this model.
    pub(super) kinks: bool,
}

const NAMES: [&str; 8] = ["x", "y", "th", "q1", "θ", "s_2", "phi", "z"];

impl Writer {
    fn new(seed: u64) -> Writer {
        let mut random = Random::at(0x6d6f_7469_6f6e, seed);
        let kinks = random.chance(0.2);
        let about = random.chance(0.5).then(|| format!("# Model {seed} of the generator."));
        let lines = about.into_iter().chain(["param A = 2, k = 1.5, c = 0.3".to_owned()]).collect();
        Writer {
            random,
            lines,
            coordinates: Vec::new(),
            places: Vec::new(),
            smooth: true,
            natural: true,
            kinks,
        }
    }

    pub(super) fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.random.chance(probability)
    }

    /// A number as a person writes it.
    pub(super) fn number(&mut self, low: f64, high: f64) -> String {
        let value = self.random.between(low, high);
        match self.random.below(4) {
            0 => format!("{value:.1}"),
            1 => format!("{value:.3}"),
            2 => format!("{value:.2e}"),
            _ => format!("{value:.2}"),
        }
    }

    fn label(&mut self, name: &str) -> String {
        match self.random.below(3) {
            0 => String::new(),
            1 => format!("{name} = "),
            _ => format!("`{name} of it` = "),
        }
    }

    /// An expression of these names that is finite wherever they are.
    pub(super) fn bounded(&mut self, of: &[&str], depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(6) {
                0 => self.number(-2.0, 2.0),
                1 => "A".to_owned(),
                _ => self.random.pick(of).to_owned(),
            };
        }
        let a = self.bounded(of, depth - 1);
        let b = match self.chance(0.5) {
            true => self.random.pick(of).to_owned(),
            false => self.number(0.2, 2.0),
        };
        if self.kinks && self.chance(0.25) {
            self.smooth = false;
            return match self.random.below(8) {
                0 => format!("abs({a})"),
                1 => format!("max({a}, {b})"),
                2 => format!("min({b}, {a})"),
                3 => format!("select({a} < {b}, {b}, {a})"),
                4 => format!("select({a} >= 0.3, 1, 0.5)"),
                5 => format!("sign({a})*{b}"),
                6 => format!("floor({a})/4"),
                _ => format!("({a} > {b})*0.5"),
            };
        }
        match self.random.below(38) {
            0 => format!("{a} + {b}"),
            1 => format!("{a} - {b}"),
            2 => format!("({a})*{b}"),
            3 => format!("({a})/(1 + {b}^2)"),
            4 => format!("-({a})"),
            5 => format!("sin({a})"),
            6 => format!("cos({a})*{b}"),
            7 => format!("tanh({a})"),
            8 => format!("atan({a})"),
            9 => format!("erf({a})"),
            10 => format!("exp(-({a})^2)"),
            11 => format!("logistic({a})"),
            12 => format!("sqrt(1 + ({a})^2)"),
            13 => format!("ln(2 + ({a})^2)"),
            14 => format!("log1p(({a})^2)"),
            15 => format!("cbrt(2 + sin({a}))"),
            16 => format!("hypot(1, {a})"),
            17 => format!("atan2({a}, 2 + {b}^2)"),
            18 => format!("asinh({a})"),
            19 => format!("acos(0.9*sin({a}))"),
            20 => format!("asin(0.9*cos({a}))"),
            21 => format!("acosh(2 + ({a})^2)"),
            22 => format!("atanh(0.8*tanh({a}))"),
            23 => format!("expm1(-({a})^2)"),
            24 => format!("cosh(tanh({a}))"),
            25 => format!("sinh(sin({a}))"),
            26 => format!("tan(0.7*sin({a}))"),
            27 => format!("tanh({a})^3"),
            28 => format!("(2 + sin({a}))^1.5"),
            29 => format!("2^sin({a})"),
            30 => format!("(1.5 + cos({a}))^sin({b})"),
            31 => format!("norm([1, {a}])"),
            32 => format!("dot([{a}, 1], [0.5, {b}])"),
            33 => format!("norm([{a}, 1, {b}])"),
            34 => format!("dot(cross([1, 0, {b}], [0, 1, {a}]), [0.3, 0.2, 1])"),
            35 => format!("{b}*pi/4 + sin({a})^2"),
            36 => format!("1/(2 + cos({a}))"),
            _ => format!("log(3 + sin({a}))"),
        }
    }

    /// The same with what can stand everywhere: time, sometimes.
    pub(super) fn of_time(&mut self, names: &[&str], depth: usize) -> String {
        let mut names = names.to_vec();
        if self.chance(0.3) {
            names.push("t");
        }
        self.bounded(&names, depth)
    }

    fn choose_coordinates(&mut self, count: usize) -> Vec<&'static str> {
        let first = self.random.below(NAMES.len());
        let names: Vec<_> = (0..count).map(|i| NAMES[(first + i) % NAMES.len()]).collect();
        match self.chance(0.5) {
            true => self.line(format!("coord {}", names.join(", "))),
            false => names.iter().for_each(|name| self.line(format!("coord {name}"))),
        }
        self.coordinates.clone_from(&names);
        names
    }

    /// Names for expressions, which may be used later by others.
    fn definitions(&mut self, q: &[&'static str]) -> Vec<&'static str> {
        let mut known = q.to_vec();
        if self.chance(0.5) {
            let value = self.bounded(q, 1);
            self.line(format!("let w = {value}"));
            known.push("w");
        }
        if self.chance(0.5) {
            let value = self.bounded(&["a", "k"], 1);
            self.line(format!("let f(a) = {value}"));
            let at = self.bounded(&known, 1);
            self.line(format!("let fa = f({at})"));
            known.push("fa");
        }
        if self.chance(0.3) {
            let value = self.bounded(&["a", "b"], 2);
            let (q0, number) = (q[0], self.number(0.1, 1.0));
            self.line(format!("let g(a, b) = {value}, ga = g({q0}, {number})"));
            known.push("ga");
        }
        known
    }

    fn potential(&mut self, q: &[&str], known: &[&str]) -> String {
        let walls: Vec<_> = q.iter().map(|x| format!("{x}^2")).collect();
        let more = self.of_time(known, 2);
        format!("k*({})/2 + 0.3*({more})", walls.join(" + "))
    }

    /// What acts from outside, and what slows.
    fn forces(&mut self, q: &[&str], known: &[&str]) {
        if self.chance(0.3) {
            self.natural = false;
            let (value, x) = (self.bounded(&["t", "A"], 2), self.random.pick(q));
            self.line(format!("input u = {value}, idle"));
            let more = self.bounded(known, 1);
            self.line(format!("force {x} = u + idle*({more})"));
        }
        if self.chance(0.3) {
            self.natural = false;
            let x = self.random.pick(q);
            let label = self.label("drag");
            match q.len() {
                1 => self.line(format!("dissipation {label}c*{x}'^2/2")),
                _ => self.line(format!("dissipation {label}c*({}' - A*{}')^2/2 + 0.01*{x}'^2", q[0], q[1])),
            }
        }
        // No random number decides it, so that all else stays as it is for a seed.
        if self.lines.len().is_multiple_of(3) {
            self.natural = false;
            self.line(format!("state lag' = {}' + A*{} - lag, count", q[0], q[q.len() - 1]));
            self.line(format!("force {} = 0.1*lag - 0.01*lag'", q[0]));
        }
        if self.lines.len() % 7 == 2 {
            (self.natural, self.smooth) = (false, false);
            let kinds = ["", " linear", " cubic", " hold"];
            let (kind, column) = (kinds[self.lines.len() / 7 % 4], ["u", "wind"][q.len() % 2]);
            self.line(format!("input drive = table \"drive.csv\" column {column}{kind} held"));
            self.line(format!("force {} = A*drive", q[0]));
        }
        if self.lines.len() % 5 == 1 {
            self.line("include \"shared.motion\"");
            self.line("part gauge(q, c)\n  output reading = c*q\nend");
            self.line(format!("place meter = gauge({}, A*twice)", q[0]));
        }
        if self.chance(0.2) {
            self.natural = false;
            let (x, speed) = (self.random.pick(q), format!("{}'", q[0]));
            let value = self.of_time(&[known, &[&speed]].concat(), 1);
            self.line(format!("force {x} = 0.2*({value})"));
        }
    }

    /// What is looked at.
    fn views(&mut self, q: &[&str], known: &[&str]) {
        let speed = format!("{}'", q[0]);
        let all = [known, &[&speed]].concat();
        if self.chance(0.5) {
            let (one, other) = (self.of_time(&all, 2), self.bounded(&all, 1));
            self.line(format!("output seen = {one}, both = [{other}, A]"));
        }
        if self.chance(0.3) {
            let (value, level) = (self.bounded(&all, 1), self.number(-0.5, 0.5));
            let direction = self.random.pick(&["", ", rising", ", falling"]);
            self.line(format!("event passes: {value} = {level}{direction}"));
        }
        if self.chance(0.2) {
            self.line("invariant fixed = A*k");
        }
        if self.chance(0.4) && !self.places.is_empty() {
            let place = self.places[self.random.below(self.places.len())].clone();
            self.line(format!("draw dot {place} mass A, trail {place}, rod [0, 0] to {place}"));
        }
        if self.chance(0.2) {
            self.line("draw line [0, 0] to [1, A] to [2, 0], curve [r, sin(r)*A] for r from -1 to 1");
        }
    }

    fn start_and_run(&mut self, q: &[&str]) {
        let mut terms = Vec::new();
        for x in q {
            let value = self.number(-0.8, 0.8);
            terms.push(if self.chance(0.2) {
                format!("{x} = {value}*A/2")
            } else {
                format!("{x} = {value}")
            });
            if self.chance(0.5) {
                terms.push(format!("{x}' = {}", self.number(-1.0, 1.0)));
            }
        }
        self.line(format!("start {}", terms.join(", ")));
        // No random number decides it, so that all else stays as it is for a seed.
        if terms.len() > 3 {
            self.line(format!("tolerance {} = 1e-14", q[0]));
        }
        self.run();
    }

    pub(super) fn run(&mut self) {
        let until = self.number(0.3, 1.0);
        let more = self.random.pick(&["", "", "", ", samples 20", ", every 0.05"]);
        self.line(format!("run until {until}{more}"));
    }

    /// Coordinates with kinetic and potential energies, particles, Lagrangians.
    fn energies(&mut self) {
        let count = 1 + self.random.below(3);
        let q = self.choose_coordinates(count);
        let known = self.definitions(&q);
        match self.random.below(3) {
            0 => {
                for x in &q {
                    let (label, factor) = (self.label("moving"), self.bounded(&known, 1));
                    let label = if label.is_empty() {
                        label
                    } else {
                        label
                            .replace("moving", &format!("moving {x}"))
                            .replace(&format!("moving {x} ="), &format!("moving_{x} ="))
                    };
                    self.line(format!("kinetic {label}(1 + ({factor})^2)*{x}'^2/2"));
                }
                if q.len() > 1 {
                    let factor = self.bounded(&known, 1);
                    self.line(format!("kinetic 0.4*sin({factor})*{}'*{}'", q[0], q[1]));
                }
            }
            1 => {
                for (i, x) in q.iter().enumerate() {
                    let mass = if self.chance(0.3) { "A".to_owned() } else { self.number(0.5, 2.0) };
                    self.line(format!("particle m{i} mass {mass} at [{x}, {i}]"));
                    self.places.push(format!("m{i}"));
                }
                // A place that jumps is refused.
                let kinks = std::mem::replace(&mut self.kinks, false);
                let (a, b) = (self.of_time(&known, 1), self.bounded(&known, 1));
                self.kinks = kinks;
                let mass = self.random.pick(&["0.7", "[0.5, A]"]);
                self.line(format!("particle bob mass {mass} at m0 + [{a}, {b}]"));
                self.line("point middle at (m0 + bob)/2");
                self.places.extend(["bob".to_owned(), "middle".to_owned()]);
                if self.chance(0.7) {
                    self.line("gravity [0.1*A, -3]");
                }
                if self.chance(0.3) {
                    self.line("spring from m0 to bob stiffness A length 0.3");
                }
            }
            _ => {
                let squares: Vec<_> = q.iter().map(|x| format!("{x}'^2")).collect();
                let turning = self.bounded(&known, 1);
                let more = self.of_time(&known, 1);
                self.line(format!(
                    "lagrangian A*({})/2 + ({turning})*{}' - 0.2*({more})",
                    squares.join(" + "),
                    q[q.len() - 1]
                ));
            }
        }
        let (label, potential) = (self.label("well"), self.potential(&q, &known));
        self.line(format!("potential {label}{potential}"));
        if self.chance(0.1) {
            // Its Hamiltonian is no expression.
            self.natural = false;
            let (x, y) = (self.random.pick(&q), self.random.pick(&q));
            let features = if self.chance(0.5) { format!("{x}, {y}") } else { format!("cos({x}), sin({y})") };
            self.line(format!("network learned of {features} from \"well.safetensors\""));
        }
        self.forces(&q, &known);
        self.views(&q, &known);
        self.resets(&q);
        self.start_and_run(&q);
    }

    /// What events set, where no constraint forbids it. No random number decides it, so that all else stays as it is for a seed.
    fn resets(&mut self, q: &[&str]) {
        let (x, last) = (q[0], q[q.len() - 1]);
        for line in self.lines.iter_mut().filter(|line| line.starts_with("event ") && line.len() % 2 == 0) {
            let clauses =
                [format!(", set {last}' = -0.5*A*{last}'"), format!(", set {x} = 0.9*{x}, {last}' = {x}")];
            line.push_str(&clauses[line.len() / 2 % 2]);
        }
        if self.lines.len() % 6 == 2 {
            let ticks = ["0.04", "beat: 0.02*A"][self.lines.len() / 6 % 2];
            self.natural = false;
            self.line("state hold, ticks");
            self.line("param swap = 1".to_owned());
            self.line("input level = 0.3".to_owned());
            self.line(format!("force {last} = 0.1*hold*swap + 0.1*level"));
            self.line(format!("every {ticks} set hold = sin({x}) - 0.2*{last}', ticks = ticks + 1"));
            self.line("every turn: 0.05 set swap = -swap, level = level/2".to_owned());
        }
    }

    fn hamiltonian(&mut self) {
        let count = 1 + self.random.below(3);
        let q = self.choose_coordinates(count);
        let p = ["p1", "p_b", "pp"];
        self.line(format!("momentum {}", p[..count].join(", ")));
        let known = self.definitions(&q);
        for (x, p) in q.iter().zip(p) {
            let factor = self.bounded(&known, 1);
            let _ = x;
            self.line(format!("hamiltonian (1 + ({factor})^2)*{p}^2/2"));
        }
        if self.chance(0.4) {
            let both: Vec<_> = known.iter().copied().chain([p[0]]).collect();
            let more = self.of_time(&both, 2);
            self.line(format!("hamiltonian mixed = 0.2*({more})"));
        }
        let potential = self.potential(&q, &known);
        self.line(format!("potential {potential}"));
        self.natural = false;
        let all: Vec<_> = known.iter().copied().chain([p[0]]).collect();
        if self.chance(0.5) {
            let value = self.of_time(&all, 2);
            self.line(format!("output seen = {value}"));
        }
        let terms: Vec<_> = q
            .iter()
            .zip(p)
            .map(|(x, p)| format!("{x} = {}, {p} = {}", self.number(-0.8, 0.8), self.number(-1.0, 1.0)))
            .collect();
        self.line(format!("start {}", terms.join(", ")));
        self.run();
    }

    /// A particle on a wire or a circle, which may move.
    fn held(&mut self) {
        self.natural = false;
        self.line("coord x, y");
        self.line("particle bead mass A at [x, y]");
        self.line("gravity [0, -3]");
        self.places.push("bead".to_owned());
        let q = ["x", "y"];
        match self.random.below(4) {
            0 => {
                // A wire that jumps is refused.
                let kinks = std::mem::replace(&mut self.kinks, false);
                let (wire, at) = (self.bounded(&["a"], 2), self.number(-0.8, 0.8));
                self.kinks = kinks;
                self.line(format!("let wire(a) = {wire}"));
                self.line("constraint y = wire(x)");
                self.line(format!("start x = {at}, y = wire({at})"));
            }
            1 => {
                let (at, speed) = (self.number(-1.5, 1.5), self.number(-1.0, 1.0));
                self.line("constraint rod: x^2 + y^2 = A^2");
                self.line(format!(
                    "start x = A*sin({at}), y = -A*cos({at}), x' = {speed}*cos({at}), y' = {speed}*sin({at})"
                ));
            }
            2 => {
                let speed = self.number(-1.0, 1.0);
                self.line(format!("constraint `moving rod`: norm([x, y]) = 1 + {speed}*t/4"));
                self.line(format!("start x = 1, x' = {speed}/4, y' = 0.5"));
            }
            _ => {
                // So is a lift that jumps.
                let kinks = std::mem::replace(&mut self.kinks, false);
                let value = self.bounded(&["t"], 2);
                self.kinks = kinks;
                self.line(format!("let lift = 0.2*({value})"));
                self.line("constraint y = lift");
                self.line("force x = -k*x");
                self.line("start x = 0.5");
            }
        }
        if self.chance(0.5) {
            self.line("dissipation c*(x'^2 + y'^2)/2");
        }
        self.views(&q, &q);
        self.run();
    }

    /// What rolls and does not slip.
    fn rolling(&mut self) {
        self.natural = false;
        self.line("coord x, y, th");
        self.line("kinetic (x'^2 + y'^2)/2 + A*th'^2/2");
        let q = ["x", "y", "th"];
        let potential = self.potential(&q, &q);
        self.line(format!("potential {potential}"));
        self.line("constraint blade: x'*sin(th) = y'*cos(th)");
        if self.chance(0.4) {
            self.line("constraint x' = 0.5*th'*cos(th)");
            self.line("start x = 0.2, th' = 1, x' = 0.5");
        } else {
            let speed = self.number(-1.0, 1.0);
            self.line(format!("start y = 0.3, x' = {speed}, th' = 0.7"));
        }
        self.forces(&q, &q);
        self.views(&q, &q);
        self.run();
    }

    fn finish(self) -> Model {
        let mut text = String::new();
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        Model { text, smooth: self.smooth, natural: self.natural }
    }
}

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
struct Writer {
    random: Random,
    lines: Vec<String>,
    coordinates: Vec<&'static str>,
    /// What can be drawn.
    places: Vec<String>,
    smooth: bool,
    natural: bool,
    /// Whether functions may have kinks in this model.
    kinks: bool,
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

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.chance(probability)
    }

    /// A number as a person writes it.
    fn number(&mut self, low: f64, high: f64) -> String {
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
    fn bounded(&mut self, of: &[&str], depth: usize) -> String {
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
    fn of_time(&mut self, names: &[&str], depth: usize) -> String {
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

    fn run(&mut self) {
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
                let (a, b) = (self.of_time(&known, 1), self.bounded(&known, 1));
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
        self.forces(&q, &known);
        self.views(&q, &known);
        self.start_and_run(&q);
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
                let value = self.bounded(&["t"], 2);
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

    /// Bodies of the plane that hang on each other.
    fn chain(&mut self) {
        self.natural = false;
        let count = 1 + self.random.below(3);
        let mut x = 0.0;
        for i in 0..count {
            let shape = match self.random.below(6) {
                0 => "rod 1 mass A".to_owned(),
                1 => "rod 1 density 2".to_owned(),
                2 => "disk 0.5 mass 1".to_owned(),
                3 => "plate [1, 0.3] density A".to_owned(),
                4 => "moment A mass 1".to_owned(),
                _ => "moments [0.2, 0.1] mass 2".to_owned(),
            };
            self.line(format!("body b{i} planar {shape}"));
            match i {
                0 => self.line("joint j0 pin b0 at [-0.5, 0] to ground"),
                _ => self.line(format!("joint j{i} pin b{i} at [-0.5, 0] to b{} at [0.5, 0]", i - 1)),
            }
            self.places.push(format!("b{i}"));
        }
        self.line("gravity [0, -A]");
        let last = count - 1;
        if self.chance(0.4) {
            self.line(format!("spring pull from b{last} at [0.5, 0] to [1, A] stiffness k length 1"));
        }
        if self.chance(0.4) {
            self.line(format!("damper from b{last} to [3, 3] rate c"));
        }
        if self.chance(0.4) {
            let value = self.of_time(&["A"], 1);
            self.line(format!("torque b0 = {value}"));
        }
        if self.chance(0.4) {
            let value = self.bounded(&["t", "A"], 1);
            self.line(format!("force b{last} at [0.2, 0.1] = [{value}, A]"));
        }
        if self.chance(0.4) {
            self.line(format!("point tip on b{last} at [0.5, 0.1]"));
            self.line("output tip.y, tip'");
        }
        if self.chance(0.4) {
            self.line("output turned = b0.angle', heavy = b0.mass, spin = b0.angular_momentum");
        }
        let turn = self.random.between(-1.5, 1.5);
        for i in 0..count {
            let (dx, dy) = (turn.cos(), turn.sin());
            self.line(format!(
                "start b{i} from [{:?}, {:?}] to [{:?}, {:?}]",
                x * dx,
                x * dy,
                (x + 1.0) * dx,
                (x + 1.0) * dy
            ));
            x += 1.0;
        }
        if self.chance(0.5) {
            self.line(format!("draw dot b{last}, rod j0 to b0"));
        }
        self.run();
    }

    /// A body of space that hangs, slides, turns or flies.
    fn body_in_space(&mut self) {
        self.natural = false;
        let shape = self.random.pick(&[
            "cuboid [1, A, 0.5] mass 1",
            "sphere 0.5 density A",
            "cylinder 0.3 height A mass 2",
            "cone 0.4 height 1 density 1",
            "inertia [1, 1.5, 2] mass A",
            "moments [0.3, A, 0.2] mass 1",
            "plate [1, A] mass 1",
            "disk A mass 1",
        ]);
        let turned = self.random.pick(&[
            "",
            "",
            " turned 0.3",
            " turned about [1, 2, 0] by 0.5",
            " turned quaternion [1, 0.5, 0, 0]",
            " centre [0, 0, 0.1]",
        ]);
        // What turns a shape takes its size as a number.
        let shape = if turned.is_empty() { shape.to_owned() } else { shape.replace('A', "1.2") };
        self.line(format!("body b {shape}{turned}"));
        self.line("gravity [0.3, 0.2, -A]");
        let joint = self.random.pick(&[
            "",
            "ball b at [0, 0, 0.5] to [0, 0, 0.5]",
            "hinge b at [0.5, 0, 0] to [0.5, 0, 0] axis [0, 1, 0]",
            "universal b at [0, 0, 0.5] to ground at [0, 0, 0.5] axis [1, 0, 0] and [0, 1, 0]",
            "cylindrical b to ground axis [0, 0, 1]",
            "prismatic b to ground axis [1, 0, 1]",
            "fixed b to other at [0.5, 0, 0]",
            "distance b at [0.5, 0, 0] to [2.5, 0, 0] length 2",
        ]);
        let plain = turned.is_empty();
        if !joint.is_empty() && plain {
            if joint.starts_with("fixed") {
                self.line("body other sphere 0.2 mass A");
                self.line("start other at [-0.5, 0, 0]");
            }
            self.line(format!("joint hold {joint}"));
        }
        if self.chance(0.4) {
            let value = self.bounded(&["t", "A"], 1);
            self.line(format!("torque b = [0.1, {value}, 0]"));
        }
        if self.chance(0.4) {
            self.line("force b at [0.2, 0, 0.1] = A*b.axis1 - 0.1*b'");
        }
        if self.chance(0.4) {
            self.line("spring from b at [0.3, 0, 0] to [0, 1, 2] stiffness k length A");
        }
        if self.chance(0.5) {
            self.line("output up = b.axis3.z, b.spin, L = b.angular_momentum");
        }
        let free = joint.is_empty() || !plain;
        let motion = match (free, self.random.below(4)) {
            (false, _) => "",
            (_, 0) => " moving [0.1, 0.2, 0.3] spinning [1, 0.5, 0.2]",
            (_, 1) => " turned zxz [0.1, 0.5, 0.2] rates [1, 0, 2]",
            (_, 2) => " turned about [1, 1, 0] by 0.4 spinning [0, 0, 3] in body",
            _ => " holding [0.1, 0, 0] turned quaternion [1, 0.2, 0, 0.1]",
        };
        self.line(format!("start b at [0, 0, 0]{motion}"));
        self.run();
    }

    /// A small soft body, a net, or some atoms.
    fn soft(&mut self) {
        self.natural = false;
        let [young, mass] = [self.number(8.0, 20.0), self.number(0.5, 2.0)];
        let speed = self.number(0.1, 0.5);
        match self.random.below(3) {
            0 => {
                self.line(
                    "mesh b box [1, 0.8, 1.2] cells [1, 1, 1] turned about [1, 1, 0] by 0.2 at [0, 0, 1]",
                );
                let material = self.random.pick(&["material b density A", "material b density 1.5"]);
                self.line(material);
                let kinds = ["linear", "st-venant-kirchhoff", "neo-hookean", "stable-neo-hookean"];
                let kind = self.random.pick(&kinds);
                self.line(format!("field elastic {kind} on b young {young}*A poisson 0.3"));
                self.line("fix b z0");
                self.line(format!("start b moving [{speed}*z, 0, 0.1*x]"));
            }
            1 => {
                self.line("mesh net plate [1, 1] cells [2, 1]");
                self.line(format!("material net mass {mass} per area"));
                self.line(format!("field threads on edges of net (a, b) = {young}*A*dot(b - a, b - a)/2"));
                self.line("field well on nodes of net (a) = k*dot(a - a0, a - a0)/2 + c*sin(a.x)*a.z^2");
                self.line("damping net rate c");
                self.line("fix net x0 along y, z");
                self.line(format!("force net x1 in all = [0, {speed}, A*cos(t)]"));
                self.line(format!("start net where x > 0.4 at [x, y, {speed}*x] moving [0, 0, 0.2]"));
            }
            _ => {
                self.line("atoms gas at [0, 0, 0], [1.2, 0, 0], [0, 1.1, 0.2]");
                self.line("material gas mass A");
                self.line("field bond morse on gas depth A a 1.2 r0 1");
                self.line(format!("start gas moving [0, 0, {speed}*x]"));
            }
        }
        self.line("gravity [0.1, 0, -A/4]");
        self.line("run until 0.5");
    }

    fn finish(self) -> Model {
        let mut text = String::new();
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        Model { text, smooth: self.smooth, natural: self.natural }
    }
}

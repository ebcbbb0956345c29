//! Forces that depend on multipliers, against what can be worked out by hand.

use leastaction_expr::Graph;
use leastaction_integrate::Integrator;
use leastaction_language::read;
use leastaction_mechanics::Dynamics;

/// A text with a start at which its momenta are these, and values by name there: of expressions, and of the rates of momenta.
struct Seen {
    dynamics: Dynamics,
    y: Vec<f64>,
}

fn at(text: &str, q: &[f64], p: &[f64]) -> Seen {
    let graph = Graph::new();
    let setup =
        read(&graph, text, &[]).unwrap_or_else(|wrong| panic!("{}", wrong.render("test", text, false)));
    let system = setup
        .model
        .system()
        .unwrap_or_else(|wrong| panic!("{}", setup.explain(&wrong).render("test", text, false)));
    let dynamics = system.dynamics().unwrap();
    Seen { dynamics, y: [q, p].concat() }
}

impl Seen {
    fn value(&mut self, text: &str) -> f64 {
        let mut out = [0.0];
        let observable = self.dynamics.observable(text).unwrap();
        self.dynamics.observe(observable, &[0.0], &self.y, &mut out).unwrap();
        out[0]
    }

    fn momentum_rates(&mut self) -> Vec<f64> {
        let mut dy = vec![0.0; self.y.len()];
        self.dynamics.rates(&[0.0], &self.y, &mut dy).unwrap();
        dy.split_off(self.y.len() / 2)
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-11 * expected.abs().max(1.0), "{found} is not {expected}");
}

/// A block slides down a slope, in coordinates along it, of which one is held, and in those of the plane: g (sin a − μ cos a).
#[test]
fn a_block_on_a_slope() {
    let (m, g, a, mu): (f64, f64, f64, f64) = (2.0, 9.81, 0.6, 0.3);
    let along = "param m = 2, mu = 0.3, a = 0.6
coord s, n
particle block mass m at [s*cos(a) + n*sin(a), n*cos(a) - s*sin(a)]
constraint floor: n = 0
let N = abs(reaction_floor)
force s = -mu*N*sign(s')
gravity [0, -9.81]
";
    for speed in [1.5, -1.5] {
        let mut seen = at(along, &[0.2], &[m * speed]);
        close(seen.value("reaction_floor"), m * g * a.cos());
        close(seen.momentum_rates()[0], m * g * (a.sin() - mu * a.cos() * speed.signum()));
    }
    let plane = "param m = 2, mu = 0.3, a = 0.6
coord x, y
particle block mass m at [x, y]
constraint floor: y = -tan(a)*x
let v = x'*cos(a) - y'*sin(a)
force block = -mu*abs(lambda_floor)/cos(a)*sign(v)*[cos(a), -sin(a)]
gravity [0, -9.81]
";
    for speed in [1.5, -1.5] {
        let mut seen = at(plane, &[0.5, -0.5 * a.tan()], &[m * speed * a.cos(), -m * speed * a.sin()]);
        close(seen.value("lambda_floor").abs(), m * g * a.cos() * a.cos());
        let push = g * (a.sin() - mu * a.cos() * speed.signum());
        let rates = seen.momentum_rates();
        close(rates[0], m * push * a.cos());
        close(rates[1], -m * push * a.sin());
    }
}

/// A bead on a hoop that turns about its vertical diameter: the hoop presses from below and from behind.
#[test]
fn a_bead_on_a_turning_hoop() {
    let text = "param m = 0.5, R = 0.4, w = 7, mu = 0.2, g = 9.81
coord th, r, ph
particle bead mass m at [r*sin(th)*cos(ph), r*sin(th)*sin(ph), -r*cos(th)]
constraint hoop: r = R
constraint drive: ph = w*t
let N = sqrt(reaction_hoop^2 + (reaction_drive/(R*sin(th)))^2)
force th = -mu*N*R*sign(th')
gravity [0, 0, -g]
";
    let (m, r, w, mu, g) = (0.5, 0.4, 7.0, 0.2, 9.81);
    for (th, rate) in [(0.7_f64, 3.0_f64), (2.0, -1.0), (0.3, 0.5)] {
        let mut seen = at(text, &[th], &[m * r * r * rate]);
        let inwards = m * (r * rate * rate + r * th.sin().powi(2) * w * w + g * th.cos());
        let sideways = 2.0 * m * r * th.cos() * rate * w;
        close(seen.value("reaction_hoop"), -inwards);
        close(seen.value("reaction_drive"), sideways * r * th.sin());
        let friction = mu * inwards.hypot(sideways) * rate.signum();
        let expected = m * r * r * w * w * th.sin() * th.cos() - m * g * r * th.sin() - friction * r;
        close(seen.momentum_rates()[0], expected);
    }
}

const ROD: &str = "param m = 2, J = 0.1, l = 0.5, mu = 0.4, g = 9.81
coord x, y, th
kinetic m*(x'^2 + y'^2)/2 + J*th'^2/2
potential m*g*y
constraint floor: y = l*cos(th)
let v = x' - l*cos(th)*th'
let F = -mu*abs(lambda_floor)*sign(v)
force x = F, th = -F*l*cos(th)
";

/// Painlevé's rod: it slides on one end, and friction there presses it to the floor or lifts it, so that N depends on μN:
/// N (1/m + l² sin θ (sin θ + μ s cos θ)/J) = g − l θ'² cos θ.
#[test]
fn a_rod_that_slides_on_its_end() {
    let (m, j, l, mu, g) = (2.0, 0.1, 0.5, 0.4, 9.81);
    for (th, rate, speed) in
        [(0.6_f64, 0.5_f64, 2.0_f64), (0.6, 0.5, -2.0), (-0.9, -1.0, 1.0), (0.2, 0.0, -1.0)]
    {
        let y = l * th.cos();
        let fall = -l * th.sin() * rate;
        let mut seen = at(ROD, &[0.0, y, th], &[m * speed, m * fall, j * rate]);
        let s = (speed - l * th.cos() * rate).signum();
        let n = (g - l * th.cos() * rate * rate)
            / (1.0 / m + l * l * th.sin() * (th.sin() + mu * s * th.cos()) / j);
        assert!(n > 0.0);
        close(seen.value("lambda_floor"), -n);
        let rates = seen.momentum_rates();
        close(rates[0], -mu * n * s);
        close(rates[1], n - m * g);
        close(rates[2], n * l * (th.sin() + mu * s * th.cos()));
    }
}

/// Where friction is so large that no answer, or more than one, is to be had, there is none.
#[test]
fn no_answer_is_no_number() {
    let text = ROD.replace("mu = 0.4", "mu = 4");
    let th = 0.6_f64;
    let mut seen = at(&text, &[0.0, 0.5 * th.cos(), th], &[-4.0, 0.0, 0.0]);
    let mut dy = vec![0.0; 6];
    let refused = seen.dynamics.rates(&[0.0], &seen.y, &mut dy).is_err();
    assert!(refused || dy.iter().any(|rate| rate.is_nan()), "{dy:?}");
}

/// A wheel that is braked, by a force that is its load times its creep; the load comes from the brake, too: the axle stands before the centre of mass.
#[test]
fn a_wheel_with_creep() {
    let text = "param m = 3, J = 0.2, R = 0.3, C = 5, h = 0.2
coord x, y, w
kinetic m*(x'^2 + y'^2)/2 + J*w'^2/2
potential m*9.81*y
constraint road: y = R
let creep = (x' - R*w')/x'
let F = C*reaction_road*creep
force x = -F, w = R*F, y = h*F
";
    let (m, j, r, c, h, g) = (3.0, 0.2, 0.3, 5.0, 0.2, 9.81);
    let (v, w) = (10.0, 31.0);
    let creep = (v - r * w) / v;
    // m·0 = N − m g + h C N creep.
    let n = m * g / (1.0 + h * c * creep);
    let mut seen = at(text, &[0.0, 0.0], &[m * v, j * w]);
    close(seen.value("reaction_road"), n);
    let rates = seen.momentum_rates();
    close(rates[0], -c * n * creep);
    close(rates[1], r * c * n * creep);
}

/// What cannot be said is refused, with its place.
#[test]
fn what_is_not_known_is_refused() {
    let wrong = |text: &str| {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).map_err(|wrong| wrong.render("test", text, false));
        let setup = match setup {
            Ok(setup) => setup,
            Err(wrong) => return wrong,
        };
        let error = setup.model.system().unwrap_err();
        setup.explain(&error).render("test", text, false)
    };
    let twice = wrong(
        "coord x, y\nkinetic x'^2 + y'^2\nconstraint a: x^2 + y^2 = 1\nconstraint b: 2*x^2 + 2*y^2 = 2\nforce x = lambda_a\n",
    );
    assert!(twice.contains("depend on each other") && twice.contains("test:5:11"), "{twice}");
    let none = wrong("coord x, y\nkinetic x'^2 + y'^2\nconstraint a: x^2 + y^2 = 1\nforce x = reaction_a\n");
    assert!(none.contains("`lambda_` with its name"), "{none}");
    let stated = wrong(
        "coord x, y\nmomentum p, q\nhamiltonian p^2 + q^2\nconstraint a: x^2 + y^2 = 1\nforce x = lambda_a\n",
    );
    assert!(stated.contains("state energies or a Lagrangian"), "{stated}");
    let unknown = wrong("coord x, y\nkinetic x'^2 + y'^2\nforce x = lambda_a\nconstraint a: x^2 + y^2 = 1\n");
    assert!(unknown.contains("unknown name `lambda_a`"), "{unknown}");
}

/// The block comes to rest where friction has eaten its speed, and stays there; and it is as far off as it would be with the known μ m g cos a in place of μN.
#[test]
fn a_block_stops_and_stays() {
    let text = "param mu = 0.4, a = 0.3
coord s, n
particle block mass 2 at [s*cos(a) + n*sin(a), n*cos(a) - s*sin(a)]
constraint floor: n = 0
force s = -mu*abs(reaction_floor)*sign(s')
gravity [0, -9.81]
start s' = 2
";
    let slows = 9.81 * (0.4 * 0.3_f64.cos() - 0.3_f64.sin());
    let stop = 2.0 / slows;
    for method in ["dop853", "gauss4"] {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).unwrap();
        let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
        let integrator = Integrator::named(method, 0.01).unwrap();
        for until in [0.5 * stop, stop + 1.0] {
            let run = integrator.run(&mut dynamics, &start, until).unwrap();
            let slid = until.min(stop);
            let (s, v) = (run.end().q[0], run.end().p[0] / 2.0);
            assert!((s - (2.0 * slid - 0.5 * slows * slid * slid)).abs() < 1e-9, "{method} {until}: {s}");
            assert!((v - (2.0 - slows * slid)).abs() < 1e-9, "{method} {until}: {v}");
        }
    }
}

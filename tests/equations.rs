//! The code that `leastaction equations` prints computes what the equations of motion say.

use leastaction::catalog::ALL;
use leastaction::language::read;
use leastaction::{Dynamics, EquationForm, Equations, Graph, Page, Statement};
use leastaction_expr::Random;

/// x of A x = b.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// What the code computes at the start of a model, with the coordinates, momenta, velocities and the vector field there.
fn at_start(text: &str) -> (Vec<f64>, usize, Vec<f64>, Vec<f64>) {
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap();
    let equations = setup.model.equations().unwrap();
    let mut dynamics = equations.system().unwrap().dynamics().unwrap();
    let start = setup.start(&dynamics).unwrap();
    let state = dynamics.start(&start).unwrap();
    let (n, y) = (state.q.len(), state.block());
    let (mut field, mut v) = (vec![0.0; 2 * n], vec![0.0; n]);
    dynamics.rates(&[0.0], &y, &mut field).unwrap();
    dynamics.velocities(&[0.0], &y, &mut v).unwrap();
    let code = equations.function().unwrap();
    let second = match equations.statement {
        Statement::Lagrangian(_) => v.clone(),
        Statement::Hamiltonian(_) => state.p.clone(),
    };
    let numbers: Vec<f64> = [vec![0.0], state.q, second].concat();
    let parameters = equations.parameters.iter().map(|(_, value)| *value);
    let values: Vec<_> = code.inputs.iter().copied().zip(numbers.into_iter().chain(parameters)).collect();
    (code.outputs.iter().map(|e| e.eval(&values).unwrap()).collect(), n, v, field)
}

/// The rates of the momenta follow from the printed parts as they follow from the equations of motion.
#[test]
fn the_parts_give_the_accelerations() {
    let text = "param g = 9.81\ncoord x, y, u, v\nparticle a mass 2 at [x, y]\nparticle b mass 1 at [u, v]\n\
                gravity [0, -g]\nconstraint rod: x^2 + y^2 = 1 + t/8\nconstraint arm: (u - x)^2 + (v - y)^2 = 2\n\
                constraint skate: u'*(v - y) = t\nstart x = 0.6, y = -0.8, u = 1.6, v = 0.2, x' = 0.4, y' = 0.3";
    let (parts, n, _, field) = at_start(text);
    let rows = 3;
    assert_eq!(parts.len(), n * n + n + rows * n + 2 * rows);
    let (mass, rest) = parts.split_at(n * n);
    let (loads, rest) = rest.split_at(n);
    let (jacobian, rest) = rest.split_at(rows * n);
    let (gamma, values) = rest.split_at(rows);
    assert!(values.iter().all(|value| value.abs() < 1e-12), "{values:?}");
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => mass[i * n + j],
        (true, false) => jacobian[(j - n) * n + i],
        (false, true) => jacobian[(i - n) * n + j],
        (false, false) => 0.0,
    };
    let matrix = (0..n + rows).map(|i| (0..n + rows).map(|j| entry(i, j)).collect()).collect();
    let solution = solve(matrix, [loads, gamma].concat());
    // The masses are constant here: p' = M q''.
    for i in 0..n {
        let rate: f64 = (0..n).map(|j| mass[i * n + j] * solution[j]).sum();
        assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
    }
}

#[test]
fn the_parts_of_a_hamiltonian_give_the_rates_of_momenta() {
    let text = "coord x, y\nmomentum a, b\nhamiltonian a^2/2 + b^2/4 + a*y/3 + 9*y\nconstraint rod: x^2 + y^2 = 1\n\
                start x = 0.6, y = -0.8, a = 1, b = 2";
    let (parts, n, v, field) = at_start(text);
    let (flow, rest) = parts.split_at(n);
    let (pushes, rest) = rest.split_at(n);
    let &[gx, gy, a, gamma, value] = rest else { panic!("{} parts", rest.len()) };
    assert!(value.abs() < 1e-12 && flow.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-12));
    for (i, g) in [gx, gy].into_iter().enumerate() {
        let rate = pushes[i] - g * gamma / a;
        assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
    }
}

/// What a printed page says of the catalog, a line each.
fn printed(name: &str, form: EquationForm) -> String {
    let graph = Graph::new();
    let setup = leastaction::catalog::Entry::named(name).unwrap().setup(&graph);
    setup.model.equations().unwrap().page(form, &[]).unwrap().motion_only().to_string()
}

#[test]
fn equations_are_printed_as_in_a_textbook() {
    use EquationForm::{Hamilton, Solved, Stated};
    let cases = [
        ("pendulum", Stated, "l*th'' = -g*sin(th)"),
        (
            "double-pendulum",
            Stated,
            "l1*(m1 + m2)*th1'' + m2*l2*cos(th1 - th2)*th2'' = -m2*l2*th2'^2*sin(th1 - th2) - g*(m1 + m2)*sin(th1)\n\
             l1*cos(th1 - th2)*th1'' + l2*th2'' = l1*th1'^2*sin(th1 - th2) - g*sin(th2)",
        ),
        ("kapitza", Stated, "l*th'' = -a*w^2*cos(w*t)*sin(th) + g*sin(th)"),
        ("bead-on-hoop", Stated, "R*th'' = -g*sin(th) + R*Omega^2*sin(th)*cos(th)"),
        (
            "spherical-pendulum",
            Stated,
            "l*th'' = l*phi'^2*sin(th)*cos(th) - g*sin(th)\nsin(th)^2*phi'' = -2*th'*phi'*sin(th)*cos(th)",
        ),
        ("kepler", Stated, "r'' = r*phi'^2 - GM/r^2\nr^2*phi'' = -2*r*r'*phi'"),
        ("kepler", Solved, "r'' = r*phi'^2 - GM/r^2\nphi'' = -2*r'*phi'/r"),
        (
            "cart-pole",
            Solved,
            "x'' = m*(l*th'^2 - g*cos(th))*sin(th)/(M + m*sin(th)^2)\n\
             th'' = (M*g + m*g - m*l*th'^2*cos(th))*sin(th)/(l*(M + m*sin(th)^2))",
        ),
        ("kepler", Hamilton, "r' = p_r\nphi' = p_phi/r^2\np_r' = p_phi^2/r^3 - GM/r^2\np_phi' = 0"),
        (
            "cart-pole",
            Stated,
            "(M + m)*x'' + m*l*cos(th)*th'' = m*l*th'^2*sin(th)\ncos(th)*x'' + l*th'' = g*sin(th)",
        ),
        ("henon-heiles", Stated, "x'' = -x - 2*lambda*x*y\ny'' = -lambda*x^2 + lambda*y^2 - y"),
        (
            "lagrange-top",
            Stated,
            "I1*th'' = (I1 - I3)*phi'^2*sin(th)*cos(th) - I3*phi'*psi'*sin(th) + m*l*g*sin(th)\n\
             (I1*sin(th)^2 + I3*cos(th)^2)*phi'' + I3*cos(th)*psi'' = -2*(I1 - I3)*th'*phi'*sin(th)*cos(th) + \
             I3*th'*psi'*sin(th)\n\
             cos(th)*phi'' + psi'' = th'*phi'*sin(th)",
        ),
    ];
    for (name, form, expected) in cases {
        assert_eq!(printed(name, form), expected, "{name}");
    }
}

/// What the lines of a page are off, given all numbers by name: the largest difference of sides, relative to what they are made of.
fn off(page: &Page<'_>, values: &[(String, f64)]) -> f64 {
    let rows = page.rows().map(|row| {
        let graph = row.sides[0].graph();
        let values: Vec<_> = values.iter().map(|(name, value)| (graph.symbol(name), *value)).collect();
        let [left, right] = row.sides.map(|side| side.eval(&values).unwrap());
        (left - right).abs() / (1.0 + left.abs() + right.abs())
    });
    rows.fold(0.0, f64::max)
}

/// All numbers of an arbitrary state near the start: coordinates, velocities, accelerations, momenta and their rates as they are computed.
fn somewhere(
    equations: &Equations<'_>,
    dynamics: &mut Dynamics,
    q: &[f64],
    random: &mut Random,
) -> Vec<(String, f64)> {
    let (n, t) = (q.len(), [0.3]);
    let z: Vec<f64> = q.iter().map(|q| q + random.between(0.05, 0.2)).collect();
    let z: Vec<f64> = z.into_iter().chain((0..n).map(|_| random.between(-1.0, 1.0))).collect();
    let (mut a, mut p, mut field) = (vec![0.0; n], vec![0.0; n], vec![0.0; 2 * n]);
    dynamics.momenta(&t, &z, &mut p).unwrap();
    dynamics.rates(&t, &[&z[..n], &p].concat(), &mut field).unwrap();
    dynamics.accelerations(&t, &z, &mut a).unwrap();
    let mut values = vec![("t".to_owned(), t[0])];
    values.extend(equations.parameters.iter().map(|(symbol, value)| (symbol.to_string(), *value)));
    for i in 0..n {
        let (q, p_name) = (equations.coordinates[i].to_string(), equations.momenta[i].to_string());
        values.push((format!("{q}''"), a[i]));
        values.push((format!("{q}'"), z[n + i]));
        values.push((q, z[i]));
        values.push((format!("{p_name}'"), field[n + i]));
        values.push((p_name, p[i]));
    }
    values
}

/// Every form, in numbers, is what is computed.
#[test]
fn printed_equations_are_those_that_are_computed() {
    let mut random = Random::new(3);
    let mut seen = 0;
    for entry in ALL {
        let graph = Graph::new();
        let setup = entry.setup(&graph);
        let equations = setup.model.equations().unwrap();
        if !equations.constraints.is_empty() || !equations.is_symbolic() {
            continue;
        }
        let mut dynamics = equations.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
        let values = somewhere(&equations, &mut dynamics, &start.q, &mut random);
        for form in [EquationForm::Stated, EquationForm::Solved, EquationForm::Hamilton] {
            let page = equations.page(form, &[]).unwrap().motion_only();
            assert!(off(&page, &values) < 1e-11, "{}: {form:?} is {:e} off", entry.name, off(&page, &values));
            seen += 1;
        }
        let numbers: Vec<_> =
            equations.parameters.iter().map(|(symbol, value)| (*symbol, graph.number(*value))).collect();
        let page = equations.page(EquationForm::Stated, &numbers).unwrap().motion_only();
        assert!(off(&page, &values) < 1e-11, "{} with numbers\n{page}", entry.name);
    }
    assert!(seen >= 30, "{seen}");
}

#[test]
fn forms_that_equations_do_not_have_are_refused() {
    let page = |text: &str, form| {
        let graph = Graph::new();
        let equations = read(&graph, text, &[]).unwrap().model.equations().unwrap();
        equations.page(form, &[]).map(|page| page.to_string()).unwrap_err().to_string()
    };
    let rod = "coord x, y\nparticle a mass 1 at [x, y]\nconstraint rod: x^2 + y^2 = 1\n";
    assert!(page(rod, EquationForm::Solved).contains("multipliers"));
    let free = "coord x\nmomentum p\nhamiltonian p^2/2 + x^2/2\n";
    assert!(page(free, EquationForm::Solved).contains("momenta"));
}

/// Equations say nothing of what events set, and say so, in comments where they are code.
#[test]
fn events_that_set_something_are_mentioned() {
    let file = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("equations-ball.motion");
    let ball = "coord y\nparticle ball mass 1 at [y]\ngravity [-9.81]\nevent floor: y = 0, falling, set y' = -0.8*y'\n";
    std::fs::write(&file, ball).unwrap();
    let print = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_leastaction"));
        let output = command.arg("equations").arg(&file).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let note = "These are the equations between events: what `floor` sets is not in them.\n";
    assert!(print(&[]).ends_with(&format!("\n{note}")), "{}", print(&[]));
    assert!(print(&["--latex"]).starts_with(&format!("% {note}")));
    assert!(print(&["--python"]).starts_with(&format!("# {note}")));
    std::fs::write(&file, ball.replace(", falling, set y' = -0.8*y'", "")).unwrap();
    assert!(!print(&[]).contains("between events"));
}

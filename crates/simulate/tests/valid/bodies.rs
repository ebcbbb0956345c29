//! Models of bodies: chains in the plane, a body in space, and a soft one.

use super::write::Writer;

impl Writer {
    /// Bodies of the plane that hang on each other.
    pub(super) fn chain(&mut self) {
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
    pub(super) fn body_in_space(&mut self) {
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
    pub(super) fn soft(&mut self) {
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
                match self.random.below(3) {
                    0 => self.line("keep volumes of b by cells"),
                    1 => {
                        self.line("body cap cuboid [1, 1, 0.5] mass 0.7");
                        self.line("attach glue: b z1 to cap at [x, y, z - 2]");
                        self.line("start cap at [0, 0, 2]");
                    }
                    _ => {}
                }
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
}

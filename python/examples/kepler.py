"""A planet by energies, its conserved quantities, and how its return depends on where it starts."""

import leastaction as la
import numpy as np

model = la.Model("kepler")
mu = model.parameters(mu=1)
x, y = model.coords("x y")
model.particle("planet", 1, [x, y])
model.potential(-mu / np.sqrt(x**2 + y**2))
model.start({"x": 1, "y'": 0.9})
model.invariant("spin", x * y.dot - y * x.dot)
kepler = model.system()

# The period by Kepler's third law: a = 1/(2 - v²).
period = 2 * np.pi * (2 - 0.81) ** -1.5
run = kepler.run(until=period, tol=1e-13)
print(run)
print(f"back where it was, but for {abs(run.end['x'] - 1):.0e}")
assert abs(run.end["x"] - 1) < 1e-9

gradient = kepler.gradient("y", until=period, tol=1e-12)
print("y at the end changes by", gradient.start["y'"], "for each unit of the speed at the start")
faster = kepler.run(until=period, tol=1e-13, start={"y'": 0.9 + 1e-6}).end["y"]
assert abs((faster - run.end["y"]) / 1e-6 - gradient.start["y'"]) < 1e-2

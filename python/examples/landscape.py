"""A function of many points: the energy of a double pendulum over its angles, and where it rests."""

import leastaction as la
import numpy as np

pendulum = la.catalog.double_pendulum()
angles = np.linspace(-np.pi, np.pi, 101)
grid = np.stack(np.meshgrid(angles, angles, indexing="ij"), axis=-1)
energy = pendulum.potential_energy(grid)
lowest = np.unravel_index(np.argmin(energy), energy.shape)
rest = la.equilibrium(pendulum)
print("lowest on the grid at", grid[lowest], "and in between at", rest.q)
assert rest.stable and np.allclose(grid[lowest], rest.q, atol=0.1)

modes = la.modes(pendulum)
print("angular frequencies", modes.frequency)
small = pendulum.run(until=20, start={"th1": 1e-4 * modes.shapes[0, 0], "th2": 1e-4 * modes.shapes[0, 1]}, samples=2000, tol=1e-12)
crossings = np.flatnonzero(np.diff(np.sign(small["th1"])))
measured = np.pi * (len(crossings) - 1) / (small.t[crossings[-1]] - small.t[crossings[0]])
print("and the first one as it swings", measured)
assert abs(measured / modes.frequency[0] - 1) < 1e-2

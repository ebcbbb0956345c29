"""The data of the problems, for all programs, and how errors are measured."""
import itertools
import math
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
MODELS = HERE / "models"
G = 9.81

# P1: the double pendulum, unit masses and rods, from rest with both rods level. States are two angles to the vertical and their rates.
PENDULUM = MODELS / "double-pendulum.motion"
PENDULUM_START = np.array([math.pi / 2, math.pi / 2, 0.0, 0.0])
PENDULUM_END = 10.0
PENDULUM_TARGETS = (1e-6, 1e-9, 1e-12)

# Tolerances in a decade: errors change with one step of these by about 2 times at most, or by 1.5.
STEPS = (1, 2, 3, 5)
FINE = (1, 1.5, 2, 3, 5, 7)


def tolerances(first, last, between=STEPS):
    """From the decade of 10^-first on, downwards."""
    return [float(f"{d}e-{k}") for k in range(first, last + 1) for d in reversed(between)]


def distance(state, exact):
    return float(np.max(np.abs(np.asarray(state) - exact)))


# P2: many of them, from rest.
MANY = 4096


def many_starts(count=MANY):
    starts = np.zeros((count, 4))
    starts[:, :2] = np.random.default_rng(20240601).uniform(-np.pi / 2, np.pi / 2, (count, 2))
    return starts


def many_errors(ends, exact):
    """Some members are chaotic: medians and percentiles, not maxima."""
    worst = np.max(np.abs(ends - exact), axis=1)
    return {"median": float(np.median(worst)), "p99": float(np.quantile(worst, 0.99))}


# P3: the Sun and the outer planets, in au, days and solar masses: E. Hairer, C. Lubich and G. Wanner, Geometric Numerical
# Integration, 2006, section I.2.4. States are positions of all bodies, then velocities.
SOLAR = HERE.parent.parent / "crates/catalog/src/system/outer-solar-system.motion"
SOLAR_G = 2.95912208286e-4
SOLAR_MASSES = np.array([1.00000597682, 0.000954786104043, 0.000285583733151, 4.37273164546e-5, 5.17759138449e-5, 1 / 1.3e8])
SOLAR_PLACES = np.array([
    [0, 0, 0], [-3.5023653, -3.8169847, -1.5507963], [9.0755314, -3.0458353, -1.6483708], [8.3101420, -16.2901086, -7.2521278],
    [11.4707666, -25.7294829, -10.8169456], [-15.5387357, -25.2225594, -3.1902382]], float)
SOLAR_SPEEDS = np.array([
    [0, 0, 0], [0.00565429, -0.00412490, -0.00190589], [0.00168318, 0.00483525, 0.00192462], [0.00354178, 0.00137102, 0.00055029],
    [0.00288930, 0.00114527, 0.00039677], [0.00276725, -0.00170702, -0.00136504]], float)
SOLAR_START = np.concatenate([SOLAR_PLACES.ravel(), SOLAR_SPEEDS.ravel()])
SOLAR_END = 1e6
SOLAR_LATER = 4e4  # over so many days more, energies of methods of fixed step are looked at


def solar_energy(state):
    """In extended precision, so that the energy itself has no error that counts."""
    wide = np.asarray(state, np.longdouble)
    x, v, m = wide[:18].reshape(6, 3), wide[18:].reshape(6, 3), SOLAR_MASSES.astype(np.longdouble)
    energy = (m * (v * v).sum(1)).sum() / 2
    for i in range(6):
        for j in range(i):
            energy -= np.longdouble(SOLAR_G) * m[i] * m[j] / np.sqrt(((x[i] - x[j]) ** 2).sum())
    return energy


def to_centre(state):
    """Place and speed of the centre of mass."""
    total = SOLAR_MASSES.sum()
    return SOLAR_MASSES @ state[:18].reshape(6, 3) / total, SOLAR_MASSES @ state[18:].reshape(6, 3) / total


def from_centre(state, t):
    """A state about the centre of mass, as it is in the frame of the start."""
    place, speed = to_centre(SOLAR_START)
    x, v = state[:18].reshape(6, 3) + place + speed * t, state[18:].reshape(6, 3) + speed
    return np.concatenate([x.ravel(), v.ravel()])


def solar_judge(exact):
    before = solar_energy(SOLAR_START)

    def judge(entry, end):
        states = [end] + (entry.later() if entry.later else [])
        drift = max(abs(float(solar_energy(s) / before - 1)) for s in states)
        return {"dE": drift, "dx": distance(np.asarray(end)[:18], exact[:18])}
    return judge


# P4: an ellipse of eccentricity 0.6 and period 2π, 1000 times.
KEPLER_START = np.array([0.4, 0.0, 0.0, 2.0])
KEPLER_END = 2000 * math.pi
KEPLER_TURNS = (1.0, 2.0, 3.0, 4.0)  # ellipses that point elsewhere: at round-off one run says little
KEPLER_CLOSE = 1e-7


def turned(state, angle):
    """A state in the plane, turned."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, u, v = state
    return np.array([c * x - s * y, s * x + c * y, c * u - s * v, s * u + c * v])


def kepler_text(turn=0.0):
    """A model text."""
    x, y, u, v = turned(KEPLER_START, turn).tolist()
    return f"""# An ellipse of eccentricity 0.6 and semi-major axis 1 about a fixed centre, from its nearest point.
coord x, y
particle planet mass 1 at [x, y]
potential gravity = -1/norm(planet)
start x = {x!r}, y = {y!r}, x' = {u!r}, y' = {v!r}
"""


def kepler_energy(state):
    x, y, u, v = np.asarray(state, np.longdouble)
    return (u * u + v * v) / 2 - 1 / np.sqrt(x * x + y * y)


def kepler_judge(entry, end):
    """The median over ellipses."""
    ends = [end]
    if entry.later and distance(np.asarray(end)[:2], KEPLER_START[:2]) < KEPLER_CLOSE:
        ends += entry.later()
    drifts = [abs(float(kepler_energy(end) / kepler_energy(KEPLER_START) - 1)) for end in ends]
    return {"dE": float(np.median(drifts)), "dx": float(np.median([distance(np.asarray(end)[:2], KEPLER_START[:2]) for end in ends]))}


# P5: a hanging chain of unit masses on unit rods in the plane; angles are to the vertical.
def chain_state(count):
    random = np.random.default_rng(count)
    if count >= LEVEL:
        return np.full(count, math.pi / 2), np.zeros(count)
    return random.uniform(-0.5, 0.5, count), random.uniform(-0.5, 0.5, count)


def chain_accelerations(angles, rates):
    """By the full mass matrix."""
    count = len(angles)
    hanging = count - np.maximum.outer(np.arange(count), np.arange(count))
    apart = angles[:, None] - angles[None, :]
    pull = -(hanging * np.sin(apart)) @ rates**2 - G * (count - np.arange(count)) * np.sin(angles)
    return np.linalg.solve(hanging * np.cos(apart), pull)


def chain_by_tensions(angles, rates):
    """The same by the tensions T of the rods, which follow from their neighbours':
    T[i-1] cos(θ[i-1]-θ[i]) - 2 T[i] + T[i+1] cos(θ[i+1]-θ[i]) = -θ̇[i]², and at the top -T[0] + T[1] cos(θ[1]-θ[0]) = -θ̇[0]² - g cos θ[0].
    """
    from scipy.linalg import solve_banded
    apart = np.diff(angles)
    bands = np.zeros((3, len(angles)))
    bands[0, 1:], bands[1], bands[2, :-1] = np.cos(apart), -2.0, np.cos(apart)
    bands[1, 0] = -1.0
    right = -rates**2
    right[0] -= G * np.cos(angles[0])
    tensions = solve_banded((1, 1), bands, right)
    bends = np.zeros_like(angles)
    bends[:-1] += tensions[1:] * np.sin(apart)
    bends[1:] -= tensions[:-1] * np.sin(apart)
    bends[0] -= G * np.sin(angles[0])
    return bends


LEVEL = 50_000  # chains as long as this start level and at rest, so that their text is not too long


def chain_in_angles(count):
    """A model text."""
    angles, rates = (a.tolist() for a in chain_state(count))
    lines = ["# a hanging chain, in angles", "coord " + ", ".join(f"th{i}" for i in range(count))]
    for i in range(count):
        above = f"bob{i - 1} + " if i else ""
        lines.append(f"particle bob{i} mass 1 at {above}[sin(th{i}), -cos(th{i})]")
    lines += ["gravity [0, -9.81]"]
    lines += [f"start th{i} = {angles[i]!r}, th{i}' = {rates[i]!r}" for i in range(count)]
    return "\n".join(lines) + "\n"


def chain_in_places(count):
    """A model text: rods are constraints."""
    if count >= LEVEL:
        lines = ["# a level chain"]
        for i in range(count):
            rod = f"b{i} - b{i - 1}" if i else "b0"
            lines += [f"coord x{i}, y{i}", f"particle b{i} mass 1 at [x{i}, y{i}]", f"constraint r{i}: norm({rod})^2 = 1", f"start x{i} = {i + 1}"]
        return "\n".join(lines + ["gravity [0, -9.81]"]) + "\n"
    angles, rates = chain_state(count)
    along = np.cumsum(np.stack([np.sin(angles), -np.cos(angles)], 1), 0).tolist()
    turning = np.cumsum(np.stack([rates * np.cos(angles), rates * np.sin(angles)], 1), 0).tolist()
    lines = ["# a hanging chain, in positions"]
    for i in range(count):
        rod = f"bob{i} - bob{i - 1}" if i else "bob0"
        lines += [f"coord x{i}, y{i}", f"particle bob{i} mass 1 at [x{i}, y{i}]", f"constraint rod{i}: norm({rod})^2 = 1",
                  f"start x{i} = {along[i][0]!r}, y{i} = {along[i][1]!r}", f"start x{i}' = {turning[i][0]!r}, y{i}' = {turning[i][1]!r}"]
    return "\n".join(lines + ["gravity [0, -9.81]"]) + "\n"


def bends_in_places(angles, rates, bends):
    """Accelerations of the masses, from those of the angles."""
    sin, cos = np.sin(angles), np.cos(angles)
    return np.cumsum(np.stack([bends * cos - rates**2 * sin, bends * sin + rates**2 * cos], 1), 0).ravel()


# P6: a beam of tetrahedra, six in each cell, bent and shaken a little; St. Venant and Kirchhoff's material.
BEAMS = ((10, 4, 4), (26, 8, 8), (65, 16, 16), (163, 32, 32))
BEAM_LAMBDA, BEAM_MU = 5.8e5, 3.8e5


class beam:
    """A beam of so many cells, as high as 1: `places` at rest, where they `moved`, and the `nodes` of each tetrahedron. Cells are cut as `Mesh::cuboid` cuts them."""

    def __init__(self, cells):
        cells, corner = np.array(cells), np.array(cells) + 1
        number = np.arange(np.prod(corner)).reshape(corner[::-1]).transpose(2, 1, 0)  # x runs fastest
        self.places = np.stack(np.meshgrid(*map(np.arange, corner), indexing="ij"), -1).transpose(2, 1, 0, 3).reshape(-1, 3) / cells[1]
        found = []
        for order in itertools.permutations(range(3)):
            at, path = np.zeros(3, int), []
            for step in (None, *order):
                if step is not None:
                    at[step] += 1
                low, high = at, at + cells
                path.append(number[low[0]:high[0], low[1]:high[1], low[2]:high[2]].transpose(2, 1, 0).ravel())
            if order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
                path[2], path[3] = path[3], path[2]
            found.append(np.stack(path, 1))
        self.nodes = np.stack(found, 1).reshape(-1, 4)
        shaken = np.sin(np.arange(3 * len(self.places)) * 1.7).reshape(-1, 3)
        self.moved = self.places + 0.01 / cells[1] * shaken
        self.moved[:, 1] -= 0.02 * self.places[:, 0] ** 2

    @property
    def rest(self):
        """For each tetrahedron the inverse of its edges as columns, and its volume."""
        edges = np.swapaxes(self.places[self.nodes[:, 1:]] - self.places[self.nodes[:, :1]], 1, 2)
        return np.ascontiguousarray(np.linalg.inv(edges)), np.linalg.det(edges) / 6


# P8: a constrained Hamiltonian network of the chain of three links learns from chunks of its motion.
class network:
    """What is learned from what: `weights` of three layers of tanh with so many units, orthogonal as such networks begin, and the logarithms of masses; and `chunks`,
    places and then velocities of the links of a chain: samples × 2 × links × 2 × chunks."""
    DT, SAMPLES = 0.03, 5

    def __init__(self, key):
        self.links, self.units, self.batch = key
        random = np.random.default_rng(8)

        def orthogonal(out, into):
            q, r = np.linalg.qr(random.standard_normal((max(out, into), min(out, into))))
            q = q * np.sign(np.diag(r))
            return np.ascontiguousarray(q if out >= into else q.T)
        self.weights = {"W1": orthogonal(self.units, 2 * self.links), "b1": np.zeros(self.units), "W2": orthogonal(self.units, self.units),
                        "b2": np.zeros(self.units), "W3": orthogonal(self.units, self.units), "b3": np.zeros(self.units),
                        "w4": orthogonal(1, self.units)[0], "masses": np.zeros(self.links)}
        self.chunks = np.stack([self.chunk(random) for _ in range(self.batch)], -1)

    def chunk(self, random, fine=30):
        """Samples of one motion, by Runge and Kutta's method with short steps."""
        state, samples = random.standard_normal((2, self.links)), []
        rates = lambda y: np.stack([y[1], chain_accelerations(*y)])
        for _ in range(self.SAMPLES):
            angles, turning = state
            along, across = np.stack([np.sin(angles), -np.cos(angles)], 1), np.stack([np.cos(angles), np.sin(angles)], 1)
            samples.append(np.stack([np.cumsum(along, 0), np.cumsum(turning[:, None] * across, 0)]))
            h = self.DT / fine
            for _ in range(fine):
                a = rates(state)
                b = rates(state + h / 2 * a)
                c = rates(state + h / 2 * b)
                d = rates(state + h * c)
                state = state + h / 6 * (a + 2 * b + 2 * c + d)
        return np.stack(samples)

    @staticmethod
    def flat(weights):
        """Weights, or slopes by them, in one row, as ours are: with the constant of the energy, which has no effect, before the masses."""
        rows = [np.asarray(weights[name], float).ravel() for name in ("W1", "b1", "W2", "b2", "W3", "b3", "w4")]
        return np.concatenate([*rows, [0.0], np.asarray(weights["masses"], float)])

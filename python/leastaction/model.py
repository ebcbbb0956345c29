"""Models that are built by calls: each call writes the statement of its name in the `.motion` language.

>>> import numpy as np, leastaction as la
>>> model = la.Model("atwood")
>>> M, m, g = model.parameters(M=3, m=1, g=9.81)
>>> r, th = model.coords("r th")
>>> model.particle("swinger", m, [r*np.sin(th), -r*np.cos(th)])
>>> model.particle("weight", M, [-1, r - 3])
>>> model.gravity([0, -g])
>>> model.start(r=1, th=np.pi/2)
>>> print(model.text)
param M = 3, m = 1, g = 9.81
coord r, th
particle swinger mass m at [r*sin(th), -r*cos(th)]
particle weight mass M at [-1, r - 3]
gravity [0, -g]
start r = 1, th = 1.5707963267948966
>>> round(model.system().energy([1, 0.5], [0, 0]), 6)
-67.469085
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _native
from ._attached import Attached, table_file
from ._check import kind, number, text, truth, whole
from ._errors import UsageError
from ._native import Expr
from .expressions import symbols
from .soft import Soft, _quoted
from .system import System

WORD = re.compile(r"[^\W\d]\w*\Z")
NAME = re.compile(r"[^\W\d]\w*(\[\d+\])*\Z")


def _name(name: Any, what: str) -> str:
    found = text(name, what)
    if not NAME.match(found):
        raise UsageError(f"{what} `{found}` is no word: letters, digits and underscores, the first of which is no digit")
    return found


def _label(name: Any, what: str) -> str:
    """A name that may be no word: in backquotes then."""
    found = text(name, what)
    if NAME.match(found):
        return found
    if not found or any(letter in found for letter in "`\r\n") or not found.isprintable():
        raise UsageError(f"{what} {found!r} is no name")
    return f"`{found}`"


def _state_name(name: Any) -> str:
    """The name of a coordinate, a velocity or a momentum, or of something else that is set."""
    word = str(name) if isinstance(name, Expr) else text(name, "a coordinate, a velocity or a momentum")
    if not NAME.match(word.rstrip("'")):
        raise UsageError(f"`{word}` is no coordinate, velocity or momentum")
    return word


def _method(name: Any) -> str:
    word = text(name, "a method")
    if not word.replace("-", "").isalnum():
        raise UsageError(f"`{word}` is no method")
    return word


class Model(Soft):
    """A model that is built by calls. What it says is its `text`; `system()` derives and compiles its equations of motion.

    Wherever an expression is expected, there may be a number, an expression, or a text in the language, such as "norm(bob') - 1";
    and where a vector is, a list or an array of them, or a text. What has no call here is said by `add`.
    """

    def __init__(self, name: str = "model") -> None:
        self.name = _name(name, "the name of a model")
        self._lines: list[str] = []
        self._coordinates: list[Expr] = []
        self._shared = 0
        #: Files that came as arrays, and the relative paths of those that are in the folder Python works in.
        self._files: dict[str, bytes] = {}
        self._paths: list[str] = []

    # What is written

    @property
    def text(self) -> str:
        """The model in the `.motion` language."""
        return "\n".join(self._lines)

    def add(self, statements: str) -> None:
        """Adds statements of the language as they are: `model.add("spring from a to b stiffness 4 length 1")`."""
        self._lines.extend(text(statements, "statements").rstrip().splitlines())

    def system(self) -> System:
        """The system, with its equations of motion derived and compiled."""
        if not self._files:
            return System._of_text(self.name, self.text + "\n", os.getcwd())
        # All files are taken from one folder.
        files = dict(self._files)
        for path in self._paths:
            try:
                with open(path, "rb") as file:
                    files[path] = file.read()
            except OSError as error:
                raise UsageError(f"`{path}` cannot be read: {error.strerror}") from None
        return System._of_text(self.name, self.text + "\n", os.getcwd(), Attached(files))

    def _file(self, path: Any) -> str:
        """The path of a file, as a text in the language says it."""
        said, name = _quoted(path), os.fsdecode(path)
        if not os.path.isabs(name):
            self._paths.append(name)
        return said

    def _attach(self, name: str, content: bytes) -> str:
        """A file that comes as it is, as a text in the language says it."""
        taken = name in self._files or name in self._paths
        path = f"arrays/{len(self._files) + 1}-{name}" if taken else f"arrays/{name}"
        self._files[path] = content
        return f'"{path}"'

    def __repr__(self) -> str:
        count = len(self._lines)
        return f"<model {self.name}, {count} line{'' if count == 1 else 's'}>"

    # Numbers, formulas and vectors as text

    def _scalar(self, value: Any, what: str) -> str:
        if isinstance(value, str):
            words = " ".join(text(value, what).split())
            if not words:
                raise UsageError(f"{what} is an empty text")
            return words
        if not isinstance(value, Expr):
            value = _native.expression(number(value, what))
        definitions, written = _native.definitions(value, f"shared{self._shared}_")
        self._shared += bool(definitions)
        self._lines.extend(f"let {name} = {value}" for name, value in definitions)
        return str(written)

    def _vector(self, value: Any, what: str) -> str:
        if isinstance(value, str):
            return self._scalar(value, what)
        if not isinstance(value, (list, tuple, np.ndarray)):
            raise TypeError(f"{what} should be a list of expressions, such as [x, y], not {kind(value)}")
        if len(np.shape(np.asarray(value, dtype=object))) != 1 or len(value) == 0:
            raise UsageError(f"{what} should be a list of 1 to 3 expressions")
        return f"[{', '.join(self._scalar(each, what) for each in value)}]"

    def _either(self, value: Any, what: str) -> str:
        listed = isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0
        return self._vector(value, what) if listed else self._scalar(value, what)

    def _say(self, statement: str) -> None:
        self._lines.append(statement)

    # Names

    def parameter(self, name: str, value: float) -> Expr:
        """A number that can be changed later, with its usual value."""
        word = _name(name, "the name of a parameter")
        self._say(f"param {word} = {self._scalar(number(value, f'`{word}`'), word)}")
        return _native.expression(word)

    def parameters(self, **values: float) -> Any:
        """Parameters with their usual values: one as it is, several as a tuple."""
        if not values:
            raise UsageError("there is no parameter: write model.parameters(m=1, g=9.81)")
        listed = [f"{_name(name, 'a parameter')} = {self._scalar(number(value, name), name)}" for name, value in values.items()]
        self._say(f"param {', '.join(listed)}")
        found = tuple(_native.expression(name) for name in values)
        return found[0] if len(found) == 1 else found

    def coords(self, names: Any) -> Any:
        """Coordinates: what moves. Names, as in `la.coords`, or symbols. `x.dot` is the velocity of `x`."""
        if isinstance(names, Expr):
            names = [names]
        found = symbols(names)
        listed = found if isinstance(found, tuple) else (found,)
        for symbol in listed:
            if not WORD.match(str(symbol)):
                raise UsageError(f"`{symbol}` is no name of a coordinate")
        self._coordinates.extend(listed)
        self._say(f"coord {', '.join(map(str, listed))}")
        return found

    def momenta(self, names: Any) -> Any:
        """Names for the momenta of the coordinates, in their order; without, they are `p_x`."""
        found = symbols(names)
        listed = found if isinstance(found, tuple) else (found,)
        self._say(f"momentum {', '.join(_name(str(symbol), 'a momentum') for symbol in listed)}")
        return found

    def input(
        self, name: str, value: Any = 0.0, *, table: Any = None, column: str | None = None, between: str = "linear", held: bool = False
    ) -> Expr:
        """A function of time and parameters that acts from outside; or a column of a table: `linear`, `cubic` or `hold` between its times, and the
        first and last values beyond them, if it is `held`. A table is the path of a .csv file, a dictionary of arrays with the times in `t`, a
        table of pandas or polars, or a pair of times and values.

        >>> import numpy as np, leastaction as la
        >>> model = la.Model()
        >>> x = model.coords("x")
        >>> model.particle("cart", 2, [x])
        >>> t = np.linspace(0, 1, 11)
        >>> push = model.input("push", table=(t, 6*t))
        >>> model.force(x, push)
        >>> model.run(until=1)
        >>> round(float(model.system().run()["x"][-1]), 9)
        0.5
        """
        word = _name(name, "the name of an input")
        if table is None:
            self._say(f"input {word} = {self._scalar(value, word)}")
            return _native.expression(word)
        if between not in ("linear", "cubic", "hold"):
            raise UsageError(f"between = {between!r}: choose 'linear', 'cubic' or 'hold'")
        more = " held" if truth(held, "held") else ""
        if isinstance(table, (str, bytes, os.PathLike)):
            path = self._file(table)
        else:
            path = self._attach(f"{word}.csv", table_file(table, word))
        self._say(f"input {word} = table {path} column {_name(word if column is None else column, 'a column')} {between}{more}")
        return _native.expression(word)

    def state(self, name: str, rate: Any = None) -> Expr:
        """A number that changes at a given rate, such as the charge of a filter or the error that a controller adds up: z' = rate; without one, only events
        change it."""
        word = _name(name, "the name of a state")
        self._say(f"state {word}" if rate is None else f"state {word}' = {self._scalar(rate, word)}")
        return _native.expression(word)

    def network(self, name: str, of: Any, *, file: Any = None, hidden: Any = None, units: str | None = None) -> Expr:
        """A potential energy that is a network of coordinates: from a file of weights, or to be trained by `la.learn.Known`, with so many units
        between its layers, which are `tanh`, `softplus`, `sin` or `silu`."""
        word = _name(name, "the name of a network")
        read = ", ".join(map(str, [of] if isinstance(of, (str, Expr)) else of))
        if (file is None) == (hidden is None):
            raise UsageError("a network is from a file, or has hidden units: give one of them")
        if file is not None:
            self._say(f"network {word} of {read} from {self._file(file)}")
        else:
            sizes = ", ".join(str(whole(count, "hidden", 1)) for count in hidden)
            self._say(f"network {word} of {read} hidden {sizes}" + ("" if units is None else f" units {_name(units, 'units')}"))
        return _native.expression(word)

    def define(self, name: str, value: Any) -> Expr:
        """A name for an expression or a vector: `let`."""
        word = _name(name, "the name of an expression")
        self._say(f"let {word} = {self._either(value, word)}")
        return _native.expression(word)

    def velocity(self, expression: Any) -> Expr:
        """The rate at which an expression of coordinates and time changes."""
        it = _native.expression(expression)
        rate = it.diff(_native.expression("t"))
        for coordinate in self._coordinates:
            rate = rate + it.diff(coordinate) * coordinate.dot
        return rate

    # Places

    def particle(self, name: str, mass: Any, at: Any) -> None:
        """A mass at a position of 1, 2 or 3 dimensions."""
        word = _name(name, "the name of a particle")
        self._say(f"particle {word} mass {self._either(mass, 'a mass')} at {self._vector(at, 'a position')}")

    def point(self, name: str, at: Any, on: str | None = None) -> None:
        """A position without mass: in the world, or on a body."""
        word = _name(name, "the name of a point")
        where = "" if on is None else f" on {_name(on, 'the name of a body')}"
        self._say(f"point {word}{where} at {self._vector(at, 'a position')}")

    def gravity(self, acceleration: Any) -> None:
        """Pulls on all particles and bodies."""
        self._say(f"gravity {self._vector(acceleration, 'gravity')}")

    # Energies, forces, constraints

    def _term(self, word: str, value: Any, name: str | None) -> None:
        label = "" if name is None else f"{_label(name, 'the name of an energy')} = "
        written = self._scalar(value, f"the {word}")
        self._say(f"{word} {label}{written}")

    def kinetic(self, energy: Any, name: str | None = None) -> None:
        """A kinetic energy, besides those of particles and bodies."""
        self._term("kinetic", energy, name)

    def potential(self, energy: Any, name: str | None = None) -> None:
        """A potential energy."""
        self._term("potential", energy, name)

    def lagrangian(self, value: Any, name: str | None = None) -> None:
        """A term of the Lagrangian, of any form."""
        self._term("lagrangian", value, name)

    def hamiltonian(self, value: Any, name: str | None = None) -> None:
        """A term of the Hamiltonian, of coordinates and momenta."""
        self._term("hamiltonian", value, name)

    def dissipation(self, value: Any, name: str | None = None) -> None:
        """Rayleigh's function D: the force on x is −∂D/∂x'."""
        self._term("dissipation", value, name)

    def force(self, on: Any, value: Any, at: Any = None) -> None:
        """A force on a coordinate; or a vector on a particle, a point, or a body, perhaps at a place of it."""
        target = _name(on, "what a force acts on")
        where = "" if at is None else f" at {self._vector(at, 'a place')}"
        self._say(f"force {target}{where} = {self._either(value, 'a force')}")

    def torque(self, body: str, value: Any) -> None:
        """A torque on a body: a number in the plane, a vector in space."""
        self._say(f"torque {_name(body, 'a body')} = {self._either(value, 'a torque')}")

    def constraint(self, left: Any, right: Any = 0.0, name: str | None = None) -> None:
        """Two expressions that stay equal: of positions, or linear in velocities."""
        label = "" if name is None else f"{_label(name, 'the name of a constraint')}: "
        one, other = self._either(left, "a constraint"), self._either(right, "a constraint")
        self._say(f"constraint {label}{one} = {other}")

    # Bodies and joints

    def body(
        self,
        name: str,
        shape: str,
        size: Any = None,
        *,
        mass: Any = None,
        density: Any = None,
        height: Any = None,
        planar: bool = False,
        centre: Any = None,
        turned: Any = None,
    ) -> None:
        """A rigid body: `model.body("crank", "rod", 1, mass=1, planar=True)`. The shapes are those of the language."""
        parts = [f"body {_name(name, 'the name of a body')}"]
        parts += ["planar"] if planar else []
        parts.append(_name(shape, "a shape") + ("" if size is None else f" {self._either(size, 'a size')}"))
        given = {"height": height, "mass": mass, "density": density, "centre": centre, "turned": turned}
        parts += [f"{word} {self._either(value, word)}" for word, value in given.items() if value is not None]
        self._say(" ".join(parts))

    def _end(self, end: Any) -> str:
        if isinstance(end, tuple) and len(end) == 2 and isinstance(end[0], str):
            return f"{_name(end[0], 'an end')} at {self._vector(end[1], 'a place')}"
        return self._vector(end, "an end")

    def joint(self, name: str, joint: str, a: Any, b: Any, *, axis: Any = None, length: Any = None) -> None:
        """A joint between two ends: names of bodies, particles and points, such as "crank", ("crank", [0.5, 0]), "ground", or places."""
        word = _name(name, "the name of a joint")
        more = "" if axis is None else f" axis {self._vector(axis, 'an axis')}"
        more += "" if length is None else f" length {self._scalar(length, 'a length')}"
        self._say(f"joint {word} {_name(joint, 'the kind of a joint')} {self._end(a)} to {self._end(b)}{more}")

    def spring(self, a: Any, b: Any, *, stiffness: Any, length: Any = 0.0, name: str | None = None) -> None:
        """A spring between two ends, as those of joints."""
        label = "" if name is None else f"{_label(name, 'the name of a spring')} "
        numbers = f"stiffness {self._scalar(stiffness, 'a stiffness')} length {self._scalar(length, 'a length')}"
        self._say(f"spring {label}from {self._end(a)} to {self._end(b)} {numbers}")

    def damper(self, a: Any, b: Any, *, rate: Any, name: str | None = None) -> None:
        """A damper between two ends, as those of joints."""
        label = "" if name is None else f"{_label(name, 'the name of a damper')} "
        self._say(f"damper {label}from {self._end(a)} to {self._end(b)} rate {self._scalar(rate, 'a rate')}")

    # Start and what to look at

    def start(self, values: Any = None, **more: Any) -> None:
        """Where it starts: `model.start(x=1)`, `model.start({"x'": 0.5, y: 2})`. What is not named is 0."""
        self._values("start", values, more)

    def _values(self, what: str, values: Any, more: dict[str, Any]) -> None:
        """A statement with names and their values."""
        if values is not None and not hasattr(values, "items"):
            raise TypeError(f"{what} should be a dictionary, such as {{'x': 1}}, not {kind(values)}")
        given = [*({} if values is None else values).items(), *more.items()]
        if not given:
            raise UsageError(f"there is nothing to say: write model.{what}(x=1)")
        self._say(f"{what} {', '.join(f'{_state_name(name)} = {self._scalar(value, str(name))}' for name, value in given)}")

    def output(self, value: Any, name: str | None = None) -> None:
        """Another quantity to record."""
        label = "" if name is None else f"{_label(name, 'the name of an output')} = "
        self._say(f"output {label}{self._either(value, 'an output')}")

    def invariant(self, name: str, value: Any) -> None:
        """Something that should stay constant: it is watched."""
        self._say(f"invariant {_label(name, 'the name of an invariant')} = {self._scalar(value, 'an invariant')}")

    def event(
        self,
        name: str,
        left: Any,
        right: Any = 0.0,
        *,
        direction: str | None = None,
        stop: bool = False,
        set: Any = None,
        finally_set: Any = None,
    ) -> None:
        """Something to look for: where two expressions become equal, `rising` or `falling`, perhaps to stop there, and what is set anew there, all at
        once: `model.event("bounce", y, direction="falling", set={y.dot: -0.9*y.dot})`. What is set where that would go on without end is
        `finally_set={y.dot: 0, lies: 1}`."""
        if direction not in (None, "rising", "falling"):
            raise UsageError(f"direction = {direction!r}: choose 'rising', 'falling' or None")
        more = "" if direction is None else f", {direction}"
        more += ", stop" if stop else ""
        resets, finals = self._sets(set), self._sets(finally_set)
        if finals and not resets:
            raise UsageError("finally_set ends what set would repeat without end: give both")
        more += f", set {resets}" if resets else ""
        more += f", finally set {finals}" if finals else ""
        one, other = self._scalar(left, "an event"), self._scalar(right, "an event")
        self._say(f"event {_label(name, 'the name of an event')}: {one} = {other}{more}")

    def _sets(self, given: Any) -> str:
        if given is not None and not hasattr(given, "items"):
            raise TypeError(f"set should be a dictionary, such as {{y.dot: -y.dot}}, not {kind(given)}")
        return ", ".join(f"{_state_name(what)} = {self._scalar(value, str(what))}" for what, value in (given or {}).items())

    def every(self, time: Any, set: Any, *, name: str | None = None) -> None:
        """What is set at the start and then again and again after a time, as by a sampled controller: `model.every(0.01, {u: -k*x - d*x.dot})`. It holds in
        between: declare u as a state without a rate."""
        label = "" if name is None else f"{_label(name, 'the name of an event')}: "
        sets = self._sets(set)
        if not sets:
            raise UsageError("there is nothing to set: write model.every(0.01, {u: -k*x})")
        self._say(f"every {label}{self._scalar(time, 'a time')} set {sets}")

    def tolerance(self, values: Any = None, **more: Any) -> None:
        """How far coordinates and momenta may be off: `model.tolerance(x=1e-6)`."""
        self._values("tolerance", values, more)

    def run(
        self, *, until: Any = None, method: str | None = None, step: Any = None, tol: Any = None, samples: int | None = None
    ) -> None:
        """How it is run, if nothing else is asked for: `model.run(until=10, method="verlet", step=1e-3)`."""
        parts = [] if method is None else [f"method {_method(method)}"]
        given = {"step": step, "tol": tol, "samples": samples, "until": until}
        parts += [f"{word} {self._scalar(value, word)}" for word, value in given.items() if value is not None]
        if not parts:
            raise UsageError("there is nothing to run: write model.run(until=10)")
        self._say(f"run {', '.join(parts)}")

    def draw(self, parts: str | Iterable[str], *, only: bool = False) -> None:
        """What is drawn besides the usual picture: `model.draw("trail bob, line [-1, 0] to [1, 0]")`. only: whether nothing else is drawn."""
        listed = [parts] if isinstance(parts, str) else list(parts)
        self._say(f"draw {'only ' if truth(only, 'only') else ''}{', '.join(self._scalar(part, 'a part of a drawing') for part in listed)}")

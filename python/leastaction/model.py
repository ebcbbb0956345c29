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
from ._check import kind, number, text
from ._errors import UsageError
from ._native import Expr
from .expressions import symbols
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


class Model:
    """A model that is built by calls. What it says is its `text`; `system()` derives and compiles its equations of motion.

    Wherever an expression is expected, there may be a number, an expression, or a text in the language, such as "norm(bob') - 1";
    and where a vector is, a list or an array of them, or a text. What has no call here is said by `add`.
    """

    def __init__(self, name: str = "model") -> None:
        self.name = _name(name, "the name of a model")
        self._lines: list[str] = []
        self._coordinates: list[Expr] = []
        self._shared = 0

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
        return System._of_text(self.name, self.text + "\n", os.getcwd())

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

    def input(self, name: str, value: Any = 0.0) -> Expr:
        """A function of time and parameters that acts from outside."""
        word = _name(name, "the name of an input")
        self._say(f"input {word} = {self._scalar(value, word)}")
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
        if values is not None and not hasattr(values, "items"):
            raise TypeError(f"start should be a dictionary, such as {{'x': 1}}, not {kind(values)}")
        given = [*({} if values is None else values).items(), *more.items()]
        if not given:
            raise UsageError("there is nothing to start: write model.start(x=1)")
        said = []
        for name, value in given:
            word = str(name) if isinstance(name, Expr) else text(name, "what starts")
            if not NAME.match(word.rstrip("'")):
                raise UsageError(f"`{word}` is no coordinate, velocity or momentum")
            said.append(f"{word} = {self._scalar(value, word)}")
        self._say(f"start {', '.join(said)}")

    def output(self, value: Any, name: str | None = None) -> None:
        """Another quantity to record."""
        label = "" if name is None else f"{_label(name, 'the name of an output')} = "
        self._say(f"output {label}{self._either(value, 'an output')}")

    def invariant(self, name: str, value: Any) -> None:
        """Something that should stay constant: it is watched."""
        self._say(f"invariant {_label(name, 'the name of an invariant')} = {self._scalar(value, 'an invariant')}")

    def event(self, name: str, left: Any, right: Any = 0.0, *, direction: str | None = None, stop: bool = False) -> None:
        """Something to look for: where two expressions become equal, `rising` or `falling`, and perhaps to stop there."""
        if direction not in (None, "rising", "falling"):
            raise UsageError(f"direction = {direction!r}: choose 'rising', 'falling' or None")
        more = "" if direction is None else f", {direction}"
        more += ", stop" if stop else ""
        one, other = self._scalar(left, "an event"), self._scalar(right, "an event")
        self._say(f"event {_label(name, 'the name of an event')}: {one} = {other}{more}")

    def draw(self, parts: str | Iterable[str]) -> None:
        """How it is drawn: `model.draw("rod [0, 0] to bob, trail bob, dot bob")`."""
        listed = [parts] if isinstance(parts, str) else list(parts)
        self._say(f"draw {', '.join(self._scalar(part, 'a part of a drawing') for part in listed)}")

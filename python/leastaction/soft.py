"""What a model says of meshes: generators and files, materials, fields, and what holds nodes.

>>> import leastaction as la
>>> model = la.Model("net")
>>> k = model.parameter("k", 2000)
>>> net = model.mesh("net", "plate", [1, 1], cells=[4, 4])
>>> model.material(net, mass=0.5, per="area")
>>> model.field("threads", "edges", net, lambda a, b: k*(la.norm(b - a) - la.norm(b.rest - a.rest))**2/2)
>>> model.fix(net, "x0")
>>> model.gravity([0, 0, -9.81])
>>> len(model.system().coordinates)
60
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native
from ._attached import mesh_file
from ._check import kind, text, truth
from ._errors import UsageError

#: So many nodes has an element, where that is known by its name.
NODES = {"nodes": 1, "edges": 2, "pairs": 2, "bends": 3, "triangles": 3, "hinges": 4, "tetrahedra": 4, "surface": 3}


class Node(np.ndarray):
    """The place of a node of an element, an array of three expressions; `rest` is its place at rest."""

    rest: Any

    def __new__(cls, name: str) -> Node:
        place = np.array([_native.expression(f"{name}.{axis}") for axis in "xyz"], dtype=object).view(cls)
        place.rest = np.array([_native.expression(f"{name}0.{axis}") for axis in "xyz"], dtype=object)
        return place

    def __array_finalize__(self, other: Any) -> None:
        # What is computed of places is no node.
        self.rest = None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array)[()]

    @property
    def x(self) -> Any:
        """The first component."""
        return self[0]

    @property
    def y(self) -> Any:
        """The second component."""
        return self[1]

    @property
    def z(self) -> Any:
        """The third component."""
        return self[2]


class Soft:
    """The part of a model that is made of meshes."""

    def _say(self, statement: str) -> None:
        raise NotImplementedError

    def _file(self, path: Any) -> str:
        raise NotImplementedError

    def _attach(self, name: str, content: bytes) -> str:
        raise NotImplementedError

    def _scalar(self, value: Any, what: str) -> str:
        raise NotImplementedError

    def _vector(self, value: Any, what: str) -> str:
        raise NotImplementedError

    def _either(self, value: Any, what: str) -> str:
        raise NotImplementedError

    def _words(self, words: dict[str, Any]) -> str:
        """Words with their values, of those that are given."""
        return "".join(f" {word.replace('_', '-')} {self._either(value, word)}" for word, value in words.items() if value is not None)

    def _turned(self, turned: Any) -> str:
        """A turn: a text in the language, or an axis with an angle."""
        if turned is None:
            return ""
        if isinstance(turned, tuple) and len(turned) == 2:
            return f" turned about {self._vector(turned[0], 'an axis')} by {self._scalar(turned[1], 'an angle')}"
        return f" turned {text(turned, 'turned')}"

    def mesh(
        self,
        name: str,
        shape: str | None = None,
        size: Any = None,
        *,
        file: Any = None,
        nodes: Any = None,
        ends: Any = None,
        length: Any = None,
        cells: Any = None,
        segments: Any = None,
        level: Any = None,
        scaled: Any = None,
        turned: Any = None,
        at: Any = None,
    ) -> str:
        """A mesh, whose name is given back: `model.mesh("block", "box", [1, 1, 2], cells=[4, 4, 8])`, `model.mesh("line", "rope", ends=([0, 0, 0],
        [2, 0, 0]), segments=20)`, `model.mesh("part", file="part.msh")`. The shapes are those of the language: box, beam, ball, plate,
        sphere, rope. Or of arrays: `nodes` with a row of 2 or 3 numbers for each, and `cells` with a row of the numbers of their nodes, counted from 0:
        2 of a segment, 3 of a triangle, 4 of a tetrahedron; a list of such arrays for cells of several kinds. turned is an axis with an angle, or a text.

        >>> model = la.Model("two")
        >>> kite = model.mesh("kite", nodes=[[0, 0], [1, 0], [1, 1], [0, 1]], cells=[[0, 1, 2], [0, 2, 3]])
        >>> model.material(kite, mass=1, per="area")
        >>> model.gravity([0, 0, -9.81])
        >>> len(model.system().coordinates)
        12
        """
        word = self._named(name, "the name of a mesh")
        if sum(each is not None for each in (shape, file, nodes)) != 1:
            raise UsageError("a mesh has a shape, such as 'box', a file, or nodes with cells: give one of them")
        if nodes is not None:
            if cells is None:
                raise UsageError("nodes need cells: rows of the numbers of their nodes")
            said = f"mesh {word} file {self._attach(f'{word}.vtk', mesh_file(nodes, cells))}"
            cells = None
        else:
            said = f"mesh {word} " + (f"file {self._file(file)}" if shape is None else self._named(shape, "a shape"))
        said += "" if size is None else f" {self._either(size, 'a size')}"
        if ends is not None:
            if not isinstance(ends, (list, tuple)) or len(ends) != 2:
                raise UsageError("the ends of a rope are two places: ends=([0, 0, 0], [2, 0, 0])")
            said += f" from {self._vector(ends[0], 'an end')} to {self._vector(ends[1], 'an end')}"
        said += self._words({"length": length, "cells": cells, "segments": segments, "level": level, "scaled": scaled})
        self._say(said + self._turned(turned) + self._words({"at": at}))
        return word

    def atoms(self, name: str, lattice: str | None = None, *, edge: Any = None, cells: Any = None, at: Any = None, file: Any = None) -> str:
        """Atoms, whose name is given back: of a lattice (`sc`, `bcc`, `fcc`), `at` a list of places, or from a file."""
        word = self._named(name, "the name of atoms")
        if sum(each is not None for each in (lattice, at, file)) != 1:
            raise UsageError("atoms are of a lattice, at places, or from a file: give one of them")
        if lattice is not None:
            how = f"lattice {self._named(lattice, 'a lattice')}" + self._words({"edge": edge, "cells": cells})
        elif file is not None:
            how = f"file {self._file(file)}"
        else:
            how = "at " + ", ".join(self._vector(place, "a place") for place in at)
        self._say(f"atoms {word} {how}")
        return word

    def material(
        self,
        mesh: str,
        *,
        density: Any = None,
        thickness: Any = None,
        section: Any = None,
        mass: Any = None,
        per: str | None = None,
        consistent: bool = False,
    ) -> None:
        """What a mesh is made of: a density, with a thickness or a section of what is thin, or a mass `per` `area`, `length`, `volume` or `node`.
        consistent: whether masses are those of a velocity that is linear in each cell."""
        said = f"material {self._named(mesh, 'a mesh')}" + self._words({"density": density, "thickness": thickness, "section": section, "mass": mass})
        said += "" if per is None else f" per {self._named(per, 'per')}"
        self._say(said + (" consistent" if truth(consistent, "consistent") else ""))

    def field(self, name: str, what: str, on: str, energy: Callable[..., Any] | str | None = None, *, where: Any = None, **parameters: Any) -> None:
        """An energy of the elements of a mesh. One of the shipped kinds, with its parameters: `model.field("elastic", "neo-hookean", block, young=5e4,
        poisson=0.45)`. Or one of your own, a function of the nodes of an element: `model.field("floor", "nodes", block, lambda a:
        1e5*np.maximum(0, -a.z)**2/2)`, on `nodes`, `edges`, `pairs`, `bends`, `triangles`, `hinges`, `tetrahedra` or `surface`; `a.rest` is
        the place of a node at rest. where: a condition on nodes, or a text."""
        word, mesh = self._named(name, "the name of a field"), self._nodes(on, "what a field is on")
        if energy is None:
            if where is not None:
                raise UsageError("where is for energies of your own: give one, or name a group of the mesh")
            values = "".join(f" {self._named(key, 'a parameter')} {self._scalar(value, key)}" for key, value in parameters.items())
            self._say(f"field {word} {_kind(what)} on {mesh}{values}")
            return
        if parameters:
            raise UsageError(f"an energy of your own has its parameters in it: leave {', '.join(parameters)} out")
        names, written = self._energy(_kind(what), energy)
        condition = "" if where is None else f" where {self._scalar(where, 'where')}"
        self._say(f"field {word} on {_kind(what)} of {mesh} ({', '.join(names)}){condition} = {written}")

    def _energy(self, elements: str, energy: Any) -> tuple[list[str], str]:
        """The names of the nodes of an element, and an expression of them."""
        count = NODES.get(elements)
        if count is None:
            raise UsageError(f"there are no elements `{elements}`: there are {', '.join(NODES)}")
        names = list("abcd"[:count])
        if not callable(energy):
            return names, self._scalar(energy, "an energy")
        try:
            inspect.signature(energy).bind(*names)
        except TypeError:
            raise UsageError(f"an energy of {elements} is a function of {count} node{'' if count == 1 else 's'}: lambda {', '.join(names)}: …") from None
        except ValueError:
            pass
        return names, self._inline(energy(*(Node(name) for name in names)), "an energy")

    def _inline(self, value: Any, what: str) -> str:
        """An expression that is written whole: what stands in it is known in this place only."""
        return str(_native.expression(value))

    def damping(
        self, mesh: str, *, rate: Any = None, viscosity: Any = None, bulk: Any = None, edges: Any = None, stiffness: Any = None
    ) -> None:
        """Damping of a mesh: −rate m v on each node, a viscosity (perhaps with one of the bulk), or dampers along edges; of a field, in proportion to its stiffness."""
        if sum(each is not None for each in (rate, viscosity, edges, stiffness)) != 1:
            raise UsageError("damping is by a rate, a viscosity, edges or stiffness: give one of them")
        words = {"rate": rate, "viscosity": viscosity, "bulk": bulk, "edges": edges, "stiffness": stiffness}
        self._say(f"damping {self._named(mesh, 'a mesh')}{self._words(words)}")

    def _nodes(self, nodes: Any, what: str, group: str | None = None, where: Any = None) -> str:
        said = " ".join(text(nodes, what).split())
        if not said:
            raise UsageError(f"{what} is an empty text")
        if group is not None and where is not None:
            raise UsageError("nodes are a group, or those that fulfil a condition: give one of them")
        said += "" if group is None else f" {self._named(group, 'a group')}"
        return said + ("" if where is None else f" where {self._scalar(where, 'where')}")

    def fix(self, mesh: str, group: str | None = None, *, where: Any = None, at: Any = None, along: str | None = None, name: str | None = None) -> None:
        """Holds nodes: a group of a mesh, or those where a condition on their places at rest, with x, y and z, is fulfilled. at: where they are
        held, as an expression of time and places says. along: one direction only. name: that of the forces that hold them."""
        label = "" if name is None else f"{self._named(name, 'a name')}: "
        said = f"fix {label}{self._nodes(mesh, 'a mesh', group, where)}"
        said += "" if along is None else f" along {self._nodes(along, 'along')}"
        self._say(said + self._words({"at": at}))

    def keep(self, what: str, mesh: str, *, by: Any = None, along: str | None = None, name: str | None = None) -> None:
        """Keeps something of a mesh as it is at rest: `lengths` (of all edges, or along directions), `volumes` (by `cells`, or patches) or `volume`."""
        label = "" if name is None else f"{self._named(name, 'a name')}: "
        said = f"keep {label}{self._named(what, 'what is kept')} of {self._nodes(mesh, 'a mesh')}"
        said += "" if along is None else f" along {self._nodes(along, 'along')}"
        self._say(said + self._words({"by": by}))

    def attach(self, mesh: str, group: str | None, body: str, *, where: Any = None, at: Any = None, name: str | None = None) -> None:
        """Attaches nodes to a rigid body, where they are at rest, or `at` a place of its frame."""
        label = "" if name is None else f"{self._named(name, 'a name')}: "
        self._say(f"attach {label}{self._nodes(mesh, 'a mesh', group, where)} to {self._named(body, 'a body')}{self._words({'at': at})}")

    def start_of(self, what: str, *, at: Any = None, moving: Any = None, turned: Any = None, rates: Any = None, spinning: Any = None, holding: Any = None) -> None:
        """How a body or a mesh starts: `model.start_of(block, moving=[0, 0, -1])`, `model.start_of("hub", at=[0, 0, 0], spinning=[0, 1, 0])`.
        What is said of a mesh may have x, y and z in it, the places of its nodes at rest."""
        said = f"start {self._nodes(what, 'what starts')}{self._words({'at': at, 'holding': holding, 'moving': moving})}"
        self._say(said + self._turned(turned) + self._words({"rates": rates, "spinning": spinning}))

    def _named(self, name: Any, what: str) -> str:
        from .model import _name

        return _name(name, what)


def _kind(what: Any) -> str:
    word = text(what, "the kind of a field")
    if not word or not all(part.isidentifier() for part in word.split("-")):
        raise UsageError(f"`{word}` is no kind of a field")
    return word


def _quoted(path: Any) -> str:
    from .trajectory import _path

    name = _path(path)
    if '"' in name or "\n" in name or not name:
        raise UsageError(f"{name!r} is no path that a model can say")
    return f'"{name}"'


def norm(vector: Any) -> Any:
    """The length of a vector of expressions, or of numbers.

    >>> x, y = la.symbols("x y")
    >>> norm([x, y])
    sqrt(x^2 + y^2)
    """
    if not isinstance(vector, (list, tuple, np.ndarray)) or len(np.shape(vector)) != 1 or len(vector) == 0:
        raise TypeError(f"a vector should be a list of expressions, not {kind(vector)}")
    return np.sqrt(sum(each * each for each in vector))

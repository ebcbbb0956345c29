"""Expressions: formulas of symbols, their derivatives, and fast functions made of them.

>>> import numpy as np, leastaction as la
>>> x, y = la.symbols("x y")
>>> energy = 0.5*x**2 + np.cos(y)
>>> energy
0.5*x^2 + cos(y)
>>> energy.diff(x)
x
>>> f = la.compile(energy, [x, y])
>>> f([0.0, 1.0, 2.0], 0.0)
array([1. , 1.5, 3. ])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _native
from ._check import array, kind, text
from ._errors import UsageError
from ._native import Expr

#: A formula, or a number in its place.
Formula = Any

time: Expr = _native.expression("t")
"""Time, the symbol `t`."""

NAME = re.compile(r"[^\W\d]\w*(\[\d+\])*'*(\.[xyz])?'*\Z")


def symbols(names: str | Iterable[str]) -> Any:
    """The symbols of these names, which spaces or commas separate: one of them as it is, several as a tuple.

    >>> symbols("m g")
    (m, g)
    """
    if isinstance(names, str):
        listed = names.replace(",", " ").split()
    else:
        try:
            listed = [text(name, "a name") for name in names]
        except TypeError as error:
            raise TypeError(f"names should be a text or a list of texts: {error}") from None
    if not listed:
        raise UsageError("there is no name: write la.symbols('m g')")
    for name in listed:
        if not NAME.match(name):
            raise UsageError(f"`{name}` is no name: letters, digits and underscores, the first of which is no digit")
        if name in ("pi", "inf", "nan", "let"):
            raise UsageError(f"`{name}` means something else")
    found = tuple(_native.expression(name) for name in listed)
    return found[0] if len(found) == 1 else found


def coords(names: str | Iterable[str]) -> Any:
    """Symbols for coordinates. `x.dot` is the velocity of a coordinate `x`.

    >>> th1, th2 = coords("th1 th2")
    >>> th1.dot
    th1'
    """
    return symbols(names)


def expr(value: Any) -> Expr:
    """An expression from its text, or from a number.

    >>> expr("x^2/2").diff(expr("x"))
    x
    """
    return _native.expression(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _each(value: Any, what: str) -> tuple[list[Expr], tuple[int, ...]]:
    """All expressions of a list, an array, or of one alone; and their shape."""
    if not _is_list(value):
        return [_formula(value, what)], ()
    boxed = value if isinstance(value, np.ndarray) else _boxed(value, what)
    return [_formula(each, what) for each in boxed.ravel()], boxed.shape


def _boxed(value: Sequence[Any], what: str) -> Any:
    shape: list[int] = []
    inner: Any = value
    while _is_list(inner):
        shape.append(len(inner))
        if len(inner) == 0:
            break
        inner = inner[0]
    boxed = np.empty(tuple(shape), dtype=object)
    for place in np.ndindex(*shape):
        each: Any = value
        for depth, index in enumerate(place):
            if not _is_list(each) or len(each) != shape[depth]:
                raise UsageError(f"{what}: lists inside of lists have different lengths")
            each = each[index]
        if _is_list(each):
            raise UsageError(f"{what}: lists inside of lists have different lengths")
        boxed[place] = each
    return boxed


def _formula(value: Any, what: str) -> Expr:
    if isinstance(value, Expr):
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what}: a text is no expression: write la.expr({value!r})")
    try:
        return _native.expression(value)
    except TypeError:
        raise TypeError(f"{what} should be an expression or a number, not {kind(value)}") from None


def _symbols(value: Any, what: str) -> list[Expr]:
    listed, _ = _each(value, what)
    for symbol in listed:
        if symbol.name is None:
            raise UsageError(f"{what}: `{symbol!r}` is no symbol")
    return listed


def jacobian(expressions: Any, variables: Any) -> Any:
    """The derivatives of each expression by each variable: an array of expressions, whose last axis is that of the variables, if they
    are a list.

    >>> x, y = symbols("x y")
    >>> jacobian([x*y, x + y], [x, y])
    array([[y, x],
           [1, 1]], dtype=object)
    """
    outputs, shape = _each(expressions, "expressions")
    inputs = _symbols(variables, "variables")
    last = (len(inputs),) if _is_list(variables) else ()
    matrix = np.empty((len(outputs), len(inputs)), dtype=object)
    matrix[...] = _native.expression(0.0)
    for row, column, value in _native.jacobian(outputs, inputs):
        matrix[row, column] = value
    return matrix.reshape((*shape, *last)) if shape or last else matrix[0, 0]


def grad(expression: Formula, variables: Any) -> Any:
    """The derivatives of an expression by variables: an array of expressions.

    >>> x, y = symbols("x y")
    >>> grad(x**2*y, [x, y])
    array([2*x*y, x^2], dtype=object)
    """
    if _is_list(expression):
        raise TypeError("grad is of one expression; la.jacobian is of several")
    return jacobian(expression, variables)


def hessian(expression: Formula, variables: Any) -> Any:
    """The second derivatives of an expression.

    >>> x, y = symbols("x y")
    >>> hessian(x**2*y, [x, y])
    array([[2*y, 2*x],
           [2*x, 0]], dtype=object)
    """
    return jacobian(grad(expression, variables), variables)


def function(name: str, *arguments: Any) -> Any:
    """A function of expressions and numbers, by its name; of numbers alone it is a number."""
    return _native.apply(name, *arguments)


def select(condition: Formula, one: Formula, other: Formula) -> Expr:
    """`one` where a condition holds, else `other`.

    >>> x = symbols("x")
    >>> select(x < 0, -x, x).eval({x: -2.0})
    2.0
    """
    return _native.apply("select", condition, one, other)


def equal(one: Formula, other: Formula) -> Expr:
    """1 where two expressions have the same value, else 0. (`one == other` asks whether they are the same formula.)"""
    return _native.apply("equal", one, other)


def different(one: Formula, other: Formula) -> Expr:
    """1 where two expressions have different values, else 0."""
    return _native.apply("not_equal", one, other)


def minimum(one: Formula, other: Formula) -> Expr:
    """The smaller of two."""
    return _native.apply("min", one, other)


def maximum(one: Formula, other: Formula) -> Expr:
    """The larger of two."""
    return _native.apply("max", one, other)


def atan2(y: Formula, x: Formula) -> Expr:
    """The angle of the point (x, y)."""
    return _native.apply("atan2", y, x)


def functions() -> dict[str, int]:
    """The functions that expressions have, with how many arguments each takes: `x.sin()`, or `np.sin(x)` where NumPy has it.

    >>> functions()["atan2"]
    2
    """
    return dict(_native.functions())


class Function:
    """A compiled function of arrays: see `compile`."""

    def __init__(self, expressions: Any, inputs: Any) -> None:
        outputs, self._shape = _each(expressions, "expressions")
        self._outputs = outputs
        self.inputs: tuple[Expr, ...] = tuple(_symbols(inputs, "inputs"))
        """The symbols that it takes values of."""
        names = [symbol.name for symbol in self.inputs]
        if len(set(names)) < len(names):
            raise UsageError(f"an input is named twice: {', '.join(map(str, names))}")
        self._native = _native.Function(outputs, list(self.inputs))

    def __call__(self, *values: Any) -> Any:
        """The values of the expressions where the inputs have these values: numbers, or arrays that fit each other as NumPy has it.
        The shape of the result is that of the expressions, and then that of the arrays."""
        if len(values) != len(self.inputs):
            names = ", ".join(str(symbol) for symbol in self.inputs)
            raise TypeError(f"{len(self.inputs)} inputs are expected ({names}), {len(values)} were given")
        arrays = [array(value, f"`{symbol}`") for value, symbol in zip(values, self.inputs)]
        try:
            shape = np.broadcast_shapes(*(each.shape for each in arrays))
        except ValueError as error:
            raise UsageError(f"the inputs do not fit each other: {error}") from None
        points = int(np.prod(shape, dtype=np.int64))
        flat = [
            each.reshape(-1) if each.size == 1 or each.shape == shape else np.broadcast_to(each, shape).reshape(-1)
            for each in arrays
        ]
        if points == 0 or not self._outputs:
            return np.zeros((*self._shape, *shape))
        found = self._native(points, flat).reshape((*self._shape, *shape))
        return found if found.ndim > 0 else float(found)

    def __reduce__(self) -> Any:
        outputs = np.empty(len(self._outputs), dtype=object)
        outputs[:] = self._outputs
        return Function, (outputs.reshape(self._shape) if self._shape else self._outputs[0], list(self.inputs))

    def __repr__(self) -> str:
        names = ", ".join(str(symbol) for symbol in self.inputs)
        count = len(self._outputs)
        return f"<function of ({names}) to {count} value{'' if count == 1 else 's'}, {self._native.backend}>"


def compile(expressions: Any, inputs: Any) -> Function:
    """A fast function of expressions: of numbers, and of arrays of them, eight at a time.

    >>> x, y = symbols("x y")
    >>> f = compile([x + y, x*y], [x, y])
    >>> f([1.0, 2.0, 3.0], 10.0)
    array([[11., 12., 13.],
           [10., 20., 30.]])
    """
    return Function(expressions, inputs)

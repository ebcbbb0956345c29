"""Functions of NumPy on expressions: np.sin(x), array*x."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ._native import Expr, apply

#: What is an operator in Python.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "true_divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
    "negative": operator.neg,
    "positive": operator.pos,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}

#: Functions that are some of others.
FORMULAS: dict[str, Callable[..., Any]] = {
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "exp2": lambda x: 2.0**x,
    "log2": lambda x: x.ln() / np.log(2.0),
    "log10": lambda x: x.ln() / np.log(10.0),
    "deg2rad": lambda x: x * (np.pi / 180),
    "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi),
    "degrees": lambda x: x * (180 / np.pi),
    "ceil": lambda x: -(-x).floor(),
    "sign": lambda x: x.sign(),
    "heaviside": lambda x, at_zero: apply("select", x < 0.0, 0.0, apply("select", apply("equal", x, 0.0), at_zero, 1.0)),
}


def call(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any] | None) -> Any:
    """Calls a function of NumPy on expressions, or on arrays of them, element by element."""
    if method != "__call__":
        return NotImplemented
    arrays = [value for value in inputs if isinstance(value, np.ndarray) and value.ndim > 0]
    if not arrays:
        if options:
            raise TypeError(f"np.{ufunc.__name__} of an expression takes no options ({', '.join(options)})")
        return single(ufunc.__name__, *inputs)
    each = np.frompyfunc(lambda *values: single(ufunc.__name__, *values), len(inputs), 1)
    boxed = [box(value) if isinstance(value, Expr) else value for value in inputs]
    return each(*boxed, **(options or {}))


def box(expr: Expr) -> Any:
    """An array of no dimensions that holds an expression."""
    array = np.empty((), dtype=object)
    array[()] = expr
    return array


def single(name: str, *values: Any) -> Any:
    """A function of single expressions and numbers."""
    # Numbers of NumPy would ask us again.
    values = tuple(value.item() if isinstance(value, (np.generic, np.ndarray)) else value for value in values)
    if not any(isinstance(value, Expr) for value in values):
        return getattr(np, name)(*values)
    if name in OPERATORS:
        return OPERATORS[name](*values)
    if name in FORMULAS:
        return FORMULAS[name](*values)
    try:
        return apply(name, *values)
    except ValueError:
        raise TypeError(f"np.{name} is no function of expressions") from None

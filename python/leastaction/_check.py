"""Arguments: what they should be, and what is said if they are not."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import UsageError
from ._native import Expr

Array = NDArray[np.float64]


def kind(value: Any) -> str:
    """The name of a type, for messages."""
    return type(value).__name__


def number(value: Any, what: str) -> float:
    """A finite number."""
    if isinstance(value, Expr) and value.name is None:
        value = float(value)
    # Arrays of one number can be turned into one, and so can texts: neither is meant.
    if isinstance(value, (str, bytes, bool)) or hasattr(value, "__len__") or not hasattr(value, "__float__"):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{what} should be a number, not {kind(value)}")
    try:
        result = float(value)
    except OverflowError:
        raise UsageError(f"{what} is too large for a number of 64 bits") from None
    if not math.isfinite(result):
        raise UsageError(f"{what} = {result}: numbers are finite")
    return result


def whole(value: Any, what: str, least: int = 0, most: int = 2**53) -> int:
    """A whole number."""
    try:
        if isinstance(value, bool):
            raise TypeError
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} should be a whole number, not {kind(value)}") from None
    if not least <= result <= most:
        raise UsageError(f"{what} = {result}: choose {least} to {most}")
    return result


def text(value: Any, what: str) -> str:
    """A text, or the text of an expression."""
    if isinstance(value, Expr):
        return str(value)
    if not isinstance(value, str):
        raise TypeError(f"{what} should be a text or an expression, not {kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} has half of a character in it, which is no text") from None
    return value


def truth(value: Any, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} should be True or False, not {kind(value)}")
    return bool(value)


def key(value: Any, what: str) -> str:
    """The name of something: a text, or a symbol."""
    if isinstance(value, Expr):
        if value.name is None:
            raise UsageError(f"{what}: `{value!r}` is no symbol")
        return value.name
    if not isinstance(value, str):
        raise TypeError(f"{what} should have names, not {kind(value)}")
    return value


def pairs(value: Any, what: str) -> list[tuple[str, Any]]:
    """Names with something: a dictionary."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} should be a dictionary, such as {{'x': 1.0}}, not {kind(value)}")
    return [(key(name, what), each) for name, each in value.items()]


def numbers(value: Any, what: str) -> list[tuple[str, float]]:
    """Names with numbers."""
    return [(name, number(each, f"{what} `{name}`")) for name, each in pairs(value, what)]


def array(value: Any, what: str) -> Array:
    """An array of numbers of 64 bits."""
    try:
        found = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{what} is no array: {error}") from None
    if found.dtype.kind not in "fiub" or found.dtype.itemsize > 8:
        raise TypeError(f"{what} should be an array of real numbers, not of {found.dtype}")
    # What comes from elsewhere, as from a task of Dask, may not even be aligned.
    return np.require(found, np.float64, ["C", "A"])


def finite(value: Any, what: str) -> Array:
    """An array of finite numbers."""
    found = array(value, what)
    if not np.isfinite(found).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(found))), found.shape)
        raise UsageError(f"{what} is not finite at {[int(i) for i in place]}")
    return found


def sequence(value: Any, what: str) -> list[Any]:
    """A list, for which a text is not taken."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{what} should be a list, not {kind(value)}")
    return list(value)

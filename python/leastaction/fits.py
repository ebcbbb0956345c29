"""Fits: parameters and starts with which a system moves as was measured.

>>> import numpy as np, leastaction as la
>>> spring = la.parse("param k = 5\\ncoord x\\nparticle bob mass 1 at [x]\\npotential k*x^2/2\\n")
>>> t = np.linspace(0, 5, 50)
>>> found = la.fit(spring, {"t": t, "x": 0.3*np.cos(np.pi*t)}, known="x'")
>>> round(found["k"].value, 6) == round(np.pi**2, 6)
True
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._asked import asked_of
from ._check import Array, array, key, kind, number, pairs, sequence, text, truth, whole
from ._errors import RunWarning, UsageError
from ._native import Expr
from ._progress import watched
from .system import System
from .trajectory import Columns, Picture, _missing, _needed, _path


@dataclass(frozen=True)
class Estimate:
    """An unknown number that was estimated."""

    name: str
    """The parameter, or the number of the start."""
    recording: int | None
    """Which recording begins with it, counted from 0; None for a parameter."""
    value: float
    """The estimate."""
    error: float | None
    """Its standard error; None if these data do not tell it, or it stands at a limit."""
    interval: tuple[float, float] | None
    """Between which values it is, with a chance of 95 %."""
    guess: float
    """Where the search began."""
    at_limit: bool
    """Whether it stands at a limit."""


@dataclass(frozen=True)
class Channel:
    """How well something that was measured is fitted, over all recordings."""

    what: str
    """What was measured."""
    rows: int
    """How many numbers."""
    rms: float
    """The root of the mean square of residuals."""
    relative: float
    """The same as a part of the spread of the values."""
    sigma: float
    """The noise: as it was given, on average, or as it was estimated."""
    ratio: float
    """How many times residuals are as large as the noise."""
    correlation: float
    """The correlation of residuals with the next ones."""
    sigma_given: bool
    """Whether the noise was given."""
    outliers: int
    """How many residuals are too large for noise."""


@dataclass(frozen=True)
class Hint:
    """What would explain data that the model does not explain."""

    code: str
    """`unit`, `time`, `late` or `shifted`."""
    value: float
    """The factor, or the time."""
    message: str
    """A sentence."""


class Fit:
    """What came of a fit: `fit["k"]` is the estimate of a parameter. Printed, it is the summary of the command line."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._facts = dict(native.facts())
        self._folder = str(native.folder or os.getcwd())

    def __getstate__(self) -> dict[str, Any]:
        # Elsewhere, there is what is known here; other files are written here only.
        facts = {**self._facts, "restated": self._restated(), "picture": self._picture()}
        return {"_native": None, "_facts": facts, "_folder": self._folder}

    def _picture(self) -> str:
        return str(self._facts["picture"] if self._native is None else self._native.svg())

    def _restated(self) -> tuple[str, str | None]:
        said, start = self._facts["restated"] if self._native is None else self._native.restated()
        return str(said), start

    @property
    def estimates(self) -> list[Estimate]:
        """All unknowns: parameters, then the start of each recording."""
        return [Estimate(*each) for each in self._facts["estimates"]]

    def __getitem__(self, name: Any) -> Estimate:
        word = key(name, "an estimate")
        found = {each.name: each for each in self.estimates if each.recording is None}
        if word not in found:
            raise KeyError(_missing(word, found))
        return found[word]

    @property
    def parameters(self) -> dict[str, float]:
        """All parameters of the system with their values now."""
        return dict(self._facts["parameters"])

    def start(self, recording: int = 0) -> dict[str, float]:
        """The start of a recording, as far as it was not known."""
        whole(recording, "recording", 0, max(0, len(self.recordings) - 1))
        return {each.name: each.value for each in self.estimates if each.recording == recording}

    @property
    def correlations(self) -> Array:
        """How estimates go together, in their order; NaN where one of them is undetermined."""
        return np.asarray(self._facts["correlations"])

    @property
    def channels(self) -> list[Channel]:
        """How well each of what was measured is fitted."""
        return [Channel(*each) for each in self._facts["channels"]]

    @property
    def recordings(self) -> dict[str, float]:
        """The recordings, and when the motion of each begins."""
        return dict(self._facts["recordings"])

    @property
    def sound(self) -> bool:
        """Whether the estimates mean what they say: the data are explained, and tell all unknowns."""
        return not self._facts["faults"]

    @property
    def undetermined(self) -> list[str]:
        """Unknowns that these data do not tell apart."""
        return list(self._facts["undetermined"][0]) if self._facts["undetermined"] else []

    @property
    def combination(self) -> str | None:
        """What the data do tell of the undetermined, if that is one formula, such as c/m."""
        return self._facts["undetermined"][1] if self._facts["undetermined"] else None

    @property
    def warnings(self) -> list[RunWarning]:
        """What is doubtful."""
        undetermined = self._facts["undetermined"]
        first = [RunWarning(undetermined[2], "undetermined")] if undetermined else []
        return first + [RunWarning(message, code) for code, message in self._facts["doubts"]]

    @property
    def hints(self) -> list[Hint]:
        """What would explain data that the model does not explain: other units, late clocks."""
        return [Hint(*each) for each in self._facts["hints"]]

    @property
    def unused(self) -> list[str]:
        """Columns that were not used."""
        return list(self._facts["unused"])

    @property
    def work(self) -> dict[str, Any]:
        """What it took: the method, how derivatives were found, iterations, runs, seconds; and how many numbers were measured, and are left."""
        names = ("method", "derivatives", "iterations", "runs", "wall_s", "measured", "freedom")
        return {name: self._facts[name] for name in names}

    @property
    def columns(self) -> dict[str, Any]:
        """Data, fit and residuals as columns by name: `th`, `th fit`, `th residual`."""
        return Columns(self._facts["columns"])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns as a table of Arrow."""
        from ._arrow import stream

        return stream(self._facts["columns"])

    def to_pandas(self) -> Any:
        """Data, fit and residuals as a table of pandas."""
        return _needed("pandas").DataFrame(self._facts["columns"])

    @property
    def text(self) -> str:
        """The model with the fitted values, in the `.motion` language; with the start, if there is one recording."""
        return self._restated()[0]

    @property
    def system(self) -> System:
        """The system with the fitted values, and the fitted start, if there is one recording."""
        return System._of_text("fitted", self.text, self._folder)

    def write(self, path: Any) -> None:
        """Writes the model with the fitted values to a file that ends in .motion."""
        name = _path(path)
        if not name.endswith(".motion"):
            raise UsageError(f"`{name}` should end in .motion")
        said, start = self._restated()
        unfinished = f"{name}.{os.getpid()}.part"
        try:
            with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
                file.write(said)
            os.replace(unfinished, name)
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)
        if start:
            warnings.warn(RunWarning(f"`{name}` is written {start}", "start"), stacklevel=2)

    def save(self, path: Any) -> None:
        """Writes data, fit and residuals to a file by its ending: .csv, .npz, .parquet or .json."""
        if self._native is None:
            raise UsageError("this fit came from elsewhere: its columns are here, its files are written there")
        self._native.save(_path(path))

    def plot(self, path: Any = None) -> Picture:
        """A picture of the data and the fit. With a path, it is written there (.svg or .png); in a notebook it is shown."""
        if path is not None:
            if self._native is not None:
                self._native.save_plot(_path(path))
            else:
                Picture(self._picture()).save(path)
        return Picture(self._picture())

    def _repr_svg_(self) -> str:
        return self._picture()

    def __repr__(self) -> str:
        return str(self._facts["summary"]).rstrip()


def fit(
    system: System,
    data: Any,
    *,
    free: Any = None,
    known: Any = (),
    column: Mapping[Any, Any] | None = None,
    sigma: Mapping[Any, Any] | None = None,
    time: Any = None,
    since: float | None = None,
    until: float | None = None,
    iterations: int = 60,
    hints: bool = True,
    progress: Any = None,
    **options: Any,
) -> Fit:
    """Finds parameters and starts with which a system moves as was measured.

    data: what was measured in one run, or a list of several: the path of a .csv or .npz file, a dictionary of arrays, a trajectory, or a table of
    pandas or polars. Columns that have names of the model are what was measured: coordinates (th), velocities (th'), points (bob.x), outputs, or any
    expression of these; `t` or `time` is the time, NaN is a gap, and `sigma_th` has standard deviations of th. Each run has a start of its own,
    which is unknown, too. free: names of parameters, or a dictionary of them with limits, {"k": (1, 10), "m": None}; all, if left out.
    known: numbers of the start that are taken from the system, or "all". column: expressions of the model, with the formulas of columns that
    measure them: {"th": "angle*pi/180"}. sigma: their standard deviations, numbers or formulas. time: the time as a formula of columns. since,
    until: which of the data are used. iterations: how often the motion is linearised at most. hints: whether to look for other units and late
    clocks where the data are not explained. progress: True, False, or a function of NaN, as nobody knows how much is left, and a text that says which
    run over how much of the data has begun. Other options are those of a run: parameters, start, method, step, tol, atol, max_step, max_steps.

    Data that are not explained, or do not tell all unknowns, are warned of (`la.RunWarning`).
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    wanted = asked_of(system, options, ("parameters", "start", "method", "step", "tol", "atol", "max_step", "max_steps"), "a fit")
    listed = data if isinstance(data, (list, tuple)) else [data]
    measured = [_measured(each, f"run {place + 1}" if len(listed) > 1 else "data") for place, each in enumerate(listed)]
    names = [known] if isinstance(known, str) or not hasattr(known, "__iter__") else sequence(known, "known")
    all_known = [key(name, "known") for name in names]
    study = {
        "free": _free(free),
        "known": [] if "all" in all_known else all_known,
        "known_start": "all" in all_known,
        "column": _formulas(column, "column"),
        "sigma": _formulas(sigma, "sigma"),
        "time": None if time is None else text(time, "time"),
        "since": None if since is None else number(since, "since"),
        "until": None if until is None else number(until, "until"),
        "iterations": whole(iterations, "iterations", 1, 100_000),
        "hints": truth(hints, "hints"),
    }
    with watched(progress, f"fit of {system.name}") as tell:
        found = Fit(_native.fit(system._native, wanted, measured, study, tell))
    for fault in found._facts["faults"]:
        warnings.warn(RunWarning(fault, "fit"), stacklevel=2)
    return found


def _free(free: Any) -> list[tuple[str, tuple[float, float] | None]]:
    if free is None:
        return []
    if isinstance(free, Mapping):
        return [(name, None if limits is None else _limits(limits, name)) for name, limits in pairs(free, "free")]
    names = [free] if isinstance(free, str) or not hasattr(free, "__iter__") else sequence(free, "free")
    if not names:
        raise UsageError("nothing is free: name parameters, or leave `free` out")
    return [(key(name, "free"), None) for name in names]


def _limits(limits: Any, name: str) -> tuple[float, float]:
    ends = sequence(limits, f"the limits of `{name}`")
    if len(ends) != 2:
        raise UsageError(f"the limits of `{name}` should be two: (low, high)")
    # None is no limit.
    low, high = (sign * math.inf if end is None else _limit(end, name) for end, sign in zip(ends, (-1, 1)))
    if not low < high:
        raise UsageError(f"the limits of `{name}` are {low:g} and {high:g}: the first should be less")
    return low, high


def _limit(end: Any, name: str) -> float:
    if isinstance(end, float) and math.isinf(end):
        return end
    return number(end, f"a limit of `{name}`")


def _formulas(value: Any, what: str) -> list[tuple[str, str]]:
    found = []
    for name, formula in pairs(value, what) if not isinstance(value, Mapping) else [(text(n, what), f) for n, f in value.items()]:
        written = text(formula, f"{what} `{name}`") if not isinstance(formula, (int, float)) or isinstance(formula, bool) else repr(number(formula, name))
        if not name.strip() or not written.strip():
            raise UsageError(f"{what} needs expressions with formulas: {what}={{'th': 'angle*pi/180'}}")
        found.append((name.strip(), written.strip()))
    return found


def _measured(data: Any, name: str) -> Any:
    """The path of a file, or columns under a name."""
    if isinstance(data, (str, bytes, os.PathLike)):
        return _path(data)
    if not hasattr(data, "keys") and not hasattr(data, "columns"):
        raise TypeError(f"data should be the path of a file, a dictionary of arrays, a trajectory or a table, not {kind(data)}")
    listed: list[tuple[str, Array]] = []
    words: list[tuple[str, int, str]] = []
    for column in data.keys() if hasattr(data, "keys") else data.columns:
        title = text(column, "the name of a column") if isinstance(column, (str, Expr)) else str(column)
        values, word = _numbers(data[column], f"column `{title}`")
        listed.append((title, values))
        words.extend((title, row, said) for row, said in word)
    return name, listed, words


def _numbers(values: Any, what: str) -> tuple[Array, list[tuple[int, str]]]:
    """A column: what is missing is NaN, and the first word in it, which matters only if the column is used."""
    found = np.asarray(values)
    if found.ndim != 1:
        raise UsageError(f"{what} has the shape {found.shape}: a number for each time is expected")
    if found.dtype.kind not in "OUSMm":
        return np.ascontiguousarray(array(found, what)), []
    column, word = np.full(len(found), np.nan), []
    for row, value in enumerate(found):
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            continue
        try:
            if isinstance(value, (str, bytes, bool, np.datetime64, np.timedelta64)):
                raise TypeError
            column[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            word.append((row + 1, str(value)))
    return column, word[:1]

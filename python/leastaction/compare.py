"""Several runs beside each other: of methods, and of values of parameters.

>>> import leastaction as la
>>> comparison = la.compare(la.catalog.pendulum(), methods=["rk4", "verlet"], step=0.05, until=5, progress=False)
>>> sorted(trial.method for trial in comparison)
['rk4', 'verlet']
>>> lengths = la.sweep(la.catalog.pendulum(), {"l": [0.5, 1, 2]}, until=1)
>>> lengths.ends["th"].shape
(3,)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._asked import asked_of
from ._check import Array, finite, kind, number, pairs, sequence, text
from ._errors import Interrupted, RunError, RunWarning, UsageError
from ._progress import watched
from .system import System
from .trajectory import Columns, Picture, Trajectory, _needed, _path, chosen


@dataclass(frozen=True)
class Trial:
    """A run by a method, and what it is compared by."""

    method: str
    """The method."""
    pace: str
    """`step` or `tolerance`."""
    value: float
    """Which."""
    error: float | None
    """How far the end is from the reference, relative to the largest coordinate, or momentum; None without a reference."""
    drift: float | None
    """The largest relative change of the energy; None if it changes by itself."""
    violation: float | None
    """The largest violation of a constraint."""
    steps: int | None
    """Its steps."""
    rejected: int | None
    """The steps that it rejected."""
    evaluations: int | None
    """Its evaluations of the field."""
    wall_s: float | None
    """The seconds that it took, at the least."""
    failure: str | None
    """Why it failed, if it did."""


class Trials(list[Trial]):
    """Methods beside each other."""

    reference: tuple[str, float, float] | None
    """The method and tolerance of the reference, and by how much its end may be off."""

    def to_pandas(self) -> Any:
        """A table of pandas."""
        return _needed("pandas").DataFrame([vars(trial) for trial in self])

    def __repr__(self) -> str:
        lines = [f"{'method':24} {'pace':10} {'value':>9} {'error':>9} {'drift':>9} {'evaluations':>12} {'seconds':>9}"]
        for trial in self:
            if trial.failure is not None:
                lines.append(f"{trial.method:24} {trial.pace:10} {trial.value:9.2g} {trial.failure}")
                continue
            numbers = [f"{value:9.1e}" if value is not None else "        –" for value in (trial.error, trial.drift)]
            lines.append(f"{trial.method:24} {trial.pace:10} {trial.value:9.2g} {numbers[0]} {numbers[1]} {trial.evaluations:12} {trial.wall_s:9.2g}")
        return "\n".join(lines)


def compare(system: System, *, methods: Any = None, step: Any = None, tol: Any = None, progress: Any = None, **options: Any) -> Trials:
    """Compares methods on a system: what they cost, and how well they do.

    methods: their names; all that apply, if left out. step, tol: a step size or a tolerance, or several; that of the system, if left out.
    Other options are parameters, start, seed, until and max_steps. With one step or tolerance the best is the first.
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    if step is not None and tol is not None:
        raise UsageError("step and tol exclude each other: leave one out")
    wanted = asked_of(system, options, ("parameters", "start", "seed", "until", "max_steps"), "a comparison")
    names = [methods] if isinstance(methods, str) else None if methods is None else sequence(methods, "methods")
    if names is not None and not names:
        raise UsageError("which methods? methods=['rk4', 'gauss6']; leave it out for all")
    listed = None if names is None else [text(name, "a method") for name in names]
    try:
        with watched(progress, system.name) as tell:
            return _trials(_native.compare(system._native, wanted, listed, _numbers(step, "step"), _numbers(tol, "tol"), tell))
    except Interrupted as error:
        error.results = _trials(error.results)
        raise


def _numbers(value: Any, what: str) -> list[float]:
    if value is None:
        return []
    listed = [value] if not hasattr(value, "__iter__") else list(finite(value, what).ravel())
    return [number(each, what) for each in listed]


def _trials(facts: dict[str, Any]) -> Trials:
    rows = facts["rows"]
    names = ("method", "pace", "value", "error", "drift", "violation", "steps", "rejected", "evaluations", "wall_s", "failure")
    trials = Trials(Trial(*(row.get(name) for name in names)) for row in rows)
    trials.reference = facts["reference"]
    if facts["no_reference"] is not None:
        warnings.warn(RunWarning(f"there is no reference: {facts['no_reference']}", "reference"), stacklevel=3)
    if len({(trial.pace, trial.value) for trial in trials}) == 1:
        least = trials.reference[2] if trials.reference else 0.0
        trials.sort(key=lambda trial: _rank(trial, least))
    return trials


def _rank(trial: Trial, least: float) -> tuple[float, int]:
    if trial.failure is not None:
        return float("inf"), 0
    found = next((each for each in (trial.error, trial.drift) if each is not None), float("nan"))
    # What cannot be told apart is ranked by its cost.
    return (max(found, least) if found == found else 1e308), trial.evaluations or 0


class Sweep:
    """Runs with several values of parameters: `sweep[0]` is a trajectory, `sweep.ends["th"]` has where each ended."""

    def __init__(self, values: dict[str, Array], runs: list[Trajectory | None], failures: dict[int, RunError]) -> None:
        self.values: dict[str, Array] = Columns(values)
        """The values of each parameter."""
        self.runs: list[Trajectory | None] = runs
        """The trajectories; None where a run failed."""
        self.failures: dict[int, RunError] = failures
        """Why runs failed, by their number."""

    @property
    def ends(self) -> dict[str, Array]:
        """Coordinates, velocities and momenta at the end of each run, by name; NaN where one failed."""
        names = next((list(run.end) for run in self.runs if run is not None), [])
        return Columns({name: np.array([np.nan if run is None else run.end[name] for run in self.runs]) for name in names})

    def to_pandas(self) -> Any:
        """A table of pandas: the values, and the ends."""
        return _needed("pandas").DataFrame({**self.values, **{f"{name} at the end": values for name, values in self.ends.items()}})

    def plot(self, path: Any = None, *, what: Any = None) -> Picture:
        """A curve for each run: of its coordinates, or of what is named, "th" against time, "th' over th". With a path, it is written there (.svg
        or .png)."""
        runs = [(place, run) for place, run in enumerate(self.runs) if run is not None]
        first = runs[0][1]
        charts = chosen(list(first.coordinates[:6]) if what is None else what, first)
        # Each quantity has a chart of its own, with a curve for each run.
        apart = [([name], over) for names, over in charts for name in names]
        named = [(", ".join(f"{name} = {values[place]:g}" for name, values in self.values.items()), run._native) for place, run in runs]
        subtitle = f"{len(self)} runs, t = {first.t[0]:g} to {first.t[-1]:g}"
        title = str(first._about["system"])
        return Picture(_native.curves(named, apart, title, subtitle, None if path is None else _path(path)))

    def __getitem__(self, place: int) -> Trajectory | None:
        return self.runs[place]

    def __iter__(self) -> Iterator[Trajectory | None]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"<{len(self)} runs over {', '.join(self.values)}{failed}>"


def sweep(system: System, values: Mapping[Any, Any], **options: Any) -> Sweep:
    """Runs a system with each of several values of a parameter, or of several that go together: `la.sweep(system, {"l": [0.5, 1, 2]}, until=10)`.

    The options are those of `System.run`. For thousands of runs there is `la.ensemble`. A run that fails is warned of; if all do, that is an error.
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    columns = {name: finite(each, f"values of `{name}`") for name, each in pairs(values, "values")}
    if not columns or any(each.ndim != 1 or len(each) == 0 for each in columns.values()):
        raise UsageError("a sweep has a list of values for a parameter: {'l': [0.5, 1, 2]}")
    if len({len(each) for each in columns.values()}) > 1:
        raise UsageError("parameters that go together have as many values")
    given = dict(pairs(options.pop("parameters", None), "parameters"))
    for name in columns:
        if name in given:
            raise UsageError(f"`{name}` has several values, and one in `parameters`: leave one out")
    runs: list[Trajectory | None] = []
    failures: dict[int, RunError] = {}
    for place in range(len(next(iter(columns.values())))):
        own = {name: float(each[place]) for name, each in columns.items()}
        try:
            runs.append(system.run(parameters={**given, **own}, **options))
        except RunError as error:
            runs.append(None)
            failures[place] = error
    if len(failures) == len(runs):
        raise failures[0]
    for place, failure in failures.items():
        said = ", ".join(f"{name} = {each[place]:g}" for name, each in columns.items())
        warnings.warn(RunWarning(f"the run with {said} failed: {failure}", "failed"), stacklevel=2)
    return Sweep(columns, runs, failures)

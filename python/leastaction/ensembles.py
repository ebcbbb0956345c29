"""Ensembles: many motions of one system.

>>> import leastaction as la
>>> found = la.ensemble(la.catalog.pendulum(), sample={"th": "uniform(-1, 1)"}, count=100, until=5, reduce="stats(th)")
>>> found.done, found["stats"]["count"]
(100, array([100]))
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _native
from ._check import finite, kind, number, pairs, sequence, text, whole
from ._errors import Interrupted, RunError, RunWarning, UsageError
from ._native import Expr
from ._progress import watched
from .system import System
from .trajectory import Columns, Picture, _path


@dataclass(frozen=True)
class Finding:
    """What a reduction found, as columns."""

    reduction: str
    """The reduction: `stats(th)`."""
    word: str
    """Its kind: `stats`."""
    columns: dict[str, Any] = field(repr=False)
    """What was found."""

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns as a table of Arrow."""
        from ._arrow import stream

        return stream(self.columns)

    def to_pandas(self) -> Any:
        """A table of pandas."""
        from .trajectory import _needed

        return _needed("pandas").DataFrame(self.columns)


class Results:
    """What an ensemble found: `results["stats"]` is a finding by its kind or its text, or by its number."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.done: int = members["done"]
        """So many trajectories are done."""
        self.total: int = members["total"]
        """Of so many."""
        self.complete: int = members["complete"]
        """So many came to their end."""
        self.failed: int = members["failed"]
        """So many failed."""
        self.failures: list[tuple[int, str]] = members["failures"]
        """Some of those that failed, by their number, and why."""
        self.ended: dict[str, int] = members["ended"]
        """How many were ended by each event."""
        self.steps: int = members["steps"]
        """So many steps were made."""
        self.damaged: list[str] = members["damaged"]
        """Files that were kept and found damaged, so that their trajectories were run again."""
        self.method: str = members["method"]
        """The method."""
        self._found: Any = members["found"]
        self.findings: list[Finding] = [Finding(text, word, Columns(columns)) for text, word, columns in members["findings"]]
        """What the reductions found, in their order."""

    def __getitem__(self, what: str | int) -> Finding:
        if isinstance(what, int) and not isinstance(what, bool):
            return self.findings[what]
        for finding in self.findings:
            if what in (finding.reduction, finding.word):
                return finding
        raise KeyError(f"there is no `{what}`: there are {', '.join(finding.reduction for finding in self.findings)}")

    def plot(self, path: Any = None, what: Any = None) -> Picture | None:
        """Pictures of what was found: maps, histograms, sections, and of samples the orbits. With a path (.svg or .png), they are written there; if several
        findings have a picture, each to a file with its word in the name. Without one, the picture is given back, which notebooks show. what: what is plotted
        of samples, "th, th'" against time or "th' over th", where `reduce` kept "samples(th, th')"; their states against time, if left out.

        >>> import leastaction as la
        >>> swings = la.ensemble(la.catalog.pendulum(), sample={"th'": "grid(-8, 8, 9)"}, until=2, reduce="samples(th, th')")
        >>> swings.plot(what="th' over th").kind
        'SVG'
        """
        listed = [] if what is None else [what] if isinstance(what, (str, Expr)) else sequence(what, "what")
        chosen = [text(each, "what") for each in listed]
        if self._found is None:
            raise UsageError("these results came from elsewhere: their columns are here, their pictures are made there")
        if path is not None:
            self._found.plot(_path(path), chosen)
            return None
        with tempfile.TemporaryDirectory(prefix="leastaction-") as folder:
            written = self._found.plot(os.path.join(folder, "found.svg"), chosen)
            if len(written) > 1:
                raise UsageError(f"{len(written)} findings have a picture: give a path, and each is written to a file of its own")
            with open(written[0], encoding="utf-8") as file:
                return Picture(file.read())

    def __getstate__(self) -> dict[str, Any]:
        # Columns go to other processes, and what pictures are made of stays.
        return {**self.__dict__, "_found": None}

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"<{self.done} of {self.total} trajectories{failed}: {', '.join(f.reduction for f in self.findings)}>"


def ensemble(
    system: System,
    *,
    sample: Mapping[str, Any] | None = None,
    reduce: Any = (),
    count: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    chunk: int | None = None,
    keep: Any = None,
    since: float | None = None,
    shard: tuple[int, int] | None = None,
    client: Any = None,
    tasks: int | None = None,
    progress: Any = None,
    **options: Any,
) -> Results:
    """Runs many motions from starts and parameters that are sampled, and keeps what reductions say.

    sample: names of coordinates, velocities, momenta and parameters, with a distribution such as "uniform(-1, 1)", "grid(0, 3, 100)",
    "normal(0, 0.1)", "latin(0, 1)", "sobol(0, 1)", a number, or an array with a value for each trajectory. reduce: what is kept, such as
    "stats(th)", "map(first(flip))", "ends", "samples(energy)"; statistics of the coordinates if left out. keep: a directory that results are
    kept in, and gone on with. since: when counting begins: samples and events before that time are left out. shard: (i, n) for part i of n. client: a Dask client, whose workers run `tasks` shards of it. Other
    options are those of `System.run`.
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    for name in ("seed", "accuracy", "check", "show"):
        if name in options:
            raise TypeError(f"an ensemble has no option `{name}`")
    from .system import _run_options

    wanted = system._asked(**_run_options(options))
    reductions = [reduce] if isinstance(reduce, str) else sequence(reduce, "reduce")
    with ExitStack() as stack:
        drawn, length = sampled(sample, stack)
        if length is not None and count is None and not any("grid(" in text for text in drawn):
            count = length
        study = {
            "sample": drawn,
            "reduce": [text(each, "reduce") for each in reductions],
            "count": None if count is None else whole(count, "count", 1),
            "seed": whole(seed, "seed"),
            "threads": None if threads is None else whole(threads, "threads", 1, 4096),
            "chunk": None if chunk is None else whole(chunk, "chunk", 1, 1_000_000),
            "keep": None if keep is None else os.fspath(keep),
            "from": None if since is None else number(since, "since"),
            "shard": None if shard is None else _shard(shard),
        }
        if client is not None:
            from ._dask import spread

            return _warn_of_failures(Results(spread(client, system, wanted, study, tasks)))
        if tasks is not None:
            raise UsageError("tasks are those of a Dask client: give one (client=)")
        try:
            with watched(progress, system.name) as tell:
                results = Results(_native.ensemble(system._native, wanted, study, tell))
        except Interrupted as error:
            error.results = Results(error.results)
            raise
    return _warn_of_failures(results)


def _warn_of_failures(results: Results) -> Results:
    """Says what failed: it is left out of what was found."""
    reasons = "; ".join(f"trajectory {number}: {why}" for number, why in results.failures[:3])
    if results.failed and results.failed == results.done:
        error = RunError(f"all {results.done} trajectories failed: {reasons}")
        error.results = results
        raise error
    if results.failed:
        said = f"{results.failed} of {results.done} trajectories failed, and are left out of statistics: {reasons}"
        warnings.warn(RunWarning(said, "failed"), stacklevel=3)
    for path in results.damaged:
        warnings.warn(RunWarning(f"`{path}` was damaged: its trajectories were run again", "damaged"), stacklevel=3)
    return results


def _shard(shard: Any) -> tuple[int, int]:
    parts = sequence(shard, "shard")
    if len(parts) != 2:
        raise UsageError("shard should be (i, n): part i of n")
    of = whole(parts[1], "the number of shards", 1)
    return whole(parts[0], "the number of a shard", 1, of), of


def sampled(sample: Any, stack: ExitStack) -> tuple[list[str], int | None]:
    """What is sampled, as texts; arrays are handed over in a file that goes when the ensemble is done."""
    texts, arrays = [], {}
    for name, how in pairs(sample, "sample"):
        if isinstance(how, str):
            texts.append(f"{name}={text(how, f'sample `{name}`')}")
        elif isinstance(how, (list, tuple, np.ndarray)):
            values = finite(how, f"sample `{name}`")
            if values.ndim != 1 or len(values) == 0:
                raise UsageError(f"sample `{name}` has the shape {values.shape}: one value for each trajectory is expected")
            arrays[name] = values
        else:
            texts.append(f"{name}={number(how, f'sample `{name}`')!r}")
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) > 1:
        raise UsageError(f"arrays of different lengths are sampled: {', '.join(map(str, sorted(lengths)))}")
    if arrays:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leastaction-"))
        path = os.path.join(folder, "sampled.npz")
        columns: dict[str, Any] = {f"c{k}": values for k, values in enumerate(arrays.values())}
        np.savez(path, **columns)
        texts.extend(f"{name}=file({path}, c{k})" for k, name in enumerate(arrays))
    return texts, next(iter(lengths), None)


def merge(directories: Any) -> Results:
    """Puts the shards of an ensemble together that were kept in these directories: the results have the bits of the whole."""
    paths = [os.fspath(path) for path in sequence(directories, "directories")]
    return _warn_of_failures(Results(_native.merge(paths)))

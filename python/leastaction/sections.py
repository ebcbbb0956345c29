"""Poincaré sections: where orbits pass a surface.

>>> import leastaction as la
>>> found = la.section(la.catalog.henon_heiles(), "x", direction="rising", show=("y", "p_y"), count=5)
>>> found.points.shape
(5, 2)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _native
from ._check import Array, kind, number, sequence, text, whole
from ._errors import Interrupted, RunError, RunWarning, UsageError
from ._progress import watched
from .system import System, _run_options
from .trajectory import Columns, _path


class Section:
    """The points where orbits passed a surface."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.points: Array = members["points"]
        """The two quantities that are shown, a row for each point."""
        self.orbit: Any = members["orbit"]
        """The number of the orbit of each point."""
        self.names: list[str] = list(members["names"])
        """What is shown."""
        self.surface: str = members["surface"]
        """The surface."""
        self.columns: dict[str, Array] = Columns(members["columns"])
        """All that is known of the points: times, states, energies."""
        self.lost: list[str] = list(members["lost"])
        """Orbits with fewer points than requested, and why."""
        self.drift: float = members["drift"]
        """By how much the energy was off at the points, at most, relatively."""
        self.method: str = members["method"]
        """The method."""

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The columns as a table of Arrow."""
        from ._arrow import stream

        return stream(self.columns)

    def plot(self, path: Any) -> None:
        """Writes a plot to a file that ends in .svg or .png: each orbit in a colour."""
        orbits = [(f"orbit {place + 1}", points.tolist()) for place, points in enumerate(self.orbits())]
        subtitle = f"{len(self)} points, {self.method}"
        _native.plot_points(f"section {self.surface}", subtitle, list(self.names), orbits, _path(path))

    def orbits(self) -> list[Array]:
        """The points of each orbit."""
        return [self.points[self.orbit == number] for number in np.unique(self.orbit)]

    def __repr__(self) -> str:
        orbits = len(np.unique(self.orbit))
        return f"<section {self.surface}: {len(self)} points of {orbits} orbit{'' if orbits == 1 else 's'}, {' and '.join(self.names)}>"


def section(
    system: System,
    through: Any,
    *,
    direction: str | None = None,
    show: Sequence[Any] | None = None,
    orbits: int = 1,
    vary: dict[str, tuple[float, float]] | None = None,
    energy: float | None = None,
    solve: Any = None,
    count: int = 200,
    threads: int | None = None,
    progress: Any = None,
    **options: Any,
) -> Section:
    """Finds where orbits pass a surface: an expression that passes 0, or an equation as a text ("x = 0.5").

    direction: `rising` or `falling`, where only that counts. show: two expressions. orbits: how many are followed; vary: {"y": (-0.3, 0.6)}
    starts them at evenly spread values; energy, solve: all have this energy, by changing this coordinate or momentum. count: the number of
    points of each. Other options are those of `System.run`.
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    if direction not in (None, "rising", "falling"):
        raise UsageError(f"direction = {direction!r}: choose 'rising', 'falling' or None")
    if (energy is None) != (solve is None):
        raise UsageError("energy and solve go together: solve='p_x' says what is changed until the energy is right")
    shown = None if show is None else [text(each, "show") for each in sequence(show, "show")]
    if shown is not None and len(shown) != 2:
        raise UsageError(f"two expressions are shown, not {len(shown)}: show=('y', 'p_y')")
    wanted = system._asked(**_run_options(options))
    plan = {
        "through": text(through, "through"),
        "direction": direction or "",
        "show": None if shown is None else tuple(shown),
        "orbits": whole(orbits, "orbits", 1, 100_000),
        "vary": _fan(vary),
        "energy": None if energy is None else (number(energy, "energy"), text(solve, "solve")),
        "count": whole(count, "count", 1, 2**31),
        "threads": None if threads is None else whole(threads, "threads", 1, 4096),
    }
    try:
        with watched(progress, system.name) as tell:
            found = Section(_native.section(system._native, wanted, plan, tell))
    except Interrupted as error:
        error.results = Section(error.results)
        raise
    if len(found) == 0:
        failure = RunError("\n  ".join([f"no orbit passes {found.surface}", *found.lost[:5]]))
        failure.results = found
        raise failure
    for lost in found.lost:
        warnings.warn(RunWarning(lost, "lost"), stacklevel=2)
    return found


def _fan(vary: Any) -> tuple[str, float, float] | None:
    if vary is None:
        return None
    from ._check import pairs

    fans = pairs(vary, "vary")
    if len(fans) != 1:
        raise UsageError("vary is of one quantity: vary={'y': (-0.3, 0.6)}")
    name, ends = fans[0]
    both = sequence(ends, f"vary `{name}`")
    if len(both) != 2:
        raise UsageError(f"vary `{name}` should be from where to where: {{'{name}': (-0.3, 0.6)}}")
    return name, number(both[0], name), number(both[1], name)

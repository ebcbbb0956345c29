"""Trajectories: what came of a run."""

from __future__ import annotations

import base64
import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import _native
from ._check import Array, kind, number, sequence, text, whole
from ._errors import RunWarning, UsageError
from ._native import Expr


@dataclass(frozen=True)
class Crossings:
    """Where an event happened."""

    t: Array
    """When."""
    rising: Any
    """Whether the expression grew there."""
    q: Array
    """The coordinates there, a row for each time."""
    p: Array
    """The momenta there."""
    t_error: Array | None
    """The errors of the times, if accuracy was requested."""
    at_rest: Array
    """From when on it is at rest, where it would have happened without end and finally set something."""

    def __len__(self) -> int:
        return len(self.t)


@dataclass(frozen=True)
class Accuracy:
    """How far the end of a run may be off, as far as a second run can tell."""

    digits: int
    """How many digits are certain."""
    relative: float
    """The largest error of a coordinate or a momentum, relative to its size."""
    said: str
    """The same in words."""


class Columns(dict[str, Array]):
    """Columns by name, which says what there is if one is not."""

    def __missing__(self, name: Any) -> Array:
        raise KeyError(_missing(name, self))


class Trajectory:
    """The samples of a run. Rows are samples, `trajectory["th1"]` is a column by its name, and `columns` says which there are.

    >>> import leastaction as la
    >>> swing = la.catalog.pendulum().run(until=1, samples=4)
    >>> swing.t
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> swing.q.shape, swing["bob.y"].shape
    ((5, 1), (5,))
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    @cached_property
    def _about(self) -> dict[str, Any]:
        return dict(self._native.about_run())

    # Numbers

    @cached_property
    def t(self) -> Array:
        """The times."""
        return np.asarray(self._native.t())

    @cached_property
    def _states(self) -> Array:
        return np.asarray(self._native.states())

    @property
    def q(self) -> Array:
        """The coordinates: a row for each sample."""
        return self._states[:, : len(self.coordinates)]

    @property
    def p(self) -> Array:
        """The momenta: a row for each sample."""
        return self._states[:, len(self.coordinates) :]

    @cached_property
    def v(self) -> Array:
        """The velocities: a row for each sample."""
        return np.asarray(self._native.velocities())

    @cached_property
    def x(self) -> dict[str, Array]:
        """Where particles, points and bodies were, by name: a row for each sample."""
        return Columns(self._native.places())

    @cached_property
    def energy(self) -> Array:
        """The energy T + V."""
        return np.asarray(self._native.energy())

    @cached_property
    def shares(self) -> dict[str, Array]:
        """The named terms of the energy."""
        return Columns(self._native.shares())

    @property
    def constraint_error(self) -> Array:
        """The largest violation of a constraint of positions (else, of velocities); zeros without constraints."""
        for name in ("violation", "violation'"):
            found = self._native.column(name)
            if found is not None:
                return np.asarray(found)
        return np.zeros(len(self))

    @cached_property
    def events(self) -> dict[str, Crossings]:
        """Where each event happened, by name."""
        return {
            name: Crossings(event["t"], np.array(event["rising"], dtype=bool), event["q"], event["p"], event["t_error"], event["at_rest"])
            for name, event in self._native.events().items()
        }

    @property
    def columns(self) -> list[str]:
        """The names of all columns: time, coordinates, velocities, momenta, places, energies, multipliers, and what was to be shown."""
        return [name for _, name in self._native.columns()]

    def __getitem__(self, name: Any) -> Array:
        word = name if isinstance(name, str) else getattr(name, "name", None)
        if not isinstance(word, str):
            raise TypeError(f"a column has a name, not {kind(name)}: trajectory['t']; samples are rows of .t, .q, .v and .p")
        found = self._native.column(word)
        if found is None:
            raise KeyError(_missing(word, self.columns))
        return np.asarray(found)

    def __contains__(self, name: Any) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> list[str]:
        """The names of all columns."""
        return self.columns

    def __len__(self) -> int:
        return len(self._native)

    @property
    def end(self) -> dict[str, float]:
        """Coordinates, velocities and momenta at the end, by name."""
        names = [*self.coordinates, *self._about["velocities"], *self._about["momenta"]]
        parts = [self.q[-1:], self.v[-1:] if self._about["velocities"] else np.empty((1, 0)), self.p[-1:]]
        return dict(zip(names, np.concatenate(parts, axis=1).ravel().tolist()))

    # What was run, and how well

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates."""
        return list(self._about["coordinates"])

    @property
    def parameters(self) -> dict[str, float]:
        """The values of the parameters."""
        return dict(self._about["parameters"])

    @property
    def method(self) -> str:
        """The method."""
        return str(self._about["method"])

    @property
    def pace(self) -> str:
        """Its step or its tolerance, in words."""
        return str(self._about["pace"])

    @property
    def because(self) -> str | None:
        """Why the method was chosen, if it was."""
        return self._about["because"]  # type: ignore[no-any-return]

    @property
    def ended(self) -> str:
        """How the run ended: `complete`, or why before its time."""
        return str(self._about["ended"])

    @property
    def stopped_by(self) -> str | None:
        """The event that ended the run, if one did."""
        return self._about["stopped_by"]  # type: ignore[no-any-return]

    @property
    def work(self) -> dict[str, Any]:
        """What it took: steps, rejected steps, evaluations of the field, seconds to run."""
        return {name: self._about[name] for name in ("steps", "rejected", "evaluations", "wall_s")}

    @cached_property
    def measured(self) -> dict[str, Any]:
        """How well the run kept what it should: drifts of energy and of what else is conserved, violations of constraints, work."""
        return dict(self._native.measure())

    @property
    def warnings(self) -> list[RunWarning]:
        """The warnings about the run."""
        return [RunWarning(message, code) for code, message in self._native.warnings()]

    def _warn(self, depth: int) -> None:
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=depth)

    @property
    def accuracy(self) -> Accuracy | None:
        """How far the end may be off, if `run(accuracy=True)` asked."""
        found = self._native.accuracy()
        return None if found is None else Accuracy(*found)

    def __repr__(self) -> str:
        about = self._about
        lines = [
            f"<trajectory of {about['system']}: {len(self)} samples, t = {self.t[0]:g} to {self.t[-1]:g}, {self.ended}",
            f"  {about['method']}, {about['pace']}: {about['steps']} steps in {about['wall_s']:.3g} s",
        ]
        try:
            measured = self.measured
            if measured["energy_conserved"]:
                lines.append(f"  energy {measured['energy_start']:g}, at most {measured['energy_drift']:.1e} off")
            lines.extend(f"  warning: {warning}" for warning in self.warnings)
        except Exception as error:  # what cannot be measured must not hide the rest
            lines.append(f"  not measured: {error}")
        return "\n".join(lines) + ">"

    # Files and tables

    def save(self, path: Any) -> None:
        """Writes the samples to a file by its ending: .csv, .npz, .parquet or .json; .pvd for meshes."""
        self._native.save(_path(path))

    def save_events(self, path: Any) -> None:
        """Writes every event to a file by its ending: its time, its name, its direction and the state."""
        self._native.save_events(_path(path))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All columns as a table of Arrow: `pyarrow.table(trajectory)`, `polars.DataFrame(trajectory)`."""
        from ._arrow import stream

        return stream(self.to_dict())

    def to_dict(self) -> dict[str, Array]:
        """All columns by name."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self) -> Any:
        """A table of pandas, whose index is time."""
        pandas = _needed("pandas")
        return pandas.DataFrame(self.to_dict()).set_index("t")

    def to_polars(self) -> Any:
        """A table of polars."""
        return _needed("polars").DataFrame(self.to_dict())

    def to_xarray(self) -> Any:
        """A dataset of xarray over time."""
        xarray = _needed("xarray")
        columns = self.to_dict()
        t = columns.pop("t")
        return xarray.Dataset({name: ("t", values) for name, values in columns.items()}, coords={"t": t})

    # Pictures

    def plot(self, path: Any = None, *, what: Any = None) -> Picture:
        """The plot of the run: paths, coordinates, the phase portrait, and how the energy was kept. With a path, it is written there (.svg
        or .png); in a notebook it is shown. what: what is plotted in place of these, as on the command line: "x, y" against time, "x' over x".

        >>> import leastaction as la
        >>> la.catalog.pendulum().run(until=5).plot()
        <picture: SVG of ... bytes>
        """
        if what is not None:
            title, span = str(self._about["system"]), f"t = {self.t[0]:g} to {self.t[-1]:g}"
            subtitle = f"{self.method}, {self.pace}, {span}, {len(self)} samples"
            return Picture(_native.curves([("", self._native)], chosen(what, self), title, subtitle, None if path is None else _path(path)))
        if path is not None:
            self._native.save_plot(_path(path))
        return Picture(self._native.svg())

    def animate(self, path: Any = None, *, speed: float | None = None, size: Any = None, view: Any = None) -> Picture:
        """The run as it moves: a GIF. With a path, it is written there (.gif, or .mp4 if ffmpeg is installed); in a notebook it is shown. speed: how much
        time of the run passes in a second; what makes it 2 to 24 s long, if left out. size: the pixels across and down, both even. view: from where
        motions in space are seen, the angles of azimuth and elevation in degrees, such as (-65, 22)."""
        film = (None if speed is None else number(speed, "speed"), _size(size), _angles(view))
        if film[0] is not None and film[0] <= 0:
            raise UsageError(f"speed = {film[0]:g}: some time of the run passes in a second")
        if path is not None:
            self._native.save_animation(_path(path), *film)
            if _path(path).lower().endswith(".gif"):
                with open(_path(path), "rb") as file:
                    return Picture(file.read())
        with tempfile.TemporaryDirectory(prefix="leastaction-") as folder:
            name = os.path.join(folder, "run.gif")
            self._native.save_animation(name, *film)
            with open(name, "rb") as file:
                return Picture(file.read())

    def reduce(self, *what: Any, since: float | None = None) -> dict[str, float]:
        """Numbers of the whole run, by what they are: "max(x')", "min(x)", "range(x)" or "mean(energy)" over its samples, "first(flip)" and
        "crossings(flip)" of an event, "start(x)", or an expression at the end. since: samples and events before that time are left out.

        >>> import leastaction as la
        >>> la.catalog.pendulum().run(until=10).reduce("mean(th')", "start(th')")["start(th')"]
        3.0
        """
        listed = [text(each, "what") for each in what]
        if not listed:
            raise UsageError('there is nothing to find: run.reduce("max(x)")')
        return dict(self._native.reduced(listed, None if since is None else number(since, "since")))

    def view(self, *, seconds: float = 10.0, frames: int = 300) -> Any:
        """The run as an interactive view in space, which plays in so many seconds, is scrubbed, and turned: a `la.View`, which notebooks show.

        >>> import leastaction as la
        >>> la.catalog.pendulum().run(until=5).view()
        <view of pendulum: 300 moments>
        """
        from .view import view

        return view(self, seconds, frames)

    def _repr_svg_(self) -> str:
        return str(self._native.svg())


def _size(size: Any) -> list[int] | None:
    """The pixels of a film across and down."""
    if size is None:
        return None
    sides = [whole(side, "a side of size", 120, 4096) for side in sequence(size, "size")]
    if len(sides) != 2 or any(side % 2 for side in sides):
        raise UsageError("size should be two even numbers of pixels, across and down, such as (800, 600)")
    return sides


def _angles(view: Any) -> list[float] | None:
    """Azimuth and elevation in degrees."""
    if view is None:
        return None
    angles = [number(angle, "an angle of view") for angle in sequence(view, "view")]
    if len(angles) != 2 or abs(angles[1]) > 90:
        raise UsageError("view should be two angles in degrees, azimuth and elevation, such as (-65, 22)")
    return angles


def chosen(what: Any, run: Trajectory) -> list[tuple[list[str], str | None]]:
    """What is plotted: "x, y" in one chart against time, and each "x' over x" in one of its own; or a list of these."""
    listed = [what] if isinstance(what, (str, Expr)) else sequence(what, "what")
    parts = [part.strip() for each in listed for part in _split(text(each, "what"))]
    if not parts or not all(parts):
        raise UsageError("what is plotted is \"x, y\", or \"x' over x\"")
    timed = [part for part in parts if " over " not in part]
    charts: list[tuple[list[str], str | None]] = [(timed, None)] if timed else []
    for part in parts:
        if " over " in part:
            up, right = part.split(" over ", 1)
            charts.append(([up.strip()], right.strip()))
    for name in (name for names, over in charts for name in (*names, *([] if over is None else [over]))):
        if name not in run:
            raise UsageError(f"{_missing(name, run.columns)}; expressions are recorded by show=")
    return charts


def _split(listed: str) -> list[str]:
    """Parts between commas, but for those in brackets."""
    parts, depth, begun = [], 0, 0
    for place, letter in enumerate(listed):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(listed[begun:place])
            begun = place + 1
    return [*parts, listed[begun:]]


class Picture:
    """A picture, which notebooks show: `data` is the text of an SVG, or the bytes of a GIF."""

    def __init__(self, data: str | bytes) -> None:
        self.data = data

    @property
    def kind(self) -> str:
        """`SVG` or `GIF`."""
        return "SVG" if isinstance(self.data, str) else "GIF"

    def save(self, path: Any) -> None:
        """Writes it to a file."""
        ending = "." + self.kind.lower()
        name = _path(path)
        if not name.lower().endswith(ending):
            raise UsageError(f"`{name}` should end in {ending}")
        data = self.data.encode() if isinstance(self.data, str) else self.data
        unfinished = f"{name}.{os.getpid()}.part"
        try:
            with open(unfinished, "wb") as file:
                file.write(data)
            os.replace(unfinished, name)
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)

    def _repr_svg_(self) -> str | None:
        return self.data if isinstance(self.data, str) else None

    def _repr_html_(self) -> str | None:
        if isinstance(self.data, str):
            return None
        return f'<img src="data:image/gif;base64,{base64.b64encode(self.data).decode()}">'

    def __repr__(self) -> str:
        return f"<picture: {self.kind} of {len(self.data)} bytes>"


def _path(path: Any) -> str:
    try:
        name = os.fspath(path)
    except TypeError:
        raise TypeError(f"path should be the name of a file, not {kind(path)}") from None
    return text(os.fsdecode(name) if isinstance(name, bytes) else name, "path")


def _missing(name: Any, names: Any) -> str:
    from difflib import get_close_matches

    close = get_close_matches(str(name), list(names), 1)
    there = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(list(names)[:20])}"
    return f"there is no `{name}`: {there}"


def _needed(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{module} is not installed, and this needs it: pip install {module}") from None

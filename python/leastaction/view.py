"""An interactive view of a run: it plays, is scrubbed, and turned. Notebooks show it; `save` writes a page that needs nothing else."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._check import number, whole
from ._errors import UsageError
from .trajectory import Trajectory, _needed, _path

#: Without a drawing, only so many places leave trails.
TRAILS = 50
#: More numbers than this are no page any more.
MOST = 5_000_000


class View:
    """A run that plays. In notebooks it shows itself; `widget()` is an anywidget, where that is installed."""

    def __init__(self, motion: dict[str, Any]) -> None:
        self.motion = motion
        """What is shown: times, places, and the parts of the drawing."""

    @property
    def page(self) -> str:
        """A page of HTML that shows it by itself."""
        # In a script, `</` would end it.
        motion = json.dumps(self.motion, allow_nan=False).replace("</", "<\\/")
        script = f"{_script()}\nshow(document.getElementById('view'), {motion});"
        title = html.escape(self.motion["title"])
        return f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n<body><div id="view"></div>\n<script type="module">\n{script}\n</script></body></html>\n'

    def save(self, path: Any) -> None:
        """Writes the page to a file that ends in .html."""
        name = _path(path)
        if not name.lower().endswith((".html", ".htm")):
            raise UsageError(f"`{name}` should end in .html")
        with open(name, "w", encoding="utf-8") as file:
            file.write(self.page)

    def widget(self) -> Any:
        """The view as an anywidget: its trait `motion` can be set anew."""
        anywidget, traitlets = _needed("anywidget"), _needed("traitlets")
        members = {"_esm": _script(), "motion": traitlets.Dict({}).tag(sync=True)}
        return type("MotionView", (anywidget.AnyWidget,), members)(motion=self.motion)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; max-width: 680px; height: 570px; border: none"></iframe>'

    def __repr__(self) -> str:
        return f"<view of {self.motion['title']}: {len(self.motion['times'])} moments>"


def _script() -> str:
    with open(os.path.join(os.path.dirname(__file__), "view.js"), encoding="utf-8") as file:
        return file.read()


def view(run: Trajectory, seconds: float = 10.0, frames: int = 300) -> View:
    """A run that plays in so many seconds, of so many moments at most."""
    span = number(seconds, "seconds")
    if span <= 0:
        raise UsageError(f"seconds = {span:g}: it takes some time to play")
    moments = np.unique(np.linspace(0, len(run) - 1, min(len(run), whole(frames, "frames", 1, 100_000))).astype(int))
    names = list(run.x)
    if not names:
        raise UsageError("there is nothing to see: the model has no particles, points, bodies or meshes")
    if 3 * len(names) * len(moments) > MOST:
        raise UsageError(f"{3 * len(names) * len(moments)} numbers would be shown: take fewer frames")
    places = np.zeros((len(moments), len(names), 3))
    for place, values in enumerate(run.x.values()):
        # What could not be computed is a gap, which pages know as null.
        places[:, place, : values.shape[1]] = values[moments]
    drawing = run._native.drawing()
    solids = iter(run._native.solids([int(i) for i in moments]) if any(kind == "body" for kind, *_ in drawing) else ())
    parts = [made for part in drawing for made in _parts(part, names, solids)] or _plain(names)
    flat = bool((places[..., 2] == 0).all()) and not any(part["kind"] == "mesh" or part.get("deep") for part in parts)
    return View({
        "title": str(run._about["system"]), "seconds": span, "flat": flat, "times": run.t[moments].tolist(),
        "places": [[[_finite(x) for x in place] for place in moment] for moment in places.tolist()], "parts": parts,
    })  # fmt: skip


def _finite(x: float) -> float | None:
    return round(x, 9) if abs(x) < 1e12 else None


def _parts(part: tuple[Any, ...], names: list[str], solids: Iterator[Any]) -> list[dict[str, Any]]:
    """A part of a drawing, with places by their numbers; of a body a part for each of its shapes."""
    if part[0] != "body":
        return [_part(part, names)]
    made = [_solid(*next(solids)) for _ in range(part[2])]
    # How it is turned cannot be told: it is where it is.
    unknown = all(place is None for solid in made for place in solid["places"])
    return [_part(("dot", part[1], 1.0), names)] if unknown else made


def _solid(faces: Any, lines: Any, places: Any) -> dict[str, Any]:
    """A shape of a body: triangles and lines, and where its middle and its axes are at each moment."""
    known = [place for place in places if place is not None]
    # What moves in the plane has its first two axes there.
    deep = any(place[0][2] != 0 or place[1][2] != 0 or place[2][2] != 0 for place in known)
    short = [[[_finite(x) for x in corner] for corner in line] for line in lines]
    return {
        "kind": "body", "faces": [[[_finite(x) for x in corner] for corner in face] for face in faces], "lines": short, "deep": deep,
        "places": [None if place is None else [[_finite(x) for x in each] for each in place] for place in places],
    }  # fmt: skip


def _part(part: tuple[Any, ...], names: list[str]) -> dict[str, Any]:
    """A part of a drawing, with places by their numbers."""
    kind, *rest = part
    if kind == "mesh":
        first, _, faces, segments = rest
        return {"kind": kind, "first": first, "faces": faces, "segments": segments}
    if kind == "line":
        return {"kind": kind, "points": rest[0]}
    ends = [names.index(end) if isinstance(end, str) else end for end in (rest[:2] if kind in ("rod", "spring") else rest[:1])]
    return {"kind": kind, "ends": ends, "size": min(1.0, float(rest[1])) if kind == "dot" else 1.0}


def _plain(names: list[str]) -> list[dict[str, Any]]:
    """All places, and where the first ones have been."""
    trails = [{"kind": "trail", "ends": [place], "size": 1.0} for place in range(min(TRAILS, len(names)))]
    return trails + [{"kind": "dot", "ends": [place], "size": 0.3} for place in range(len(names))]


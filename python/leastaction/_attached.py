"""Files that a model was given as arrays, or reads from its folder: in a folder of their own, for as long as anyone needs them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._check import Array, array, finite, text
from ._errors import UsageError

#: The cells of a mesh by the number of their nodes: what VTK calls them.
CELLS = {2: 3, 3: 5, 4: 10}


class Attached:
    """Files by their names, in a folder that goes when nobody has this any more."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.folder = tempfile.mkdtemp(prefix="leastaction-")
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        for name, content in self.files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)

    def __reduce__(self) -> Any:
        return Attached, (self.files,)


def mesh_file(nodes: Any, cells: Any) -> bytes:
    """A mesh of these nodes and cells, as a file of VTK. Numbers keep all of their bits."""
    places = finite(nodes, "nodes")
    if places.ndim != 2 or places.shape[1] not in (2, 3) or len(places) == 0:
        raise UsageError(f"nodes have the shape {places.shape}: a row of 2 or 3 numbers for each node is expected")
    if places.shape[1] == 2:
        places = np.column_stack([places, np.zeros(len(places))])
    listed = cells if isinstance(cells, (list, tuple)) and len(cells) > 0 and np.ndim(cells[0]) == 2 else [cells]
    groups = [_cells(each, len(places)) for each in listed]
    loose = np.setdiff1d(np.arange(len(places)), np.concatenate([each.ravel() for each in groups]))
    if len(loose):
        raise UsageError(f"node {loose[0]} is in no cell: leave it out, or make it one of `atoms`")
    rows = [row for each in groups for row in each.tolist()]
    kinds = [CELLS[len(row)] for row in rows]
    lines = ["# vtk DataFile Version 3.0", "a mesh of arrays", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(places)} double"]
    lines += [" ".join(map(repr, place)) for place in places.tolist()]
    lines += [f"CELLS {len(rows)} {sum(len(row) + 1 for row in rows)}"]
    lines += [" ".join(map(str, (len(row), *row))) for row in rows]
    lines += [f"CELL_TYPES {len(rows)}", *map(str, kinds), ""]
    return "\n".join(lines).encode()


def _cells(cells: Any, count: int) -> Any:
    """Cells of one kind: a row of numbers of nodes for each."""
    found = np.asarray(cells)
    if found.dtype.kind not in "iu":
        raise TypeError(f"cells should be an array of whole numbers, those of their nodes counted from 0, not of {found.dtype}")
    if found.ndim != 2 or found.shape[1] not in CELLS or len(found) == 0:
        raise UsageError(f"cells have the shape {found.shape}: a row of 2 (segments), 3 (triangles) or 4 nodes (tetrahedra) for each is expected")
    wrong = found[(found < 0) | (found >= count)]
    if len(wrong):
        raise UsageError(f"there is no node {wrong[0]}: there are {count}, counted from 0")
    return found


def table_file(table: Any, name: str) -> bytes:
    """A table with times, as a .csv file: a dictionary of arrays, a table of pandas or polars, or a pair of times and values."""
    columns: list[tuple[str, Array]]
    if isinstance(table, (list, tuple)) and len(table) == 2 or isinstance(table, np.ndarray) and np.shape(table)[:1] == (2,):
        columns = [("t", _column(table[0], "t")), (name, _column(table[1], name))]
    elif hasattr(table, "keys") or hasattr(table, "columns"):
        names = list(table.keys() if hasattr(table, "keys") else table.columns)
        columns = [(text(each, "the name of a column"), _column(table[each], f"column `{each}`")) for each in names]
    else:
        raise TypeError("a table should be the path of a .csv file, a dictionary of arrays, or a pair of times and values")
    if any(any(letter in title for letter in ",;\t\r\n\"#") or not title.strip() for title, _ in columns):
        raise UsageError("names of columns have no commas, semicolons, tabs, quotes or `#` in them")
    lengths = {len(values) for _, values in columns}
    if len(lengths) > 1:
        raise UsageError(f"columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
    lines = [",".join(title for title, _ in columns)]
    lines += [",".join(map(repr, row)) for row in zip(*(values.tolist() for _, values in columns))]
    return ("\n".join(lines) + "\n").encode()


def _column(values: Any, what: str) -> Array:
    found = array(values, what)
    if found.ndim != 1:
        raise UsageError(f"{what} has the shape {found.shape}: a number for each time is expected")
    return found

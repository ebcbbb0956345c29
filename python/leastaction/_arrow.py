"""Columns as a stream of Arrow, by its interface in C: what pyarrow, polars, DuckDB and others take as a table, without a copy.

The structures are those of https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html; the capsule is that of its PyCapsule interface.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

P = ctypes.POINTER


class Schema(ctypes.Structure):
    """ArrowSchema."""


class Chunk(ctypes.Structure):
    """ArrowArray."""


class Stream(ctypes.Structure):
    """ArrowArrayStream."""


FREE_SCHEMA = ctypes.CFUNCTYPE(None, P(Schema))
FREE_CHUNK = ctypes.CFUNCTYPE(None, P(Chunk))
FREE_STREAM = ctypes.CFUNCTYPE(None, P(Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Chunk))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, P(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", P(P(Schema))), ("dictionary", P(Schema)), ("release", FREE_SCHEMA), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Chunk._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", P(ctypes.c_void_p)), ("children", P(P(Chunk))), ("dictionary", P(Chunk)), ("release", FREE_CHUNK), ("private_data", ctypes.c_void_p),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", LAST_ERROR), ("release", FREE_STREAM), ("private_data", ctypes.c_void_p),
]  # fmt: skip

#: What others hold by its number, for as long as they do.
_HELD: dict[int, Any] = {}
_NUMBERS = itertools.count(1)


def _hold(things: Any) -> int:
    number = next(_NUMBERS)
    _HELD[number] = things
    return number


def _free(pointer: Any, none: Any) -> None:
    """Lets go of a schema or a chunk, and of the children that nobody took from it."""
    it = pointer.contents
    for place in range(it.n_children):
        child = it.children[place]
        if child.contents.release:
            child.contents.release(child)
    number = it.private_data
    it.release = none
    _HELD.pop(number, None)


@FREE_SCHEMA  # type: ignore[untyped-decorator]
def _free_schema(pointer: Any) -> None:
    _free(pointer, FREE_SCHEMA())


@FREE_CHUNK  # type: ignore[untyped-decorator]
def _free_chunk(pointer: Any) -> None:
    _free(pointer, FREE_CHUNK())


@FREE_STREAM  # type: ignore[untyped-decorator]
def _free_stream(pointer: Any) -> None:
    number = pointer.contents.private_data
    pointer.contents.release = FREE_STREAM()
    _HELD.pop(number, None)


@GET_SCHEMA  # type: ignore[untyped-decorator]
def _get_schema(stream: Any, into: Any) -> int:
    columns = _HELD[stream.contents.private_data]["columns"]
    children = [_schema(name, _format(values)) for name, values in columns.items()]
    pointers = (P(Schema) * len(children))(*(ctypes.pointer(child) for child in children))
    into[0] = Schema(b"+s", b"", None, 0, len(children), pointers, None, _free_schema, _hold((children, pointers)))
    return 0


def _schema(name: str, form: bytes) -> Schema:
    encoded = name.encode()
    return Schema(form, encoded, None, 0, 0, None, None, _free_schema, _hold((encoded, form)))


def _format(values: Any) -> bytes:
    return {"f": b"g", "i": b"l", "U": b"U"}[values.dtype.kind]


@GET_NEXT  # type: ignore[untyped-decorator]
def _get_next(stream: Any, into: Any) -> int:
    held = _HELD[stream.contents.private_data]
    if held["done"]:
        into[0] = Chunk()
        return 0
    held["done"] = True
    columns = held["columns"]
    children = [_chunk(values) for values in columns.values()]
    length = max((len(values) for values in columns.values()), default=0)
    pointers = (P(Chunk) * len(children))(*(ctypes.pointer(child) for child in children))
    buffers = (ctypes.c_void_p * 1)(None)
    into[0] = Chunk(length, 0, 0, 1, len(children), buffers, pointers, None, _free_chunk, _hold((children, pointers, buffers)))
    return 0


def _chunk(values: Any) -> Chunk:
    if values.dtype.kind == "U":
        encoded = [word.encode() for word in values.tolist()]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        data = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
        parts: list[Any] = [offsets, data]
    else:
        parts = [values]
    buffers = (ctypes.c_void_p * (1 + len(parts)))(None, *(part.ctypes.data for part in parts))
    return Chunk(len(values), 0, 0, 1 + len(parts), 0, buffers, None, None, _free_chunk, _hold((parts, buffers)))


@LAST_ERROR  # type: ignore[untyped-decorator]
def _last_error(stream: Any) -> Any:
    return None


_NAME = b"arrow_array_stream"
_DESTROY = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTROY)(("PyCapsule_New", ctypes.pythonapi))


@_DESTROY  # type: ignore[untyped-decorator]
def _destroy(capsule: int) -> None:
    address = _pointer_of(capsule, _NAME)
    stream = Stream.from_address(address)
    if stream.release:
        stream.release(ctypes.pointer(stream))
    _HELD.pop(-address, None)


def stream(columns: Mapping[str, Any]) -> Any:
    """A capsule with a stream of one chunk: numbers, whole numbers and texts by name, all of one length."""
    kept = {}
    for name, values in columns.items():
        array = np.ascontiguousarray(values)
        kept[name] = array.astype({"f": np.float64, "i": np.int64, "u": np.int64, "b": np.int64}.get(array.dtype.kind, np.str_), copy=False)
    it = Stream(_get_schema, _get_next, _last_error, _free_stream, _hold({"columns": kept, "done": False}))
    _HELD[-ctypes.addressof(it)] = it
    return _capsule(ctypes.addressof(it), _NAME, _destroy)

"""Every format, read by somebody else's reader: a dictionary of float64 arrays by name, and what the file says about the run."""

import csv
import json
import zipfile
from decimal import Decimal

import numpy
import pyarrow.parquet


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    values = numpy.array([[float(word) for word in row] for row in rows]).reshape(len(rows), len(names))
    return dict(zip(names, values.T)), None


def read_npz(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, "a check does not match"
        stored = [name.removesuffix(".npy") for name in archive.namelist()]
    with numpy.load(path) as data:
        assert data.files == stored
        about = json.loads(str(data["#about"]))
        arrays = {name: data[name] for name in data.files if name != "#about"}
    assert all(array.dtype == numpy.dtype("<f8") and array.ndim == 1 for array in arrays.values())
    return arrays, about


def read_parquet(path):
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    assert all(field.type == pyarrow.float64() and not field.nullable for field in table.schema)
    about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    for key in ("parameters", "groups", "samples", "warnings"):
        about[key] = json.loads(about[key])
    return {name: table[name].to_numpy() for name in table.column_names}, about


def read_json(path):
    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    def seventeen(word):
        assert Decimal(word) == Decimal("%.17g" % float(word)), f"{word} has not 17 digits"
        return float(word)

    with open(path, encoding="utf-8") as file:
        document = json.load(file, parse_constant=refuse, parse_float=seventeen)
    columns = document["columns"]
    for name, values in columns.items():
        assert values.count(None) == document["not_finite"].get(name, 0)
    return {name: numpy.array(values, dtype=float) for name, values in columns.items()}, document["about"]


READERS = {"csv": read_csv, "npz": read_npz, "parquet": read_parquet, "json": read_json}


def same_bits(ending, a, b):
    """Whether arrays are equal bit for bit; text has one NaN, and JSON nothing else for what is not finite."""
    a, b = numpy.array(a), numpy.array(b)
    if ending == "json":
        b[~numpy.isfinite(b)] = numpy.nan
    if ending in ("csv", "json"):
        a[numpy.isnan(a)] = b[numpy.isnan(b)] = numpy.nan
    return a.shape == b.shape and (a.view("u8") == b.view("u8")).all()

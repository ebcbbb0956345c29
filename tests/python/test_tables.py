"""Tables of ensembles in every format: whole numbers are whole numbers, and words are words."""

import csv
import json
import os
import subprocess
import tempfile
import unittest

import numpy
import pyarrow.parquet

import terminal

MODEL = """param l = 1, g = 9.81
coord th
particle bob mass 1 at [l*sin(th), -l*cos(th)]
gravity [0, -g]
event low: th = 0
start th = 1
run until 2
"""

KINDS = {
    "ends": {"trajectory": int, "fate": str, "steps": int, "t": float, "l": float, "bob.y": float},
    "events": {"trajectory": int, "event": str, "t": float, "direction": str, "l": float},
    "samples": {"trajectory": int, "t": float, "l": float, "th": float},
    "stats": {"expression": str, "count": int, "missing": int, "mean": float},
    "histogram": {"low": float, "high": float, "count": int},
}


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = cls.path("swing.motion")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MODEL)
        files = [word for ending in ("csv", "npz", "parquet", "json") for word in ("--out", cls.path(f"x.{ending}"))]
        subprocess.run(
            [terminal.command(), "ensemble", path, "--sample", "l=grid(0.5,1.5,3)", "--stop", "far=th+0.95", "--until", "1", "--reduce", "ends(bob.y)",
             "--reduce", "events", "--reduce", "samples", "--reduce", "stats(th,bob.y)", "--reduce", "histogram(th,-1,1,2)", "--samples", "2",
             "--quiet", *files], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def test_every_format_tells_the_same(self):
        for table, kinds in KINDS.items():
            with self.subTest(table=table):
                found = pyarrow.parquet.read_table(self.path(f"x-{table}.parquet"))
                found.validate(full=True)
                parquet = found.to_pydict()
                with numpy.load(self.path(f"x-{table}.npz")) as data:
                    arrays = {name: data[name].tolist() for name in data.files if name != "#about"}
                with open(self.path(f"x-{table}.json"), encoding="utf-8") as file:
                    columns = json.load(file)["columns"]
                with open(self.path(f"x-{table}.csv"), encoding="utf-8", newline="") as file:
                    names, *rows = csv.reader(file)
                self.assertEqual([list(parquet), list(arrays), list(columns)], [names] * 3)
                self.assertEqual([arrays, columns], [parquet] * 2)
                for name, kind in kinds.items():
                    self.assertEqual({type(value) for value in parquet[name]}, {kind}, name)
                    place = names.index(name)
                    self.assertEqual([kind(row[place]) for row in rows], parquet[name], name)

    def test_fates_and_events_have_their_names(self):
        ends = pyarrow.parquet.read_table(self.path("x-ends.parquet")).to_pydict()
        self.assertEqual(ends["fate"], ["far", "far", "complete"])
        self.assertEqual(ends["l"], [0.5, 1.0, 1.5])
        events = pyarrow.parquet.read_table(self.path("x-events.parquet")).to_pydict()
        self.assertEqual(events["event"], ["low", "far", "low", "far", "low"])
        self.assertEqual(set(events["direction"]), {"falling"})
        self.assertEqual(events["l"], [0.5, 0.5, 1.0, 1.0, 1.5])


if __name__ == "__main__":
    unittest.main()

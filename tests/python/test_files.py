"""Files that Rust wrote, read back by NumPy, PyArrow and Python, bit for bit."""

import os
import unittest

import numpy

import terminal
from formats import READERS, same_bits

TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(terminal.ROOT, "target"))
SHELF = os.path.join(TARGET, "tmp", "files")  # crates/output/tests/files.rs


def bits(path):
    """What was in memory: a name and the bits of its values in a line."""
    columns = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, words = line.rstrip("\n").split("\t")
            columns[name] = numpy.array([int(word, 16) for word in words.split()], dtype="u8").view("f8")
    return columns


class Files(unittest.TestCase):
    def test_every_bit_is_read_back(self):
        read = 0
        for samples in (0, 1, 100, 140_000):
            memory = bits(os.path.join(SHELF, f"{samples}.bits"))
            self.assertEqual({len(values) for values in memory.values()}, {samples})
            for ending, reader in READERS.items():
                if samples > 100 and ending != "parquet":
                    continue
                with self.subTest(ending=ending, samples=samples):
                    columns, about = reader(os.path.join(SHELF, f"{samples}.{ending}"))
                    self.assertEqual(list(columns), list(memory))
                    for name, values in memory.items():
                        self.assertTrue(same_bits(ending, columns[name], values), name)
                    if about:
                        self.assertEqual(about["system"], 'hard "numbers"\\')
                        self.assertEqual(about["parameters"], {"g": 9.81, "tiny": 5e-324})
                        self.assertEqual(about["groups"]["momenta"], ["p_th1", "p_th2"])
                        self.assertEqual((about["ended"], about["samples"]), ("complete", samples))
                        self.assertEqual(about["warnings"], ['energy "drifted"'])
                    read += 1
        self.assertEqual(read, 13)


if __name__ == "__main__":
    unittest.main()

"""Starts of ensembles from archives that NumPy wrote."""

import os
import subprocess
import tempfile
import unittest

import numpy

import terminal


class Starts(unittest.TestCase):
    def run_with(self, save, *arguments):
        """An ensemble of pendulums whose angles are read from an archive."""
        with tempfile.TemporaryDirectory() as folder:
            save(os.path.join(folder, "starts.npz"))
            told = subprocess.run(
                [terminal.command(), "ensemble", "pendulum", "--sample", "th=file(starts.npz,angles)", "--until", "0.01", "--reduce", "ends",
                 "--out", "ends.npz", "--quiet", *arguments], cwd=folder, capture_output=True, text=True)
            ends = os.path.join(folder, "ends.npz")
            return numpy.load(ends)["start.th"] if os.path.exists(ends) else None, told.stderr

    def test_every_kind_of_number_is_read(self):
        values = numpy.array([-2.0, -0.5, 0.0, 1.0, 2.0])
        for kind in ("<f8", ">f8", "<f4", ">f4"):
            found, errors = self.run_with(lambda path: numpy.savez(path, other=values[:2], angles=values.astype(kind)))
            self.assertEqual((list(found), errors), (list(values), ""))
        for kind in ("<i8", ">i4", "<i2", "|i1"):
            found, _ = self.run_with(lambda path: numpy.savez(path, angles=numpy.array([-3, 0, 2]).astype(kind)))
            self.assertEqual(list(found), [-3, 0, 2])
        found, _ = self.run_with(lambda path: numpy.savez(path, angles=numpy.array([0, 3], "|u1")))
        self.assertEqual(list(found), [0, 3])

    def test_what_is_not_read_is_told(self):
        for save, wanted in (
                (lambda path: numpy.savez_compressed(path, angles=numpy.ones(3)), "it is compressed: write it by numpy.savez"),
                (lambda path: numpy.savez(path, angles=numpy.ones((3, 2))), "not one axis"),
                (lambda path: numpy.savez(path, angles=numpy.array(["a"])), "make them float64"),
                (lambda path: numpy.savez(path, angle=numpy.ones(3)), "did you mean `angle`"),
                (lambda path: numpy.savez(path, angles=numpy.array([1.0, numpy.inf])), "number 2 of `angles` is inf")):
            found, errors = self.run_with(save)
            self.assertIsNone(found)
            self.assertIn(wanted, errors)


if __name__ == "__main__":
    unittest.main()

"""`leastaction section` and `compare` at a keyboard: progress, and Ctrl-C that keeps what was found."""

import os
import tempfile
import unittest

from terminal import Terminal


class Section(unittest.TestCase):
    def test_what_was_found_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ("henon-heiles", "--through", "x", "--rising", "--count", "100000000", "--out", "points.csv")
            with Terminal("section", *arguments, cwd=folder) as terminal:
                terminal.wait_for(rb"0 of 1 orbits, [0-9]+ points")
                terminal.press(b"\x03")
                code, seen = terminal.finish()
                self.assertEqual(code, 130)
                self.assertIn(b"by Ctrl-C", seen)
                self.assertTrue(terminal.is_restored())
            with open(os.path.join(folder, "points.csv"), encoding="utf-8") as file:
                self.assertGreater(len(file.readlines()), 10)

    def test_a_comparison_is_broken_off(self):
        arguments = ("double-pendulum", "--methods", "rk4,gauss4,gauss6", "--step", "1e-6")
        with Terminal("compare", *arguments) as terminal:
            terminal.wait_for(rb"%  (rk4|gauss)")
            terminal.press(b"\x03")
            code, seen = terminal.finish()
            self.assertEqual(code, 130)
            self.assertIn(b"by Ctrl-C after", seen)
            self.assertTrue(terminal.is_restored())


if __name__ == "__main__":
    unittest.main()

"""`leastaction ensemble` at a keyboard: Ctrl-C keeps what was computed, and the same command goes on with it."""

import os
import re
import subprocess
import tempfile
import unittest

from terminal import Terminal, command

# Hours of work, in chunks of the size that is chosen where nobody chooses one: trajectories of a second, and of a few milliseconds.
SLOW = ("ensemble", "double-pendulum", "--count", "1000000", "--sample", "th1=sobol(-1,1)", "--until", "2000", "--tol", "1e-9")
QUICK = ("ensemble", "pendulum", "--count", "100000000", "--sample", "th=sobol(-1,1)", "--until", "10")


class AtTheTerminal(unittest.TestCase):
    def test_ctrl_c_after_three_seconds_keeps_work(self):
        for arguments in (SLOW, QUICK):
            with self.subTest(arguments[1]), tempfile.TemporaryDirectory() as folder:
                self.interrupted_after_three_seconds(arguments, folder)

    def interrupted_after_three_seconds(self, arguments, folder):
        kept = ("--keep", "study", "--threads", "1")
        with Terminal(*arguments, *kept, cwd=folder) as terminal:
            terminal.wait_for(rb"\d+ of \d+")
            terminal.read(3.0)
            terminal.press(b"\x03")
            code, seen = terminal.finish()
            self.assertTrue(terminal.is_restored())
        self.assertEqual(code, 130, seen)
        stopped = re.search(rb"stopped by Ctrl-C after (\d+) of \d+ trajectories; what is done is kept in study", seen)
        self.assertTrue(stopped, seen)
        done = int(stopped[1])
        self.assertGreater(done, 0)


if __name__ == "__main__":
    unittest.main()

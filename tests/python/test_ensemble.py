"""`leastaction ensemble` at a keyboard: Ctrl-C keeps what was computed, and the same command goes on with it."""

import re
import tempfile
import time
import unittest

from terminal import Terminal

# Hours of work, in chunks of the size that is chosen where nobody chooses one: trajectories of a second, and of a few milliseconds.
SLOW = ("ensemble", "double-pendulum", "--count", "1000000", "--sample", "th1=sobol(-1,1)", "--until", "2000", "--tol", "1e-9")
QUICK = ("ensemble", "pendulum", "--count", "100000000", "--sample", "th=sobol(-1,1)", "--until", "10")


class AtTheTerminal(unittest.TestCase):
    def test_ctrl_c_after_three_seconds_keeps_work(self):
        for arguments in (SLOW, QUICK):
            with self.subTest(arguments[1]), tempfile.TemporaryDirectory() as folder:
                self.interrupted_after_three_seconds(arguments, folder)

    def interrupted_after_three_seconds(self, arguments, folder):
        done = self.interrupted(arguments, folder, 3.0)
        self.assertGreater(done, 0)
        # The same command goes on with what is kept.
        self.assertGreaterEqual(self.interrupted(arguments, folder, 0.0), done)

    def interrupted(self, arguments, folder, seconds):
        """How many trajectories are kept of an ensemble that is interrupted after a while."""
        with Terminal(*arguments, "--keep", "study", "--threads", "1", cwd=folder) as terminal:
            terminal.wait_for(rb"\d+ of \d+")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                terminal.read(0.1)
            terminal.press(b"\x03")
            code, seen = terminal.finish()
            self.assertTrue(terminal.is_restored())
        self.assertEqual(code, 130, seen)
        stopped = re.search(rb"stopped by Ctrl-C after (\d+) of \d+ trajectories; what is done is kept in study", seen)
        self.assertTrue(stopped, seen)
        return int(stopped[1])


if __name__ == "__main__":
    unittest.main()

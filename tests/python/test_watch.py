"""`leastaction watch` in a pseudo-terminal: what is on the screen, what keys do, and what is left behind."""

import os
import re
import signal
import subprocess
import time
import unittest

import pyte

from terminal import Terminal, command

SYSTEM = "double-pendulum"
TIME = re.compile(r"t = (-?[0-9.]+)")
BRAILLE = re.compile("[\u2801-\u28ff]")


class Watched(Terminal):
    """A terminal whose screen can be looked at."""

    def __init__(self, *arguments, rows=24, columns=80, **more):
        super().__init__("watch", *arguments, rows=rows, columns=columns, **more)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.fed = 0

    def look(self, seconds=0.0):
        """The lines of the screen, after some time."""
        end = time.monotonic() + seconds
        while True:
            self.read(0.02)
            self.stream.feed(self.seen[self.fed :])
            self.fed = len(self.seen)
            if time.monotonic() >= end:
                return self.screen.display

    def look_for(self, good, seconds=30.0):
        """The lines of the screen as soon as they are good."""
        end = time.monotonic() + seconds
        while not good(lines := self.look()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError("\n".join(lines))
        return lines

    def time(self):
        """The time of the model that is shown."""
        match = TIME.search(self.look()[0])
        return float(match[1]) if match else -1.0

    def begin(self):
        """Waits until something moves."""
        self.look_for(lambda lines: self.time() > 0.0 and BRAILLE.search("\n".join(lines)))
        return self

    def change(self, other):
        self.screen.resize(*other)
        self.resize(*other)
        os.kill(self.process.pid, signal.SIGWINCH)


class Watch(unittest.TestCase):
    def check_restored(self, terminal, seen):
        self.assertTrue(terminal.is_restored())
        for begun, ended in ((b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?7l", b"\x1b[?7h")):
            self.assertIn(begun, seen)
            self.assertGreater(seen.rfind(ended), seen.rfind(begun))

    def test_a_pendulum_moves_and_follows_keys(self):
        with Watched(SYSTEM) as terminal:
            terminal.begin()
            picture = terminal.look()[1:23]
            later = terminal.look_for(lambda lines: lines[1:23] != picture)
            self.assertIn(SYSTEM, later[0])
            self.assertIn("real time", later[0])
            self.assertIn("gauss4, step 0.002", later[0])
            for word in ("kinetic", "potential", "energy", "drift", "? keys"):
                self.assertIn(word, later[23])
            self.assertRegex(later[23], r"energy +14\.7150")

            terminal.press(" ")
            terminal.look_for(lambda lines: "paused" in lines[0])
            # The picture may still ease into its bounds, but time stands.
            frozen = terminal.look(0.2)[0]
            self.assertEqual(terminal.look(0.3)[0], frozen)
            terminal.press(".")
            terminal.look_for(lambda lines: lines[0] != frozen)
            stepped = terminal.look(0.2)[0]
            self.assertEqual(terminal.look(0.3)[0], stepped)
            terminal.press(" ")
            terminal.look_for(lambda lines: "paused" not in lines[0])

            terminal.press("+++")
            terminal.look_for(lambda lines: "×8" in lines[0])
            (clock, wall) = (terminal.time(), time.monotonic())
            terminal.look(0.5)
            speed = (terminal.time() - clock) / (time.monotonic() - wall)
            self.assertGreater(speed, 2.0, "much faster than real time, even on a machine that is busy")

            terminal.press("----")
            terminal.look_for(lambda lines: "×0.5" in lines[0])
            terminal.press("?")
            terminal.look_for(lambda lines: "z/Z zoom" in lines[22])
            terminal.press("?")

            before = terminal.time()
            terminal.press("r")
            terminal.look_for(lambda lines: terminal.time() < before)

            terminal.press("v")
            terminal.look_for(lambda lines: lines[1].startswith("th1 = "))
            terminal.press("v")
            terminal.look_for(lambda lines: lines[1].startswith("th1' against th1"))
            terminal.press("v")
            terminal.look_for(lambda lines: "th1" not in "".join(lines))

            terminal.press("q")
            code, seen = terminal.finish()
            self.assertEqual(code, 0)
            self.check_restored(terminal, seen)

    def test_every_way_out_gives_the_terminal_back(self):
        for key in ("q", b"\x1b", b"\x03"):
            with self.subTest(key=key), Watched("pendulum") as terminal:
                terminal.begin().press(key)
                code, seen = terminal.finish()
                self.assertEqual(code, 0)
                self.check_restored(terminal, seen)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number), Watched("pendulum") as terminal:
                terminal.begin()
                terminal.process.send_signal(number)
                code, seen = terminal.finish()
                self.assertEqual(code, -number, "whoever sent it sees that it was obeyed")
                self.check_restored(terminal, seen)

    def test_a_run_that_fails_is_told(self):
        # The two bodies fall into each other.
        with Watched("two-body", "--start", "th'=0", "--method", "dop853", "--tol", "1e-8") as terminal:
            terminal.look_for(lambda lines: "a step size of" in lines[22] and "singularity" in lines[23])
            terminal.press("q")
            code, seen = terminal.finish()
            self.assertEqual(code, 1)
            self.assertIn(b"error: ", seen[seen.rfind(b"\x1b[?1049l") :])
            self.check_restored(terminal, seen)

    def test_a_run_with_an_end_stays_there(self):
        with Watched("pendulum", "--until", "0.5") as terminal:
            terminal.look_for(lambda lines: "the run ends here" in lines[23])
            self.assertEqual(terminal.time(), 0.5)
            terminal.press("q")
            self.assertEqual(terminal.finish()[0], 0)

    def test_time_runs_back(self):
        with Watched("pendulum", "--until", "-20") as terminal:
            terminal.look_for(lambda lines: terminal.time() < -0.2)
            terminal.press("q")
            self.assertEqual(terminal.finish()[0], 0)

    def test_long_runs_are_shown_faster_and_say_so(self):
        with Watched("outer-solar-system") as terminal:
            terminal.look_for(lambda lines: "×5000" in lines[0] and "200000 units of time" in lines[23])
            before = terminal.look()[1:23]
            # The view of things in space can be turned, also while time stands still.
            terminal.press(" ")
            terminal.look_for(lambda lines: "paused" in lines[0])
            before = terminal.look(0.7)[1:23]
            terminal.press(b"\x1b[C")
            terminal.look_for(lambda lines: lines[1:23] != before)
            terminal.press("q")
            self.assertEqual(terminal.finish()[0], 0)

    def test_other_sizes(self):
        with Watched(SYSTEM, rows=5, columns=20) as terminal:
            terminal.look_for(lambda lines: "too small" in lines[0])
            terminal.change((40, 120))
            terminal.look_for(lambda lines: "kinetic" in lines[39] and BRAILLE.search("".join(lines[25:39])))
            terminal.change((8, 30))
            terminal.look_for(lambda lines: "kinetic" in lines[7] and BRAILLE.search("".join(lines)))
            terminal.change((1, 1))
            terminal.look(0.2)
            terminal.press("q")
            code, seen = terminal.finish()
            self.assertEqual(code, 0)
            self.check_restored(terminal, seen)

    def test_colours(self):
        colour = re.compile(rb"\x1b\[[34]8;5;")
        for (environment, wanted) in (({}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(environment=environment), Watched("pendulum", env=environment) as terminal:
                terminal.begin().press("q")
                self.assertEqual(bool(colour.search(terminal.finish()[1])), wanted)

    def test_without_a_terminal(self):
        arguments = [command(), "watch", SYSTEM]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("not a terminal", done.stderr)
        self.assertIn("run SYSTEM --plot", done.stderr)
        with Watched(SYSTEM, env={"TERM": "dumb"}) as terminal:
            code, seen = terminal.finish()
            self.assertEqual(code, 2)
            self.assertIn(b"TERM=dumb", seen)
            self.assertNotIn(b"\x1b", seen)

    def test_what_is_wrongly_asked_never_takes_the_screen(self):
        for arguments in (["no-such-system"], [SYSTEM, "--method", "verlet"], [SYSTEM, "--speed", "0"]):
            with self.subTest(arguments=arguments), Watched(*arguments) as terminal:
                code, seen = terminal.finish()
                self.assertEqual(code, 2)
                self.assertNotIn(b"\x1b[?1049h", seen)
                self.assertTrue(terminal.is_restored())


if __name__ == "__main__":
    unittest.main()

"""`leastaction run`: the files it writes, and how it behaves at a terminal."""

import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from decimal import Decimal

import numpy

from formats import READERS, same_bits
from terminal import Terminal, command

# Hours of motion: it is interrupted.
LONG = ("run", "double-pendulum", "--step", "1e-4", "--until", "1e5")


def run(*arguments, **options):
    return subprocess.run([command(), *arguments], capture_output=True, text=True, timeout=60, **options)


class Shelf(unittest.TestCase):
    """A test with a directory of its own to write to."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.shelf = directory.name

    def path(self, name):
        return os.path.join(self.shelf, name)

    def entries(self):
        return sorted(os.listdir(self.shelf))


class Files(Shelf):
    def test_all_formats_tell_the_same(self):
        names = [f"run.{ending}" for ending in READERS]
        outs = [word for name in names for word in ("--out", self.path(name))]
        done = run("run", "n-pendulum", "--until", "0.5", "--samples", "50", "--json", *outs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.entries(), sorted(names))
        (first, about), *others = [read(self.path(f"run.{ending}")) for ending, read in reversed(READERS.items())]
        for ending, (columns, _) in zip(reversed(list(READERS)[:-1]), others):
            self.assertEqual(list(columns), list(first))
            for name, values in first.items():
                self.assertTrue(same_bits("", columns[name], values), f"{name} in {ending}")
        self.assertEqual((about["system"], about["method"], about["ended"]), ("n-pendulum", "rattle4", "complete"))
        # The last sample is the state that the summary tells, and the masses stay where their coordinates are.
        state = json.loads(done.stdout)["state"]
        told = {"t": state["t"], **state["coordinates"], **state["velocities"], **state["momenta"]}
        for name, value in told.items():
            self.assertEqual(first[name][-1], value, name)
        self.assertEqual((len(first["t"]), first["t"][0], first["t"][-1]), (51, 0.0, 0.5))
        self.assertTrue(numpy.allclose(numpy.diff(first["t"]), 0.01, rtol=1e-12))
        self.assertLess(first["violation"].max(), 1e-14)

    def test_samples_are_taken_when_asked(self):
        for options, times in (
            (("--every", "0.25"), [0, 0.25, 0.5, 0.75, 1]),
            (("--every", "0.4"), [0, 0.4, 0.8, 1]),
            (("--samples", "3"), [0, 1 / 3, 2 / 3, 1]),
            (("--every", "0.3", "--tol", "1e-9"), [0, 0.3, 0.6, 0.9, 1]),
            (("--every", "7"), [0, 1]),
        ):
            done = run("run", "pendulum", "--until", "1", "--quiet", "--out", self.path("a.csv"), *options)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            found = READERS["csv"](self.path("a.csv"))[0]["t"]
            self.assertTrue(len(found) == len(times) and numpy.allclose(found, times, rtol=1e-14), f"{options}: {found}")

    def test_a_failed_run_keeps_what_was_computed(self):
        path = self.path("a.npz")
        done = run("run", "harmonic-oscillator", "--method", "rk4", "--step", "100", "--until", "1e5", "--out", path)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"(?s)^error: `th` became .*what was computed until t = \d+ is kept: \S*a.npz \(\d+ samples\)")
        columns, about = READERS["npz"](path)
        self.assertEqual(columns["t"][-1], float(re.search(r"until t = (\d+)", done.stderr)[1]))
        self.assertRegex(about["ended"], "^failed: `th` became ")

    def test_a_full_disk_leaves_nothing(self):
        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        small, large = self.path("small.csv"), self.path("large.csv")
        with open(large, "w") as file:
            file.write("before")
        done = run("run", "pendulum", "--out", large, "--out", small, "--samples", "1000", preexec_fn=little_room)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^error: cannot write `\S+large.csv`: there is no room for it \(.*\); make room, ")
        self.assertEqual(self.entries(), ["large.csv"])
        with open(large) as file:
            self.assertEqual(file.read(), "before")
        self.assertTrue(done.stdout.startswith("system "), "the run itself went well")

    @unittest.skipUnless(os.geteuid() != 0 or os.path.isdir("/proc"), "nothing is unwritable")
    def test_what_cannot_be_written_is_told_before_the_run(self):
        os.mkdir(self.path("taken.csv"))
        shut = "/proc/run.csv" if os.geteuid() == 0 else self.path("shut/run.csv")
        if os.geteuid() != 0:
            os.mkdir(self.path("shut"), 0o500)
        for path, message in (
            (self.path("a.dat"), "use .csv, .npz, .parquet or .json"),
            (self.path("no/a.csv"), "there is no directory `"),
            (self.path("taken.csv"), "it is a directory"),
            (shut, "cannot write `"),
        ):
            # The run would take hours.
            done = run(*LONG, "--out", self.path("good.csv"), "--out", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(message, done.stderr)
            self.assertIn(path, done.stderr)
        self.assertNotIn("good.csv", self.entries())

    def test_nothing_is_written_unless_asked(self):
        done = run("run", "pendulum", cwd=self.shelf)
        self.assertEqual((done.returncode, self.entries()), (0, []))


class Json(unittest.TestCase):
    def test_numbers_have_seventeen_digits_and_keys_are_those_of_the_manual(self):
        words = []

        def number(word):
            self.assertEqual(Decimal(word), Decimal("%.17g" % float(word)), f"{word} has not 17 digits")
            words.append(word)
            return float(word)

        for system, constrained in (("double-pendulum", False), ("n-pendulum", True)):
            done = run("run", system, "--json", "--until", "0.1")
            document = json.loads(done.stdout, parse_float=number, parse_constant=self.fail)
            keys = "system ended failure warnings parameters method pace because t steps rejected " \
                "evaluations compile_s wall_s energy work conserved meshes constraints start state accuracy outputs events"
            self.assertEqual(list(document), keys.split())
            self.assertEqual(list(document["energy"]), "start end max_relative_error max_change scale relative_to conserved".split())
            self.assertEqual(list(document["state"]), ["t", "coordinates", "velocities", "momenta", "multipliers"])
            if constrained:
                self.assertEqual(list(document["constraints"]), ["max_position", "max_velocity"])
            else:
                self.assertIsNone(document["constraints"])
            self.assertEqual({type(document[key]) for key in ("steps", "rejected", "evaluations")}, {int})
            self.assertEqual(document["state"]["t"], 0.1)
        self.assertGreater(max(map(len, words)), 18)


class AtTheTerminal(Shelf):
    def test_a_bar_shows_the_way_and_ctrl_c_keeps_it(self):
        with Terminal(*LONG, "--out", "a.parquet", "--every", "0.01", cwd=self.shelf) as terminal:
            match = terminal.wait_for(rb"\[[=> ]+\] +(\d+) % +t = ([\d.e-]+), ([\d:]+ (s|min|h)) left")
            self.assertLess(float(match[2]), 1e5)
            terminal.press(b"\x03")
            code, seen = terminal.finish()
            self.assertTrue(terminal.is_restored())
        self.assertEqual(code, 130)
        # The bar is gone before the summary comes.
        summary = seen[seen.rindex(b" left") :].decode()
        self.assertRegex(summary, r"^ left.*\x1b\[[0-9;]*K.*system      double-pendulum")
        stopped = re.search(r"\r\nstopped     by Ctrl-C at t = ([\d.]+), before 100000\r\n", summary)
        self.assertRegex(summary, r"\r\nfiles       a\.parquet \(\d+ samples\)\r\n$")
        columns, about = READERS["parquet"](self.path("a.parquet"))
        self.assertEqual(columns["t"][-1], float(stopped[1]))
        self.assertEqual(about["ended"], f"stopped by Ctrl-C at t = {stopped[1]}, before 100000")
        self.assertEqual(self.entries(), ["a.parquet"])

    def test_machines_get_json_and_nothing_else(self):
        with Terminal(*LONG, "--json", stdout=subprocess.PIPE) as terminal:
            terminal.wait_for(rb" left")
            terminal.press(b"\x03")
            document = json.load(terminal.process.stdout)
            code, seen = terminal.finish()
        self.assertEqual((code, list(document)[:3]), (130, ["system", "ended", "failure"]))
        self.assertRegex(seen, rb"error: stopped by Ctrl-C at t = [\d.]+, before 100000\r\n$")

    def test_short_runs_and_quiet_ones_have_no_bar(self):
        with Terminal("run", "pendulum") as terminal:
            code, seen = terminal.finish()
        self.assertTrue(code == 0 and seen.startswith(b"system ") and b"\x1b" not in seen, seen)
        with Terminal(*LONG, "--quiet") as terminal:
            self.assertEqual(terminal.read(1.5), b"")
            terminal.press(b"\x03")
            code, seen = terminal.finish()
        self.assertEqual(code, 130)
        self.assertRegex(seen, rb"^(\^C)?error: stopped by Ctrl-C at t = [\d.]+, before 100000\r\n$")

    def test_a_pipe_has_no_bar(self):
        with subprocess.Popen([command(), *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=30)
        self.assertEqual((process.returncode, errors), (130, b""))
        self.assertIn(b"\nstopped     by Ctrl-C at t = ", out)


if __name__ == "__main__":
    unittest.main()

"""Fits of parameters and starts to data."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import leastaction as la
import numpy as np

#: A damped oscillator: x = exp(-c t/2) cos(w t) with w² = k - c²/4 is exact for m = 1, x(0) = 1, x'(0) = -c/2.
SPRING = la.parse("param k = 5, c = 0.1\ncoord x\nparticle bob mass 1 at [x]\npotential k*x^2/2\ndissipation c*x'^2/2\nstart x = 1\n", name="spring")
K, C = 9.0, 0.4


def measured(times, noise=0.0, seed=0):
    w = np.sqrt(K - C**2 / 4)
    return np.exp(-C * times / 2) * np.cos(w * times) + noise * np.random.default_rng(seed).normal(size=len(times))


T = np.linspace(0, 6, 60)


class Fits(unittest.TestCase):
    def test_it_finds_what_the_closed_form_has(self):
        found = la.fit(SPRING, {"t": T, "x": measured(T)})
        self.assertAlmostEqual(found["k"].value, K, 6)
        self.assertAlmostEqual(found["c"].value, C, 6)
        self.assertAlmostEqual(found.start()["x'"], -C / 2, 6)
        self.assertTrue(found.sound)
        self.assertEqual(found.recordings, {"data": 0.0})
        # The fitted system moves so again.
        self.assertAlmostEqual(found.system.run(until=6, tol=1e-12).end["x"], measured(T)[-1], 6)
        np.testing.assert_allclose(found.columns["x residual"], 0, atol=1e-7)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        held = 0
        for seed in range(20):
            found = la.fit(SPRING, {"t": T, "x": measured(T, 0.02, seed)})
            low, high = found["k"].interval
            held += low < K < high
            self.assertLess(abs(found["k"].value - K), 8 * found["k"].error)
        self.assertGreaterEqual(held, 16)

    def test_it_has_the_numbers_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            model, data = f"{folder}/spring.motion", f"{folder}/data.csv"
            with open(model, "w") as file:
                file.write(SPRING.text)
            x = measured(T, 0.01)
            with open(data, "w") as file:
                file.write("t,x\n" + "".join(f"{t!r},{v!r}\n" for t, v in zip(T.tolist(), x.tolist())))
            asked = [sys.executable, "-m", "leastaction", "fit", model, "--data", data, "--free", "k=1..20,c", "--json"]
            said = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
            system = la.load(model)
            for given in (data, {"t": T, "x": x}):
                found = la.fit(system, given, free={"k": (1, 20), "c": None})
                for one, other in zip(said["estimates"], found.estimates):
                    self.assertEqual((one["name"], one["value"], one["error"]), (other.name, other.value, other.error))
                self.assertAlmostEqual(said["correlations"][0][1], found.correlations[0, 1], 12)
                self.assertEqual(said["channels"][0]["rms"], found.channels[0].rms)
            found.write(f"{folder}/fitted.motion")
            self.assertAlmostEqual(la.load(f"{folder}/fitted.motion").parameters["k"], found["k"].value, 12)
            found.save(f"{folder}/fit.npz")
            np.testing.assert_array_equal(np.load(f"{folder}/fit.npz")["x"], x)
            found.plot(f"{folder}/fit.png")
            self.assertEqual(sorted(os.listdir(folder)), ["data.csv", "fit.npz", "fit.png", "fitted.motion", "spring.motion"])
            self.assertIn("k ", repr(found))
            self.assertIn("<svg", found._repr_svg_())

    def test_several_runs_gaps_formulas_and_known_starts(self):
        late = np.linspace(1, 5, 40)
        gap = np.where(np.arange(60) % 7 == 3, np.nan, 180 / np.pi * measured(T))
        found = la.fit(SPRING, [{"clock": 1000 * T, "deg": gap, "word": ["a"] * 60}, {"clock": 1000 * late, "deg": 180 / np.pi * measured(late)}],
                       column={"x": "deg*pi/180"}, time="clock/1000", sigma={"x": 1e-3})  # fmt: skip
        self.assertAlmostEqual(found["k"].value, K, 6)
        self.assertEqual(found.recordings, {"run 1": 0.0, "run 2": 1.0})
        self.assertAlmostEqual(found.start(1)["x"], measured(late)[0], 6)
        self.assertEqual(found.unused, ["word"])
        self.assertEqual(found.channels[0].rows, 100 - int(np.isnan(gap).sum()))
        known = la.fit(SPRING.with_values(start={"x'": -C / 2}), {"t": T, "x": measured(T)}, known="all", since=0.5, until=4)
        self.assertEqual([each.name for each in known.estimates], ["k", "c"])
        self.assertAlmostEqual(known["c"].value, C, 6)
        askew = np.frombuffer(b"\0" + measured(T).tobytes(), dtype=np.uint8)[1:].view(np.float64)
        self.assertFalse(askew.flags.aligned)
        self.assertAlmostEqual(la.fit(SPRING, {"t": T, "x": askew})["k"].value, K, 6)
        missing = la.fit(SPRING, {"t": T, "x": [None, *measured(T)[1:]]})
        self.assertEqual(missing.channels[0].rows, 59)

    def test_what_data_do_not_tell_is_warned_of(self):
        falls = la.parse("param m = 2, c = 1\ncoord x\nkinetic m*x'^2/2\ndissipation c*x'^2/2\nstart x' = 1\n")
        t = np.linspace(0, 3, 30)
        with self.assertWarnsRegex(la.RunWarning, "m/c"):
            found = la.fit(falls, {"t": t, "x": (1 - np.exp(-0.8 * t)) / 0.8}, known="all")
        self.assertEqual((found.sound, sorted(found.undetermined), found.combination), (False, ["c", "m"], "m/c"))
        self.assertEqual(found.warnings[0].code, "undetermined")
        with self.assertWarnsRegex(la.RunWarning, "hint"):
            late = la.fit(SPRING, {"t": 1000 * T, "x": measured(T)}, known=["x"])
        self.assertIn("time", [hint.code for hint in late.hints])

    def test_a_fit_can_be_sent(self):
        found = la.fit(SPRING, {"t": T, "x": measured(T)})
        again = pickle.loads(pickle.dumps(found))
        self.assertEqual(again["k"], found["k"])
        self.assertEqual(again.text, found.text)
        self.assertEqual(again.plot().data, found.plot().data)
        self.assertRaises(la.UsageError, again.save, "x.csv")

    def test_what_cannot_be_is_refused(self):
        good = {"t": T, "x": measured(T)}
        for options in [{"free": "q"}, {"free": {"k": (3, 2)}}, {"free": {"k": (10, 20)}}, {"free": []}, {"known": "q"}, {"column": {"x": "q"}}, {"sigma": {"y": 1}},
                        {"time": "q"}, {"iterations": 0}, {"since": np.nan}, {"free": {"k": (1,)}}]:  # fmt: skip
            with self.assertRaises(la.UsageError, msg=options):
                la.fit(SPRING, good, **options)
        for data in [{}, [], {"x": T}, {"t": T}, {"t": T, "x": T[:5]}, {"t": T[::-1], "x": measured(T)}, {"t": T, "x": ["a"] * 60}, {"t": T, "x": np.ones((60, 2))}]:
            with self.assertRaises(la.Error, msg=data):
                la.fit(SPRING, data)
        for wrong in [lambda: la.fit("x", good), lambda: la.fit(SPRING, 3), lambda: la.fit(SPRING, good, samples=3), lambda: la.fit(SPRING, good, hints=1)]:
            self.assertRaises(TypeError, wrong)
        with self.assertRaisesRegex(la.UsageError, "no-such-file"):
            la.fit(SPRING, "no-such-file.csv")
        with self.assertRaisesRegex(KeyError, "did you mean"):
            la.fit(SPRING, good)["kk"]

    def test_progress_is_told(self):
        spring = la.parse("param k = 5\ncoord x\nparticle bob mass 1 at [x]\npotential k*x^2/2\n")
        t, told = np.linspace(0, 20, 2000), []
        la.fit(spring, {"t": t, "x": 0.3 * np.cos(np.pi * t)}, known="x'", progress=lambda part, text: told.append((part, text)))
        self.assertTrue(told and told[-1][0] != told[-1][0], told)
        self.assertRegex(told[-1][1], r"run \d+ over (all|\d+\.\d % of the) data")
        self.assertRaises(TypeError, la.fit, spring, {"t": t, "x": t}, progress=3)


if __name__ == "__main__":
    unittest.main()

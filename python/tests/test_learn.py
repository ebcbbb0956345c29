"""Learning: datasets, training, and what comes of it, against the command line and the engine."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import leastaction as la
import numpy as np

PENDULUM = la.catalog.pendulum()
STARTS = {"th": "uniform(-2,2)", "th'": "uniform(-1,1)"}
DATA = la.learn.data(PENDULUM, sample=STARTS, train=40, validation=8, test=8, samples=30, every=0.1, seed=2, progress=False)
ROD = la.learn.data(la.catalog.n_pendulum(size=1), train=40, validation=8, test=8, samples=20, every=0.1, progress=False)
SMALL = {"steps": 60, "batch": 20, "progress": False, "threads": 2}


class Datasets(unittest.TestCase):
    def test_they_are_the_motion_of_the_system(self):
        self.assertEqual((DATA.z.shape, DATA.names, len(DATA)), ((56, 30, 2), ["th", "th'"], 56))
        first = DATA.z[0]
        run = PENDULUM.run(until=2.9, samples=29, start={"th": first[0, 0], "th'": first[0, 1]}, method="dop853", tol=1e-12)
        np.testing.assert_allclose(first, np.stack([run["th"], run["th'"]], axis=1), atol=1e-9)
        np.testing.assert_allclose(DATA.part("test"), DATA.z[48:])
        self.assertEqual(DATA.system.parameters, PENDULUM.parameters)

    def test_they_are_those_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = ["learn", "data", "pendulum", "--out", f"{folder}/a.npz", "--train", "40", "--validation", "8", "--test", "8", "--samples", "30", "--every", "0.1", "--seed", "2", "--quiet", *(f"--sample={name}={how}" for name, how in STARTS.items())]
            subprocess.run([sys.executable, "-m", "leastaction", *asked], check=True)
            np.testing.assert_array_equal(la.learn.load_data(f"{folder}/a.npz").z, DATA.z)
            DATA.save(f"{folder}/b.npz")
            with open(f"{folder}/a.npz", "rb") as a, open(f"{folder}/b.npz", "rb") as b:
                self.assertEqual(a.read(), b.read())
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(DATA)).z, DATA.z)

    def test_starts_are_sampled_as_is_said(self):
        drawn = la.learn.data(PENDULUM, train=5, validation=0, test=0, samples=3, every=0.1, sample={"th": "grid(0.1, 0.5, 5)", "th'": 0.0}, progress=False)
        np.testing.assert_allclose(drawn.z[:, 0], [[0.1, 0], [0.2, 0], [0.3, 0], [0.4, 0], [0.5, 0]], atol=1e-15)

    def test_arrays_tables_runs_and_files(self):
        t = 0.1 * np.arange(30)
        whole = la.learn.data(PENDULUM, {"z": DATA.z, "dt": 0.1}, samples=30, seed=1)
        self.assertTrue(whole.measured)
        self.assertEqual((len(whole), whole.split), (56, {"train": 46, "validation": 5, "test": 5}))
        halves = la.learn.data(PENDULUM, {"q": DATA.z[..., :1], "v": DATA.z[..., 1:], "t": t}, samples=30, seed=1)
        np.testing.assert_array_equal(halves.z, whole.z)
        flat = {"trajectory": np.repeat(np.arange(56), 30), "t": np.tile(t, 56), "th": DATA.z[..., 0].ravel(), "th'": DATA.z[..., 1].ravel()}
        np.testing.assert_array_equal(la.learn.data(PENDULUM, flat, samples=30, seed=1).z, whole.z)
        runs = [PENDULUM.run(until=5, samples=100, start={"th": th}) for th in (0.5, 1, 1.5, 2)]
        pieces = la.learn.data(PENDULUM, runs, samples=50)
        self.assertEqual((pieces.trajectories, len(pieces), pieces.left_out), (4, 8, 4))
        positions = la.learn.data(PENDULUM, {"q": DATA.z[..., :1], "dt": 0.1}, samples=26, differences=True)
        self.assertEqual(positions.z.shape[1:], (26, 2))
        with tempfile.TemporaryDirectory() as folder:
            runs[0].save(f"{folder}/run.csv")
            self.assertEqual(la.learn.data(PENDULUM, f"{folder}/run.csv", samples=20).trajectories, 1)

    def test_what_cannot_be_is_refused(self):
        for options in [{"train": 0}, {"every": 0.0}, {"every": -1}, {"samples": 1}, {"noise": -1.0}, {"noise": np.nan}, {"sample": {"l": "uniform(1,2)"}}, {"sample": {"th": "unifrm(1,2)"}},
                        {"differences": True}, {"threads": 0}]:  # fmt: skip
            with self.assertRaises(la.UsageError, msg=options):
                la.learn.data(PENDULUM, **{"progress": False, "sample": STARTS, **options})
        for data in [{}, [], {"z": DATA.z}, {"z": np.ones((2, 3, 5)), "dt": 0.1}, {"z": np.full((20, 30, 2), np.nan), "dt": 0.1}, {"th": [1.0, 2.0]}, {"z": DATA.z * [1, 7], "dt": 0.1}]:
            with self.assertRaises(la.Error, msg=data) as caught:
                la.learn.data(PENDULUM, data)
            self.assertNotIn("/leastaction-", str(caught.exception))
        for wrong in [lambda: la.learn.data("pendulum"), lambda: la.learn.data(PENDULUM, 3), lambda: la.learn.data(PENDULUM, nonsense=1)]:
            self.assertRaises(TypeError, wrong)
        self.assertRaises(la.UsageError, la.learn.data, PENDULUM, {"z": DATA.z, "dt": 0.1}, noise=0.1)


class Training(unittest.TestCase):
    def test_it_has_the_bits_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            DATA.save(f"{folder}/data.npz")
            asked = ["learn", "train", f"{folder}/data.npz", "--architecture", "hnn", "--hidden", "16,16", "--steps", "60", "--batch", "20", "--out", f"{folder}/a.safetensors", "--quiet"]
            subprocess.run([sys.executable, "-m", "leastaction", *asked], check=True)
            learned = la.learn.Hnn(hidden=[16, 16]).fit(DATA, **SMALL)
            learned.save(f"{folder}/b.safetensors")
            with open(f"{folder}/a.safetensors", "rb") as a, open(f"{folder}/b.safetensors", "rb") as b:
                self.assertEqual(a.read(), b.read())
            self.assertIn("b.safetensors", os.listdir(folder))
            again = la.learn.load(f"{folder}/a.safetensors")
            np.testing.assert_array_equal(again.parameters, learned.parameters)
            said = subprocess.run([sys.executable, "-m", "leastaction", "learn", "evaluate", f"{folder}/a.safetensors", "--data", f"{folder}/data.npz"], capture_output=True, text=True, check=True).stdout
            judged = learned.evaluate(DATA)
            for number in (judged.mean, judged.geometric_mean):
                self.assertIn(f"{number:.3e}".replace("e-0", "e-"), said)
        self.assertEqual(learned.losses["step"][-1], 60)
        self.assertLess(learned.losses["loss"][-1], learned.losses["loss"][0])
        self.assertIn("<svg", learned.plot().data)
        self.assertIn("hnn of pendulum", repr(learned))

    def test_every_architecture_learns_something_and_can_be_sent(self):
        for name in la.learn.architectures():
            if name == "Known":
                continue
            learned = getattr(la.learn, name)(hidden=[8]).fit(ROD, **{**SMALL, "steps": 20})
            sent = pickle.loads(pickle.dumps(learned))
            np.testing.assert_array_equal(sent.parameters, learned.parameters)
            starts = ROD.part("test")[:, 0]
            predicted = sent.predict(starts, samples=5)
            self.assertEqual(predicted.shape, (8, 5, starts.shape[1]))
            np.testing.assert_allclose(predicted[:, 0], starts, atol=1e-9, err_msg=name)
            one = sent.predict(starts[0], samples=5)
            np.testing.assert_array_equal(one, predicted[0])

    def test_what_was_learned_is_a_system_again(self):
        learned = la.learn.Chnn(hidden=[16], step="rattle", substeps=50).fit(ROD, **{**SMALL, "steps": 3})
        system = learned.system
        run = system.with_values().run(until=0.5, samples=5, method="dop853", tol=1e-10)
        self.assertTrue(run.measured["energy_conserved"])
        # Small steps of its predictions lead where its motion does.
        start = np.concatenate([run.q[0], run.v[0]])
        predicted = learned.predict(start, samples=6, dt=0.1)
        np.testing.assert_allclose(predicted[-1], np.concatenate([run.q[-1], run.v[-1]]), atol=1e-4)
        self.assertRaisesRegex(la.UsageError, "save", pickle.dumps, system)
        with tempfile.TemporaryDirectory() as folder:
            learned.save(f"{folder}/own.safetensors")
            kept = la.load(f"{folder}/own.motion")
            other = kept.run(until=0.5, samples=5, method="dop853", tol=1e-10)
        np.testing.assert_array_equal(other.q, run.q)
        with self.assertRaisesRegex(la.UsageError, "predict"):
            la.learn.NeuralOde(hidden=[8]).fit(DATA, **{**SMALL, "steps": 2}).system

    def test_networks_of_a_model_of_ones_own(self):
        model = la.Model("own")
        th = model.coords("th")
        model.kinetic(th.dot**2 / 8)
        model.network("push", [th], hidden=[8])
        model.start(th=1)
        learned = la.learn.Known(model).fit(DATA, **{**SMALL, "steps": 200, "rate": 0.01})
        judged = la.learn.evaluate({"own": learned}, DATA)
        self.assertLess(judged["own"].mean, 0.2)
        self.assertIn("network", learned.system.text)

    def test_errors_grow(self):
        learned = la.learn.Hnn(hidden=[16, 16]).fit(DATA, **SMALL)
        found = la.learn.rollout([learned, learned], DATA, times=2, starts=4)
        self.assertEqual([judgement.name for judgement in found.judgements][1:], ["hnn 1", "hnn 2"])
        self.assertEqual(found["hnn 1"].mean, found["hnn 2"].mean)
        self.assertEqual(len(found.columns["t"]), 3 * 59)
        self.assertIn("geometric mean", repr(found))
        with tempfile.TemporaryDirectory() as folder:
            found.save(f"{folder}/errors.csv"), found.plot(f"{folder}/errors.png")
            self.assertEqual(sorted(os.listdir(folder)), ["errors.csv", "errors.png"])

    def test_checkpoints_go_on_with_the_same_bits(self):
        whole = la.learn.Hnn(hidden=[8]).fit(DATA, **SMALL)
        with tempfile.TemporaryDirectory() as folder:
            options = {**SMALL, "checkpoint": f"{folder}/c.npz", "log": f"{folder}/log.csv"}

            def stop(fraction, place):
                raise ZeroDivisionError(place)

            with self.assertRaises(ZeroDivisionError):
                la.learn.Hnn(hidden=[8]).fit(DATA, **{**options, "steps": 100_000, "progress": stop})
            os.remove(f"{folder}/c.npz")
            la.learn.Hnn(hidden=[8]).fit(DATA, **options)
            again = la.learn.Hnn(hidden=[8]).fit(DATA, **options)
            np.testing.assert_array_equal(again.parameters, whole.parameters)
            with self.assertRaisesRegex(la.UsageError, "another training"):
                la.learn.Hnn(hidden=[8]).fit(DATA, **{**options, "rate": 0.1})

    @unittest.skipIf(sys.platform == "win32", "signals are others")
    def test_ctrl_c_keeps_what_was_learned(self):
        threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
        with self.assertRaises(la.Interrupted) as caught:
            la.learn.Hnn(hidden=[32, 32]).fit(DATA, steps=10_000_000, batch=20, progress=False)
        kept = caught.exception.results
        self.assertFalse(kept.complete)
        self.assertEqual(kept.predict([0.1, 0.0], samples=2).shape, (2, 2))

    def test_what_cannot_be_is_refused(self):
        for options in [{"hidden": [0]}, {"activation": "relu"}, {"step": "euler"}, {"substeps": 0}, {"without": [7]}]:
            with self.assertRaises(la.UsageError, msg=options):
                la.learn.Chnn(**options).fit(ROD, **SMALL)
        for options in [{"batch": 41}, {"steps": 0}, {"rate": -1.0}, {"rate": np.nan}, {"chunk": 31}, {"clip": 0.0}, {"checkpoint": "c.txt"}, {"log": "log.txt"}]:
            with self.assertRaises(la.UsageError, msg=options):
                la.learn.Hnn(hidden=[4]).fit(DATA, **{**SMALL, **options})
        for wrong in [lambda: la.learn.Hnn().fit(3), lambda: la.learn.Architecture(), lambda: la.learn.Known(3), lambda: la.learn.Hnn(hidden="64"), lambda: la.learn.evaluate(3, DATA)]:
            self.assertRaises(TypeError, wrong)
        with self.assertRaisesRegex(AttributeError, "Chnn"):
            la.learn.Hnnn
        learned = la.learn.Hnn(hidden=[4]).fit(DATA, **{**SMALL, "steps": 2})
        for wrong in [lambda: learned.predict([1.0], samples=3), lambda: learned.predict([np.inf, 0], samples=3), lambda: learned.predict([1, 0], samples=0), lambda: la.learn.rollout({}, DATA)]:
            self.assertRaises(la.UsageError, wrong)
        with self.assertRaisesRegex(la.RunError, "run away"):
            la.learn.NeuralOde(hidden=[8]).fit(DATA, **{**SMALL, "rate": 1e38, "decay": 0.0})


if __name__ == "__main__":
    unittest.main()

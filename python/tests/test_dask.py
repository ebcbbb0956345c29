"""Ensembles, fits and trainings as tasks of a real cluster of two processes, one of which is killed in the middle."""

import importlib.util
import logging
import os
import signal
import threading
import time
import unittest
import unittest.mock

import leastaction as la
import numpy as np

STUDY = {"sample": {"th": "uniform(-1, 1)", "l": "normal(1, 0.05)"}, "count": 400, "until": 20, "method": "dop853", "tol": 1e-8, "threads": 1,
         "reduce": ["stats(th)", "histogram(th, -1, 1, 20)", "ends"], "progress": False}  # fmt: skip


def fitted(system, stiffness):
    t = np.linspace(0, 5, 50)
    return la.fit(system, {"t": t, "x": 0.3 * np.cos(np.sqrt(stiffness) * t)}, known="x'")


def slowly(*arguments):
    """A shard that takes its time, so that there is one to be lost."""
    from leastaction import _dask

    time.sleep(0.3)
    return _dask.part(*arguments)


@unittest.skipUnless(importlib.util.find_spec("distributed"), "distributed is not installed")
class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from dask.distributed import Client, LocalCluster

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        cls.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL)
        cls.client = Client(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def same(self, one, other):
        for here, there in zip(one.findings, other.findings, strict=True):
            self.assertEqual(here.reduction, there.reduction)
            for name, values in here.columns.items():
                np.testing.assert_array_equal(values, there.columns[name])

    def test_results_have_the_bits_of_one_machine(self):
        system = la.catalog.pendulum()
        here = la.ensemble(system, **STUDY)
        for tasks in (None, 3):
            self.same(here, la.ensemble(system, **STUDY, client=self.client, tasks=tasks))

    def test_also_when_a_worker_is_killed(self):
        system = la.catalog.pendulum()
        here = la.ensemble(system, **STUDY)
        workers = list(self.client.run(os.getpid).values())
        killed = []

        def kill():
            time.sleep(0.5)
            os.kill(workers[0], signal.SIGKILL)
            killed.append(workers[0])

        thread = threading.Thread(target=kill)
        thread.start()
        with unittest.mock.patch("leastaction._dask.part", slowly):
            there = la.ensemble(system, **STUDY, client=self.client, tasks=8)
        thread.join()
        self.assertEqual(len(killed), 1)
        self.same(here, there)

    def test_fits_and_trainings_are_tasks(self):
        spring = la.parse("param k = 5\ncoord x\nparticle bob mass 1 at [x]\npotential k*x^2/2\n")
        found = self.client.gather(self.client.map(fitted, [spring] * 2, [4.0, 9.0]))
        np.testing.assert_allclose([each["k"].value for each in found], [4, 9], rtol=1e-6)
        data = la.learn.data(la.catalog.n_pendulum(size=1), train=10, validation=2, test=2, samples=10, every=0.1, progress=False)
        options = {"steps": 3, "batch": 5, "threads": 1, "progress": False}
        there = self.client.submit(la.learn.Chnn(hidden=[4]).fit, data, **options).result()
        np.testing.assert_array_equal(there.parameters, la.learn.Chnn(hidden=[4]).fit(data, **options).parameters)


if __name__ == "__main__":
    unittest.main()

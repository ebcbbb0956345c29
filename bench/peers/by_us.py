"""Ours: the example `stopwatch`, which answers requests, so that runs can take turns with other programs."""
import json
import select
import subprocess

import numpy as np

from contest import Entry

NAME = "leastaction"
PATIENCE = 600  # seconds that an answer may take


class Stopwatch:
    """A running stopwatch. It runs on the processors that this process may use when it is started."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            raise RuntimeError(f"no answer within {PATIENCE} s to: {' '.join(map(str, words))}")
        answer = json.loads(self.process.stdout.readline() or '{"error": "the stopwatch broke off"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def entry(self, model, method, pace, value, end):
        """A run; `pace` is "step" or "tolerance"."""
        request = (model, method, f"{pace}={value!r}", repr(end))

        def sample(budget):
            answer = self.ask("run", *request, budget)
            return answer["seconds"], answer["state"]
        return Entry(NAME, f"`{method}`, {pace} {value:g}", sample, ready=lambda: self.ask("ready", *request)["seconds"])

    def swinging(self, model, method, step, end, span):
        """A run with steps of one length, whose states over a further span are looked at too."""
        entry = self.entry(model, method, "step", step, end)
        entry.later = lambda: self.ask("after", model, method, f"step={step!r}", repr(end), repr(span))["states"]
        return entry

    def ensemble(self, model, method, pace, value, end, starts, folder, threads=1, lanes=8):
        """Many trajectories: CPU time, or the time on the wall if there are threads."""
        origin, target = folder / "starts.f64", folder / "ends.f64"

        def sample(budget):
            starts.astype("<f8").tofile(origin)
            answer = self.ask("ensemble", model, method, f"{pace}={value!r}", repr(end), threads, lanes, len(starts), origin, target, budget)
            return answer["cpu" if threads == 1 else "wall"], np.fromfile(target, "<f8").reshape(starts.shape)
        return Entry(NAME, f"`{method}`, {pace} {value:g}", sample, key=(method, value))

    def crowd(self, model, method, pace, value, end, starts, folder, threads, lanes, count):
        """Many trajectories, whose ends are not kept."""
        origin = folder / "starts.f64"
        starts.astype("<f8").tofile(origin)
        return self.ask("ensemble", model, method, f"{pace}={value!r}", repr(end), threads, lanes, count, origin, "-", 0)

    def accelerations(self, name, model, long=False):
        """Accelerations at the start; a long model is not read again only to find how long that takes."""
        read = []

        def sample(budget):
            answer = self.ask("accelerate", model, budget)
            read[:] = [answer["read"]]
            return answer["seconds"], answer["accelerations"]
        return Entry(NAME, name, sample, ready=lambda: read[0] if long else self.ask("first", model)["seconds"])

    def forces(self, cells, beam, material, folder, threads):
        """Forces on a beam of tetrahedra: CPU time, or the time on the wall if there are threads."""
        origin, target = folder / "beam.f64", folder / "forces.f64"
        answer = {}

        def sample(budget):
            beam.moved.astype("<f8").tofile(origin)
            answer.update(self.ask("forces", *cells, *map(repr, material), threads, origin, target, budget))
            return answer["cpu" if threads == 1 else "wall"], np.fromfile(target, "<f8").reshape(-1, 3)
        return Entry(NAME, "`st-venant-kirchhoff`", sample, ready=lambda: answer["ready"], key=answer)

    def training(self, network, model, folder, threads):
        """Optimizer steps: CPU time, or the time on the wall if there are threads. Results are slopes of the loss before the first."""
        weights, chunks, slopes = (folder / f"{name}.f64" for name in ("weights", "chunks", "slopes"))
        network.flat(network.weights).astype("<f8").tofile(weights)
        # Chunk, sample, number of the state.
        network.chunks.transpose(4, 0, 1, 2, 3).astype("<f8").tofile(chunks)
        answer = {}

        def sample(budget):
            answer.update(self.ask("learn", model, network.units, threads, weights, chunks, network.SAMPLES, network.DT, slopes, budget))
            return answer["cpu" if threads == 1 else "wall"], np.fromfile(slopes, "<f8")
        return Entry(NAME, "`chnn`", sample, ready=lambda: answer["ready"])

    def products(self, threads):
        """The products of matrices alone that such a step needs."""
        return Entry("the products alone", "`gemm`", lambda budget: (self.ask("products", threads, budget)["cpu" if threads == 1 else "wall"], None))

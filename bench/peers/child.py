"""A program in a process of its own, on as many processors as it may use: libraries make their threads when they are first read.

`child.py MODULE THREADS` answers requests, one line of JSON each:
- `["ready", PROBLEM, SIZE]`: prepares a problem of this size, `"beam"` of so many cells or `"network"` of so many links, units and chunks; the settings, and the seconds
  until each had its first result.
- `["sample", PROBLEM, SIZE, SETTING, BUDGET, PATH]`: the seconds of calls that fill a budget, CPU time on one thread and time on the wall on more; the result goes to a
  file.
A module has a function for each problem that it knows, such as `on_beam(beam, threads)`, which yields a setting, a call, and how what it returns becomes an
array to compare.
"""
import contextlib
import importlib
import json
import os
import pathlib
import select
import subprocess
import sys
import time

from contest import Entry

PATIENCE = 600  # seconds that an answer may take


class Child:
    """A running child on the last processors that there are."""

    def __init__(self, module, threads, processors):
        self.module, self.threads = module, threads
        chosen = processors[-threads:]
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="true")
        self.process = subprocess.Popen(
            [sys.executable, __file__, module.__name__, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment, preexec_fn=lambda: os.sched_setaffinity(0, chosen))

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)

    def ask(self, *request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            raise RuntimeError(f"{self.module.NAME}: no answer within {PATIENCE} s")
        answer = json.loads(self.process.stdout.readline() or '{"error": "it broke off"}')
        if "error" in answer:
            raise RuntimeError(f"{self.module.NAME}: {answer['error']}")
        return answer

    def entries(self, problem, size, folder, read):
        """An entry for each setting of the program; `read` reads the file of a result."""
        target = folder / f"{problem}-{self.module.__name__}.f64"
        for setting, seconds in self.ask("ready", problem, size)["settings"].items():
            def sample(budget, setting=setting):
                return self.ask("sample", problem, size, setting, budget, str(target))["seconds"], read(target)
            yield Entry(self.module.NAME, setting, sample, ready=lambda seconds=seconds: seconds)


def main():
    module, threads = importlib.import_module(sys.argv[1]), int(sys.argv[2])
    import numpy as np
    import problems
    clock = time.process_time if threads == 1 else time.perf_counter
    # Libraries print what they like.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    prepared = {}

    def settings(problem, size):
        key = problem, *size
        if key not in prepared:
            prepared.clear()  # the memory is for one problem
            prepared[key] = {}
            made = getattr(module, f"on_{problem}")(getattr(problems, problem)(size), threads)
            while True:
                before = time.perf_counter()
                found = next(made, None)
                if found is None:
                    break
                setting, call, result = found
                np.asarray(result(call()))
                prepared[key][setting] = call, result, time.perf_counter() - before
        return prepared[key]

    def answer(what, problem, size, setting=None, budget=0.0, path=None):
        known = settings(problem, size)
        if what == "ready":
            return {"settings": {name: seconds for name, (_, _, seconds) in known.items()}}
        call, result, _ = known[setting]
        seconds, begun = [], clock()
        while not seconds or clock() - begun < budget:
            before = clock()
            found = call()
            seconds.append(clock() - before)
        np.ascontiguousarray(result(found), "<f8").tofile(path)
        return {"seconds": seconds}

    for line in sys.stdin:
        try:
            reply = answer(*json.loads(line))
        except Exception as failure:  # whatever a library raises is reported to the caller
            reply = {"error": f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}"}
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()

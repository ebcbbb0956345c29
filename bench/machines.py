"""How ensembles scale with workers of Dask, and what a task costs: as a table. Needs `distributed`; run it on a machine that does nothing else.

    python bench/machines.py [COUNT]
"""

import sys
import time

import leastaction as la

#: A trajectory takes about a millisecond, so that a task of some hundred is longer than its way.
STUDY = {"sample": {"th": "uniform(-1, 1)"}, "until": 5000, "method": "dop853", "tol": 1e-9, "reduce": "stats(th)", "threads": 1, "progress": False}


def taken(work):
    """The seconds that something takes: the least of three."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def main():
    from dask.distributed import Client, LocalCluster

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    system = la.catalog.pendulum()
    alone = taken(lambda: la.ensemble(system, count=count, **STUDY))
    print(f"| workers | seconds, {count} trajectories | of the time of one process | seconds for 640 brief trajectories in 64 tasks | for each task |\n|---|---|---|---|---|")
    print(f"| none | {alone:.2f} | 1 | – | – |")
    for workers in (1, 2, 4):
        with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
            la.ensemble(system, count=64, client=client, **STUDY)
            whole = taken(lambda: la.ensemble(system, count=count, client=client, tasks=16, **STUDY))
            # Of what takes no time, the rest is the way there and back.
            brief = {**STUDY, "until": 0.01}
            ways = taken(lambda: la.ensemble(system, count=640, chunk=10, client=client, tasks=64, **brief))
        print(f"| {workers} | {whole:.2f} | {whole / alone:.2f} | {ways:.2f} | {1e3 * ways / 64:.1f} ms |")


if __name__ == "__main__":
    main()

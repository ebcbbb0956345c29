"""REBOUND: splittings of the solar system into Kepler motions and their disturbance, and IAS15. What is timed is the integration of a simulation that is set up."""
import time

import numpy as np
import rebound

import problems as p
from contest import Entry

NAME = f"REBOUND {rebound.__version__}"
TRIED = "SABA of four types, WHFast with and without its corrector, IAS15, with `safe_mode` off and steps that divide the time"


def simulation(method, options, step, constant, places):
    sim = rebound.Simulation()
    sim.G = constant
    for mass, x, v in places:
        sim.add(m=mass, x=x[0], y=x[1], z=x[2], vx=v[0], vy=v[1], vz=v[2])
    sim.move_to_com()
    sim.integrator = method
    for name, value in options.items():
        setattr(sim.integrator, name, value)
    if method in ("whfast", "saba"):
        sim.integrator.safe_mode = 0
    if step:
        sim.dt = step
    return sim


def arrays(sim):
    bodies = sim.particles
    places = [[b.x, b.y, b.z] for b in bodies]
    return np.array(places), np.array([[b.vx, b.vy, b.vz] for b in bodies])


def entry(program, setting, make, end, state_of, span=None):
    last = []

    def sample(budget):
        seconds = []
        while not seconds or sum(seconds) < budget:
            sim = make()
            before = time.thread_time()
            sim.integrate(end, exact_finish_time=1)
            sim.synchronize()
            seconds.append(time.thread_time() - before)
        last[:] = [sim]
        return seconds, state_of(sim)

    def later(samples=64):
        sim, states = last[0], []
        for i in range(1, samples + 1):
            sim.integrate(end + span * i / samples, exact_finish_time=0)
            sim.synchronize()
            states.append(state_of(sim))
        return states
    return Entry(program, setting, sample, later=later if span else None)


SOLAR = [("saba", {"type": kind}, steps) for kind, steps in (
    ("10_6_4", (80.0, 100.0, 125.0, 160.0, 200.0, 250.0, 400.0)), ("8_6_4", (80.0, 100.0, 125.0, 160.0, 200.0)),
    ("H_10_6_4", (100.0, 125.0, 160.0, 200.0, 250.0, 400.0)), ("H_8_6_4", (80.0, 100.0, 125.0, 160.0, 200.0)))]
SOLAR += [("whfast", {"corrector": 17}, (10.0, 20.0, 50.0)), ("whfast", {}, (10.0, 50.0)), ("ias15", {}, (0.0,))]


def titled(method, options):
    kind = options.get("type", "")
    if method == "saba":
        return f"SABA({kind.replace('_', ',')})"
    return {"whfast": "WHFast", "ias15": "IAS15"}[method] + (" with corrector" if "corrector" in options else "")


def solar_entries():
    places = list(zip(p.SOLAR_MASSES, p.SOLAR_PLACES, p.SOLAR_SPEEDS))

    def state_of(sim):
        x, v = arrays(sim)
        return p.from_centre(np.concatenate([x.ravel(), v.ravel()]), sim.t)
    for method, options, steps in SOLAR:
        for step in steps:
            yield entry(f"{NAME}, {titled(method, options)}", f"step {step:g}" if step else "as it is",
                        lambda m=method, o=options, h=step: simulation(m, o, h, p.SOLAR_G, places), p.SOLAR_END, state_of,
                        p.SOLAR_LATER if step else None)


def kepler_entries():
    x, y, u, v = p.KEPLER_START
    # The planet has no mass: even 1e-12 of it would move the end by 8e-8.
    places = [(1.0, (0, 0, 0), (0, 0, 0)), (0.0, (x, y, 0), (u, v, 0))]

    def state_of(sim):
        x, v = arrays(sim)
        return np.concatenate([(x[1] - x[0])[:2], (v[1] - v[0])[:2]])

    def other(method, step, turn):
        x, y, u, v = p.turned(p.KEPLER_START, turn)
        sim = simulation(method, {}, step, 1.0, [places[0], (0.0, (x, y, 0), (u, v, 0))])
        sim.integrate(p.KEPLER_END, exact_finish_time=1)
        sim.synchronize()
        return p.turned(state_of(sim), -turn)
    for program, method, per_orbit in (("IAS15", "ias15", (0,)), ("WHFast (knows Kepler's motion)", "whfast", (2, 4, 10))):
        for count in per_orbit:
            step = 2 * np.pi / count if count else 0.0
            found = entry(f"{NAME}, {program}", f"{count} steps an orbit" if count else "as it is",
                          lambda m=method, h=step: simulation(m, {}, h, 1.0, places), p.KEPLER_END, state_of)
            found.later = lambda m=method, h=step: [other(m, h, turn) for turn in p.KEPLER_TURNS]
            yield found

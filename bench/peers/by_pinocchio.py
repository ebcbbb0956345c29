"""Pinocchio: accelerations of the chain by the articulated-body algorithm, called from Python."""
import os
import time

import numpy as np
import pinocchio as pin

import problems as p
from contest import Entry, calls

NAME = f"Pinocchio {pin.__version__}"
TRIED = "`aba` with arrays of NumPy"
# Bytes, at most 6 GB of what is free: its data hold arrays of N³ numbers.
MEMORY = min(6e9, 0.6 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def chain(count):
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -p.G])
    joint = 0
    for i in range(count):
        place = pin.SE3(np.eye(3), np.array([0, 0, -1.0 if i else 0.0]))
        joint = model.addJoint(joint, pin.JointModelRY(), place, f"j{i}")
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0, 0, -1.0]), np.zeros((3, 3))), pin.SE3.Identity())
    return model


def entry(count, setting="`aba`"):
    before = time.process_time()
    model = chain(count)
    data = model.createData()
    ready = time.process_time() - before
    # Its angles are between neighbours.
    q, v = (np.diff(a, prepend=0.0) for a in p.chain_state(count)) if count else (np.zeros(0), np.zeros(0))
    torque = np.zeros(count)
    sampler = calls(lambda: pin.aba(model, data, q, v, torque))

    def sample(budget):
        return sampler(budget)[0], np.cumsum(pin.aba(model, data, q, v, torque))
    return Entry(NAME, setting, sample, ready=lambda: ready)


def entries(count):
    """Yields an entry, or a note why there is none."""
    if count > 1000:
        return
    if 32 * count**3 > MEMORY:
        yield f"`aba`: its data would need {32e-9 * count**3:.0f} GB"
    else:
        yield entry(count)


def overhead():
    """A model without joints: what a call from Python costs."""
    return entry(0, "empty")

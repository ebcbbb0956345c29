"""Warp: forces on tetrahedra by a kernel that is written out, and by the reverse of one for the energy."""
from importlib.metadata import version

import numpy as np

import problems as p

NAME = f"Warp {version('warp-lang')}"
TRIED = "a kernel of the forces, and the tape of a kernel of the energy; on one thread, as it has no others on processors"


def on_beam(beam, threads):
    import warp as wp

    wp.config.quiet = True
    wp.init()
    one, two, half = wp.float64(1.0), wp.float64(2.0), wp.float64(0.5)

    @wp.func
    def gradient(x: wp.array(dtype=wp.vec3d), nodes: wp.array2d(dtype=int), inverse: wp.array(dtype=wp.mat33d), e: int):
        origin = x[nodes[e, 0]]
        return wp.matrix_from_cols(x[nodes[e, 1]] - origin, x[nodes[e, 2]] - origin, x[nodes[e, 3]] - origin) * inverse[e]

    @wp.kernel
    def force(x: wp.array(dtype=wp.vec3d), nodes: wp.array2d(dtype=int), inverse: wp.array(dtype=wp.mat33d),
              volume: wp.array(dtype=wp.float64), lam: wp.float64, mu: wp.float64, out: wp.array(dtype=wp.vec3d)):
        e = wp.tid()
        g = gradient(x, nodes, inverse, e)
        strain = half * (wp.transpose(g) * g - wp.identity(n=3, dtype=wp.float64))
        stress = two * mu * strain + lam * wp.trace(strain) * wp.identity(n=3, dtype=wp.float64)
        columns = -volume[e] * (g * stress * wp.transpose(inverse[e]))
        a = wp.vec3d(columns[0, 0], columns[1, 0], columns[2, 0])
        b = wp.vec3d(columns[0, 1], columns[1, 1], columns[2, 1])
        c = wp.vec3d(columns[0, 2], columns[1, 2], columns[2, 2])
        wp.atomic_add(out, nodes[e, 0], -(a + b + c))
        wp.atomic_add(out, nodes[e, 1], a)
        wp.atomic_add(out, nodes[e, 2], b)
        wp.atomic_add(out, nodes[e, 3], c)

    @wp.kernel
    def energy(x: wp.array(dtype=wp.vec3d), nodes: wp.array2d(dtype=int), inverse: wp.array(dtype=wp.mat33d),
               volume: wp.array(dtype=wp.float64), lam: wp.float64, mu: wp.float64, out: wp.array(dtype=wp.float64)):
        e = wp.tid()
        g = gradient(x, nodes, inverse, e)
        strain = half * (wp.transpose(g) * g - wp.identity(n=3, dtype=wp.float64))
        trace = wp.trace(strain)
        wp.atomic_add(out, 0, volume[e] * (mu * wp.ddot(strain, strain) + half * lam * trace * trace))

    inverse, volume = beam.rest
    # The rows of the inverse belong to the edges: as a matrix it maps rest vectors to their coordinates along edges.
    x = wp.array(beam.moved, dtype=wp.vec3d, device="cpu", requires_grad=True)
    nodes = wp.array(beam.nodes.astype(np.int32), dtype=int, device="cpu")
    inverse = wp.array(inverse, dtype=wp.mat33d, device="cpu")
    volume = wp.array(volume, dtype=wp.float64, device="cpu")
    out, total = wp.zeros(len(beam.moved), dtype=wp.vec3d, device="cpu"), wp.zeros(1, dtype=wp.float64, device="cpu", requires_grad=True)
    given = [x, nodes, inverse, volume, wp.float64(p.BEAM_LAMBDA), wp.float64(p.BEAM_MU)]

    def written():
        out.zero_()
        wp.launch(force, dim=len(beam.nodes), inputs=[*given, out], device="cpu")
        return out
    yield "forces written out", written, lambda found: found.numpy()
    tape = wp.Tape()
    with tape:
        wp.launch(energy, dim=len(beam.nodes), inputs=[*given, total], device="cpu")

    def reverse():
        tape.zero()
        tape.backward(loss=total)
        return x.grad
    yield "reverse of the energy", reverse, lambda found: -found.numpy()

"""Taichi: forces on tetrahedra by a kernel that is written out."""
from importlib.metadata import version

import numpy as np

import problems as p

NAME = f"Taichi {version('taichi')}"
TRIED = "a kernel of the forces, with `fast_math` and without"


def on_beam(beam, threads):
    import taichi as ti

    inverse, volume = beam.rest
    for fast in (True, False):
        ti.init(arch=ti.cpu, default_fp=ti.f64, cpu_max_num_threads=threads, fast_math=fast, log_level=ti.ERROR, offline_cache=False)
        count, elements = len(beam.moved), len(beam.nodes)
        x, out = ti.Vector.field(3, ti.f64, count), ti.Vector.field(3, ti.f64, count)
        nodes, shape, weight = ti.Vector.field(4, ti.i32, elements), ti.Matrix.field(3, 3, ti.f64, elements), ti.field(ti.f64, elements)
        for target, values in ((x, beam.moved), (nodes, beam.nodes.astype(np.int32)), (shape, inverse), (weight, volume)):
            target.from_numpy(values)
        lam, mu = p.BEAM_LAMBDA, p.BEAM_MU

        @ti.kernel
        def force():
            for i in out:
                out[i] = ti.Vector.zero(ti.f64, 3)
            for e in nodes:
                n, b = nodes[e], shape[e]
                origin = x[n[0]]
                g = ti.Matrix.cols([x[n[1]] - origin, x[n[2]] - origin, x[n[3]] - origin]) @ b
                strain = 0.5 * (g.transpose() @ g - ti.Matrix.identity(ti.f64, 3))
                stress = 2.0 * mu * strain + lam * strain.trace() * ti.Matrix.identity(ti.f64, 3)
                columns = -weight[e] * (g @ stress @ b.transpose())
                for k in ti.static(range(3)):
                    along = ti.Vector([columns[0, k], columns[1, k], columns[2, k]])
                    out[n[k + 1]] += along
                    out[n[0]] -= along

        def call(force=force):
            force()
            ti.sync()
            return out
        yield f"`fast_math={fast}`", call, lambda found: found.to_numpy()

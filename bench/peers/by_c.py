"""C written by hand: forces on tetrahedra, one after the other, as gcc makes them fast."""
import ctypes
import shutil
import subprocess
import tempfile

import numpy as np

import problems as p

COMPILER = shutil.which("gcc")
NAME = "C by hand"
TRIED = "a plain loop, `gcc -O3 -march=native` and `-Ofast`; two threads by OpenMP, each with forces of its own, which are added up"

SOURCE = """
#include <string.h>

/* The forces of elements `first` to `last` are added to f. For each element four nodes, the rows of the inverse of its rest shape, and its volume. */
static void add(const double *restrict x, double *restrict f, const int *restrict nodes, const double *restrict inverse,
                const double *restrict volume, long first, long last, double lambda, double mu)
{
    for (long e = first; e < last; e++) {
        const int *n = nodes + 4 * e;
        const double *b = inverse + 9 * e, *origin = x + 3 * n[0];
        double d[3][3], g[3][3], s[3][3], stress[3][3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) d[k][i] = x[3 * n[k + 1] + i] - origin[i];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) g[i][j] = d[0][i] * b[j] + d[1][i] * b[3 + j] + d[2][i] * b[6 + j];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) s[i][j] = mu * (g[0][i] * g[0][j] + g[1][i] * g[1][j] + g[2][i] * g[2][j] - (i == j));
        double trace = lambda / (2 * mu) * (s[0][0] + s[1][1] + s[2][2]);
        for (int i = 0; i < 3; i++) s[i][i] += trace;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) stress[i][j] = g[i][0] * s[0][j] + g[i][1] * s[1][j] + g[i][2] * s[2][j];
        double rest[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                double force = -volume[e] * (stress[i][0] * b[3 * k] + stress[i][1] * b[3 * k + 1] + stress[i][2] * b[3 * k + 2]);
                f[3 * n[k + 1] + i] += force;
                rest[i] -= force;
            }
        for (int i = 0; i < 3; i++) f[3 * n[0] + i] += rest[i];
    }
}

/* `own` has room for the forces of each thread but the first. */
void forces(const double *x, double *f, const int *nodes, const double *inverse, const double *volume, long elements, long count,
            double lambda, double mu, long threads, double *own)
{
#pragma omp parallel num_threads(threads)
    {
        long each = (elements + threads - 1) / threads;
#pragma omp for schedule(static, 1)
        for (long t = 0; t < threads; t++) {
            double *mine = t ? own + (t - 1) * 3 * count : f;
            long first = t * each, last = first + each < elements ? first + each : elements;
            memset(mine, 0, 3 * count * sizeof(double));
            add(x, mine, nodes, inverse, volume, first, last, lambda, mu);
        }
#pragma omp for schedule(static)
        for (long i = 0; i < 3 * count; i++)
            for (long t = 1; t < threads; t++) f[i] += own[(t - 1) * 3 * count + i];
    }
}
"""


def on_beam(beam, threads):
    if not COMPILER:
        return
    inverse, volume = beam.rest
    nodes, places = beam.nodes.astype(np.int32), np.ascontiguousarray(beam.moved)
    double = ctypes.POINTER(ctypes.c_double)
    for flag in ("-O3", "-Ofast"):
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/forces.so"
            subprocess.run([COMPILER, flag, "-march=native", "-fopenmp", "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
                           input=SOURCE, text=True, check=True)
            run = ctypes.CDLL(library).forces
        result, own = np.zeros_like(places), np.zeros((max(threads - 1, 1), *places.shape))
        point = lambda array: array.ctypes.data_as(double)
        arguments = (point(places), point(result), nodes.ctypes.data_as(ctypes.POINTER(ctypes.c_int)), point(inverse), point(volume),
                     ctypes.c_long(len(nodes)), ctypes.c_long(len(places)), ctypes.c_double(p.BEAM_LAMBDA), ctypes.c_double(p.BEAM_MU),
                     ctypes.c_long(threads), point(own))

        def call(run=run, arguments=arguments, keep=(places, nodes, inverse, volume, result, own)):
            run(*arguments)
            return keep[4]
        yield f"`{flag}`", call, lambda found: found

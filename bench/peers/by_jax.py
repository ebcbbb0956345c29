"""JAX: forces on tetrahedra as the gradient of their energy, compiled."""
from importlib.metadata import version

import numpy as np

import problems as p

NAME = f"JAX {version('jax')}"
TRIED = "`jit(grad)` of the energy, by products of 3 × 3 matrices, and with one array for each entry"


def forces(beam, threads):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    inverse, volume = beam.rest
    x, nodes, inverse, volume = (jnp.asarray(array) for array in (beam.moved, beam.nodes, inverse, volume))

    def by_products(x):
        edges = jnp.swapaxes(x[nodes[:, 1:]] - x[nodes[:, :1]], 1, 2)
        g = edges @ inverse
        strain = 0.5 * (jnp.swapaxes(g, 1, 2) @ g - jnp.eye(3))
        trace = jnp.trace(strain, axis1=1, axis2=2)
        return jnp.sum(volume * (p.BEAM_MU * jnp.sum(strain * strain, (1, 2)) + 0.5 * p.BEAM_LAMBDA * trace * trace))

    corners = [nodes[:, k] for k in range(4)]
    rows = [[jnp.asarray(np.ascontiguousarray(np.asarray(inverse)[:, i, j])) for j in range(3)] for i in range(3)]

    def by_entries(x):
        across = [x[:, i] for i in range(3)]
        edge = [[across[i][corners[k + 1]] - across[i][corners[0]] for k in range(3)] for i in range(3)]
        g = [[sum(edge[i][k] * rows[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        strain = [[0.5 * (sum(g[k][i] * g[k][j] for k in range(3)) - (i == j)) for j in range(3)] for i in range(3)]
        trace = strain[0][0] + strain[1][1] + strain[2][2]
        return jnp.sum(volume * (p.BEAM_MU * sum(e * e for row in strain for e in row) + 0.5 * p.BEAM_LAMBDA * trace * trace))

    for setting, energy in (("products of matrices", by_products), ("an array for each entry", by_entries)):
        compiled = jax.jit(jax.grad(energy))
        yield setting, lambda compiled=compiled: compiled(x).block_until_ready(), lambda found: -np.asarray(found)

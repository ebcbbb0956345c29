"""JAX: forces on tetrahedra as the gradient of their energy, compiled."""
from importlib.metadata import version

import numpy as np

import problems as p

NAME = f"JAX {version('jax')}"
TRIED = "`jit(grad)` of the energy, by products of 3 × 3 matrices, and with one array for each entry"


def on_beam(beam, threads):
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


def on_network(network, threads):
    import os
    if threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
    import jax
    import jax.numpy as jnp

    import network as n

    links = network.links
    incidence = jnp.asarray(np.eye(links) - np.eye(links, k=-1), "float32")
    act, bend = lambda w, x, b: jnp.tanh(w @ x + b[:, None]), lambda g, h: g * (1 - h * h)
    gradient = jax.custom_vjp(lambda weights, turned, x: n.slopes(weights, turned, x, act, bend)[0])

    def forward(weights, turned, x):
        found, saved = n.slopes(weights, turned, x, act, bend)
        return found, (weights, turned, saved)

    def reverse(kept, push):
        by_weights, by_x = n.slopes_reversed(*kept, push, bend)
        return by_weights, None, by_x
    gradient.defvjp(forward, reverse)

    def loss(weights, chunks):
        # Transposed weights are stored once: products with a transposed left factor are slow.
        turned = jax.lax.stop_gradient(jax.lax.optimization_barrier({name: w.T for name, w in weights.items() if name[0] == "W"}))
        own = {name: w for name, w in weights.items() if name != "masses"}
        return n.loss(jnp, weights, incidence, lambda x: gradient(own, turned, x), chunks)

    def update(state, chunks):
        weights, mean, square, time = state
        found = jax.grad(loss)(weights, chunks)
        time = time + 1
        (one, other), rate = n.BETAS, n.RATE
        mean = {k: one * mean[k] + (1 - one) * found[k] for k in weights}
        square = {k: other * square[k] + (1 - other) * found[k] ** 2 for k in weights}
        first, second = 1 - one ** time, jnp.sqrt(1 - other ** time)
        weights = {k: w * (1 - rate * n.DECAY) - (rate / first) * mean[k] / (jnp.sqrt(square[k]) / second + n.EPSILON) for k, w in weights.items()}
        return (weights, mean, square, time), found

    fresh = lambda: {name: jnp.asarray(w, "float32") for name, w in network.weights.items()}
    zero = lambda: {name: jnp.zeros(w.shape, "float32") for name, w in network.weights.items()}
    chunks = jnp.asarray(network.chunks, "float32")
    step = jax.jit(update, donate_argnums=0)
    state, found = step((fresh(), zero(), zero(), jnp.float32(0)), chunks)
    first = network.flat(found)
    states = [state]

    def call():
        states[0], _ = step(states[0], chunks)
        jax.block_until_ready(states[0])
    yield "`jit` of a whole optimizer step", call, lambda _: first

"""A constrained Hamiltonian network of a chain, written once for arrays of JAX and of PyTorch, in the form that was fastest in both: features × chunks, so that a layer is one product;
the slopes of the network and their reverse written out; and the constraints by one small factorisation, a lane for each chunk.

H = pᵀM⁻¹p/2 + V(x), projected onto the constraints and their rates; see `crates/learn/src/architecture/chnn.rs`.
"""
import problems as p

DECAY, BETAS, EPSILON, RATE = 1e-4, (0.9, 0.999), 1e-8, 3e-3


def slopes(weights, turned, x, act, bend):
    """∇V of V = w₄·tanh(W₃ tanh(W₂ tanh(W₁ x + b₁) + b₂) + b₃), and what its reverse needs; `turned` are the transposed weights."""
    h1 = act(weights["W1"], x, weights["b1"])
    h2 = act(weights["W2"], h1, weights["b2"])
    h3 = act(weights["W3"], h2, weights["b3"])
    g3 = bend(weights["w4"][:, None], h3)
    u2 = turned["W3"] @ g3
    g2 = bend(u2, h2)
    u1 = turned["W2"] @ g2
    g1 = bend(u1, h1)
    return turned["W1"] @ g1, (x, h1, h2, h3, u1, u2, g1, g2, g3)


def slopes_reversed(weights, turned, saved, push, bend):
    """What a push on ∇V does to the weights, and to x."""
    x, h1, h2, h3, u1, u2, g1, g2, g3 = saved
    q1 = weights["W1"] @ push
    r1 = bend(q1, h1)
    q2 = weights["W2"] @ r1
    r2 = bend(q2, h2)
    q3 = weights["W3"] @ r2
    k3 = bend(-2 * weights["w4"][:, None] * h3 * q3, h3)
    k2 = bend(turned["W3"] @ k3 - 2 * h2 * u2 * q2, h2)
    k1 = bend(turned["W2"] @ k2 - 2 * h1 * u1 * q1, h1)
    return {"W1": k1 @ x.T + g1 @ push.T, "b1": k1.sum(1), "W2": k2 @ h1.T + g2 @ r1.T, "b2": k2.sum(1),
            "W3": k3 @ h2.T + g3 @ r2.T, "b3": k3.sum(1), "w4": bend(q3, h3).sum(1)}, turned["W1"] @ k1


def solver(xp, shared, rods):
    """Solves with S, S_ij = shared_ij r_i·r_j, as L D Lᵀ written out."""
    count, pivots, low = len(rods), [], {}
    for i in range(count):
        row = [shared[i, j] * (rods[i] * rods[j]).sum(0) for j in range(i + 1)]
        for j in range(i + 1):
            for k in range(j):
                row[j] = row[j] - low[j, k] * row[k]
            if j < i:
                low[i, j] = row[j] * pivots[j]
        pivots.append(1 / row[i])

    def solve(right):
        y = list(right)
        for i in range(count):
            for j in range(i):
                y[i] = y[i] - low[i, j] * y[j]
        y = [value * pivot for value, pivot in zip(y, pivots)]
        for i in reversed(range(count)):
            for j in range(i + 1, count):
                y[i] = y[i] - low[j, i] * y[j]
        return xp.stack(y)
    return solve


def loss(xp, weights, incidence, gradient, chunks):
    """The mean error of the samples that the 3/8 rule predicts, one step each. `gradient` is ∇V; `chunks` are samples × 2 × links × 2 × chunks."""
    inverse = xp.exp(-weights["masses"])
    shared, inverse = (incidence * inverse) @ incidence.T, inverse[:, None, None]
    rods = lambda x: xp.concatenate([x[:1], x[1:] - x[:-1]])
    pulled = lambda f: xp.concatenate([f[:-1] - f[1:], f[-1:]])

    def rates(state):
        x, v = state[0], state[1]
        down = gradient(x.reshape(-1, x.shape[-1])).reshape(x.shape)
        d, w = rods(x), rods(v)
        solve = solver(xp, shared, d)
        b = solve((d * w).sum(1))[:, None]
        dx = v - inverse * pulled(b * d)
        f = down - pulled(b * w)
        a = solve((d * rods(inverse * f) - w * rods(dx)).sum(1))[:, None]
        return xp.stack([dx, inverse * (pulled(a * d) - f)])

    y, h, error = chunks[0], p.network.DT, 0
    for sample in chunks[1:]:
        a = rates(y)
        b = rates(y + (h / 3) * a)
        c = rates(y + h * (b - a / 3))
        d = rates(y + h * (a - b + c))
        y = y + (h / 8) * (a + 3 * (b + c) + d)
        error = error + abs(y - sample).mean()
    return error / (len(chunks) - 1)

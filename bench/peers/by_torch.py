"""PyTorch: an optimizer step of a network. It is not among the requirements, as it brings three gigabytes: `pip install torch` into `.venv-peers` to have it too."""
from importlib.metadata import version

import numpy as np

version("torch")  # says that it is missing where it is
NAME = f"PyTorch {version('torch')}"
TRIED = "operations as they come, few and large, and fused AdamW"


def on_network(network, threads):
    import torch

    import network as n

    torch.set_num_threads(threads)
    links = network.links
    incidence = torch.tensor(np.eye(links) - np.eye(links, k=-1), dtype=torch.float32)
    act = lambda w, x, b: torch.tanh(torch.addmm(b[:, None], w, x))
    bend = lambda g, h: torch.ops.aten.tanh_backward(g.expand(h.shape), h)
    weights = {name: torch.tensor(w, dtype=torch.float32, requires_grad=True) for name, w in network.weights.items()}
    chunks = torch.tensor(network.chunks, dtype=torch.float32)
    optimizer = torch.optim.AdamW(weights.values(), lr=n.RATE, weight_decay=n.DECAY, betas=n.BETAS, eps=n.EPSILON, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        turned = {name: w.T for name, w in weights.items() if name[0] == "W"}
        n.loss(torch, weights, incidence, lambda x: n.slopes(weights, turned, x, act, bend)[0], chunks).backward()
        optimizer.step()
    step()
    first = network.flat({name: w.grad.numpy() for name, w in weights.items()})
    yield "a step of `backward` and AdamW", step, lambda _: first

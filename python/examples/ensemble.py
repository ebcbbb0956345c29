"""When a double pendulum first flips, over its two angles at the start: small here, a million in the README."""

import leastaction as la
import numpy as np

flips = la.ensemble(
    la.catalog.double_pendulum(l2=1),
    sample={"th1": "grid(-3.1, 3.1, 40)", "th2": "grid(-3.1, 3.1, 40)"},
    until=10,
    tol=1e-6,
    stop={"flip": "cos(th1/2)*cos(th2/2)"},
    reduce="map(first(flip))",
)
print(flips)
columns = flips["map"].columns
first = list(columns.values())[-1]
print(f"{np.isfinite(first).mean():.0%} flip within 10 units of time, the first at {np.nanmin(first):.3f}")

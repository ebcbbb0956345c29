"""Where the driven pendulum of book/models/driven.motion doubles its period, to seven digits, without leastaction.

A periodic motion over n periods of the drive is a fixed point of a map of the plane, found by Newton's method; its derivative is integrated along
with it. The period doubles where an eigenvalue of this derivative is -1. Steps of Runge and Kutta's method of order 4; half of them change no digit.
"""

from math import atan2, cos, pi, sin

STEPS = 3000  # in a period of the drive
W0, BETA, W = 3 * pi, 0.75 * pi, 2 * pi


def rates(y, push):
    th, rate, a, b, c, d = y
    bend = -(W0**2) * cos(th)
    return (rate, -(W0**2) * sin(th) - 2 * BETA * rate + push, c, d, bend * a - 2 * BETA * c, bend * b - 2 * BETA * d)


def after(start, drive, periods, steps=STEPS):
    """The angle, its rate, and the derivative of both by the start, after some periods."""
    y, h = (*start, 1.0, 0.0, 0.0, 1.0), 1.0 / steps
    push = [drive * W0**2 * cos(W * h * i / 2) for i in range(2 * steps + 1)]
    for i in range(periods * steps):
        now = 2 * (i % steps)
        k1 = rates(y, push[now])
        k2 = rates([x + h / 2 * k for x, k in zip(y, k1)], push[now + 1])
        k3 = rates([x + h / 2 * k for x, k in zip(y, k2)], push[now + 1])
        k4 = rates([x + h * k for x, k in zip(y, k3)], push[now + 2])
        y = tuple(x + h / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(y, k1, k2, k3, k4))
    return y


def periodic(start, drive, periods):
    """The periodic motion near a start, and what is 0 where -1 is an eigenvalue: 1 + trace + determinant."""
    for _ in range(30):
        th, rate, a, b, c, d = after(start, drive, periods)
        away = th - start[0] - 2 * pi * round((th - start[0]) / (2 * pi)), rate - start[1]
        a, d = a - 1, d - 1
        det = a * d - b * c
        step = (b * away[1] - d * away[0]) / det, (c * away[0] - a * away[1]) / det
        start = start[0] + step[0], start[1] + step[1]
        if abs(step[0]) + abs(step[1]) < 1e-11:
            break
    _, _, a, b, c, d = after(start, drive, periods)
    return start, 1 + a + d + a * d - b * c


for periods, (last, drive) in {1: (1.064, 1.0662), 2: (1.0775, 1.079), 4: (1.0815, 1.082), 8: (1.0824, 1.08265)}.items():
    motion = -pi / 2, 0.0
    for _ in range(100):
        th, rate, *_ = after(motion, last, 1, 400)
        motion = atan2(sin(th), cos(th)), rate
    motion, off_before = periodic(motion, last, periods)
    motion, off = periodic(motion, drive, periods)
    while abs(drive - last) > 1e-9:
        last, drive = drive, drive - off * (drive - last) / (off - off_before)
        off_before = off
        motion, off = periodic(motion, drive, periods)
    print(f"from {periods} to {2 * periods}: {drive:.7f}")

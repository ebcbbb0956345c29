"""Where a system rests, and how it moves about there.

>>> import leastaction as la
>>> rest = la.equilibrium(la.catalog.pendulum())
>>> rest.stable, la.modes(la.catalog.pendulum(g=4)).frequency.round(9)
(True, array([2.]))
"""

from __future__ import annotations

import warnings
from typing import Any

from . import _native
from ._asked import Values
from ._check import Array, kind, whole
from ._errors import RunWarning
from .system import System


class Equilibrium:
    """Where all forces balance."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.q: Array = members["q"]
        """The coordinates."""
        self.coordinates: dict[str, float] = members["coordinates"]
        """The same by name."""
        self.multipliers: dict[str, float] = members["multipliers"]
        """The multipliers of the constraints."""
        self.energy: float = members["energy"]
        """The energy."""
        self.residual: float = members["residual"]
        """The largest force that is left."""
        self.iterations: int = members["iterations"]
        """The number of iterations."""
        self.negative_modes: int = members["negative_modes"]
        """The number of independent directions in which the energy decreases."""

    @property
    def stable(self) -> bool:
        """Whether the energy falls in no direction."""
        return self.negative_modes == 0

    def __repr__(self) -> str:
        where = ", ".join(f"{name}={value:g}" for name, value in list(self.coordinates.items())[:8])
        return f"<{'stable' if self.stable else 'unstable'} equilibrium: {where}>"


class Modes:
    """Normal modes about an equilibrium, the lowest first."""

    def __init__(self, rest: dict[str, Any], members: dict[str, Any]) -> None:
        self.equilibrium = Equilibrium(rest)
        """Where they are about."""
        self.kind: list[str] = members["kind"]
        """`vibration`, `free` (it costs no energy) or `growing`."""
        self.frequency: Array = members["frequency"]
        """Angular frequencies; 0 of what does not vibrate."""
        self.growth: Array = members["growth"]
        """Rates of growth; 0 of what does not grow."""
        self.steady: list[bool] = members["steady"]
        """Whether the frequency does not depend on how far it swings, however little."""
        self.shapes: Array = members["shapes"]
        """How coordinates move, a row for each mode, with φᵀMφ = 1."""
        self.freedom: int = members["freedom"]
        """The number of all modes."""
        self.undamped: bool = members["undamped"]
        """Whether forces depend on velocities and are left out."""
        self.with_velocities: list[tuple[float, float]] | None = members["with_velocities"]
        """Frequencies and rates of growth with forces that depend on velocities, if there are such and coordinates are few."""

    def __len__(self) -> int:
        return len(self.frequency)

    def __repr__(self) -> str:
        frequencies = ", ".join(f"{value:.6g}" for value in self.frequency[:8])
        return f"<{len(self)} of {self.freedom} modes: ω = {frequencies}>"


def equilibrium(system: System, *, parameters: Values | None = None, start: Values | None = None) -> Equilibrium:
    """Finds where a system rests, from its start, by lowering its energy with constraints kept."""
    _system(system)
    members = _native.equilibrium(system._native, system._asked(parameters=parameters, start=start))
    _warn(members)
    return Equilibrium(members)


def modes(system: System, count: int = 10, *, parameters: Values | None = None, start: Values | None = None) -> Modes:
    """Finds the lowest normal modes about the equilibrium that `equilibrium` finds."""
    _system(system)
    wanted = system._asked(parameters=parameters, start=start)
    rest, members = _native.modes(system._native, wanted, whole(count, "count", 1, 10_000))
    _warn(rest)
    found = Modes(rest, members)
    if found.undamped:
        said = "forces depend on velocities, and are left out: these are modes without damping"
        warnings.warn(RunWarning(said, "undamped"), stacklevel=2)
    for number, steady in enumerate(found.steady, 1):
        if not steady:
            said = f"the stiffness of mode {number} vanishes or changes right at the equilibrium: its frequency depends on how far it swings, and this one means nothing"
            warnings.warn(RunWarning(said, "unsteady"), stacklevel=2)
    return found


def _warn(rest: dict[str, Any]) -> None:
    for code, said in rest["warnings"]:
        warnings.warn(RunWarning(said, code), stacklevel=3)


def _system(system: Any) -> None:
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")

"""The integration methods."""

from __future__ import annotations

from dataclasses import dataclass

from . import _native


@dataclass(frozen=True)
class Method:
    """What a method declares about itself."""

    name: str
    order: int
    about: str
    kind: str
    step: str
    """How it finds its steps."""
    needs: str
    """What a system must be."""
    keeps: tuple[str, ...]
    """What it keeps of the geometry of a motion."""
    described_in: str


def methods() -> dict[str, Method]:
    """The integration methods, by name.

    >>> import leastaction as la
    >>> la.methods()["gauss4"].order
    4
    """
    words = ((*card[:6], tuple(card[6]), card[7]) for card in _native.methods())
    return {card[0]: Method(*card) for card in words}

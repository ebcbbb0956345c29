"""The overrides of what a text says: one dictionary, for everything that runs a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._check import number, numbers, pairs, text, truth, whole
from ._errors import UsageError
from ._native import Expr

#: Names with numbers; where a number has no name yet, symbols are names too.
Values = Mapping[Any, float]


def asked(
    *,
    parameters: Values | None = None,
    start: Values | None = None,
    seed: int | None = None,
    until: float | None = None,
    method: str | None = None,
    step: float | None = None,
    tol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    max_steps: int | None = None,
    every: float | None = None,
    samples: int | None = None,
    show: Any = None,
    events: Mapping[str, Any] | None = None,
    stop: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The overrides, with their types checked."""
    optional = {"until": until, "step": step, "tol": tol, "atol": atol, "max_step": max_step, "every": every}
    asked: dict[str, Any] = {
        name: None if value is None else number(value, name) for name, value in optional.items()
    }
    asked["parameters"] = numbers(parameters, "parameters")
    asked["start"] = numbers(start, "start")
    asked["seed"] = None if seed is None else whole(seed, "seed")
    asked["method"] = None if method is None else text(method, "method")
    asked["max_steps"] = None if max_steps is None else whole(max_steps, "max_steps", 1)
    asked["samples"] = None if samples is None else whole(samples, "samples", 1, 10**9)
    asked["show"] = shown(show)
    asked["events"] = [
        (name, text(what, f"event `{name}`"), ends)
        for group, ends in ((events, False), (stop, True))
        for name, what in pairs(group, "stop" if ends else "events")
    ]
    names = [name for name, _, _ in asked["events"]]
    if len(set(names)) < len(names):
        raise UsageError("an event stands in `events` and in `stop`: leave one out")
    for name, what, _ in asked["events"]:
        if not name or not what.strip():
            raise UsageError("an event needs a name and an expression: events={'flip': 'cos(th/2)'}")
    return asked


def shown(show: Any) -> list[tuple[str, str]]:
    """What is to be recorded: names with expressions, or expressions that are their own names."""
    if show is None:
        return []
    if isinstance(show, (str, Expr)):
        show = [show]
    if isinstance(show, Mapping):
        return [(name, text(what, f"show `{name}`")) for name, what in pairs(show, "show")]
    try:
        all_shown = list(show)
    except TypeError:
        raise TypeError("show should be an expression, a list or a dictionary of them") from None
    return [(text(what, "show").strip(), text(what, "show")) for what in all_shown]


#: Options of a run that have nothing to do with a system's own text.
flag = truth


def asked_of(system: Any, options: dict[str, Any], known: tuple[str, ...], what: str) -> dict[str, Any]:
    """The overrides of a system for a function that knows only some options."""
    for name in options:
        if name not in known:
            raise TypeError(f"{what} has no option `{name}`: choose from {', '.join(known)}")
    return system._asked(**options)  # type: ignore[no-any-return]

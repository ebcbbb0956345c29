"""Wrong arguments of every kind, for everything that is public: an exception of Python, never a crash, a hang or a panic."""

import inspect
import math
import random
import unittest
import warnings

import leastaction as la
import numpy as np

SYSTEM = la.parse("param k = 1\ncoord x, y\nkinetic x'^2/2 + y'^2/2\npotential k*(x^2 + y^2)/2\nstart x = 1\nrun method rk4, step 0.1, until 0.5\n")


class Odd:
    """An object whose every answer is an error."""

    def __float__(self):
        raise ZeroDivisionError("odd")

    def __len__(self):
        raise ZeroDivisionError("odd")

    def __iter__(self):
        raise ZeroDivisionError("odd")


x = la.symbols("x")
VALUES = [
    None, True, False, 0, 1, -1, 2, 3, 10**30, 0.0, -0.0, 0.5, 1e300, 1e-320, math.nan, math.inf, -math.inf, 1j, "", "x", "x'", "th", "x +", "\0",
    "\ud800", "é", "x" * 300, "(" * 3000, b"x", b"\xff", [], [1.0], [1.0, 2.0], ["x"], [x], [[1.0], [2.0, 3.0]], [None], (), (1, 2), ("x", "y"), {},
    {"x": 1.0}, {"x": math.nan}, {"x": "y"}, {1: 2}, {"x": [1.0, 2.0]}, {"k": 2}, set(), x, x + 1, x.dot, x < 1, np.float64(1), np.int8(3), np.nan,
    np.ones(2), np.ones((2, 2)), np.ones(0), np.ones((3, 2)), np.array(["a"]), np.array([x]), np.array(None), np.ma.masked, np.datetime64(0, "s"),
    np.ones(2, dtype=complex), np.ones(2, dtype=np.longdouble), SYSTEM, la, object(), Odd(), range(3), iter([1]), lambda *_: None, float, type,
]  # fmt: skip

#: What would read or write files, take long, or is no function of a person's.
LEFT_OUT = {"Array", "Expr", "Error", "Interrupted", "ModelError", "RunError", "UsageError", "RunWarning", "catalog", "time", "merge", "Trajectory", "Section",
            "Results", "Modes", "Equilibrium", "Picture", "Equations", "Accuracy", "Crossings", "Finding", "Gradient", "Method", "Fit", "Estimate", "Channel", "Hint", "Sweep", "Trial", "Trials", "View", "learn", "command"}  # fmt: skip


def calls():
    """Everything that can be called, with the names of its options."""
    run = SYSTEM.run()
    pi = la.compile([x, 2 * x], [x])
    for name in la.__all__:
        if name not in LEFT_OUT and not name.startswith("__"):
            yield name, getattr(la, name)
    for name in ("data", "evaluate", "rollout", "load", "load_data", "Hnn", "Known"):
        yield f"learn.{name}", getattr(la.learn, name)
    for name, value in la.catalog.items():
        if name == "pendulum":
            yield "catalog.pendulum", value
    for what, owner, left_out in [("System", SYSTEM, {"to_jax"}), ("Trajectory", run, {"animate"}), ("Model", None, set()), ("Expr", x + 1, set()), ("Function", pi, set())]:
        kind = la.Model() if owner is None else owner
        for name in dir(type(kind)):
            if (not name.startswith("_") or name in ("__getitem__", "__call__", "__add__", "__pow__", "__eq__", "__lt__")) and name not in left_out:
                member = inspect.getattr_static(type(kind), name)
                if callable(member) or isinstance(member, classmethod):
                    yield f"{what}.{name}", getattr(kind, name)
        for name in la.functions() if what == "Expr" else ():
            yield f"{what}.{name}", getattr(kind, name)


class Fuzz(unittest.TestCase):
    def test_wrong_arguments_are_exceptions(self):
        choose = random.Random(7)
        allowed = (Exception,)
        tried, refused = 0, 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, function in calls():
                try:
                    signature = inspect.signature(function)
                    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
                    options = [p.name for p in signature.parameters.values() if p.kind == p.KEYWORD_ONLY and p.name not in ("progress", "client", "keep")]
                except ValueError:
                    positional, options = [None], []
                for turn in range(60):
                    count = choose.choice([len(positional)] * 6 + [0, 1, 2, 3])
                    arguments = [choose.choice(VALUES) for _ in range(count)]
                    if name in ("ensemble", "section", "modes", "equilibrium", "fit", "compare", "sweep", "learn.data") and arguments and turn % 3:
                        arguments[0] = SYSTEM
                    if name == "section" and len(arguments) > 1 and turn % 2:
                        arguments[1] = "x"
                    keywords = {option: choose.choice(VALUES) for option in choose.sample(options, min(len(options), choose.randint(0, 2)))}
                    # What is right would take its time.
                    if name.endswith(("ensemble", "section", "compare", "sweep")):
                        keywords["until"] = 0.5
                    if name.endswith("compare"):
                        keywords.update({"max_steps": 100} | ({} if "methods" in keywords else {"methods": "rk4"}))
                    if name.endswith(("save", "save_events", "plot", "learn.load", "load_data")):
                        arguments = [value for value in arguments if not isinstance(value, (str, bytes))]
                    if name == "load" or "run" in name and isinstance(keywords.get("until"), (int, float)) and keywords["until"] > 1e9:
                        keywords.pop("until", None)
                    keywords.update({"max_steps": 1000} if name == "System.run" else {})
                    tried += 1
                    try:
                        function(*arguments, **keywords)
                    except allowed as error:
                        refused += 1
                        self.assertNotIn("panic", f"{type(error).__name__} {error}".lower(), f"{name} {arguments} {keywords}")
                        self.assertNotIsInstance(error, (SystemError, MemoryError, AssertionError), f"{name} {arguments!r} {keywords!r}: {error!r}")
                    except BaseException as error:  # what PyO3 makes of a panic is none
                        self.fail(f"{name} {arguments!r} {keywords!r}: {error!r}")
        self.assertGreater(tried, 5000)
        self.assertGreater(refused, tried // 2)

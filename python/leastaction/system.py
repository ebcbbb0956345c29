"""Systems: what moves, with its equations of motion derived and compiled."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._asked import Values, asked
from ._attached import Attached
from ._check import Array, finite, kind, numbers, text, truth, whole
from ._errors import Interrupted, RunError, UsageError
from ._progress import watched
from .trajectory import Trajectory


class Equations:
    """The equations of motion, in several forms and languages. Notebooks show them as formulas.

    >>> import leastaction as la
    >>> la.catalog.pendulum().equations.solved
    th'' = -g*sin(th)/l
    """

    def __init__(self, write: Callable[[str, str, bool], str], form: str = "stated", energies: bool = False) -> None:
        self._write = write
        self._form = form
        self._energies = energies

    def _in(self, language: str) -> str:
        return self._write(language, self._form, self._energies)

    def __str__(self) -> str:
        return self._in("text").rstrip()

    __repr__ = __str__

    @property
    def solved(self) -> Equations:
        """The same, solved for accelerations."""
        return Equations(self._write, "solved", self._energies)

    @property
    def hamilton(self) -> Equations:
        """Hamilton's equations, with momenta."""
        return Equations(self._write, "hamilton", self._energies)

    @property
    def with_energies(self) -> Equations:
        """The same with the energies, and with the momenta where they are used."""
        return Equations(self._write, self._form, True)

    @property
    def latex(self) -> str:
        """LaTeX."""
        return self._in("latex")

    @property
    def markdown(self) -> str:
        """Markdown with LaTeX in it."""
        return self._in("markdown")

    @property
    def c(self) -> str:
        """A function in C."""
        return self._in("c")

    @property
    def rust(self) -> str:
        """A function in Rust."""
        return self._in("rust")

    @property
    def python(self) -> str:
        """A function in Python, with NumPy."""
        return self._in("python")

    @property
    def julia(self) -> str:
        """A function in Julia."""
        return self._in("julia")

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"


@dataclass(frozen=True)
class Gradient:
    """How something at the end of a run depends on the start and on parameters."""

    value: float
    """What it is."""
    start: dict[str, float]
    """Its derivatives by coordinates, and by velocities or momenta, of the start."""
    parameters: dict[str, float]
    """Its derivatives by parameters."""


class System:
    """What moves: a text in the `.motion` language, with its equations of motion derived and compiled.

    A system does not change; `with_values` gives another one with other parameters or another start. Threads may share it.

    >>> import leastaction as la
    >>> pendulum = la.catalog.pendulum(l=2)
    >>> pendulum.parameters
    {'m': 1.0, 'l': 2.0, 'g': 9.81}
    >>> end = pendulum.run(until=1).end
    """

    def __init__(self, source: str, name: str = "model") -> None:
        self._set(("text", text(name, "name"), text(source, "source"), os.getcwd()), None, {}, {})

    def _set(self, origin: tuple[Any, ...], native: Any, parameters: dict[str, float], start: dict[str, float]) -> None:
        self._origin = origin
        self._native = native if native is not None else _opened(origin)
        self._values = parameters
        self._begin = start
        #: What has to be there for as long as the system is used, such as a folder with its files.
        self._keeps: Any = None
        self._facts = self._native.facts(self._asked())

    @classmethod
    def _from_origin(cls, origin: tuple[Any, ...], parameters: Any = None, start: Any = None, native: Any = None) -> System:
        system = cls.__new__(cls)
        system._set(origin, native, dict(numbers(parameters, "parameters")), dict(numbers(start, "start")))
        return system

    @classmethod
    def _of_text(cls, name: str, source: str, folder: str, attached: Attached | None = None) -> System:
        if attached is None:
            return cls._from_origin(("text", name, source, folder))
        return _again_with(("text", name, source, folder), {}, {}, attached)

    def __reduce__(self) -> Any:
        if isinstance(self._keeps, Attached):
            return _again_with, (self._origin, self._values, self._begin, self._keeps)
        if self._keeps is not None:
            raise UsageError(f"the files of {self.name} are here only: save what was learned, and load the model from there")
        return _again, (self._origin, self._values, self._begin)

    def _asked(self, **options: Any) -> dict[str, Any]:
        """What is asked for: values of this system, and others in their place."""
        parameters = {**self._values, **dict(numbers(options.pop("parameters", None), "parameters"))}
        start = dict(numbers(options.pop("start", None), "start"))
        if options.get("seed") is None:
            start = {**self._begin, **start}
        return asked(parameters=parameters, start=start, **options)

    def with_values(self, parameters: Values | None = None, start: Values | None = None) -> System:
        """The same system with other values of parameters, or another start.

        >>> import leastaction as la
        >>> la.catalog.pendulum().with_values({"l": 2}, start={"th": 0.1}).start["th"]
        0.1
        """
        others = {**self._values, **dict(numbers(parameters, "parameters"))}
        begin = {**self._begin, **dict(numbers(start, "start"))}
        other = System._from_origin(self._origin, others, begin, self._native)
        other._keeps = self._keeps
        return other

    def adding(self, statements: str) -> System:
        """The same system with more statements of the language, such as resets.

        >>> import leastaction as la
        >>> ball = la.parse("coord y\\nparticle ball mass 1 at [0, y]\\ngravity [0, -9.81]\\nstart y = 1")
        >>> len(ball.adding("event bounce: y = 0, falling, set y' = -0.5*y'").run(until=1).events["bounce"])
        2
        """
        folder = self._origin[3] if self._origin[0] == "text" else os.getcwd()
        source = f"{self.text.rstrip()}\n{text(statements, 'statements')}\n"
        other = System._from_origin(("text", self.name, source, folder), self._values, self._begin)
        other._keeps = self._keeps
        return other

    # What it is

    @property
    def name(self) -> str:
        """The name."""
        return str(self._native.name)

    @property
    def about(self) -> str:
        """What it is, in a line."""
        return str(self._facts["about"])

    @property
    def text(self) -> str:
        """What it says, in the `.motion` language."""
        return str(self._native.source)

    @property
    def parameters(self) -> dict[str, float]:
        """The values of its parameters."""
        return dict(self._facts["parameters"])

    @property
    def start(self) -> dict[str, float]:
        """Coordinates, velocities and momenta by which the start is given; what is not named is 0, or follows from constraints."""
        return dict(self._facts["start"])

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates."""
        return list(self._facts["coordinates"])

    @property
    def velocity_names(self) -> list[str]:
        """The names of the velocities."""
        return list(self._facts["velocities"])

    @property
    def momentum_names(self) -> list[str]:
        """The names of the momenta."""
        return list(self._facts["momenta"])

    @property
    def constraints(self) -> list[str]:
        """The names of the constraints."""
        return list(self._facts["constraints"])

    @property
    def places(self) -> list[str]:
        """The names of particles, points and bodies."""
        return [name for name, _ in self._facts["places"]]

    @property
    def conserved(self) -> list[str]:
        """What is conserved, as far as that follows from the equations without numbers."""
        return list(self._facts["conserved"])

    @property
    def form(self) -> str:
        """How the motion is stated: `Lagrangian`, `Hamiltonian` or `ports`."""
        return str(self._facts["form"])

    @property
    def equations(self) -> Equations:
        """The equations of motion: as text, LaTeX or code, as they are stated, solved for accelerations, or Hamilton's."""
        return Equations(lambda *how: self._native.equations(self._asked(), *how))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:g}" for name, value in list(self.parameters.items())[:8])
        count = len(self.coordinates)
        return f"<system {self.name}: {count} coordinate{'' if count == 1 else 's'}{'; ' if values else ''}{values}>"

    # How it moves

    def run(
        self,
        *,
        until: float | None = None,
        method: str | None = None,
        tol: float | None = None,
        step: float | None = None,
        samples: int | None = None,
        every: float | None = None,
        events: Mapping[str, Any] | None = None,
        stop: Mapping[str, Any] | None = None,
        show: Any = None,
        parameters: Values | None = None,
        start: Values | None = None,
        seed: int | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        max_steps: int | None = None,
        accuracy: bool = False,
        check: bool = True,
        progress: Any = None,
    ) -> Trajectory:
        """Runs, and gives the trajectory.

        until: the time at the end. method: its name; left out, one is chosen. tol, atol: tolerances; step: a fixed step in their place.
        samples, every: how many samples are taken, or the time between them. events, stop: expressions whose zeros are looked for, by
        name; the latter end the run. show: expressions to be recorded. parameters, start: values in place of the system's. seed: draws
        the start at random, where the catalog says how. max_step, max_steps: the longest step, and how many there may be.
        accuracy: whether a second run beside it judges how many digits of the end are certain. check: whether energies and
        constraints are measured afterwards, and warned of. progress: True, False, or a function of the part that is done and a text.

        Ctrl-C raises `la.Interrupted`, which has what was computed in its `trajectory`; so has `la.RunError`, if the run fails.

        >>> import leastaction as la
        >>> swing = la.catalog.pendulum().run(until=10, events={"bottom": "th"})
        >>> len(swing.events["bottom"].t)
        9
        """
        truth(accuracy, "accuracy"), truth(check, "check")
        wanted = self._asked(
            until=until, method=method, tol=tol, step=step, samples=samples, every=every, events=events, stop=stop, show=show,
            parameters=parameters, start=start, seed=seed, atol=atol, max_step=max_step, max_steps=max_steps,
        )  # fmt: skip
        try:
            with watched(progress, self.name) as tell:
                native = self._native.run(wanted, bool(accuracy), tell)
        except (RunError, Interrupted) as error:
            if isinstance(error.trajectory, _native.Trajectory):
                error.trajectory = Trajectory(error.trajectory)
            if isinstance(error, RunError):
                _explain(error)
            raise
        trajectory = Trajectory(native)
        if check:
            try:
                trajectory._warn(3)
            except RunError as error:
                error.trajectory = trajectory
                raise
        return trajectory

    def gradient(self, what: Any, **options: Any) -> Gradient:
        """How an expression at the end of a run depends on the numbers of the start and on the parameters: its exact derivatives by going
        back over the run. The options are those of `run`.

        >>> import leastaction as la
        >>> fall = la.System("coord x\\nparticle ball mass 1 at [x]\\nparam g = 9.81\\ngravity [-g]\\nrun until 2")
        >>> round(fall.gradient("x").parameters["g"], 9)
        -2.0
        """
        value, start, parameters = self._native.sensitivity(self._asked(**_run_options(options)), text(what, "what"))
        return Gradient(value, dict(start), dict(parameters))

    # Quantities of states

    def _query(self, what: str, q: Any, v: Any, p: Any, t: Any) -> tuple[Any, tuple[int, ...]]:
        if v is not None and p is not None:
            raise UsageError("velocities and momenta exclude each other: leave v or p out")
        n = len(self.coordinates)
        second = v if p is None else p
        parts = [_rows(q, n, "q")]
        if self.momentum_names:
            parts.append(np.zeros(n) if second is None else _rows(second, n, "v" if p is None else "p"))
        elif second is not None:
            raise UsageError(f"{self.name} has coordinates only: leave v and p out")
        times = finite(t, "t")
        try:
            shape = np.broadcast_shapes(times.shape, *(part.shape[:-1] for part in parts))
        except ValueError:
            shapes = ", ".join(str(part.shape) for part in parts)
            raise UsageError(f"arrays of the shapes {shapes} and times of {times.shape} do not fit each other") from None
        states = np.concatenate([np.broadcast_to(part, (*shape, n)) for part in parts], axis=-1)
        rows = np.ascontiguousarray(states.reshape(-1, states.shape[-1]))
        flat = np.ascontiguousarray(np.broadcast_to(times, shape).reshape(-1))
        found, broken = _native.query(self._native, self._asked(), what, flat, rows, p is not None)
        if broken is not None:
            where = [int(i) for i in np.unravel_index(broken, shape)] if shape else ""
            warnings.warn(f"{what.removeprefix('= ')} is not finite at the state {where}".rstrip(), RuntimeWarning, stacklevel=3)
        return found, shape

    def _scalar(self, what: str, q: Any, v: Any, p: Any, t: Any) -> Any:
        found, shape = self._query(what, q, v, p, t)
        return found.reshape(shape) if shape else float(found[0, 0])

    def _vectors(self, what: str, q: Any, v: Any, p: Any, t: Any, *form: int) -> Array:
        found, shape = self._query(what, q, v, p, t)
        return np.asarray(found.reshape((*shape, *form)))

    def energy(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Any:
        """The energy T + V of states: coordinates, and velocities or momenta (0 if left out). The last axis of each array is that of the
        coordinates; all others, and times, are taken together as NumPy has it.

        >>> import leastaction as la
        >>> la.catalog.pendulum().energy([[0.0], [3.141592653589793]]).round(6)
        array([-4.905, 14.715])
        """
        return self._scalar("energy", q, v, p, t)

    def kinetic_energy(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Any:
        """The kinetic energy of states, as `energy`."""
        return self._scalar("kinetic_energy", q, v, p, t)

    def potential_energy(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Any:
        """The potential energy of states, as `energy`."""
        return self._scalar("potential_energy", q, v, p, t)

    def evaluate(self, what: Any, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Any:
        """An expression with all names of the model, such as "bob.y" or "norm(bob')", at states as those of `energy`.

        >>> import leastaction as la
        >>> la.catalog.pendulum().evaluate("bob.y", [0.0])
        -0.5
        """
        return self._scalar("= " + text(what, "what"), q, v, p, t)

    def shares(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> dict[str, Any]:
        """The named terms of the energy of states, as `energy`."""
        names = [name for name, _ in self._facts["shares"]]
        found = self._vectors("shares", q, v, p, t, len(names))
        return {name: found[..., k] for k, name in enumerate(names)}

    def positions(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> dict[str, Array]:
        """Where particles, points and bodies are, by name: the last axis is x, y, z."""
        found = self._vectors("positions", q, v, p, t, sum(count for _, count in self._facts["places"]))
        all_places, first = {}, 0
        for name, count in self._facts["places"]:
            all_places[name] = found[..., first : first + count]
            first += count
        return all_places

    def momenta(self, q: Any, v: Any, *, t: Any = 0.0) -> Array:
        """The momenta that belong to velocities."""
        return self._vectors("momenta", q, v, None, t, len(self.coordinates))

    def velocities(self, q: Any, p: Any, *, t: Any = 0.0) -> Array:
        """The velocities that belong to momenta."""
        return self._vectors("velocities", q, None, p, t, len(self.coordinates))

    def accelerations(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Array:
        """The accelerations.

        >>> import leastaction as la
        >>> la.catalog.pendulum().accelerations([1.5707963267948966])
        array([-9.81])
        """
        return self._vectors("accelerations", q, v, p, t, len(self.coordinates))

    def multipliers(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Array:
        """The multipliers of the constraints, which act with −Gᵀλ."""
        return self._vectors("multipliers", q, v, p, t, len(self.constraints))

    def mass_matrix(self, q: Any, v: Any = None, *, p: Any = None, t: Any = 0.0) -> Array:
        """The mass matrix ∂p/∂v."""
        n = len(self.coordinates)
        return self._vectors("mass_matrix", q, v, p, t, n, n)

    def _halves(self, y: Any) -> tuple[Array, Array | None]:
        n, momenta = len(self.coordinates), len(self.momentum_names)
        states = finite(y, "y")
        if states.ndim == 0 or states.shape[-1] != n + momenta:
            raise UsageError(f"y has the shape {states.shape}: its last axis should have {n + momenta} numbers, coordinates and momenta")
        return states[..., :n], states[..., n:] if momenta else None

    def rates(self, y: Any, t: Any = 0.0) -> Array:
        """The vector field: the rates of a state y of coordinates and momenta."""
        q, p = self._halves(y)
        return self._vectors("rates", q, None, p, t, len(self.coordinates) + len(self.momentum_names))

    def jacobian(self, y: Any, t: Any = 0.0) -> Array:
        """The derivatives of `rates` by the numbers of the state."""
        q, p = self._halves(y)
        d = len(self.coordinates) + len(self.momentum_names)
        return self._vectors("jacobian", q, None, p, t, d, d)

    def initial_state(self) -> Array:
        """The state at the start: coordinates and momenta."""
        return np.asarray(self._native.initial(self._asked()))

    # Many motions, and rest

    def ensemble(self, **options: Any) -> Any:
        """Many motions from starts that are sampled: see `la.ensemble`."""
        from .ensembles import ensemble

        return ensemble(self, **options)

    def sweep(self, values: Mapping[Any, Any], **options: Any) -> Any:
        """Runs with several values of parameters: see `la.sweep`."""
        from .compare import sweep

        return sweep(self, values, **options)

    def compare(self, **options: Any) -> Any:
        """Methods beside each other: see `la.compare`."""
        from .compare import compare

        return compare(self, **options)

    def fit(self, data: Any, **options: Any) -> Any:
        """Parameters and starts with which it moves as was measured: see `la.fit`."""
        from .fits import fit

        return fit(self, data, **options)

    def section(self, through: Any, **options: Any) -> Any:
        """Where orbits pass a surface: see `la.section`."""
        from .sections import section

        return section(self, through, **options)

    def equilibrium(self, **options: Any) -> Any:
        """Where it rests: see `la.equilibrium`."""
        from .rest import equilibrium

        return equilibrium(self, **options)

    def modes(self, count: int = 10, **options: Any) -> Any:
        """Its normal modes: see `la.modes`."""
        from .rest import modes

        return modes(self, count, **options)

    # Other programs

    def to_scipy(self) -> Any:
        """The vector field as SciPy's `solve_ivp` takes it: see `leastaction.interop.to_scipy`."""
        from .interop import to_scipy

        return to_scipy(self)

    def to_sympy(self) -> Any:
        """The equations of motion for SymPy: see `leastaction.interop.system_to_sympy`."""
        from .interop import system_to_sympy

        return system_to_sympy(self)

    def to_jax(self, what: Any = None, of: Any = None, **options: Any) -> Any:
        """The vector field as a function of `jax.numpy`, or something at the end of a run with its gradient: see `leastaction.interop.to_jax`."""
        from .interop import to_jax

        return to_jax(self, what, of, **options)

    def to_torch(self, what: Any = None, of: Any = None, **options: Any) -> Any:
        """The same for PyTorch: see `leastaction.interop.to_torch`."""
        from .interop import to_torch

        return to_torch(self, what, of, **options)

    def to_heyoka(self) -> Any:
        """The equations of motion for heyoka: see `leastaction.interop.to_heyoka`."""
        from .interop import to_heyoka

        return to_heyoka(self)


def _run_options(options: dict[str, Any]) -> dict[str, Any]:
    known = ("until", "method", "tol", "step", "samples", "every", "events", "stop", "show", "parameters", "start", "seed", "atol", "max_step", "max_steps")  # fmt: skip
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option `{name}`: choose from {', '.join(known)}")
    return options


def _rows(value: Any, n: int, what: str) -> Array:
    found = finite(value, what)
    if found.ndim == 0 and n == 1:
        found = found.reshape(1)
    if found.ndim == 0 or found.shape[-1] != n:
        raise UsageError(f"{what} has the shape {found.shape}: its last axis should have {n} numbers, one for each coordinate")
    return found


def _explain(error: RunError) -> None:
    """Says where a run failed and what gets past it."""
    known = error.diagnosis
    if not known:
        return
    notes = [f"where: t = {known['t']:g}, {known['name']} = {known['value']:g}, which changes fastest there"]
    if known["pole"]:
        notes.append(f"the inertia of {known['pole']} vanishes there: write the model in other coordinates, such as Cartesian ones")
    if known["stable_up_to"]:
        notes.append(f"the method is stable at the start up to steps of {known['stable_up_to']:g}")
    if known["passed_by"]:
        method, tol = known["passed_by"]
        notes.append(f"method={method!r}, tol={tol:g} gets past it")
    if error.trajectory is not None:
        notes.append("what was computed until then is in .trajectory of this exception")
    error.args = ("\n  ".join([str(error.args[0]), *notes]),)


def _opened(origin: tuple[Any, ...]) -> Any:
    word, *rest = origin
    if word == "catalog":
        return _native.System.catalog(*rest)
    return _native.System.text(*rest)


def _again(origin: tuple[Any, ...], parameters: dict[str, float], start: dict[str, float]) -> System:
    return System._from_origin(origin, parameters, start)


def _again_with(origin: tuple[Any, ...], parameters: dict[str, float], start: dict[str, float], attached: Attached) -> System:
    """A system whose folder is that of its attached files, wherever that is now."""
    word, name, source, _ = origin
    system = System._from_origin((word, name, source, attached.folder), parameters, start)
    system._keeps = attached
    return system


def load(path: Any, *, parameters: Values | None = None, start: Values | None = None) -> System:
    """The system of a `.motion` file."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise TypeError(f"path should be the name of a file, not {kind(path)}") from None
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    text(name, "path")
    native = _native.System.file(name)
    folder = os.path.dirname(os.path.abspath(name))
    origin = ("text", native.name, native.source, folder)
    return System._from_origin(origin, parameters, start, native)


def parse(
    source: str, *, name: str = "model", folder: Any = None, parameters: Values | None = None, start: Values | None = None
) -> System:
    """The system of a text in the `.motion` language. folder: where the files are that it names, such as tables, meshes and what it includes; the folder
    that Python works in, if left out.

    >>> parse("coord x\\nkinetic x'^2/2\\npotential x^2/2\\nstart x = 1").energy([1.0])
    0.5
    """
    return System._from_origin(("text", text(name, "name"), text(source, "source"), _folder(folder)), parameters, start)


def _folder(folder: Any) -> str:
    if folder is None:
        return os.getcwd()
    try:
        name = os.fsdecode(folder)
    except TypeError:
        raise TypeError(f"folder should be the name of a folder, not {kind(folder)}") from None
    if not os.path.isdir(text(name, "folder")):
        raise UsageError(f"there is no folder `{name}`")
    return os.path.abspath(name)

"""Energies that are learned from data.

>>> import leastaction as la
>>> data = la.learn.data(la.catalog.pendulum(), sample={"th": "uniform(-1, 1)"}, train=16, validation=4, test=4, samples=20, every=0.1, progress=False)
>>> data
<dataset of pendulum: 24 trajectories of 20 samples 0.1 apart: th, th'>
>>> learned = la.learn.Hnn(hidden=[8]).fit(data, steps=4, batch=8, progress=False)
>>> learned.predict([[0.5, 0.0]], samples=3).shape
(1, 3, 2)
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._asked import asked, asked_of
from ._check import Array, array, finite, kind, number, sequence, text, truth, whole
from ._errors import Error, Interrupted, UsageError
from ._progress import watched
from .ensembles import sampled
from .model import Model
from .system import System, load as load_system
from .trajectory import Columns, Picture, Trajectory, _path


class Dataset:
    """Trajectories of one system, sampled at even times: the first ones are to learn from, the next ones tell when to stop, and the last ones judge."""

    def __init__(self, native: Any, findings: Any = None) -> None:
        self._native = native
        self._facts = dict(native.facts())
        trajectories, left_out, off = findings or (sum(self._facts["split"]), 0, None)
        self.trajectories: int = trajectories
        """How many trajectories there were, before they were cut into pieces."""
        self.left_out: int = left_out
        """How many samples are left out, as they fill no piece."""
        self.constraint_error: float | None = off
        """How far positions are off the constraints, by their size, of data that were measured."""

    @property
    def z(self) -> Array:
        """All states: of (trajectories, samples, numbers), coordinates before velocities."""
        states = np.asarray(self._native.states())
        return states.reshape(-1, self.samples, len(self.names))

    @property
    def t(self) -> Array:
        """The times of the samples."""
        return np.asarray(self.dt * np.arange(self.samples), dtype=np.float64)

    @property
    def names(self) -> list[str]:
        """The names of the numbers of a state."""
        return list(self._facts["names"])

    @property
    def dt(self) -> float:
        """The time from sample to sample."""
        return float(self._facts["dt"])

    @property
    def samples(self) -> int:
        """How many samples each trajectory has."""
        return int(self._facts["samples"])

    @property
    def split(self) -> dict[str, int]:
        """How many trajectories are for training, for validation and for tests."""
        return dict(zip(("train", "validation", "test"), self._facts["split"]))

    def part(self, name: str) -> Array:
        """The states of a part: `train`, `validation` or `test`."""
        if name not in self.split:
            raise UsageError(f"there is no part `{name}`: there are {', '.join(self.split)}")
        place = list(self.split).index(name)
        first = sum(self._facts["split"][:place])
        return self.z[first : first + self.split[name]]

    @property
    def measured(self) -> bool:
        """Whether the data come from elsewhere than the motion of the system."""
        return bool(self._facts["measured"])

    @property
    def system(self) -> System:
        """The system that they are of."""
        return System._from_origin(("text", self._facts["system"], self._facts["text"], os.getcwd()), dict(self._facts["parameters"]))

    def save(self, path: Any) -> None:
        """Writes it to a file that ends in .npz, as `leastaction learn data` does."""
        self._native.write(_ending(path, ".npz"))

    def __reduce__(self) -> Any:
        return _dataset_again, (_bytes_of(self.save, "data.npz"),)

    def __len__(self) -> int:
        return sum(self._facts["split"])

    def __repr__(self) -> str:
        return f"<dataset of {self._facts['system']}: {len(self)} trajectories of {self.samples} samples {self.dt:g} apart: {', '.join(self.names)}>"


class Keeper:
    """Keeps a folder for as long as it is there itself."""

    def __init__(self, folder: str) -> None:
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)


class Learned:
    """What was learned of a system. It predicts, is judged, and is a system again."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self._facts = dict(native.facts())
        self._folder: Any = None

    @property
    def architecture(self) -> str:
        """The architecture."""
        return str(self._facts["architecture"])

    @property
    def names(self) -> list[str]:
        """The names of the numbers of a state: coordinates, then velocities."""
        return list(self._native.names())

    @property
    def dt(self) -> float:
        """The time between the samples that it learned from."""
        return float(self._facts["dt"])

    @property
    def about(self) -> dict[str, Any]:
        """Sizes of networks, the step of predictions, and how it was trained."""
        names = ("architecture", "hidden", "activation", "step", "substeps", "damping", "without", "system", "dt", "training")
        return {name: self._facts[name] for name in names}

    @property
    def complete(self) -> bool:
        """Whether the training came to its end, and was not broken off."""
        return bool(self._facts["complete"])

    @property
    def seconds(self) -> float:
        """How long the training took; 0 if it was read from a file."""
        return float(self._facts["seconds"])

    @property
    def losses(self) -> dict[str, Array]:
        """The log of the training: `step`, `rate`, `loss`, `validation`, `gradient`, `seconds`; without rows, if it was read from a file."""
        rows = np.asarray(self._facts["log"]).reshape(-1, len(self._facts["log_names"]))
        return Columns(dict(zip(self._facts["log_names"], rows.T)))

    @property
    def parameters(self) -> Array:
        """Weights of the networks, and numbers, in one array."""
        return np.asarray(self._native.parameters())

    def predict(self, starts: Any, *, samples: int, dt: float | None = None, threads: int | None = None) -> Array:
        """So many samples, the start included, from states of coordinates and velocities: of (starts, samples, numbers). What ran away is NaN.

        dt: the time from sample to sample; that of the data if left out.
        """
        names = self.names
        states = finite(starts, "starts")
        if states.ndim not in (1, 2) or states.shape[-1] != len(names):
            raise UsageError(f"starts has the shape {states.shape}: its last axis should have {len(names)} numbers, {', '.join(names)}")
        count, apart = whole(samples, "samples", 1, 10**8), self.dt if dt is None else number(dt, "dt")
        if states.size * count > 10**9:
            raise UsageError(f"{states.size * count} numbers would be predicted: take fewer starts or samples")
        found = self._native.predict(np.ascontiguousarray(states.reshape(-1)), count, apart, _threads(threads))
        return np.asarray(found).reshape(*states.shape[:-1], count, len(names))

    def evaluate(self, data: Dataset, **options: Any) -> Judgement:
        """Judges it by the trajectories for tests: see `la.learn.evaluate`."""
        return evaluate({self.architecture: self}, data, **options)[self.architecture]

    def rollout(self, data: Dataset, **options: Any) -> Comparison:
        """How its errors grow: see `la.learn.rollout`."""
        return rollout({self.architecture: self}, data, **options)

    @property
    def system(self) -> System:
        """The learned system: its energy is the network. It is in files for as long as it is used; `save` keeps them."""
        folder = tempfile.mkdtemp(prefix="leastaction-")
        # The folder goes when nobody can run the system any more.
        keeper = Keeper(folder)
        model = self._native.write(os.path.join(folder, f"{self.architecture}.safetensors"))
        if model is None:
            raise UsageError(f"the language cannot say what {self.architecture} learned: its mass matrix, or all of its rates, are networks; use `predict`")
        system = load_system(model)
        system._keeps = keeper
        return system

    def save(self, path: Any) -> None:
        """Writes it to a file that ends in .safetensors, as `leastaction learn train` does, and beside it a model, if the language can say it."""
        self._native.write(_ending(path, ".safetensors"))

    def plot(self, path: Any = None) -> Picture:
        """The losses of the training. With a path, it is written there (.svg); in a notebook it is shown."""
        picture = Picture(self._native.svg())
        if path is not None:
            picture.save(path)
        return picture

    def __reduce__(self) -> Any:
        return _learned_again, (_bytes_of(self.save, "learned.safetensors"),)

    def __repr__(self) -> str:
        losses = self.losses["validation"]
        validation = f", validation {losses[-1]:.3g}" if len(losses) else ""
        return f"<{self.architecture} of {self._facts['system']}: {len(self.parameters)} numbers{validation}>"


@dataclass(frozen=True)
class Judgement:
    """What predictions came to, beside the truth."""

    name: str
    """What was judged."""
    mean: float
    """The mean over trajectories of the geometric mean over time of the relative error."""
    geometric_mean: float
    """The geometric mean of these."""
    energy: float
    """The geometric mean of the relative error of the energy."""
    violation: float | None
    """The largest violation of a constraint; None without constraints."""
    lost: int
    """How many predictions ran away."""


class Comparison:
    """Learned models beside the truth: `comparison["chnn"]` is a judgement. The first one is the motion of the system itself, from starts that were moved."""

    def __init__(self, native: Any) -> None:
        self._native = native
        facts = dict(native.facts())
        self.judgements: list[Judgement] = [Judgement(*each) for each in facts["each"]]
        """All judgements."""
        self.notes: list[str] = list(facts["notes"])
        """What to be told."""
        self.columns: dict[str, Any] = Columns(facts["columns"])
        """Errors over time, with where their means lie with a confidence of 95 %: a row for each model and sample."""
        self._summary = str(facts["summary"])

    def __getitem__(self, name: str) -> Judgement:
        for judgement in self.judgements:
            if judgement.name == name:
                return judgement
        raise KeyError(f"there is no `{name}`: there are {', '.join(each.name for each in self.judgements)}")

    def save(self, path: Any) -> None:
        """Writes errors over time to a file by its ending: .csv, .npz, .parquet or .json."""
        self._native.save(_path(path))

    def plot(self, path: Any = None) -> Picture:
        """Errors over time. With a path, it is written there (.svg or .png); in a notebook it is shown."""
        if path is not None:
            self._native.save_plot(_path(path))
        return Picture(self._native.svg())

    def _repr_svg_(self) -> str:
        return str(self._native.svg())

    def __repr__(self) -> str:
        return "\n".join([self._summary.rstrip(), *(f"note: {note}" for note in self.notes)])


class Architecture:
    """What is assumed of a system, and what is learned: `la.learn.Chnn(hidden=[64, 64]).fit(data)`.

    hidden: units between the layers of each network. activation: `tanh`, `softplus`, `sin` or `silu`. step: the step of predictions, `rk38`, or `rattle`,
    which keeps constraints (Chnn, Clnn). substeps: how many steps lead from sample to sample. damping: whether friction is learned, too.
    without: constraints that are left out, by their place from 0 on.
    """

    name = ""
    _model: Any = None

    def __init__(self, *, hidden: Any = (256, 256, 256), activation: str = "tanh", step: str = "rk38", substeps: int = 1, damping: bool = False, without: Any = ()) -> None:
        if not self.name:
            raise TypeError(f"choose an architecture: {', '.join(sorted(architectures()))}")
        self._recipe: dict[str, Any] = {
            "architecture": self.name,
            "hidden": [whole(units, "hidden", 1, 1 << 20) for units in sequence(hidden, "hidden")],
            "activation": text(activation, "activation"),
            "step": text(step, "step"),
            "substeps": whole(substeps, "substeps", 1, 1 << 20),
            "damping": truth(damping, "damping"),
            "without": [whole(place, "without") for place in sequence(without, "without")],
        }

    def fit(
        self,
        data: Dataset,
        *,
        steps: int = 8000,
        batch: int = 200,
        chunk: int = 5,
        optimizer: str = "soap",
        rate: float | None = None,
        numbers: float = 10.0,
        warmup: int = 0,
        decay: float = 1e-4,
        clip: float | None = None,
        patience: int | None = None,
        validate_every: int | None = None,
        seed: int = 0,
        double: bool = False,
        threads: int | None = None,
        checkpoint: Any = None,
        every: float = 60.0,
        log: Any = None,
        progress: Any = None,
    ) -> Learned:
        """Trains on a dataset.

        steps: how many steps are made. batch: chunks in each, of so many samples (chunk). optimizer: soap, muon or adamw. rate: at its highest
        (0.005 for soap and 0.003 for the others, if nothing is said); it rises for `warmup` steps, and falls to 0 at the end. numbers: how many times
        as fast numbers such as the logarithms of masses learn. decay: of parameters, for each unit of the rate. clip: gradients that are longer are made as short. patience: how many
        measurements of what is for validation may be no better; validate_every: the steps between them. double: whether networks compute
        in double precision. checkpoint: a file that ends in .npz, written every so many seconds; if it is there, the training goes on from it,
        with the same bits. log: a file for losses, .csv or .jsonl.

        Ctrl-C raises `la.Interrupted`, which has what was learned in its `results`.
        """
        if not isinstance(data, Dataset):
            raise TypeError(f"data should be a dataset, not {kind(data)}: la.learn.data makes one")
        wanted = {
            **self._recipe,
            "steps": whole(steps, "steps", 1),
            "batch": whole(batch, "batch", 1),
            "chunk": whole(chunk, "chunk", 2),
            "optimizer": text(optimizer, "optimizer"),
            "rate": None if rate is None else number(rate, "rate"),
            "numbers": number(numbers, "numbers"),
            "warmup": whole(warmup, "warmup"),
            "decay": number(decay, "decay"),
            "clip": None if clip is None else number(clip, "clip"),
            "patience": None if patience is None else whole(patience, "patience", 1),
            "validate_every": None if validate_every is None else whole(validate_every, "validate_every", 1),
            "seed": whole(seed, "seed"),
            "double": truth(double, "double"),
            "threads": _threads(threads),
            "checkpoint": None if checkpoint is None else _ending(checkpoint, ".npz"),
            "every": number(every, "every"),
            "log": None if log is None else _ending(log, ".csv", ".jsonl"),
        }
        plain = None if self._model is None else asked()
        try:
            with watched(progress, self.name) as tell:
                return Learned(_native.train(data._native, wanted, self._model, plain, tell))
        except Interrupted as error:
            error.results = Learned(error.results)
            raise

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(f'{name}={value!r}' for name, value in self._recipe.items() if name != 'architecture')}>"


class Known(Architecture):
    """A model of your own with networks among its energies (`network push of x hidden 12, 12`): they are trained, and all else is as it says. It is a
    `la.Model`, a text in the language, or the path of a .motion file."""

    name = "known"

    def __init__(self, model: Any, *, step: str = "rk38", substeps: int = 1) -> None:
        super().__init__(step=step, substeps=substeps)
        if isinstance(model, Model):
            self._model = _native.System.text(model.name, model.text + "\n", os.getcwd())
        elif isinstance(model, os.PathLike) or isinstance(model, str) and model.endswith(".motion"):
            self._model = _native.System.file(_path(model))
        else:
            self._model = _native.System.text("model", text(model, "model"), os.getcwd())


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


#: Every architecture is a class, by its name: `hnn` is `Hnn`, `neural-ode` is `NeuralOde`.
_CLASSES: dict[str, type[Architecture]] = {
    _title(name): type(_title(name), (Architecture,), {"name": name, "__doc__": f"{about}\n\n{Architecture.__doc__}", "__module__": __name__})
    for name, about in _native.architectures()
    if name != "known"
}


def __getattr__(name: str) -> type[Architecture]:
    try:
        return _CLASSES[name]
    except KeyError:
        raise AttributeError(f"there is no `{name}` in leastaction.learn: architectures are {', '.join(_CLASSES)}") from None


def __dir__() -> list[str]:
    return sorted([*globals(), *_CLASSES])


def architectures() -> dict[str, str]:
    """The architectures by the names of their classes, and what they are.

    >>> architectures()["Chnn"] != ""
    True
    """
    return {_title(name): about for name, about in _native.architectures()}


def data(
    system: System,
    trajectories: Any = None,
    *,
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    samples: int | None = None,
    every: float | None = None,
    sample: Mapping[str, Any] | None = None,
    seed: int = 0,
    noise: float = 0.0,
    tol: float = 1e-11,
    differences: bool = False,
    threads: int | None = None,
    progress: Any = None,
    **options: Any,
) -> Dataset:
    """Makes a dataset: trajectories of a system from starts that are drawn, or trajectories of your own.

    trajectories: left out, they are computed. Or: a dictionary with `z` of (trajectories, samples, numbers), or `q` and `v`, and `t` or `dt`; columns by
    name (t, th, th', and perhaps `trajectory`) as a dictionary or a table; trajectories of runs; paths of .csv and .npz files; or a list of
    several of these. Times must be even. train, validation, test: how many trajectories there are for each (800, 100, 100; of your own, a
    tenth each for the last two). samples: how many each has; trajectories of your own are cut into such pieces. every: the time from sample
    to sample. sample: how starts are drawn, by names of coordinates and velocities, such as {"th": "uniform(-1, 1)"}; as the catalog says, if left out. noise:
    the standard deviation of what is added to what is for training and validation. differences: whether velocities are taken from differences
    of positions. Other options are parameters and start, in place of the system's.
    """
    if not isinstance(system, System):
        raise TypeError(f"system should be a system, not {kind(system)}")
    overrides = asked_of(system, options, ("parameters", "start"), "a dataset")
    own = trajectories is not None
    if own and (sample is not None or noise != 0.0 or tol != 1e-11):
        raise UsageError("sample, noise and tol are for trajectories that are computed: leave them out")
    if truth(differences, "differences") and not own:
        raise UsageError("differences are for trajectories of your own: give them")
    apart = None if every is None else number(every, "every")
    if apart is not None and apart <= 0:
        raise UsageError(f"every = {apart:g}: the time from sample to sample is positive")
    counts = [(train, "train"), (validation, "validation"), (test, "test")]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leastaction-"))
        wanted = {
            "files": _files(trajectories, folder, system) if own else [],
            "differences": differences,
            "split": tuple(None if count is None else whole(count, name) for count, name in counts),
            "samples": None if samples is None else whole(samples, "samples", 2),
            "every": apart,
            "sample": sampled(sample, stack)[0],
            "seed": whole(seed, "seed"),
            "noise": number(noise, "noise"),
            "tol": number(tol, "tol"),
            "threads": _threads(threads),
        }
        try:
            with watched(progress, system.name) as tell:
                return Dataset(*_native.dataset(system._native, overrides, wanted, tell))
        except Error as error:
            # Where arrays were on their way is nobody's business.
            error.args = (str(error).replace(folder + os.sep, ""),)
            raise


def _files(trajectories: Any, folder: str, system: System) -> list[str]:
    """What was given, as paths of files."""
    files = []
    for place, each in enumerate(trajectories if isinstance(trajectories, (list, tuple)) else [trajectories]):
        if isinstance(each, (str, bytes, os.PathLike)):
            files.append(_path(each))
            continue
        if isinstance(each, Trajectory):
            each = {name: each[name] for name in ("t", *system.coordinates, *system.velocity_names)}
        if not hasattr(each, "keys") and not hasattr(each, "columns"):
            raise TypeError(f"trajectories should be arrays, tables, runs, or paths of files, not {kind(each)}")
        names = [str(name) for name in (each.keys() if hasattr(each, "keys") else each.columns)]
        columns: dict[str, Any] = {name: array(each[name], f"`{name}`") for name in names}
        if not columns:
            raise UsageError("there are no trajectories: give z, or q and v, or columns by name")
        files.append(os.path.join(folder, f"trajectories-{place + 1}.npz"))
        np.savez(files[-1], **columns)
    if not files:
        raise UsageError("there are no trajectories in an empty list")
    return files


def evaluate(learned: Any, data: Dataset, *, substeps: int = 10, perturbed: float = 1e-4, threads: int | None = None) -> Comparison:
    """Judges what was learned on trajectories that were not learned from: one, a list of them, or a dictionary with names.

    The relative error of a prediction is |ẑ − z|/(|ẑ| + |z|) over all positions and velocities; what ran away has an error of 1.
    substeps: steps from sample to sample. perturbed: by how much starts are moved for the true motion beside.
    """
    return rollout(learned, data, substeps=substeps, perturbed=perturbed, threads=threads)


def rollout(
    learned: Any,
    data: Dataset,
    *,
    times: int = 1,
    starts: int | None = None,
    substeps: int | None = None,
    perturbed: float = 1e-4,
    threads: int | None = None,
) -> Comparison:
    """How the errors of predictions grow, beside the truth.

    times: how many times as long as the trajectories of the data; the truth is then computed anew. starts: how many trajectories at most. substeps:
    steps from sample to sample; as many as it was trained with, if left out.
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data should be a dataset, not {kind(data)}")
    if isinstance(learned, Learned):
        learned = {learned.architecture: learned}
    if not isinstance(learned, Mapping):
        listed = sequence(learned, "learned")
        if not all(isinstance(each, Learned) for each in listed):
            raise TypeError("learned should be what was learned, a list or a dictionary of it")
        names = [each.architecture for each in listed]
        learned = {f"{name} {place + 1}" if names.count(name) > 1 else name: each for place, (name, each) in enumerate(zip(names, listed))}
    pairs = [(text(name, "a name"), each) for name, each in learned.items()]
    if not all(isinstance(each, Learned) for _, each in pairs):
        raise TypeError("learned should be what was learned, a list or a dictionary of it")
    if not pairs:
        raise UsageError("nothing was learned: give something to judge")
    native = _native.compare_learned(
        [(name, each._native) for name, each in pairs], data._native, whole(times, "times", 1, 100_000),
        None if starts is None else whole(starts, "starts", 1), None if substeps is None else whole(substeps, "substeps", 1, 10_000),
        number(perturbed, "perturbed"), _threads(threads),
    )  # fmt: skip
    return Comparison(native)


def load(path: Any) -> Learned:
    """What was learned, from a file that `Learned.save` or `leastaction learn train` wrote."""
    return Learned(_native.Learned.read(_path(path)))


def load_data(path: Any) -> Dataset:
    """A dataset from a file that `Dataset.save` or `leastaction learn data` wrote."""
    return Dataset(_native.Dataset.read(_path(path)))


def _threads(threads: int | None) -> int | None:
    return None if threads is None else whole(threads, "threads", 1, 4096)


def _ending(path: Any, *endings: str) -> str:
    name = _path(path)
    if not name.lower().endswith(endings):
        raise UsageError(f"`{name}` should end in {' or '.join(endings)}")
    return name


def _bytes_of(save: Any, name: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="leastaction-") as folder:
        path = os.path.join(folder, name)
        save(path)
        with open(path, "rb") as file:
            return file.read()


def _written(content: bytes, name: str, read: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="leastaction-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return read(path)


def _dataset_again(content: bytes) -> Dataset:
    return _written(content, "data.npz", load_data)  # type: ignore[no-any-return]


def _learned_again(content: bytes) -> Learned:
    return _written(content, "learned.safetensors", load)  # type: ignore[no-any-return]

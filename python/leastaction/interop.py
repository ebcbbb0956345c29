"""Ways to other programs: SciPy, SymPy, JAX, PyTorch and heyoka.

>>> from scipy.integrate import solve_ivp  # doctest: +SKIP
>>> system = la.catalog.pendulum()  # doctest: +SKIP
>>> solve_ivp(system.to_scipy(), (0, 10), system.initial_state(), rtol=1e-9)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._check import key, numbers, sequence
from ._errors import UsageError
from ._native import Expr
from .expressions import _each, _is_list
from .trajectory import _needed

if TYPE_CHECKING:
    from .system import System


def to_scipy(system: System) -> Callable[[float, Any], Any]:
    """The vector field f(t, y) of a state y of coordinates and momenta, as `scipy.integrate.solve_ivp` takes it. Its derivatives, for
    implicit methods, are `f.jacobian(t, y)`; states may also be columns of a matrix (`vectorized=True`)."""
    wanted = system._asked()
    native = system._native

    def field(t: float, y: Any, what: str = "rates") -> Any:
        states = np.ascontiguousarray(np.asarray(y, dtype=np.float64).T)
        rows = states.reshape(1, -1) if states.ndim == 1 else states
        found, _ = _native.query(native, wanted, what, np.full(len(rows), float(t)), rows, True)
        return found.reshape(states.shape).T if what == "rates" else found[0].reshape(rows.shape[1], -1)

    def jacobian(t: float, y: Any) -> Any:
        """The derivatives of the field by the numbers of the state."""
        return field(t, y, "jacobian")

    field.jacobian = jacobian  # type: ignore[attr-defined]
    field.names = [*system.coordinates, *system.momentum_names]  # type: ignore[attr-defined]
    return field


#: Operators in terms of an array module such as NumPy or jax.numpy: what is not its own function of that name.
def _operators(xp: Any) -> dict[str, Callable[..., Any]]:
    return {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "neg": lambda a: -a,
        "^": lambda a, b: a**b,
        "<": lambda a, b: xp.where(a < b, 1.0, 0.0),
        "<=": lambda a, b: xp.where(a <= b, 1.0, 0.0),
        "==": lambda a, b: xp.where(a == b, 1.0, 0.0),
        "!=": lambda a, b: xp.where(a != b, 1.0, 0.0),
        "ln": xp.log,
        "ln1p": xp.log1p,
        "asin": xp.arcsin,
        "acos": xp.arccos,
        "atan": xp.arctan,
        "atan2": xp.arctan2,
        "asinh": xp.arcsinh,
        "acosh": xp.arccosh,
        "atanh": xp.arctanh,
        "logistic": lambda x: 0.5 + 0.5 * xp.tanh(0.5 * x),
        "min": xp.minimum,
        "max": xp.maximum,
        "select": lambda c, a, b: xp.where(c != 0, a, b),
        **{name: getattr(xp, name) for name in PLAIN},
    }


#: Functions with one name in NumPy and here.
PLAIN = ("sqrt", "cbrt", "hypot", "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "sign", "floor")


def to_module(expressions: Any, inputs: Any, xp: Any, erf: Any = None) -> Callable[..., Any]:
    """A function of the inputs that computes expressions by an array module: NumPy, jax.numpy, or another one like them."""
    outputs, shape = _each(expressions, "expressions")
    names = [symbol.name for symbol in _each(inputs, "inputs")[0]]
    parts, roots = _native.walk(outputs)
    operators = _operators(xp)
    for part in parts:
        if isinstance(part, str) and part not in names:
            raise UsageError(f"`{part}` is no input")
        if isinstance(part, tuple) and part[0] == "erf" and erf is None:
            raise UsageError("erf is needed, which this module does not have: give it (erf=)")

    def function(*values: Any) -> Any:
        known: list[Any] = []
        given = dict(zip(names, values, strict=True))
        for part in parts:
            if isinstance(part, str):
                known.append(given[part])
            elif isinstance(part, tuple):
                operator = erf if part[0] == "erf" else operators[part[0]]
                known.append(operator(*(known[place] for place in part[1])))
            else:
                known.append(part)
        found = [known[root] for root in roots]
        if not shape:
            return found[0]
        full = xp.broadcast_arrays(*found)
        return xp.stack(full).reshape((*shape, *getattr(full[0], "shape", ())))

    return function


def to_jax(system: System, what: Any = None, of: Any = None, **options: Any) -> Callable[..., Any]:
    """Accelerations (of a Hamiltonian system, the rates of coordinates and momenta) as a pure function of `jax.numpy`: f(t, q, second,
    parameters), where `second` is velocities or momenta, and parameters are those of the system if left out. It can be compiled by
    `jax.jit`, mapped by `jax.vmap`, and differentiated. JAX has 32 bits unless it is told otherwise (`jax_enable_x64`).

    With `what`, an expression, it is its value at the end of a run, as a function of an array of numbers, which are `of`: names of parameters and of
    numbers of the start. Its gradient (`jax.grad`) is that of the run, by going back over it. The options are those of `System.run`."""
    if what is None:
        if of is not None or options:
            raise UsageError("of, and options of a run, are for an expression at its end: say what")
        return to_module_field(system, _needed("jax.numpy"), _needed("jax.scipy.special").erf)
    jax, jnp = _needed("jax"), _needed("jax.numpy")
    names, both = observed(system, what, of, options)

    def host(values: Any) -> tuple[Any, Any]:
        value, slopes = both(np.asarray(values, dtype=np.float64))
        return np.asarray(value, dtype=values.dtype), np.asarray(slopes, dtype=values.dtype)

    def outside(values: Any) -> Any:
        shapes = jax.ShapeDtypeStruct((), values.dtype), jax.ShapeDtypeStruct((len(names),), values.dtype)
        return jax.pure_callback(host, shapes, values, vmap_method="sequential")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def function(values: Any) -> Any:
        return outside(values)[0]

    function.defvjp(lambda values: outside(values), lambda slopes, cotangent: (cotangent * slopes,))

    def checked(values: Any) -> Any:
        array = jnp.asarray(values, dtype=float)
        if array.shape != (len(names),):
            raise UsageError(f"the numbers have the shape {array.shape}: {len(names)} are expected, {', '.join(names)}")
        return function(array)

    return checked


def to_torch(system: System, what: Any = None, of: Any = None, **options: Any) -> Callable[..., Any]:
    """As `to_jax`, for tensors of PyTorch: the vector field, which can be differentiated; or, with `what`, an expression at the end of a run with its
    gradient, as a function of `torch.autograd`."""
    torch = _needed("torch")
    if what is None:
        if of is not None or options:
            raise UsageError("of, and options of a run, are for an expression at its end: say what")
        module = TorchModule(torch)
        return to_module_field(system, module, module.erf)
    names, both = observed(system, what, of, options)

    class AtTheEnd(torch.autograd.Function):  # type: ignore[name-defined, misc]
        """An expression at the end of a run."""

        @staticmethod
        def forward(context: Any, values: Any) -> Any:
            value, slopes = both(values.detach().cpu().numpy().astype(np.float64))
            context.save_for_backward(torch.as_tensor(slopes, dtype=values.dtype, device=values.device))
            return torch.as_tensor(value, dtype=values.dtype, device=values.device)

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            (slopes,) = context.saved_tensors
            return cotangent * slopes

    def function(values: Any) -> Any:
        tensor = torch.as_tensor(values, dtype=torch.float64) if not torch.is_tensor(values) else values
        if tuple(tensor.shape) != (len(names),):
            raise UsageError(f"the numbers have the shape {tuple(tensor.shape)}: {len(names)} are expected, {', '.join(names)}")
        return AtTheEnd.apply(tensor)

    return function


def observed(system: System, what: Any, of: Any, options: dict[str, Any]) -> tuple[list[str], Callable[[Any], tuple[float, Any]]]:
    """Names of numbers, and the function of them that gives an expression at the end of a run with its derivatives by them."""
    listed = [of] if isinstance(of, (str, Expr)) else [] if of is None else sequence(of, "of")
    names = [key(name, "of") for name in listed] or list(system.parameters)
    starts = {*system.coordinates, *system.velocity_names, *system.momentum_names}
    for name in names:
        if name not in system.parameters and name not in starts:
            raise UsageError(f"`{name}` is no parameter and no number of the start: there are {', '.join([*system.parameters, *sorted(starts)])}")
    if not names or len(set(names)) < len(names):
        raise UsageError("name the numbers that it depends on, each once: of=['k', \"x'\"]")
    fixed = {word: dict(numbers(options.pop(word, None), word)) for word in ("parameters", "start")}

    def both(values: Any) -> tuple[float, Any]:
        own = dict(zip(names, (float(value) for value in values)))
        parameters = {name: value for name, value in own.items() if name in system.parameters}
        start = {name: value for name, value in own.items() if name not in system.parameters}
        found = system.gradient(what, parameters={**fixed["parameters"], **parameters}, start={**fixed["start"], **start}, **options)
        for name in start:
            if name not in found.start:
                raise UsageError(f"the start has no derivative by `{name}`: it has {', '.join(found.start)}")
        return found.value, np.array([found.parameters[name] if name in parameters else found.start[name] for name in names])

    return names, both


class TorchModule:
    """PyTorch under the names of NumPy, for numbers too."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def asarray(self, value: Any) -> Any:
        """A tensor of 64 bits, if it is none yet."""
        return value if self._torch.is_tensor(value) else self._torch.as_tensor(value, dtype=self._torch.float64)

    def cbrt(self, x: Any) -> Any:
        """The cube root."""
        tensor = self.asarray(x)
        return self._torch.sign(tensor) * self._torch.abs(tensor) ** (1 / 3)

    def erf(self, x: Any) -> Any:
        """The error function."""
        return self._torch.special.erf(self.asarray(x))

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        """One where a condition holds, else the other."""
        return self._torch.where(self.asarray(condition).bool(), self.asarray(one), self.asarray(other))

    def stack(self, values: Any) -> Any:
        """Tensors in a new first axis."""
        return self._torch.stack(list(values))

    def broadcast_arrays(self, *values: Any) -> Any:
        """Tensors of one shape."""
        return self._torch.broadcast_tensors(*(self.asarray(value) for value in values))

    def moveaxis(self, value: Any, one: int, other: int) -> Any:
        """A tensor with an axis in another place."""
        return self._torch.movedim(value, one, other)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._torch, name)
        return lambda *values: function(*(self.asarray(value) for value in values))


def to_heyoka(system: System) -> tuple[list[tuple[Any, Any]], list[float]]:
    """The equations of motion for heyoka: pairs of variables and their rates, as `taylor_adaptive` takes them, with the values of parameters in them; and the
    state at the start. Variables are coordinates, then velocities (of a Hamiltonian system, momenta)."""
    hy = _needed("heyoka")
    inputs, outputs = _formulas(system)
    names = [str(symbol) for symbol in inputs]
    n = len(system.coordinates)
    variables = hy.make_vars(*(name.replace("'", "_dot") for name in names[1 : 1 + 2 * n]))
    values = [hy.time, *variables, *system.parameters.values()]
    rates = to_module(outputs, inputs, HeyokaModule(hy), getattr(hy, "erf", None))(*values)
    start = system.initial_state()
    if system.form == "Hamiltonian":
        return list(zip(variables, rates)), start.tolist()
    v = system.velocities(start[:n], start[n:])
    return list(zip(variables, [*variables[n:], *rates])), [*start[:n].tolist(), *v.tolist()]


class HeyokaModule:
    """heyoka under the names of NumPy."""

    NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}

    def __init__(self, hy: Any) -> None:
        self._hy = hy

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        """heyoka selects by numbers."""
        return self._hy.select(condition, one, other)

    def stack(self, values: Any) -> Any:
        """Expressions as an array."""
        return np.array(list(values), dtype=object)

    def broadcast_arrays(self, *values: Any) -> Any:
        """Expressions have no shape."""
        return list(values)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._hy, self.NAMES.get(name, name), None)
        if found is None:
            return lambda *_: _refused(name)
        return found


def _refused(name: str) -> Any:
    raise UsageError(f"heyoka has no function {name}")


def to_module_field(system: System, xp: Any, erf: Any = None) -> Callable[..., Any]:
    """As `to_jax`, for any array module like NumPy."""
    inputs, outputs = _formulas(system)
    n, parameters = len(system.coordinates), system.parameters
    if len(inputs) != 1 + 2 * n + len(parameters):
        raise UsageError("inputs from outside have no place in this function: hold them by parameters")
    function = to_module(outputs, inputs, xp, erf)
    usual = list(parameters.values())

    def field(t: Any, q: Any, second: Any, values: Any = None) -> Any:
        chosen = usual if values is None else [values[i] for i in range(len(usual))]
        halves = [part[..., i] for part in (xp.asarray(q), xp.asarray(second)) for i in range(n)]
        return xp.moveaxis(function(t, *halves, *chosen), 0, -1)

    return field


def _formulas(system: System) -> tuple[list[Expr], list[Expr]]:
    """The function that an integrator needs, as expressions: its arguments and its results."""
    name, inputs, outputs = system._native.function(system._asked())
    if name == "parts":
        raise UsageError(f"{system.name} has no accelerations in closed form, because of constraints or a large mass matrix")
    return [_native.expression(text) for text in inputs], [_native.expression(text) for text in outputs]


#: Operators of SymPy, where they have other names.
SYMPY = {
    "ln": "log",
    "min": "Min",
    "max": "Max",
    "abs": "Abs",
    "cbrt": "cbrt",
    "sqrt": "sqrt",
    "logistic": None,
    "hypot": None,
    "expm1": None,
    "ln1p": None,
    "select": None,
}


def to_sympy(expressions: Any, symbols: dict[str, Any] | None = None) -> Any:
    """Expressions as those of SymPy. A velocity `x'` becomes the symbol `xdot`, unless `symbols` says what it is.

    >>> import leastaction as la
    >>> la.to_sympy(la.expr("sin(x)^2/2"))
    sin(x)**2/2
    """
    sp = _needed("sympy")
    outputs, shape = _each(expressions, "expressions")
    parts, roots = _native.walk(outputs)
    formulas: dict[str, Any] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "neg": lambda a: -a,
        "^": lambda a, b: a**b,
        "<": lambda a, b: sp.Piecewise((1, a < b), (0, True)),
        "<=": lambda a, b: sp.Piecewise((1, a <= b), (0, True)),
        "==": lambda a, b: sp.Piecewise((1, sp.Eq(a, b)), (0, True)),
        "!=": lambda a, b: sp.Piecewise((1, sp.Ne(a, b)), (0, True)),
        "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
        "expm1": lambda x: sp.exp(x) - 1,
        "ln1p": lambda x: sp.log(1 + x),
        "logistic": lambda x: 1 / (1 + sp.exp(-x)),
        "select": lambda c, a, b: sp.Piecewise((a, sp.Ne(c, 0)), (b, True)),
    }

    def translated(part: Any, known: list[Any]) -> Any:
        if isinstance(part, str):
            if symbols and part in symbols:
                return symbols[part]
            return sp.Symbol(part.rstrip("'") + (len(part) - len(part.rstrip("'"))) * "dot", real=True)
        if isinstance(part, tuple):
            name, places = part
            arguments = [known[place] for place in places]
            if name in formulas:
                return formulas[name](*arguments)
            return getattr(sp, SYMPY.get(name) or name)(*arguments)
        exact = Fraction(part)
        return sp.Rational(exact.numerator, exact.denominator) if exact.denominator <= 64 else sp.Float(part)

    known: list[Any] = []
    for part in parts:
        known.append(translated(part, known))
    found = [known[root] for root in roots]
    return sp.Array(found, shape) if _is_list(expressions) else found[0]


def from_sympy(expression: Any) -> Expr:
    """An expression of SymPy as one of ours. Symbols keep their names; `Derivative(x(t), t)` is `x'`.

    >>> import sympy, leastaction as la
    >>> la.from_sympy(sympy.cos(sympy.Symbol("x"))**2 + 1)
    cos(x)^2 + 1
    """
    sp = _needed("sympy")
    try:
        root = sp.sympify(expression)
    except (sp.SympifyError, TypeError, AttributeError):
        raise TypeError(f"this is no expression of SymPy: {expression!r}") from None
    known: dict[Any, Expr] = {}
    for node in sp.postorder_traversal(root):
        if node not in known:
            known[node] = _from_node(sp, node, known)
    return known[root]


def _from_node(sp: Any, node: Any, known: dict[Any, Any]) -> Any:
    """One node, whose arguments are known."""
    if isinstance(node, sp.Symbol):
        return _native.expression(str(node)) if str(node).isidentifier() else _unknown(node)
    if node is sp.true or node is sp.false:
        return _native.expression(1.0 if node is sp.true else 0.0)
    if isinstance(node, (sp.Number, sp.NumberSymbol)):
        return _native.expression(float(node))
    if isinstance(node, sp.Derivative):
        function, *by = node.args
        if isinstance(function, sp.core.function.AppliedUndef) and len(by) == 1 and str(by[0][0]) == "t":
            return _native.expression(str(function.func) + "'" * int(by[0][1]))
        return _unknown(node)
    if isinstance(node, sp.core.function.AppliedUndef):
        return _native.expression(str(node.func)) if [str(a) for a in node.args] == ["t"] else _unknown(node)
    if isinstance(node, (sp.Tuple, sp.functions.elementary.piecewise.ExprCondPair)):
        return None
    if isinstance(node, sp.Piecewise):
        value = _native.expression(0.0)
        if node.args[-1].cond != True:  # noqa: E712
            raise UsageError(f"{node} says nothing of what is outside of its conditions")
        for piece in reversed(node.args):
            value = known[piece.expr] if piece.cond is sp.true else _native.apply("select", known[piece.cond], known[piece.expr], value)
        return value
    arguments = [known[argument] for argument in node.args]
    name = node.func.__name__
    if name in ("Add", "Mul"):
        found = arguments[0]
        for argument in arguments[1:]:
            found = found + argument if name == "Add" else found * argument
        return found
    if name == "Pow":
        return arguments[0].sqrt() if node.args[1] == sp.Rational(1, 2) else arguments[0] ** arguments[1]
    names = {"log": "ln", "Abs": "abs", "Min": "min", "Max": "max", "StrictLessThan": "less", "LessThan": "less_equal", "Equality": "equal", "Unequality": "not_equal"}
    if name in ("StrictGreaterThan", "GreaterThan"):
        return _native.apply("less" if name.startswith("Strict") else "less_equal", *reversed(arguments))
    if name in ("Min", "Max") and len(arguments) > 2:
        found = arguments[0]
        for argument in arguments[1:]:
            found = _native.apply(names[name], found, argument)
        return found
    ours = names.get(name, name)
    if ours not in dict(_native.functions()) and ours not in ("less", "less_equal", "equal", "not_equal"):
        return _unknown(node)
    return _native.apply(ours, *arguments)


def _unknown(node: Any) -> Any:
    raise UsageError(f"`{node}` has no meaning here: symbols, numbers, {', '.join(sorted(dict(_native.functions())))}")


def system_to_sympy(system: System) -> dict[Any, Any]:
    """The accelerations (of a Hamiltonian system, the rates of coordinates and momenta) as expressions of SymPy, by symbols."""
    sp = _needed("sympy")
    _, outputs = _formulas(system)
    names = [f"{name}''" for name in system.coordinates]
    if len(outputs) == 2 * len(names):
        names = [f"{name}'" for name in (*system.coordinates, *system.momentum_names)]
    left = [sp.Symbol(name.rstrip("'") + "dot" * name.count("'"), real=True) for name in names]
    return dict(zip(left, to_sympy(outputs)))

"""Write the energy, get the motion.

>>> import leastaction as la
>>> swing = la.catalog.double_pendulum(l2=1).run(until=10)
>>> swing["th1"].shape
(1001,)
"""

from . import learn
from ._catalog import catalog
from ._check import Array
from ._errors import Error, Interrupted, ModelError, RunError, RunWarning, UsageError
from ._methods import Method, methods
from ._native import VERSION as __version__
from ._native import Expr
from .compare import Sweep, Trial, Trials, compare, sweep
from .ensembles import Finding, Results, ensemble, merge
from .expressions import (
    Function,
    atan2,
    compile,
    coords,
    different,
    equal,
    expr,
    functions,
    grad,
    hessian,
    jacobian,
    maximum,
    minimum,
    select,
    symbols,
    time,
)
from .fits import Channel, Estimate, Fit, Hint, fit
from .interop import from_sympy, to_sympy
from .model import Model
from .rest import Equilibrium, Modes, equilibrium, modes
from .sections import Section, section
from .soft import norm
from .system import Equations, Gradient, System, load, parse
from .texts import check, command, format
from .trajectory import Accuracy, Crossings, Picture, Trajectory
from .view import View

__all__ = [
    "Accuracy",
    "Array",
    "Channel",
    "Crossings",
    "Equations",
    "Equilibrium",
    "Error",
    "Estimate",
    "Expr",
    "Finding",
    "Fit",
    "Function",
    "Gradient",
    "Hint",
    "Interrupted",
    "Method",
    "Model",
    "ModelError",
    "Modes",
    "Picture",
    "Results",
    "RunError",
    "RunWarning",
    "Section",
    "Sweep",
    "System",
    "Trajectory",
    "Trial",
    "Trials",
    "UsageError",
    "View",
    "__version__",
    "atan2",
    "catalog",
    "check",
    "command",
    "compare",
    "compile",
    "coords",
    "different",
    "ensemble",
    "equal",
    "equilibrium",
    "expr",
    "fit",
    "format",
    "from_sympy",
    "functions",
    "grad",
    "hessian",
    "jacobian",
    "learn",
    "load",
    "maximum",
    "merge",
    "methods",
    "minimum",
    "modes",
    "norm",
    "parse",
    "section",
    "select",
    "sweep",
    "symbols",
    "time",
    "to_sympy",
]

"""What the documentation says happens: doctests, the README, the page of the book, the examples, and the stubs."""

import ast
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import leastaction as la
from leastaction import _native

ROOT = Path(__file__).parents[2]


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(la.__path__):
        if module.name not in ("__main__", "_native"):
            found = importlib.import_module(f"leastaction.{module.name}")
            tests.addTests(doctest.DocTestSuite(found, extraglobs={"la": la}, optionflags=doctest.ELLIPSIS))
    tests.addTests(doctest.DocTestSuite(la))
    return tests


def snippets(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


class Pages(unittest.TestCase):
    def run_together(self, parts, name):
        """Runs pieces of Python one after the other in an empty folder."""
        script = "\n".join(parts)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning", "-c", script], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{name}\n{done.stderr}")
        return done.stdout

    def test_the_front_page(self):
        parts = snippets("README.md")
        self.assertEqual(len(parts), 1)
        self.run_together(parts, "README.md")

    def test_the_page_of_the_book(self):
        parts = snippets("book/src/python.md")
        self.assertGreater(len(parts), 5)
        self.run_together(parts, "python.md")

    def test_the_examples(self):
        examples = sorted((ROOT / "python/examples").glob("*.py"))
        self.assertGreater(len(examples), 1)
        for example in examples:
            self.run_together([example.read_text()], example.name)


    def test_the_notebooks(self):
        pages = sorted((ROOT / "python/examples").glob("*.ipynb"))
        self.assertGreater(len(pages), 6)
        for page in pages:
            cells = ["".join(cell["source"]) for cell in json.loads(page.read_text())["cells"] if cell["cell_type"] == "code"]
            self.run_together([NOTEBOOK, *(f"show({cell!r})" for cell in cells)], page.name)


#: Runs a cell, and shows its last value in all the ways in which a notebook would.
NOTEBOOK = """
import ast
names = {"__name__": "__main__"}
def show(cell):
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        for way in ("__repr__", "_repr_html_", "_repr_svg_", "_repr_latex_"):
            if hasattr(value, way):
                getattr(value, way)()
"""


class Everything(unittest.TestCase):
    def test_every_public_name_has_a_docstring_and_is_on_the_page(self):
        page = (ROOT / "book/src/python.md").read_text()
        for name in la.__all__:
            if not name.startswith("__"):
                value = getattr(la, name)
                if callable(value):
                    self.assertTrue(inspect.getdoc(value), name)
                self.assertIn(name, page, f"python.md says nothing of la.{name}")
        for kind in [la.System, la.Trajectory, la.Model]:
            for name, member in inspect.getmembers(kind):
                if not name.startswith("_"):
                    self.assertTrue(inspect.getdoc(member), f"{kind.__name__}.{name}")

    def test_every_public_name_has_a_test(self):
        tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path.name != "test_docs.py")
        # What comes of calls is tested where they are: by the attributes that only it has.
        returned = {"Accuracy": "accuracy", "Channel": "channels", "Crossings": "events", "Equations": "equations", "Equilibrium": "equilibrium", "Estimate": "estimates", "Expr": "expr", "Finding": "findings",
                    "Fit": "fit", "Function": "compile", "Gradient": "gradient", "Hint": "hints", "Method": "methods", "Modes": "modes", "Picture": "plot", "Results": "ensemble", "Section": "section",
                    "Sweep": "sweep", "Trajectory": "run", "Trial": "compare", "Trials": "compare", "View": "view", "Array": "array"}  # fmt: skip
        for name in (name for name in la.__all__ if not name.startswith("__")):
            word = returned.get(name, name)
            self.assertRegex(tests, rf"\b(la\.{word}|\.{word})\b", f"no test has la.{name}")
        for kind in (la.System, la.Trajectory, la.Model, la.learn.Dataset, la.learn.Learned, la.Fit):
            for name, member in vars(kind).items():
                if not name.startswith("_"):
                    self.assertTrue(inspect.getdoc(member), f"{kind.__name__}.{name}")

    def test_options_of_commands_are_arguments(self):
        calls = {
            "run": [la.System.run, la.Trajectory.animate, la.Trajectory.reduce], "ensemble": [la.ensemble, la.System.run], "section": [la.section, la.System.run],
            "compare": [la.compare, la.System.run], "equilibrium": [la.equilibrium], "modes": [la.modes], "fit": [la.fit, la.System.run],
        }  # fmt: skip
        # As the page of the book says: words that are others here, and what results are asked for.
        others = {"set": "parameters", "event": "events", "from": "since", "film_speed": "speed", "film_size": "size", "film_view": "view",
                  "rising": "direction", "falling": "direction", "no_hints": "hints"}  # fmt: skip
        results = {"size", "out", "plot", "animate", "json", "quiet", "events", "write", "help", "mode", "reduce"}
        for command, functions in calls.items():
            done = subprocess.run([sys.executable, "-m", "leastaction", command, "--help"], capture_output=True, text=True)
            options = {option.replace("-", "_") for option in re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z-]+)", done.stdout, re.MULTILINE)}
            self.assertGreater(len(options), 3, done.stdout + done.stderr)
            known = {name for function in functions for name in inspect.signature(function).parameters}
            missing = {option for option in options - results if others.get(option, option) not in known}
            self.assertEqual(missing, set(), command)

    def test_the_stubs_say_what_there_is(self):
        tree = ast.parse((Path(la.__file__).parent / "_native.pyi").read_text())
        stubs = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        there = {name for name in dir(_native) if not name.startswith("_") and name != "VERSION"}
        self.assertEqual(set(stubs), there)
        for name, node in stubs.items():
            if isinstance(node, ast.ClassDef):
                said = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                real = {member for member in dir(getattr(_native, name)) if not member.startswith("_")}
                if name == "Expr":
                    real |= set(la.functions())
                self.assertEqual({member for member in said if not member.startswith("_")}, real, name)

    def test_the_stubs_are_right(self):
        asked = ["--ignore-disjoint-bases", "--allowlist", str(Path(__file__).parent / "stubtest-allowed.txt"), "leastaction._native"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mypy.stubtest", *asked], capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types_are_right(self):
        asked = ["--strict", "--ignore-missing-imports", "--no-incremental", "--cache-dir", os.devnull, "leastaction", "examples"]
        done = subprocess.run([sys.executable, "-m", "mypy", *asked], capture_output=True, text=True, cwd=ROOT / "python")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_it_is_imported_quickly_and_alone(self):
        script = "import sys; import leastaction; print(sorted(m for m in sys.modules if m.split('.')[0] in ('matplotlib', 'pandas', 'sympy', 'scipy', 'jax')))"
        self.assertEqual(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip(), "[]")


class Command(unittest.TestCase):
    def test_it_is_the_command(self):
        def said(*arguments):
            done = subprocess.run([sys.executable, "-m", "leastaction", *arguments], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        self.assertEqual(said("--version"), (0, f"leastaction {la.__version__}\n", ""))
        self.assertIn("pendulum", said("list")[1])
        code, _, error = said("run", "pendulm")
        self.assertEqual(code, 2)
        self.assertIn("did you mean", error)
        self.assertEqual(said("run", "pendulum", "--nonsense")[0], 2)

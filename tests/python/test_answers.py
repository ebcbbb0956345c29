"""The numbers of crates/simulate/tests/answers, as far as they have a closed form: `make test-long` computes the others again, too."""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import answers


class KnownAnswers(unittest.TestCase):
    def test_closed_forms(self):
        files = sorted((ROOT / "crates/simulate/tests/answers").glob("*.motion"))
        closed = [file for file in files if "#: source  closed form" in file.read_text(encoding="utf-8")]
        self.assertGreater(len(closed), 50)
        for file in closed:
            self.assertEqual(answers.check(file, update=False), 0, file)

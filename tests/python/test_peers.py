"""How settings of programs are chosen, paired and shown by `make bench-peers`, without the programs."""

import math
import os
import sys
import tempfile
import unittest

import terminal

sys.path.insert(0, os.path.join(terminal.ROOT, "bench", "peers"))
import contest  # noqa: E402
import table  # noqa: E402


def entry(program, setting, *seconds):
    """A program that takes these times, one in each sample; the last for ever."""
    left = list(seconds)
    return contest.Entry(program, setting, lambda budget: ([left.pop(0) if len(left) > 1 else left[0]], setting))


def tried(program, setting, seconds, **errors):
    return contest.Tried(entry(program, setting, seconds), seconds, errors)


class Choosing(unittest.TestCase):
    def test_the_fastest_within_all_bounds_is_taken(self):
        settings = [tried("a", "wrong", 1.0, dE=1.5e-8, dx=1e-9), tried("a", "quick", 2.0, dE=1e-9, dx=1e-9),
                    tried("a", "slow", 3.0, dE=1e-12, dx=1e-12)]
        bounds = {"dE": 1e-8, "dx": 1e-9}
        self.assertEqual(contest.fastest(settings, bounds).entry.setting, "quick")
        self.assertIsNone(contest.fastest(settings, {"dE": 1e-15}))
        self.assertEqual(contest.nearest(settings, {"dE": 1e-15}).entry.setting, "slow")

    def test_what_is_not_known_or_not_finite_is_not_within_bounds(self):
        settings = [tried("a", "failed", math.inf), tried("a", "broken", 1.0, dx=math.nan)]
        self.assertIsNone(contest.fastest(settings, {"dx": 1.0}))
        self.assertIsNone(contest.nearest(settings, {"dx": 1.0}))

    def test_a_failure_is_kept_with_its_reason(self):
        def sample(budget):
            raise RuntimeError("no convergence\nat t = 3")
        found = contest.attempt(contest.Entry("a", "b", sample), lambda entry, end: {"dx": 0.0})
        self.assertEqual((found.failure, found.seconds), ("no convergence", math.inf))

    def test_a_first_run_that_is_slow_does_not_count(self):
        found = contest.attempt(entry("a", "b", 9.0, 1.0), lambda entry, end: {"dx": 0.0})
        self.assertEqual(found.seconds, 1.0)

    def test_only_a_few_of_the_fastest_within_bounds_take_turns(self):
        settings = [tried("a", str(n), 1.0 + n / 10.01, dx=0.0) for n in reversed(range(20))] + [tried("a", "wrong", 0.1, dx=2.0)]
        self.assertEqual([t.entry.setting for t in contest.shortlist(settings, {"dx": 1.0})], list("0123456"))
        equal = [tried("a", str(n), 1.0, dx=0.0) for n in range(20)]
        self.assertEqual(len(contest.shortlist(equal, {"dx": 1.0})), contest.MOST)

    def test_no_bad_moment_chooses(self):
        slower, disturbed = tried("a", "slower", 1.0, dx=0.0), tried("a", "disturbed", 1.5, dx=0.0)
        far = tried("a", "far", 1.7, dx=0.0)
        disturbed.entry.sample = entry("a", "disturbed", *[1.5] * (contest.CHOOSING - 1), 0.9, 1.5).sample
        far.entry.sample = entry("a", "far", 0.1).sample
        self.assertIs(contest.choose([slower, disturbed, far], {"dx": 1.0}, {}), disturbed)

    def test_one_question_has_one_answer(self):
        ours = [tried("us", "a", 1.0, dx=0.0), tried("us", "b", 1.0, dx=0.0)]
        # Whoever is asked again would now be slow.
        ours[0].entry.sample = entry("us", "a", *[1.0] * contest.CHOOSING, 9.0).sample
        ours[1].entry.sample = entry("us", "b", 2.0).sample
        duels = contest.pair("", {"dx": 1.0}, [tried("x", "", 1.0, dx=0.0), tried("y", "", 1.0, dx=0.0)], ours)
        self.assertEqual([duel.ours.entry.setting for duel in duels], ["a", "a"])

    def test_ours_may_not_exceed_the_errors_that_are_matched(self):
        theirs = [tried("them", "t", 1.0, dE=1e-15, dx=3e-10)]
        ours = [tried("us", "loose", 1.0, dE=1e-15, dx=1e-9), tried("us", "tight", 9.0, dE=1e-15, dx=1e-10)]
        pick = lambda **how: contest.pair("", {"dE": 1e-14}, theirs, ours, **how)[0].ours.entry.setting
        self.assertEqual(pick(), "loose")
        self.assertEqual(pick(matched=("dx",)), "tight")
        self.assertEqual(pick(matched=("dx",), slack=4.0), "loose")

    def test_each_program_has_a_duel(self):
        theirs = [tried("x", "1", 1.0, dx=1e-3), tried("y", "2", 1.0, dx=1e-9)]
        ours = [tried("us", "3", 1.0, dx=1e-9)]
        x, y = contest.pair("1e-6", {"dx": 1e-6}, theirs, ours)
        self.assertIsNone(x.theirs)
        self.assertEqual(x.missed.entry.setting, "1")
        self.assertEqual((y.theirs.entry.setting, y.missed), ("2", None))

    def test_turns_alternate_and_ratios_are_of_the_same_round(self):
        order = []

        def noted(name, seconds):
            def sample(budget):
                order.append(name)
                return [seconds * len(order), 1e9], None
            return contest.Entry(name, "", sample)
        duel = contest.Duel("", "them", contest.Tried(noted("them", 2.0), 2.0, {}), contest.Tried(noted("us", 1.0), 1.0, {}))
        contest.settle([duel], rounds=3)
        self.assertEqual(order, ["us", "them"] * 3)
        self.assertEqual(duel.times, [(1.0, 4.0), (3.0, 8.0), (5.0, 12.0)])
        self.assertAlmostEqual(duel.ratio, 3 / 8)
        self.assertTrue(duel.spread[0] < duel.ratio < duel.spread[1])


class Tables(unittest.TestCase):
    def test_numbers_read_as_people_write_them(self):
        self.assertEqual([table.digits(x) for x in (0, 0.12345, 17012.3, 3e-7, None)], ["0", "0.123", "17 000", "3.00e-07", "–"])
        self.assertEqual([table.duration(x) for x in (2.5, 1.5e-3, 4.44e-5, 2.7e-8)], ["2.5 s", "1.5 ms", "44.4 µs", "27 ns"])

    def test_cells_cannot_break_a_table(self):
        self.assertEqual(table.table(["a", "b"], [["x|y", "1\n2"]]), "| a | b |\n|---|---|\n| x\\|y | 1 2 |\n")
        with self.assertRaises(ValueError):
            table.table(["a", "b"], [["x"]])

    def duel(self, ours, theirs):
        them, us = tried("them", "t", theirs, dx=1e-9), tried("us", "u", ours, dx=1e-10)
        return contest.Duel("1e-9", "them", them, us, times=[(ours, theirs)] * 4)

    def test_where_we_lose_is_shown(self):
        slower, faster = self.duel(3.0, 2.0), self.duel(1.0, 2.0)
        self.assertIn("**1.5** (1.5–1.5)", table.duels([slower]))
        self.assertNotIn("**", table.duels([faster]))
        self.assertEqual(table.summary([("P1", [slower, faster])]), "- P1, 1e-9: 1.5 times as long as them\n")

    def test_what_was_not_reached_is_shown(self):
        ours = [tried("us", "u", 1.0, dx=1e-8)]
        duel = contest.pair("1e-9", {"dx": 1e-9}, [tried("them", "t", 1.0, dx=1e-10)], ours)[0]
        self.assertIn("none; nearest: u (dx 1e-08)", table.duels([duel]))
        self.assertIn("no setting of ours", table.summary([("P1", [duel])]))

    def test_a_file_is_written_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            table.write(path, "one")
            with self.assertRaises(TypeError):
                table.write(path, None)
            self.assertEqual(os.listdir(folder), ["page.md"])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "one")


if __name__ == "__main__":
    unittest.main()

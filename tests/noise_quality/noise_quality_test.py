"""noise_quality_test.py PROGRAM VNJIT: the streams of bench/noise_quality.cpp hold the values that
`vnjit noise` prints, and bench/noise_quality.py tells good ones from bad ones."""

import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

PROGRAM, VNJIT = sys.argv[1:3]
SCRIPT = Path(__file__).resolve().parents[2] / "bench/noise_quality.py"
NOISES = (
    "triton",
    "splitmix64",
    "philox:uniform:7",
    "philox:uniform8:7",
    "philox:uniform8:10",
    "philox:rademacher:7",
    "philox:normal:7",
)


def streamed(*flags):
    return subprocess.run([PROGRAM, *flags], check=True, stdout=subprocess.PIPE).stdout


def values(noise, seed, offset, count):
    """Exact values of elements, by way of what `vnjit noise` prints."""
    flags = f"noise --noise {noise} --seed {seed} --offset {offset} --count {count} --bits"
    printed = subprocess.run([VNJIT, *flags.split()], check=True, capture_output=True, text=True)
    words = (bytes.fromhex(line) for line in printed.stdout.split())
    return [Fraction(struct.unpack(">f", word)[0]) for word in words]


def bits_of(noise, value):
    """A value's bits as text, the last one first."""
    if "uniform8" in noise:
        number, width = value * 256 + Fraction(255, 2), 8
    elif "rademacher" in noise:
        number, width = (value + 1) / 2, 1
    elif "normal" in noise:
        number, width = Fraction(0.5 + 0.5 * math.erf(float(value) / math.sqrt(2))) * 2**16, 16
    else:
        number, width = min((value + Fraction(1, 2)) * 2**23, Fraction(2**23 - 1)), 23
    return f"{math.floor(number):0{width}b}"[::-1]


def packed(noise, noise_values):
    bits = "".join(bits_of(noise, value) for value in noise_values)
    return bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits) - 7, 8))


class Stream(unittest.TestCase):
    def test_elements_are_the_elements_of_one_seed_in_turn(self):
        for noise in NOISES:
            with self.subTest(noise=noise):
                expected = packed(noise, values(noise, -5, 4294967290, 512))
                flags = f"--noise {noise} --order elements --seed -5 --offset 4294967290"
                made = streamed(*flags.split(), "--bytes", str(len(expected)))
                self.assertEqual(made, expected)

    def test_seeds_are_one_element_of_seed_after_seed(self):
        for noise in NOISES:
            with self.subTest(noise=noise):
                each = [values(noise, seed, 77, 1)[0] for seed in range(-3, 21)]
                expected = packed(noise, each)
                flags = f"--noise {noise} --order seeds --seed -3 --offset 77"
                made = streamed(*flags.split(), "--bytes", str(len(expected)))
                self.assertEqual(made, expected)

    def test_seeds_n_are_n_elements_of_seed_after_seed(self):
        for noise in NOISES:
            with self.subTest(noise=noise):
                runs = [values(noise, seed, 60, 40) for seed in range(9, 13)]
                expected = packed(noise, sum(runs, []))
                flags = f"--noise {noise} --order seeds:40 --seed 9 --offset 60"
                made = streamed(*flags.split(), "--bytes", str(len(expected)))
                self.assertEqual(made, expected)

    def test_a_long_stream_goes_on_where_a_piece_ends(self):
        for noise in ("philox:uniform8:7", "philox:uniform:7"):
            with self.subTest(noise=noise):
                made = streamed("--noise", noise, "--bytes", "400003")
                self.assertEqual(len(made), 400003)
                later = packed(noise, values(noise, 1, 65536 - 8, 80))
                at = (65536 - 8) * (8 if "uniform8" in noise else 23) // 8
                self.assertEqual(made[at : at + len(later)], later)
        blocks = streamed("--order", "seeds:3", "--bytes", "70000")
        later = packed("philox:uniform8:7", values("philox:uniform8:7", 1 + 65538 // 3, 0, 3))
        self.assertEqual(blocks[65538:65541], later)

    def test_a_reader_that_has_enough_ends_it_quietly(self):
        process = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(len(process.stdout.read(10)), 10)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.wait(), 0)
        process.stderr.close()

    def test_flags_are_refused_in_a_line(self):
        most = 2**63 - 1
        for flags, message in (
            (
                "--noise gauss",
                "noise generator 'gauss' is unknown; use triton, splitmix64 or philox",
            ),
            (
                "--order random",
                "--order: 'random' is unknown; use elements, seeds or seeds:ELEMENTS",
            ),
            ("--order seeds:0", "--order seeds: '0' is not a whole number of 1 to 65536"),
            ("--order seeds:65537", "--order seeds: '65537' is not a whole number of 1 to 65536"),
            ("--seed 1e3", f"--seed: '1e3' is not a whole number of {-most - 1} to {most}"),
            ("--offset -1", f"--offset: '-1' is not a whole number of 0 to {most}"),
            ("--bytes 1MB", f"--bytes: '1MB' is not a whole number of 0 to {most}"),
            ("--bogus", "The following argument was not expected: --bogus"),
        ):
            with self.subTest(flags=flags):
                done = subprocess.run([PROGRAM, *flags.split()], capture_output=True, text=True)
                said = (done.returncode, done.stdout, done.stderr)
                self.assertEqual(said, (2, "", f"noise_quality: {message}\n"))


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_script(self, *flags):
        command = [sys.executable, "-B", str(SCRIPT), "--program", PROGRAM]
        command += ["--results", str(self.folder / "results.jsonl"), *flags]
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )

    def install(self, name, output):
        """A stand-in for a battery: reads 100,000 bytes and prints the text."""
        said = self.folder / f"{name}.txt"
        said.write_text(output, encoding="utf-8")
        program = self.folder / name
        lines = ("#!/bin/sh", "head -c 100000 >/dev/null", f'echo "$@" >>"{self.folder}/calls"')
        program.write_text("\n".join((*lines, f'cat "{said}"\n')), encoding="utf-8")
        program.chmod(0o755)

    def calls(self):
        return (self.folder / "calls").read_text(encoding="utf-8").splitlines()

    def cells(self, done):
        lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]

    def test_every_noise_passes_the_sanity_tests_in_every_order(self):
        done = self.run_script("--battery", "sanity")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.cells(done)
        self.assertEqual([row[0] for row in rows[::3]], list(NOISES))
        for row in rows:
            self.assertEqual((row[2], row[3], row[6], row[7]), ("sanity", "3", "0", "1"))

    def test_a_bad_generator_fails_in_every_order(self):
        done = self.run_script("--battery", "sanity", "--noise", "lcg")
        self.assertEqual(done.returncode, 1)
        rows = self.cells(done)
        self.assertEqual([row[1] for row in rows], ["elements", "seeds", "seeds:64"])
        for row in rows:
            self.assertGreaterEqual(int(row[6]), 2, row)
        self.assertIn("- lcg elements sanity 1MiB, seed 1: bytes 0.00000000 failed", done.stdout)

    def test_what_is_weak_is_run_again_with_another_seed(self):
        rows = "  dab_dct| 256|0.99672437|   WEAK   \n  other|   0|0.5|  PASSED  \n"
        self.install("dieharder", rows)
        flags = "--quick --battery dieharder --noise triton --order seeds".split()
        done = self.run_script(*flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        tests = 9
        self.assertEqual(self.cells(done)[0][3:7], [str(2 * tests), str(tests), str(tests), "0"])
        for seed in (1, 1000000007):
            line = f"- triton seeds dieharder 206, seed {seed}: dab_dct:256 0.99672437 weak\n"
            self.assertIn(line, done.stdout)
        self.assertEqual(len(self.calls()), 2 * tests)
        self.assertTrue(self.calls()[-1].startswith("-g 200 "), self.calls()[-1])
        self.assertTrue(self.calls()[-1].endswith(" -d 206"), self.calls()[-1])

    def test_a_run_that_was_stopped_goes_on_where_it_was(self):
        self.install("dieharder", "  sts|   1|0.25|  PASSED  \n")
        flags = "--quick --battery dieharder --noise triton --order seeds".split()
        first = self.run_script(*flags)
        results = self.folder / "results.jsonl"
        lines = results.read_text(encoding="utf-8").splitlines()
        results.write_text("\n".join(lines[:4]) + "\n" + lines[4][:30], encoding="utf-8")
        second = self.run_script(*flags)
        self.assertEqual(self.cells(second)[0][:7], self.cells(first)[0][:7])
        self.assertEqual(len(self.calls()), 9 + 5)
        self.run_script(*flags)
        self.assertEqual(len(self.calls()), 9 + 5)

    def test_anomalies_of_practrand_are_counted(self):
        self.install(
            "RNG_test",
            "rng=RNG_stdin32, seed=unknown\nlength= 64 megabytes (2^26 bytes), time= 1.2 seconds\n"
            "  Test Name                         Raw       Processed     Evaluation\n"
            "  BCFN(2+0,13-3,T)                  R=  +9.1  p =  5.4e-4   unusual          \n"
            "  [Low1/32]BRank(12):256(4)         R= +1272  p~=  1.3e-384   FAIL !!!!!!!   \n"
            "  FPF-14+6/16:all                   R=  -6.0  p =1-3.2e-5   mildly suspicious\n"
            "  ...and 145 test result(s) without anomalies\n",
        )
        done = self.run_script(*"--quick --battery practrand --noise triton --order seeds".split())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.cells(done)[0][2:7], ["practrand", "148", "2", "2", "2"])
        self.assertEqual(self.calls(), ["stdin32 -tlmin 64MB -tlmax 64MB"] * 2)
        self.assertIn("[Low1/32]BRank(12):256(4) 1.3e-384 failed", done.stdout)

    def test_a_battery_without_a_verdict_is_an_error(self):
        self.install("dieharder", "no such test\n")
        done = self.run_script("--quick", "--battery", "dieharder", "--noise", "triton")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        said = r"'dieharder .* -d 0' gave no verdict; it printed 'no such test\\n'"
        self.assertRegex(done.stderr, rf"^noise_quality.py: {said}\n$")

    def test_a_noise_that_there_is_not_is_an_error(self):
        done = self.run_script("--battery", "sanity", "--noise", "gauss")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("noise generator 'gauss' is unknown", done.stderr)

    def test_without_the_program_it_says_what_builds_it(self):
        done = self.run_script("--battery", "sanity", "--program", "/none")
        self.assertEqual(done.returncode, 2)
        message = "--program: there is no program /none; ./dev noise-quality builds it"
        self.assertEqual(done.stderr, f"noise_quality.py: {message}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

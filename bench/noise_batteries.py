"""The batteries of noise_quality.py: which tests each has, how it is called, what it says.

A battery has a name, `command(test)`, a program that reads raw bits from standard input, and
`verdicts(printed)`, what that program said: [test, p, "passed" | "weak" | "failed"] each.
`tests(extent)` names its tests for one of EXTENTS.
"""

import re
import shutil
import sys
from pathlib import Path

EXTENTS = ("quick", "standard", "full")


def ntuples(test, first, last):
    return [f"{test}:{n}" for n in range(first, last + 1)]


class Dieharder:
    """Tests by dieharder's numbers, as NUMBER or NUMBER:NTUPLE."""

    name = "dieharder"
    missing = "dieharder is not installed: apt-get install dieharder"
    # 300 MB and 10 s in all.
    QUICK = "0 4 8 10 11 12 15 102 206".split()
    # 4 GB and a minute in all.
    STANDARD = "0 1 2 3 4 8 10 11 12 15 16 101 102 202:5 203:0 204 205 206 207 208 209".split()
    # What `dieharder -a` runs.
    FULL = (
        "0 1 2 3 4 8 9 10 11 12 13 15 16 17 100 101 102".split()
        + ntuples(200, 1, 12)
        + ntuples(201, 2, 5)
        + ntuples(202, 2, 5)
        + ntuples(203, 0, 32)
        + "204 205 206 207 208 209".split()
    )
    # Without the speed of the stream, for which dieharder would read 40 MB more a test.
    COLUMNS = "test_name ntuple pvalues assessment".split()
    VERDICTS = {"PASSED": "passed", "WEAK": "weak", "FAILED": "failed"}

    def installed(self):
        return shutil.which("dieharder") is not None

    def tests(self, extent):
        return {"quick": self.QUICK, "standard": self.STANDARD, "full": self.FULL}[extent]

    def command(self, test):
        number, _, ntuple = test.partition(":")
        columns = [word for column in self.COLUMNS for word in ("-D", column)]
        only = ["-n", ntuple] if ntuple else []
        return ["dieharder", "-g", "200", *columns, "-d", number, *only]

    def verdicts(self, printed):
        rows = [[cell.strip() for cell in line.split("|")] for line in printed.splitlines()]
        return [
            [f"{name}:{ntuple}", p, self.VERDICTS[word]]
            for name, ntuple, p, word in (row for row in rows if len(row) == len(self.COLUMNS))
        ]


class PractRand:
    """Tests by the number of bytes, as RNG_test writes it; one run reports them all."""

    name = "practrand"
    missing = "RNG_test is not installed: build PractRand and put RNG_test into PATH"
    LENGTHS = {"quick": "64MB", "standard": "1GB", "full": "32GB"}
    ANOMALY = re.compile(r"^\s+(\S+)\s+R=\s*\S+\s+p\s*~?=\s*(\S+)\s+(\S.*?)\s*$")
    UNREMARKABLE = re.compile(r"(?:no anomalies in|\.\.\.and) (\d+) test result")

    def program(self):
        return shutil.which("RNG_test") or shutil.which("practrand-RNG_test")

    def installed(self):
        return self.program() is not None

    def tests(self, extent):
        return [self.LENGTHS[extent]]

    def command(self, test):
        return [self.program(), "stdin32", "-tlmin", test, "-tlmax", test]

    def verdicts(self, printed):
        found = []
        for line in printed.splitlines():
            if anomaly := self.ANOMALY.match(line):
                name, p, words = anomaly.groups()
                found.append([name, p, "failed" if words.startswith("FAIL") else "weak"])
            elif unremarkable := self.UNREMARKABLE.search(line):
                found += [["", "", "passed"]] * int(unremarkable[1])
        return found


class Sanity:
    name = "sanity"

    def installed(self):
        return True

    def tests(self, extent):
        return ["1MiB"]

    def command(self, test):
        return [sys.executable, str(Path(__file__).with_name("noise_sanity.py"))]

    def verdicts(self, printed):
        return [line.split("|") for line in printed.splitlines()]


BATTERIES = {battery.name: battery for battery in (Dieharder(), PractRand(), Sanity())}

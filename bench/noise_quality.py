#!/usr/bin/env python3
"""Runs batteries of statistical tests on the bits of every noise, in every order.

dieharder  Debian's package
practrand  RNG_test of PractRand
sanity     monobit and chi-square of 1 MiB: seconds, and finds only gross faults

What a battery calls weak happens to perfect noise too: such a test is run again with another seed,
and both verdicts are told. Results are kept as they come, so that a run that was stopped goes on
where it was. Prints a table; docs/noise_quality.md says what is in it. The exit status is 1 when a
test failed, 2 for what cannot be run.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

from noise_batteries import BATTERIES

ROOT = Path(__file__).resolve().parent.parent
NOISES = (
    "triton",
    "splitmix64",
    "philox:uniform:7",
    "philox:uniform8:7",
    "philox:uniform8:10",
    "philox:rademacher:7",
    "philox:normal:7",
)
ORDERS = ("elements", "seeds", "seeds:64")
SEEDS = (1, 1_000_000_007)  # the second for what was weak with the first
SLOW_STREAMS = (("philox:rademacher:7", "seeds"),)  # a bit a Philox call; short tests will do
COLUMNS = ("noise", "order", "battery", "tests", "weak", "weak again", "failed", "MB")


def fail(message):
    print(f"noise_quality.py: {message}", file=sys.stderr)
    sys.exit(2)


class Results:
    """What runs said, in a file of a JSON line each, found again by what was run."""

    def __init__(self, path):
        self.path = path
        self.found = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                self.remember(json.loads(line))
            except json.JSONDecodeError:
                continue  # cut short when a run was killed

    def remember(self, record):
        key = tuple(record[name] for name in ("noise", "order", "battery", "test", "seed"))
        self.found[key] = record

    def add(self, record):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            # Never on a line that was cut short.
            file.write("\n" * (file.tell() > 0) + json.dumps(record))
        self.remember(record)


def feed(source_command, battery_command):
    """Pipes one command into another until that has enough. Returns what the second printed and
    the bytes it was given, of which it may have left the last 64 KiB, a pipe's worth, unread."""
    given = 0
    source = subprocess.Popen(source_command, stdout=subprocess.PIPE)
    battery = subprocess.Popen(
        battery_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    try:
        while chunk := os.read(source.stdout.fileno(), 1 << 16):
            battery.stdin.write(chunk)
            given += len(chunk)
    except BrokenPipeError:
        pass
    battery.stdin.close()
    source.stdout.close()
    printed = battery.stdout.read().decode()
    if source.wait() != 0:
        fail(f"{source_command[0]} ended with status {source.returncode}")
    battery.wait()
    return printed, given


def run(program, battery, test, noise, order, seed):
    source = [program, "--noise", noise, "--order", order, "--seed", str(seed)]
    printed, given = feed(source, battery.command(test))
    verdicts = battery.verdicts(printed)
    if not verdicts:
        fail(f"'{' '.join(battery.command(test))}' gave no verdict; it printed {printed!r}")
    return {
        "noise": noise,
        "order": order,
        "battery": battery.name,
        "test": test,
        "seed": seed,
        "bytes": given,
        "verdicts": verdicts,
    }


def described(record):
    remarkable = [" ".join(verdict) for verdict in record["verdicts"] if verdict[2] != "passed"]
    names = " ".join(record[name] for name in ("noise", "order", "battery", "test"))
    return f"{names}, seed {record['seed']}: {', '.join(remarkable) or 'passed'}"


def is_remarkable(record):
    return any(verdict != "passed" for _, _, verdict in record["verdicts"])


def records_of(stream, battery, tests, program, results):
    """A record for each test and, where that was weak, one with the other seed."""
    for test in tests:
        for seed in SEEDS:
            record = results.found.get((*stream, battery.name, test, seed))
            if record is None:
                record = run(program, battery, test, *stream, seed)
                results.add(record)
                print(described(record), file=sys.stderr, flush=True)
            yield record
            if all(verdict != "weak" for _, _, verdict in record["verdicts"]):
                break


def row(stream, battery, records):
    def count(seed, word):
        chosen = [record for record in records if record["seed"] == seed]
        verdicts = [verdict for record in chosen for _, _, verdict in record["verdicts"]]
        return sum(word in ("any", verdict) for verdict in verdicts)

    first, second = SEEDS
    again = count(second, "weak") if count(second, "any") else ""
    failed = count(first, "failed") + count(second, "failed")
    megabytes = round(sum(record["bytes"] for record in records) / 1e6)
    tests = count(first, "any")
    return (*stream, battery.name, tests, count(first, "weak"), again, failed, megabytes)


def report(rows, records):
    """A table in markdown, and below it what was not passed, with what another seed gave."""
    rows = [[str(cell) for cell in cells] for cells in (COLUMNS, *rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * width for width in widths])
    padded = ([cell.ljust(width) for cell, width in zip(cells, widths)] for cells in rows)
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in padded)
    told = [r for r in records if is_remarkable(r) or r["seed"] != SEEDS[0]]
    return table + "\n" * bool(told) + "".join(f"- {described(record)}\n" for record in told)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    extents = parser.add_mutually_exclusive_group()
    extents.add_argument(
        "--quick",
        dest="extent",
        action="store_const",
        const="quick",
        default="standard",
        help="only short tests: less than ten minutes in all",
    )
    extents.add_argument(
        "--full",
        dest="extent",
        action="store_const",
        const="full",
        help="every test of the batteries: many hours",
    )
    parser.add_argument(
        "--noise", action="append", help="only this noise, or lcg, which fails; may be repeated"
    )
    parser.add_argument(
        "--order", action="append", help="only this order: elements, seeds, seeds:N; as --noise"
    )
    parser.add_argument(
        "--battery", action="append", choices=BATTERIES, help="only this battery; as --noise"
    )
    parser.add_argument(
        "--program", default=ROOT / "build/noise_quality", help="the program noise_quality"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "build/noise_quality.jsonl",
        help="where results are kept; without the file all is run anew",
    )
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    return parser.parse_args()


def extent_of(stream, extent):
    return "quick" if extent == "standard" and stream in SLOW_STREAMS else extent


def chosen_batteries(names):
    if names:
        for name in names:
            if not BATTERIES[name].installed():
                fail(BATTERIES[name].missing)
        return [BATTERIES[name] for name in names]
    found = [battery for battery in BATTERIES.values() if battery.installed()]
    for battery in BATTERIES.values():
        if battery not in found:
            print(f"noise_quality.py: without {battery.name}: {battery.missing}", file=sys.stderr)
    return found


def main():
    arguments = parse_arguments()
    batteries = chosen_batteries(arguments.battery)
    if not os.access(arguments.program, os.X_OK):
        fail(f"--program: there is no program {arguments.program}; ./dev noise-quality builds it")
    results = Results(arguments.results)
    rows = []
    told = []
    for stream in itertools.product(arguments.noise or NOISES, arguments.order or ORDERS):
        for battery in batteries:
            tests = battery.tests(extent_of(stream, arguments.extent))
            records = list(records_of(stream, battery, tests, arguments.program, results))
            rows.append(row(stream, battery, records))
            told += records
    text = report(rows, told)
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    failed = COLUMNS.index("failed")
    return 1 if any(cells[failed] for cells in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

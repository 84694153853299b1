"""Reads 1 MiB of raw bits from standard input and prints three tests of them, a line each:

    NAME|P|VERDICT

monobit counts ones; bytes and byte_pairs are chi-square tests of equal counts. P is the chance of
a smaller statistic, so that bits which are too regular stand out as well as bits which are not
regular enough. A verdict is failed beyond 1e-6 and weak beyond 0.005, as dieharder's is.
"""

import collections
import math
import sys

LENGTH = 1 << 20


def normal_distribution(z):
    return 0.5 * math.erfc(-z / math.sqrt(2))


def monobit(data):
    ones = sum(byte.bit_count() * count for byte, count in collections.Counter(data).items())
    bits = 8 * len(data)
    return normal_distribution((2 * ones - bits) / math.sqrt(bits))


def chi_square(symbols, kinds):
    """Of equal counts, by the cube-root approximation of Wilson and Hilferty (1931)."""
    counts = collections.Counter(symbols)
    total = sum(counts.values())
    statistic = sum(count * count for count in counts.values()) * kinds / total - total
    freedom = kinds - 1
    spread = 2 / (9 * freedom)
    return normal_distribution(((statistic / freedom) ** (1 / 3) - 1 + spread) / math.sqrt(spread))


def verdict(p):
    tail = min(p, 1 - p)
    return "failed" if tail < 1e-6 else "weak" if tail < 0.005 else "passed"


def main():
    data = sys.stdin.buffer.read(LENGTH)
    if len(data) < LENGTH:
        sys.exit(f"noise_sanity.py: standard input ended after {len(data)} of {LENGTH} bytes")
    for name, p in (
        ("monobit", monobit(data)),
        ("bytes", chi_square(data, 1 << 8)),
        ("byte_pairs", chi_square(memoryview(data).cast("H"), 1 << 16)),
    ):
        print(f"{name}|{p:.8f}|{verdict(p)}")


if __name__ == "__main__":
    main()

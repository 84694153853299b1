"""bench_random.py JSON: checks the ranges of the random sizes of `vnjit bench --json` and prints how
they are spread."""

import json
import sys

rows = json.load(open(sys.argv[1]))["random"]
for n, row in enumerate(rows):
    pop, batch, features, outputs = (row[key] for key in ("pop", "batch", "in", "out"))
    assert row["case"] == f"R{n + 1}", row
    assert 8 <= pop <= 8192 and 1 <= batch <= 1024, row
    assert 32 <= features <= 4096 and 32 <= outputs <= 4096, row
    assert row["noise_values"] == pop * features * outputs, row
    assert 16e6 <= row["noise_values"] <= 1e9, row
    assert row["flops"] == 2 * batch * row["noise_values"] <= 0.3e12, row
    assert 4 * pop * batch * outputs <= 1e9, row
for key in ("pop", "batch", "in", "out"):
    assert len({row[key] for row in rows}) > 30, key


def percent(condition):
    return round(100 * sum(map(condition, rows)) / len(rows))


print(
    f"{len(rows)} sizes, individual {percent(lambda r: r['x'] == 'individual')} %,"
    f" in of 64 {percent(lambda r: r['in'] % 64 == 0)} %,"
    f" of 16 {percent(lambda r: r['in'] % 16 == 0)} %"
)

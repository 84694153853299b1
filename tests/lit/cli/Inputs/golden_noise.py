"""golden_noise.py VNJIT FILE: `vnjit noise --bits` yields every noise row of a golden file."""

import json
import subprocess
import sys

command, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    golden = json.load(file)
rows = 0
for generator in ("triton", "splitmix64"):
    for row in golden[generator + "_noise"]:
        expected = [row["bits"][at : at + 8] for at in range(0, len(row["bits"]), 8)]
        arguments = [command, "noise", "--noise", generator, "--seed", str(row["seed"])]
        arguments += ["--offset", str(row["offset"]), "--count", str(len(expected)), "--bits"]
        printed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        if printed.split() != expected:
            sys.exit(f"{' '.join(arguments)}\nprinted {printed.split()}\nnot     {expected}")
        rows += 1
print(f"{rows} rows")

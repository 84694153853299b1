"""hostile_sweep.py SWEEP: the sweep with every outcome, and texts that would end a script or a page."""

import json
import sys

sweep = json.load(open(sys.argv[1], encoding="utf-8"))
hostile = "</script><script>failures.push('run')</script><img src=x onerror=1>&\"'\u2028 \u00e9"
sweep["device"]["name"] = hostile
sweep["roofline"] = hostile
for candidate, outcome in zip(sweep["candidates"][6:], ["failed", "pruned", "compiled", "dropped"]):
    candidate.update(outcome=outcome, reason=hostile, seconds=0, rounds=[])
sweep.update(winner=None, interrupted=True)
json.dump(sweep, sys.stdout)

"""change_golden.py IN OUT STATEMENT: writes the JSON file IN, as `d`, changed by a statement."""

import json
import sys

source, target, statement = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    d = json.load(file)
exec(statement)
with open(target, "w", encoding="utf-8") as file:
    json.dump(d, file)

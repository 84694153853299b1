"""same_code.py CUBIN JSON: that the machine code of a cubin is the SASS that `vnjit inspect --json` has."""

import json
import os
import re
import subprocess
import sys

text = subprocess.run([os.environ["VNJIT_NVDISASM"], "--print-code", sys.argv[1]], check=True,
                      capture_output=True, text=True).stdout
plain = [re.sub(r"\s+", " ", match.group(1).strip())
         for match in re.finditer(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", text)]
inspected = [re.sub(r"\s+", " ", line["text"]) for line in json.load(open(sys.argv[2]))["sass"]
             if not line["text"].startswith(".")]
if not plain or plain != inspected:
    sys.exit(f"{len(plain)} and {len(inspected)} instructions differ")

# FileCheck tests over what the vnjit command prints. A test is a .test file: RUN lines on top, then
# CHECK lines. lit expands
#   %vnjit      the command just built
#   %filecheck  FileCheck that reads the test file itself: `RUN: %vnjit emit ... | %filecheck`
#   %python     Python
#   %s %t       the test file, and a scratch path of its own
# and `REQUIRES: nvrtc` marks what compiles, `nvdisasm` what looks at machine code.
import os
import shlex

import lit.formats

config.name = "vnjit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.build_dir

filecheck = shlex.quote(config.filecheck) + " --dump-input=fail --dump-input-context=20"
config.substitutions += [
    ("%vnjit", shlex.quote(config.vnjit)),
    ("%filecheck", filecheck + " %s"),
    ("%python", shlex.quote(config.python) + " -B"),
]

# Nothing of the caller's own settings decides a test, but for where CUDA lies.
kept = ("PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VNJIT_NVRTC")
config.environment = {name: os.environ[name] for name in kept if name in os.environ}
config.environment["LC_ALL"] = "C"
config.environment["VNJIT_CACHE_DIR"] = config.cache_dir

if config.nvdisasm:
    config.available_features.add("nvdisasm")
    config.environment["VNJIT_NVDISASM"] = config.nvdisasm
if config.nvrtc or "VNJIT_NVRTC" in os.environ:
    config.available_features.add("nvrtc")

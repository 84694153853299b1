# inspect.sh VNJIT CHROMIUM PYTHON FOLDER: pages of kernels with and without tensor cores.
set -e
here=$(dirname "$0")
mkdir -p "$4"
for operation in "perturbed-linear --dtype f16" weight-gradient; do
  # shellcheck disable=SC2086
  "$1" inspect $operation --brief --html "$4/inspect.html" >"$4/inspect.txt"
  "$3" -B "$here/page_test.py" "$2" "$4/inspect.html"
done

# report.sh VNJIT CHROMIUM PYTHON FOLDER: the page of real sweeps, of a dry run and of one with every
# outcome and hostile texts.
set -e
here=$(dirname "$0")
mkdir -p "$4"
"$1" report "$here"/../golden/sweeps/*.json --html "$4/report.html"
"$3" -B "$here/page_test.py" "$2" "$4/report.html"
"$1" tune reduce-metric --dry-run --arch sm_80 --report "$4/dry.html" >"$4/dry.txt" 2>&1
"$3" -B "$here/page_test.py" "$2" "$4/dry.html"
"$3" -B "$here/hostile_sweep.py" "$here/../golden/sweeps/h200_f6.json" >"$4/hostile.json"
"$1" report "$4/hostile.json" --html "$4/hostile.html"
"$3" -B "$here/page_test.py" "$2" "$4/hostile.html"

# damaged.sh SCRATCH GOLDEN VNJIT STATEMENT: the one line with which `vnjit check` refuses the golden
# file changed by a Python statement.
here=$(dirname "$0")
python3 "$here/change_golden.py" "$2" "$1" "$4" && sh "$here/refused.sh" "$3" check "$1"

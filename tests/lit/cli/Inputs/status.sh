# status.sh N COMMAND...: runs the command and succeeds when it exits with status N.
expected=$1
shift
"$@"
actual=$?
[ "$actual" -eq "$expected" ] || {
  echo "exit status $actual, not $expected: $*"
  exit 1
} >&2

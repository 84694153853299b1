# refused.sh COMMAND...: prints the one line that the command leaves on standard error when it
# refuses its arguments. Fails unless the status is 2, the line is one and standard output is empty.
message=$(mktemp) && output=$(mktemp) || exit 1
trap 'rm -f "$message" "$output"' EXIT
"$@" >"$output" 2>"$message"
status=$?
lines=$(wc -l <"$message")
if [ "$status" -ne 2 ] || [ "$lines" -ne 1 ] || [ -s "$output" ]; then
  echo "status $status, $lines lines on standard error, for: $*" >&2
  cat "$message" >&2
  exit 1
fi
cat "$message"

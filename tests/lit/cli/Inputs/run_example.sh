# run_example.sh FOLDER VNJIT COMMAND: runs the example of `vnjit COMMAND --help` in FOLDER.
folder=$1
command=$2
vnjit() { "$command" "$@"; }
example=$("$command" "$3" --help | sed -n '/^Example:/,$s/^  vnjit/vnjit/p')
[ -n "$example" ] || {
  echo "the help of $3 has no example" >&2
  exit 1
}
cd "$folder" && eval "$example"

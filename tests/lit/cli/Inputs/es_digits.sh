# es_digits.sh VNJIT ARGUMENT...: runs the example es_digits, which is built beside the command.
program=$(dirname "$1")/es_digits
shift
exec "$program" "$@"

# again.sh COMMAND FILE: runs the command that the opening comment of FILE names.
exec "$1" $(sed -n 's#^// again:  vnjit ##p' "$2")

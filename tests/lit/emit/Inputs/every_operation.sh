# every_operation.sh COMMAND NOISE: the sources of all four operations with NOISE.
for operation in perturbed-linear weight-gradient bias-gradient reduce-metric; do
  "$1" emit "$operation" --noise "$2" || exit 1
done

# Takes what calque-dump prints at each stage to each later one, which must give what calque-dump prints there.
#
#   sh check-resume.sh FILE.mlir
set -e
stages="traced differentiated simplified linalg bufferized outlined planned scheduled llvm"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The syntax of loops has no place for the location of their variable.
run() {
  calque-opt --split-input-file --mlir-print-debuginfo --mlir-print-local-scope "$@" |
    sed -E '/^ *\^bb/s/ loc\("[^"]*":[0-9:]*\)//g'
}

# The first line that parts functions would begin an empty part.
for stage in $stages; do
  calque-dump --stage=$stage "$1" | sed 1,2d > "$folder/$stage"
  run < "$folder/$stage" > "$folder/$stage.expected"
done
pairs=0
for to in $stages; do
  for from in $stages; do
    [ $from = $to ] && break
    run "--calque-stage=from=$from name=$to" < "$folder/$from" > "$folder/found"
    diff "$folder/$to.expected" "$folder/found" || { echo "from $from to $to"; exit 1; }
    pairs=$((pairs + 1))
  done
done
echo "$pairs pairs of stages"

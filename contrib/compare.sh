#!/usr/bin/env bash
# Whether two folders of contrib/baseline.sh hold equal results, byte for byte: contrib/compare.sh BEFORE AFTER
# Exit code 1 and the names of what differs if not. Instruction counts are printed as ratios, not judged.
set -euo pipefail
before=${1:?usage: contrib/compare.sh BEFORE AFTER}
after=${2:?usage: contrib/compare.sh BEFORE AFTER}
same=0 differs=0
while IFS= read -r file; do
    if [ ! -e "$after/$file" ]; then
        differs=$((differs + 1))
        echo "missing: $file"
    elif cmp -s "$before/$file" "$after/$file"; then
        same=$((same + 1))
    else
        differs=$((differs + 1))
        echo "differs: $file"
    fi
done < <(cd "$before" && find . -name results.jsonl -o -name '*.csv' | sort)
echo "$same files are equal, $differs differ"
if [ -e "$before/instructions.txt" ] && [ -e "$after/instructions.txt" ]; then
    paste -d' ' "$before/instructions.txt" "$after/instructions.txt" |
        awk '{ n = NF / 2; label = $1; for (i = 2; i < n; i++) label = label " " $i
               printf "%s: %d -> %d instructions, ratio %.4f\n", label, $n, $NF, $NF / $n }'
fi
[ "$same" -gt 0 ] && [ "$differs" = 0 ]

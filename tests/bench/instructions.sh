#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How many instructions do a bring-up, a sweep that finds all as it was, and the
# repair of one cable take? Counted by callgrind, in process, on a simulated fabric
# of 3,456 hosts: the figures do not depend on what else the machine does, so a
# change that costs something is seen on its day. TAP.
#
#	tests/bench/instructions.sh		against instructions.txt
#	tests/bench/instructions.sh --write	write that file anew
#
# A lower figure fails as well: the file is then to be written anew, or what was
# gained could be lost again unseen. They are those of a build with the default
# flags; another compiler or glibc may need its own.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export MINISM_BUILD=${MINISM_BUILD:-$here/../../build} MINISM_SRC=$here/../..
expected=$here/instructions.txt
program=$MINISM_BUILD/test_scenarios
per_cent=3

skip_all() {
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
[ -x "$program" ] || skip_all "$program has not been built"
if nm "$program" 2>/dev/null | grep -q __asan_init; then
	skip_all "a sanitized build says nothing about instructions"
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/sweeps.scn" <<'END'
scenario three sweeps
fabric PGFT(12,12,24;1,12,12)
start
sweep
run 5s
unplug S-1-0/13
run 20ms
expect sweeps 3
expect up
END
if ! valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
	--dump-after=sweep_conclude "$program" "$scratch/sweeps.scn" \
	>"$scratch/log" 2>&1; then
	echo 'not ok 1 - three sweeps of 3,456 hosts'
	tail -n 20 "$scratch/log" | sed 's/^/# /'
	echo 1..1
	exit 1
fi
sed -n 's/^totals: //p' "$scratch"/out.[123] >"$scratch/totals"
if [ "${1:-}" = --write ]; then
	cp "$scratch/totals" "$expected"
	exit
fi
paste "$scratch/totals" "$expected" | awk -v p=$per_cent '
BEGIN { split("bring-up,second sweep,repair", what, ",") }
{
	off = ($1 / $2 - 1) * 100
	bad = (off > p || off < -p)
	printf("%sok %u - the %s of 3,456 hosts takes %.3f G instructions\n",
		bad ? "not " : "", NR, what[NR], $1 / 1e9)
	printf("# expected: %.3f G, it is %+.1f%%\n", $2 / 1e9, off)
	failed += bad
}
END {
	print "1..3"
	exit failed || NR != 3
}'

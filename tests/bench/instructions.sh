#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How many instructions does a bring-up take? Counted by callgrind, in process,
# on a simulated fabric of 3,456 hosts: the figure does not depend on what else
# the machine does, so a change that costs something is seen on its day. TAP.
#
#	tests/bench/instructions.sh		against instructions.txt
#	tests/bench/instructions.sh --write	write that file anew
#
# A lower figure fails as well: the file is then to be written anew, or what was
# gained could be lost again unseen. It is that of a build with the default flags;
# another compiler or glibc may need its own.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MINISM_BUILD=${MINISM_BUILD:-$here/../../build}
MINISM_SIM=${MINISM_SIM:-$MINISM_BUILD/minism-sim}
expected=$here/instructions.txt
spec='PGFT(12,12,24;1,12,12)'
per_cent=3

skip_all() {
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
[ -x "$MINISM_SIM" ] || skip_all "$MINISM_SIM has not been built"
if nm "$MINISM_SIM" 2>/dev/null | grep -q __asan_init; then
	skip_all "a sanitized build says nothing about instructions"
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/empty.conf"
mkdir "$scratch/cache"
if ! valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
	"$MINISM_SIM" "$spec" -F "$scratch/empty.conf" \
	--cache-dir "$scratch/cache" --once >"$scratch/log" 2>&1 ||
	! grep -q 'SUBNET UP' "$scratch/log"; then
	echo 'not ok 1 - a bring-up of 3,456 hosts'
	tail -n 5 "$scratch/log" | sed 's/^/# /'
	echo 1..1
	exit 1
fi
n=$(sed -n 's/^summary: \([0-9]*\).*/\1/p; s/^totals: \([0-9]*\).*/\1/p' \
	"$scratch/out" | head -n 1)
if [ "${1:-}" = --write ]; then
	echo "$n" >"$expected"
	exit
fi
awk -v n="$n" -v e="$(cat "$expected")" -v p=$per_cent 'BEGIN {
	off = (n / e - 1) * 100
	bad = (off > p || off < -p)
	printf("%sok 1 - a bring-up of 3,456 hosts takes %.3f G instructions\n",
		bad ? "not " : "", n / 1e9)
	printf("# expected: %.3f G, it is %+.1f%%\n1..1\n", e / 1e9, off)
	exit bad
}'

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What can be said of the sources without running them, as TAP: another
# compiler's warnings, gcc's analyzer, functions that no program uses, and a
# source package that builds from what is in it. JOBS as for bootstrap.
set -euo pipefail
export LC_ALL=C
# A make that runs this hands its TESTS down, of which this is one.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
src=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/minism-static.XXXXXX")
# what distcheck unpacks is read-only
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
n=0
bad=0

point() {	# description command...
	local what=$1 begin=$SECONDS

	shift
	n=$((n + 1))
	if "$@" >"$scratch/out" 2>&1; then
		echo "ok $n - $what # $((SECONDS - begin)) s"
		return
	fi
	echo "not ok $n - $what"
	grep -E 'warning:|error:|[Ee]rror [0-9]' "$scratch/out" | head -n 30 |
		sed "s|$src/||; s/^/# /"
	bad=$((bad + 1))
}

skip() {	# description reason
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# compile FOLDER CC CFLAGS: all programs, and a warning is an error
compile() {
	mkdir -p "$scratch/$1"
	cd "$scratch/$1"
	"$src/configure" --quiet --enable-werror CC="$2" CFLAGS="$3"
	make -s -k -j"$jobs"
}

# Functions that only tests call, to look inside.
for_tests="engine_route mad_client_pending replay_events"

# The functions of the sources that are in no program, after the linker has
# removed what nothing refers to. Without optimization none is inlined.
dead_code() {
	local o dead

	mkdir -p "$scratch/dead"
	cd "$scratch/dead"
	"$src/configure" --quiet CFLAGS="-O0 -ffunction-sections" \
		LDFLAGS=-Wl,--gc-sections
	make -s -j"$jobs"
	nm minism minismctl minism-fabric minism-route minism-lab ./*.so |
		awk '$2 ~ /^[tT]$/ { print $3 }' | sort -u >live
	tr ' ' '\n' <<<"$for_tests" >>live
	find topology routing sm -name '*.o' | while read -r o; do
		nm "$o" | awk -v o="$o" '$2 ~ /^[tT]$/ { print $3, o }'
	done | sort -u >all
	[ "$(wc -l <all)" -gt 2000 ] || echo "error: few functions were found"
	dead=$(awk 'NR == FNR { live[$1] = 1; next } !($1 in live)' live all)
	[ -z "$dead" ] || sed 's/^/error: no program uses /' <<<"$dead"
	[ "$(wc -l <all)" -gt 2000 ] && [ -z "$dead" ]
}

# The tests have run already; of them the one that looks at the sources is
# enough here.
distcheck() {
	mkdir -p "$scratch/dist"
	cd "$scratch/dist"
	"$src/configure" --quiet
	make -s -j"$jobs" distcheck TESTS=tests/floors.sh check_PROGRAMS= \
		check_DATA=
}

if command -v clang >/dev/null; then
	point "clang has no warning" compile clang clang "-g -O1"
	point "the fuzzers build, and mind nothing in their corpora" \
		env MINISM_SRC="$src" MINISM_BUILD="$scratch/clang" \
		bash "$src/tests/fuzz/run.sh" 0
else
	skip "clang has no warning" "no clang here"
	skip "the fuzzers build, and mind nothing in their corpora" \
		"no clang here"
fi
# Off is what gcc 12 says of pointers that come out of GLib's containers, and
# of arrays that a loop fills.
point "gcc -fanalyzer has no warning" compile analyzer gcc "-O1 -fanalyzer \
	-Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
	-Wno-analyzer-use-of-uninitialized-value"
point "a program uses every function" dead_code
point "make distcheck" distcheck
echo "1..$n"
[ $bad -eq 0 ]

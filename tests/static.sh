#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What can be said of the sources without running them, as TAP: another
# compiler's warnings, gcc's analyzer, and a source package that builds from
# what is in it. JOBS as for bootstrap.
set -euo pipefail
export LC_ALL=C
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
else
	skip "clang has no warning" "no clang here"
fi
# Off is what gcc 12 says of pointers that come out of GLib's containers, and
# of arrays that a loop fills.
point "gcc -fanalyzer has no warning" compile analyzer gcc "-O1 -fanalyzer \
	-Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
	-Wno-analyzer-use-of-uninitialized-value"
point "make distcheck" distcheck
echo "1..$n"
[ $bad -eq 0 ]

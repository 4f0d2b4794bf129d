#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fuzzes: run.sh [SECONDS [TARGET..]]. Builds each target with clang, libFuzzer
# and the sanitizers, and runs it for so long (60 s if not given) from its
# corpus; 0 s: the corpus alone. New inputs stay in $MINISM_BUILD/fuzz/TARGET,
# crashes in $MINISM_BUILD/fuzz/crashes; the corpus of the tree is not written.
set -u
export LC_ALL=C G_DEBUG=fatal-criticals

src=${MINISM_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
out=${MINISM_BUILD:-$PWD}/fuzz
seconds=${1:-60}
[ $# -eq 0 ] || shift
targets=${*:-$(grep -o 'X([a-z][a-z0-9_]*)' "$src/tests/fuzz/fuzz.h" | tr -d 'X()')}

if ! command -v clang >/dev/null; then
	echo "run.sh: no clang here; the corpora run in make check" >&2
	exit 77
fi
# clang takes NULL + 0 for an overflow, which gcc and C2y do not mind; the
# option counts only behind those that it takes back
sanitize="address,undefined -fno-sanitize=pointer-overflow
	-fno-sanitize-recover=undefined"
flags="-std=gnu11 -O1 -g -fno-omit-frame-pointer -DFUZZ_WITH_LIBFUZZER
	-I$src -I${out%/fuzz}
	-DMINISM_SYSCONFDIR=\"/etc/minism\"
	-DMINISM_CACHEDIR=\"/var/cache/minism\"
	-DMINISM_RUNDIR=\"/run/minism\"
	$(pkg-config --cflags glib-2.0 gio-2.0 libibumad libibmad)"
libs=$(pkg-config --libs glib-2.0 gio-2.0 libibumad libibmad)

mkdir -p "$out/objects" "$out/crashes" || exit 1
rm -f "$out"/objects/*.o

# All but the programs, in an archive: a target takes what it uses.
cd "$src" || exit 1
rm -f "$out/libfuzz.a"
find topology routing sm tools lab tests/lib -name '*.c' ! -name preload.c \
	! -name umad_fault.c \
	-exec grep -L '^main(' {} + |
	FLAGS="$flags -fsanitize=fuzzer-no-link,$sanitize" OUT=$out \
	xargs -P "$(nproc)" -I{} bash -c '
		o=${1%.c} && exec clang $FLAGS -c "$1" -o "$OUT/objects/${o//\//_}.o"' \
		- {} || exit 1
ar rcs "$out/libfuzz.a" "$out"/objects/*.o || exit 1

fuzz() {	# target
	local how=(-max_total_time="$seconds") status source="fuzz_$1.c"

	[ -e "tests/fuzz/$source" ] || source="fuzz_text.c -DFUZZ_TEXT=$1"
	# shellcheck disable=SC2086
	clang $flags -fsanitize=fuzzer,$sanitize \
		tests/fuzz/$source "$out/libfuzz.a" \
		-o "$out/fuzz_$1" $libs || return 1
	mkdir -p "$out/$1"
	[ "$seconds" -ne 0 ] || how=(-runs=0)
	"$out/fuzz_$1" "${how[@]}" -max_len=4096 \
		-timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
		-verbosity=0 -artifact_prefix="$out/crashes/$1-" \
		"$out/$1" "$src/tests/fuzz/corpus/$1" \
		2>"$out/$1.log"
	status=$?
	echo "$1: $seconds s $(grep -E \
		'stat::number_of_executed_units|ERROR|SUMMARY' "$out/$1.log")"
	[ $status -eq 0 ] || echo "error: $1: see $out/$1.log"
	return $status
}

# as many at a time as there are processors
bad=0
for target in $targets; do
	while [ "$(jobs -r | wc -l)" -ge "$(nproc)" ]; do
		wait -n || bad=1
	done
	fuzz "$target" &
done
while wait -n; s=$?; [ $s -ne 127 ]; do
	[ $s -eq 0 ] || bad=1
done
exit $bad

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What can be said of the sources without the tests, as TAP: static.sh PART..
#	syntax		clang's warnings (C files of the product and of the tests)
#	ended		what is left of a check when bootstrap is told to end
#	analyzer	gcc -fanalyzer's
#	dead_code	functions that no program uses
#	distcheck	a source package that builds from what is in it
#	rounding	tables that depend on the processor
#	alone		the manager without the folders tools and lab
#	fuzzers		each for FUZZ_SECONDS (30)
# From the environment: JOBS as for bootstrap; MINISM_BUILD, for syntax and
# rounding: the plain build (build/).
set -euo pipefail
export LC_ALL=C
# A make that runs this hands its TESTS down, of which this is one.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
src=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
build=$(cd "${MINISM_BUILD:-$src/build}" && pwd)
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

# configured FOLDER OPTION..: goes there, below the build's folder; the next run finds
# what has not changed
configured() {
	[ "$build/$1/Makefile" -nt "$src/tests/static.sh" ] || rm -rf "${build:?}/$1"
	mkdir -p "$build/$1"
	cd "$build/$1"
	[ -e Makefile ] || "$src/configure" --quiet "${@:2}"
}

# analyzer: all programs, and a warning is an error. Off is what gcc 12 says of
# pointers that come out of GLib's containers, and of arrays that a loop fills.
analyzer() {
	configured analyzer --enable-werror CC=gcc CFLAGS="-O1 -fanalyzer \
		-Wno-analyzer-null-dereference -Wno-analyzer-null-argument \
		-Wno-analyzer-use-of-uninitialized-value"
	make -s -k -j"$jobs"
}

# Functions that only tests call, to look inside.
for_tests="engine_route mad_client_pending sim_client_show"

# The functions of the sources that are in no program, after the linker has
# removed what nothing refers to. Without optimization none is inlined.
dead_code() {
	local o dead

	configured dead_code CFLAGS="-O0 -ffunction-sections" \
		LDFLAGS=-Wl,--gc-sections
	make -s -j"$jobs"
	nm minism minismctl minism-explain minism-health minism-import \
		minism-web minism-fabric minism-route minism-sim minism-lab \
		./*.so |
		awk '$2 ~ /^[tT]$/ { print $3 }' | sort -u >live
	tr ' ' '\n' <<<"$for_tests" >>live
	# not one that is left of a file that has gone
	find topology routing sm tools lab -name '*.o' | while read -r o; do
		[ -e "$src/${o%.o}.c" ] || continue
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

# What nearly all files include is read once: of clang's time it is the half. The
# plain build tells of an include that a file lacks.
syntax_of() {	# flags: of the C files whose names come, each with a NUL behind it
	# shellcheck disable=SC2086 # words
	printf '#define _GNU_SOURCE\n' >"$scratch/headers.h" &&
		printf '#include <%s.h>\n' glib errno inttypes stdbool stdint \
			stdio stdlib string unistd >>"$scratch/headers.h" &&
		clang -x c-header $1 "$scratch/headers.h" -o "$scratch/headers" &&
		xargs -0 -n 16 -P "$jobs" clang -fsyntax-only \
			-include-pch "$scratch/headers" $1
}

# The flags are those of the plain build; nothing is generated but what is
# included.
syntax() {
	local flags name

	make -s -C "$build" tools/page_html.h || return
	flags=$(sed -nE 's/^(WARN|GLIB|UMAD|IBMAD|CMOCKA)_CFLAGS = //p' \
		"$build/Makefile")
	flags+=" -Werror -DHAVE_CONFIG_H -I$src -I$build"
	for name in SYSCONFDIR CACHEDIR RUNDIR PKGLIBDIR; do
		flags+=" -DMINISM_$name=\"\""
	done
	cd "$src" || return
	find topology routing sm tools lab -name '*.c' -print0 |
		syntax_of "$flags" &&
		find tests/unit tests/lib tests/fuzz tests/bench -name '*.c' \
			! -name umad_fault.c -print0 |
		syntax_of "$flags -Wno-cast-align -Wno-format-nonliteral
			-Wno-missing-field-initializers -Wno-string-concatenation"
}

fuzzers() {
	make -s -C "$build" tools/page_html.h &&
		mkdir -p "$scratch/clang/tools" &&
		cp "$build/config.h" "$scratch/clang/" &&
		cp "$build/tools/page_html.h" "$scratch/clang/tools/" || return
	MINISM_SRC="$src" MINISM_BUILD="$scratch/clang" \
		bash "$src/tests/fuzz/run.sh" "${FUZZ_SECONDS:-30}"
}

# Ten fabrics, most of them with loads that are no round numbers, two of them by
# other engines, too.
# shellcheck disable=SC2054 # commas of a shape
fabrics=(torus\(4,4\;1\) torus\(5,5,5\;2\) random\(60,12,4\)
	random\(30,8,3\) dragonfly\(8,4,4\) dragonfly\(4,4,2\)
	mesh\(4,3\;1\) PGFT\(4,4,8\;1,4,4\) PGFT\(6,6,12\;1,6,6\)
	PGFT\(18,36\;1,18\))
tables_of() {	# program folder
	local n=0 fabric

	mkdir -p "$2"
	for fabric in "${fabrics[@]}" "-R minhop PGFT(6,6,12;1,6,6)" \
		"-R updn PGFT(6,6,12;1,6,6)"; do
		n=$((n + 1))
		# shellcheck disable=SC2046 # words
		"$1" --once --log-file "$2/log" -F /dev/null --cache-dir= \
			--view "$2/view" $(sed -n 's/\(-R [a-z]*\) .*/\1/p' \
			<<<"$fabric") "${fabric##* }" >/dev/null ||
			{ echo "error: $fabric does not come up"; return 1; }
		grep '^#lft' "$2/view" >"$2/$n"
	done
	rm -f "$2/log" "$2/view"
}

# Of a processor that has a fused multiply-add, and of one that has not.
rounding() {
	mkdir -p "$scratch/fma"
	cd "$scratch/fma" &&
		"$src/configure" --quiet CFLAGS="-O2 -march=x86-64-v3" &&
		make -s -j"$jobs" minism-sim &&
		tables_of ./minism-sim "$scratch/new" &&
		tables_of "$build/minism-sim" "$scratch/old" || return
	[ "$(find "$scratch/new" -size +0 -name '[1-9]*' | wc -l)" -eq 12 ] &&
		diff -rq "$scratch/old" "$scratch/new" || {
		echo "error: some tables differ"
		return 1
	}
}

# What a packager, or an engineer with a pair of scissors, may take away.
alone() {
	mkdir -p "$scratch/alone/build"
	cd "$scratch/alone" &&
		cp -r "$src"/{configure.ac,Makefile.am,README,*.in} \
			"$src"/{topology,routing,sm,tests,doc,etc} . &&
		autoreconf --install >/dev/null && cd build &&
		../configure --quiet --disable-tools --disable-lab &&
		make -s -j"$jobs" minism && readelf -d minism >needed &&
		! grep -E 'NEEDED.*(microhttpd|edit)' needed
}

# The parts of a check, as bootstrap runs them: TERM goes to it alone.
ended() {
	local check

	cd "$scratch"
	echo 'echo $$ >waits; exec sleep 600' >part.sh
	sed -nE '/^(begin_parts|part|run_parts)\(\)/,/^}/p' "$src/bootstrap" >check.sh
	printf '%s\n' begin_parts 'part waits "bash part.sh"' 'run_parts 1' >>check.sh
	bash check.sh &
	check=$!
	until [ -s waits ]; do sleep 0.1; done
	kill -TERM $check
	wait $check || [ $? -eq 143 ] || return
	# one that has ended may still be there, without a command; it needs a
	# processor to end
	for _ in {1..50}; do
		grep -q sleep "/proc/$(cat waits)/cmdline" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

has_clang() {
	command -v clang >/dev/null
}

[ $# -gt 0 ] || { sed -n 's/^# *//p' "$0" | sed -n 2,10p; exit 2; }
for part; do
	case $part in
	ended) point "nothing goes on when a check is told to end" ended ;;
	alone)
		point "the manager needs neither tools nor lab" alone ;;
	syntax)
		has_clang || { skip "clang has no warning" "no clang"; continue; }
		point "clang has no warning" syntax ;;
	fuzzers)
		has_clang || { skip "no fuzzer finds anything" "no clang"
			continue; }
		point "no fuzzer finds anything" fuzzers ;;
	analyzer) point "gcc -fanalyzer has no warning" analyzer ;;
	dead_code) point "a program uses every function" dead_code ;;
	distcheck) point "make distcheck" distcheck ;;
	rounding)
		if grep -qw fma /proc/cpuinfo; then
			point "tables are the same for x86-64-v3" rounding
		else
			skip "tables are the same for x86-64-v3" "no FMA here"
		fi ;;
	*) echo "Bail out! there is no $part"; exit 2 ;;
	esac
done
echo "1..$n"
[ $bad -eq 0 ]

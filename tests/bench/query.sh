#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How many questions a second does the SA answer to a client that asks one
# after the other? osmtest's stress flow (100,000 GetTables of one record),
# minism and OpenSM in turns, the same fabric, a fresh ibsim for each.
#
#	make bench_query
#	RUNS=n		of each, 5 if not set: medians
#
# The rate is that of the whole chain: osmtest, ibsim, both shims, the SA. The
# CPU time is the subnet manager's alone, its sweep included.
#
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

runs=${RUNS:-5}
if [ $sanitized = yes ]; then
	echo "a sanitized build says nothing about speed" >&2
	exit 1
fi
for program in osmtest opensm; do
	if ! command -v $program >/dev/null; then
		echo "$program is missing: ./bootstrap bench installs it" >&2
		exit 1
	fi
done

start_minism() {
	sm_start run.log
}

start_opensm() {
	(
		exec "${leash[@]}" env SIM_HOST="$SIM_HOST" \
			LD_PRELOAD="$shim" OSM_CACHE_DIR="$SCRATCH/cache" \
			OSM_TMP_DIR="$SCRATCH/cache" opensm \
			-f "$SCRATCH/run.log"
	) >opensm.out 2>&1 </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

sm_cpu() {	# ms
	awk -v hz="$(getconf CLK_TCK)" '{
		sub(/.*\) /, "")
		printf "%d\n", ($12 + $13) * 1000 / hz
	}' "/proc/$SM_PID/stat"
}

# took FILE: microseconds of the last "took SECONDS:MICROSECONDS" in it
took() {
	sed -n 's/.* 100000 .* took 0*\([0-9]*\):\([0-9]*\) .*/\1 \2/p' "$1" |
		tail -n 1 | awk '{ printf "%d\n", $1 * 1000000 + $2 }'
}

one() {	# PROGRAM: appends "rate cpu" to ./PROGRAM.runs
	local before us

	rm -rf cache run.log stress.log
	mkdir cache
	sim_start "$SCRATCH/query.net" || return 1
	"start_$1"
	# OpenSM's log comes late: ask
	await 30 client saquery CPI || return 1
	if [ ! -f inventory ]; then
		on H-3 client -t 60 osmtest -f c -i "$SCRATCH/inventory" \
			>stress.log 2>&1 || return 1
	fi
	before=$(sm_cpu)
	on H-3 client -t 200 osmtest -f f -s1 -i "$SCRATCH/inventory" \
		-l "$SCRATCH/osmtest.log" >stress.log 2>&1
	us=$(took stress.log)
	if [ "${us:-0}" -eq 0 ]; then
		tail -n 5 stress.log >&2
		return 1
	fi
	echo "$((100000 * 1000000 / us)) $(($(sm_cpu) - before))" \
		>>"$1.runs"
	sm_kill_all
	sim_stop
}

median() {	# PROGRAM column
	sort -n -k "$2,$2" "$1.runs" | awk -v c="$2" '
		{ v[NR] = $c }
		END {
			half = int((NR + 1) / 2)
			print (v[half] + v[NR + 1 - half]) / 2
		}'
}

"$MINISM_FABRIC" 'PGFT(4,4;1,4)' >query.net || exit 1
rm -f ./*.runs
for ((i = 0; i < runs; i++)); do
	for program in minism opensm; do
		if ! one $program; then
			echo "$program did not get through the flow" >&2
			exit 1
		fi
	done
done
echo "medians of $runs runs; $(nproc) processors"
printf '%-8s %12s %10s\n' program "questions/s" "CPU s"
for program in minism opensm; do
	printf '%-8s %12.0f %10.2f\n' $program "$(median $program 1)" \
		"$(awk -v ms="$(median $program 2)" 'BEGIN { print ms / 1000 }')"
done

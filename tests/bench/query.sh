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
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

runs=${RUNS:-5}
must_have osmtest opensm

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
	if [ "$1" = minism ]; then sm_start run.log; else opensm_start; fi
	# OpenSM's log comes late: ask
	await client saquery CPI || return 1
	if [ ! -f inventory ]; then
		limit=60 on H-3 client osmtest -f c -i "$SCRATCH/inventory" \
			>stress.log 2>&1 || return 1
	fi
	before=$(cpu_ms "$SM_PID")
	limit=200 on H-3 client osmtest -f f -s1 -i "$SCRATCH/inventory" \
		-l "$SCRATCH/osmtest.log" >stress.log 2>&1
	us=$(took stress.log)
	if [ "${us:-0}" -eq 0 ]; then
		tail -n 5 stress.log >&2
		return 1
	fi
	echo "$((100000 * 1000000 / us)) $(($(cpu_ms "$SM_PID") - before))" \
		>>"$1.runs"
	sm_kill_all
	sim_stop
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

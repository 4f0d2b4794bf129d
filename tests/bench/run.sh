#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How fast is a bring-up? minism and OpenSM, the same fabrics, one after the
# other in the same run, a fresh ibsim for each: wall-clock time, CPU time and
# peak memory of the subnet manager, CPU time of the simulator. The limit: a
# client that sends the SMPs of a recorded bring-up again and decides nothing
# (limit.c). And minism in a lab (minism-lab), with the lab's own memory.
#
#	make bench			two fabrics, a few minutes
#	make bench BENCH=all		four, up to 27,648 hosts: long
#	make bench BENCH="648 .."	some of them (lib.sh), by their hosts
#	RUNS=n				of each, 3 if not set: medians
#
# The figures are for reading: no threshold fails this, only a fabric that
# does not come up does.
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

runs=${RUNS:-3}
limit=900	# s, for one run

case ${*:-default} in
default) names=(648 11664) ;;
all) names=(648 3456 11664 27648) ;;
*) names=("$@") ;;
esac
have_specs "${names[@]}"
must_have /usr/bin/time opensm

# measure COMMAND...: its figures to ./figures: "wall cpu" in ms, "peak" in KiB
measure() {
	local TIMEFORMAT='%3R %3U %3S' status

	{
		time timeout -k 5 $limit /usr/bin/time -f %M -o peak -- "$@" \
			>client.out 2>client.err </dev/null
	} 2>clock
	status=$?
	awk 'FNR == NR { w = $1; c = $2 + $3; next }
		{ peak = $1 }
		END { printf "%d %d %d\n", w * 1000, c * 1000, peak }' \
		clock <(tail -n 1 peak) >figures
	return $status
}

run_minism() {
	measure env LD_PRELOAD="$shim" SIM_HOST="$SIM_HOST" "$MINISM" \
		-F "$SCRATCH/empty.conf" --cache-dir "$SCRATCH/cache" \
		--once -f run.log "$@"
}

run_opensm() {
	measure env LD_PRELOAD="$shim" SIM_HOST="$SIM_HOST" \
		OSM_CACHE_DIR="$SCRATCH/cache" OSM_TMP_DIR="$SCRATCH/cache" \
		opensm -o -f "$SCRATCH/run.log"
}

# What minism sends, for run_limit
record() {	# NET
	rm -rf cache run.log bench.smps
	mkdir cache
	sim_start "$1" || return 1
	run_minism --pcap=bench.pcapng || return 1
	"$MINISM_BUILD/bench_limit" bench.pcapng bench.smps || return 1
	rm bench.pcapng
	sim_stop
}

run_limit() {
	measure env LD_PRELOAD="$shim" SIM_HOST="$SIM_HOST" \
		"$MINISM_BUILD/bench_limit" bench.smps || return 1
	echo 'SUBNET UP' >run.log
}

run_lab() {
	measure "$MINISM_LAB_PROGRAM" -- "$MINISM" -p 1 \
		-F "$SCRATCH/empty.conf" --cache-dir "$SCRATCH/cache" \
		--once -f run.log
}

# one PROGRAM NET: appends "wall cpu peak fabriccpu fabricpeak" to ./PROGRAM.runs
one() {
	local before place=sim pid

	[ "$1" != lab ] || place=lab
	rm -rf cache run.log
	mkdir cache
	${place}_start "$SCRATCH/$2" || return 1
	pid=$SIM_PID
	[ $place = sim ] || pid=$LAB_PID
	before=$(cpu_ms "$pid")
	if ! "run_$1" || ! log_has run.log 'SUBNET UP'; then
		echo "$1 did not bring the fabric up:" >&2
		tail -n 5 run.log client.err >&2
		return 1
	fi
	echo "$(cat figures) $(($(cpu_ms "$pid") - before))" \
		"$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")" >>"$1.runs"
	${place}_stop
}

row() {	# label program "wall cpu peak sim"
	awk -v label="$1" -v program="$2" '{
		printf "%-11s %-8s %9.3f %9.3f %9.1f %11.2f\n", label, program,
			$1 / 1000, $2 / 1000, $3 / 1024, $4 / 1000
	}' <<<"$3"
}

ratio() {	# what n "wall cpu peak" "wall cpu peak": of the first n
	awk -v what="$1" -v n="$2" 'NR == 1 { split($0, a); next }
		{
			printf "%-11s %-8s", "", what
			for (i = 1; i <= n; i++)
				printf " %9.3f", a[i] / $i
			print ""
		}' <<<"$3"$'\n'"$4"
}

figures_of() {	# PROGRAM
	echo "$(median "$1" 1) $(median "$1" 2) $(median "$1" 3)" \
		"$(median "$1" 4)"
}

echo "medians of $runs runs; $(nproc) processors;" \
	"$(opensm --version 2>/dev/null | grep -om1 'OpenSM [0-9.]*')"
printf '%-11s %-8s %9s %9s %9s %11s\n' fabric program "wall s" "CPU s" \
	"peak MiB" "ibsim CPU s"
declare -A of
for name in "${names[@]}"; do
	"$MINISM_FABRIC" "${specs[$name]}" >bench.net || exit 1
	rm -f ./*.runs
	record bench.net || exit 1
	for ((i = 0; i < runs; i++)); do
		for program in minism limit opensm lab; do
			one $program bench.net || exit 1
		done
	done
	for program in minism opensm limit lab; do
		of[$program]=$(figures_of $program)
	done
	row "$name" minism "${of[minism]}"
	row "" opensm "${of[opensm]}"
	ratio ratio 3 "${of[minism]}" "${of[opensm]}"
	echo
	row "" limit "${of[limit]}"
	ratio "to limit" 2 "${of[minism]}" "${of[limit]}"
	echo
	row "" "in a lab" "${of[lab]}"
	ratio "to ibsim" 1 "${of[lab]}" "${of[minism]}"
	echo "the lab has $(median lab 5 | awk '{ printf "%.0f", $1 / 1024 }') MiB"
	echo
done

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
#	make bench BENCH="NAME.."	some of them by name (see below)
#	RUNS=n				of each, 3 if not set: medians
#
# The figures are for reading: no threshold fails this, only a fabric that
# does not come up does.
#
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

runs=${RUNS:-3}
limit=900	# s, for one run
sim_sizes=(-N 60000 -S 6000 -P 600000)
sim_patience=1200

declare -A specs=(
	[hosts648]='PGFT(18,36;1,18)'
	[hosts3456]='PGFT(12,12,24;1,12,12)'
	[hosts11664]='PGFT(18,18,36;1,18,18)'
	[hosts27648]='PGFT(24,24,48;1,24,24)'
)
case ${*:-default} in
default) names=(hosts648 hosts11664) ;;
all) names=(hosts648 hosts3456 hosts11664 hosts27648) ;;
*) names=("$@") ;;
esac
for name in "${names[@]}"; do
	if [ -z "${specs[$name]:-}" ]; then
		echo "no fabric $name; there are: all ${!specs[*]}" >&2
		exit 2
	fi
done
if [ $sanitized = yes ]; then
	echo "a sanitized build says nothing about speed" >&2
	exit 1
fi
for program in /usr/bin/time opensm; do
	if ! command -v $program >/dev/null; then
		echo "$program is missing: ./bootstrap bench installs it" >&2
		exit 1
	fi
done

# sim_cpu: CPU time that ibsim has used, in ms
sim_cpu() {
	awk -v hz="$(getconf CLK_TCK)" '{
		sub(/.*\) /, "")
		printf "%d\n", ($12 + $13) * 1000 / hz
	}' "/proc/$SIM_PID/stat"
}

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

# one PROGRAM NET: appends "wall cpu peak simcpu" to ./PROGRAM.runs
one() {
	local before

	rm -rf cache run.log
	mkdir cache
	sim_start "$2" || return 1
	before=$(sim_cpu)
	if ! "run_$1" || ! log_has run.log 'SUBNET UP'; then
		echo "$1 did not bring the fabric up:" >&2
		tail -n 5 run.log client.err >&2
		return 1
	fi
	echo "$(cat figures) $(($(sim_cpu) - before))" >>"$1.runs"
	sim_stop
}

# one_lab NET: the same for minism in a lab, and the lab's peak memory
one_lab() {
	local before SIM_PID

	rm -rf cache run.log
	mkdir cache
	lab_start "$SCRATCH/$1" || return 1
	SIM_PID=$LAB_PID
	before=$(sim_cpu)
	if ! measure "$MINISM_LAB_PROGRAM" -- "$MINISM" -p 1 \
		-F "$SCRATCH/empty.conf" --cache-dir "$SCRATCH/cache" \
		--once -f run.log || ! log_has run.log 'SUBNET UP'; then
		echo "minism did not bring the fabric up in a lab:" >&2
		tail -n 5 run.log client.err >&2
		return 1
	fi
	echo "$(cat figures) $(($(sim_cpu) - before))" \
		"$(awk '/^VmHWM/ { print $2 }' "/proc/$LAB_PID/status")" \
		>>lab.runs
	lab_stop
}

row_lab() {	# "wall cpu peak sim server" of the lab, "wall .." on ibsim
	awk -v l="$1" -v m="$2" 'BEGIN {
		split(l, a, " "); split(m, b, " ")
		printf "%-11s %-8s %9.3f %9.3f %9.1f %11.2f\n", "", "in a lab",
			a[1] / 1000, a[2] / 1000, a[3] / 1024, a[4] / 1000
		printf "%-11s %-8s %9.3f; the lab has %.0f MiB\n\n", "",
			"to ibsim", a[1] / b[1], a[5] / 1024
	}'
}

median() {	# PROGRAM column
	sort -n -k "$2,$2" "$1.runs" | awk -v c="$2" '
		{ v[NR] = $c }
		END {
			half = int((NR + 1) / 2)
			print (v[half] + v[NR + 1 - half]) / 2
		}'
}

row_limit() {	# "wall cpu peak sim" of the limit client, of minism
	awk -v l="$1" -v m="$2" 'BEGIN {
		split(l, a, " "); split(m, b, " ")
		printf "%-11s %-8s %9.3f %9.3f %9.1f %11.2f\n", "", "limit",
			a[1] / 1000, a[2] / 1000, a[3] / 1024, a[4] / 1000
		printf "%-11s %-8s %9.3f %9.3f\n\n", "", "to limit",
			b[1] / a[1], b[2] / a[2]
	}'
}

row() {	# label columns: "wall cpu peak sim" of two programs
	awk -v label="$1" -v m="$2" -v o="$3" 'BEGIN {
		split(m, a, " "); split(o, b, " ")
		f = "%-11s %-8s %9.3f %9.3f %9.1f %11.2f\n"
		printf f, label, "minism", a[1] / 1000, a[2] / 1000,
			a[3] / 1024, a[4] / 1000
		printf f, "", "opensm", b[1] / 1000, b[2] / 1000,
			b[3] / 1024, b[4] / 1000
		printf "%-11s %-8s %9.3f %9.3f %9.3f\n\n", "", "ratio",
			a[1] / b[1], a[2] / b[2], a[3] / b[3]
	}'
}

figures_of() {	# PROGRAM
	echo "$(median "$1" 1) $(median "$1" 2) $(median "$1" 3)" \
		"$(median "$1" 4)"
}

echo "medians of $runs runs; $(nproc) processors;" \
	"$(opensm --version 2>/dev/null | grep -om1 'OpenSM [0-9.]*')"
printf '%-11s %-8s %9s %9s %9s %11s\n' fabric program "wall s" "CPU s" \
	"peak MiB" "ibsim CPU s"
for name in "${names[@]}"; do
	"$MINISM_FABRIC" "${specs[$name]}" >bench.net || exit 1
	rm -f ./*.runs
	record bench.net || exit 1
	for ((i = 0; i < runs; i++)); do
		one minism bench.net || exit 1
		one limit bench.net || exit 1
		one opensm bench.net || exit 1
		one_lab bench.net || exit 1
	done
	row "$name" "$(figures_of minism)" "$(figures_of opensm)"
	row_limit "$(figures_of limit)" "$(figures_of minism)"
	row_lab "$(figures_of lab) $(median lab 5)" "$(figures_of minism)"
done

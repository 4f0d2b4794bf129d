#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What does a lost cable cost? On the simulated fabric by phase
# (bench_repair_sim), then on ibsim minism beside OpenSM: the same fabric and
# the same cables, one after the other in the same run, a fresh ibsim for each.
# CPU time of the subnet manager from the moment when the cable is unplugged
# until it has used none for two seconds; both are left to find the change by
# their light sweeps and traps.
#
#	make bench_repair
#	RUNS=n			cables, 3 if not set: medians
#	SPEC=PGFT(..)		on ibsim, 5,184 hosts if not set
#	SIM_ARGS="-n CABLES PGFT(..)"	simulated, 9 and 11,664 hosts if not set
#
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

runs=${RUNS:-3}
spec=${SPEC:-PGFT(12,18,24;1,12,18)}
read -ra sim_args <<<"${SIM_ARGS:-}"
sim_sizes=(-N 60000 -S 6000 -P 600000)
sim_patience=1200
if [ $sanitized = yes ]; then
	echo "a sanitized build says nothing about speed" >&2
	exit 1
fi
need opensm

sm_cpu() {	# ms
	awk -v hz="$(getconf CLK_TCK)" '{
		sub(/.*\) /, "")
		printf "%d\n", ($12 + $13) * 1000 / hz
	}' "/proc/$SM_PID/stat"
}

# Until it has used less than 20 ms of CPU in each of two seconds.
rest() {
	local before now quiet=0

	before=$(sm_cpu)
	while [ $quiet -lt 2 ]; do
		sleep 1
		now=$(sm_cpu)
		quiet=$((now - before < 20 ? quiet + 1 : 0))
		before=$now
	done
}

start_minism() {
	sm_start run.log -s 5
}

# Its log is written late unless it is told otherwise.
start_opensm() {
	printf '%s\n' 'force_log_flush TRUE' 'sweep_interval 5' \
		'routing_engine ftree' >opensm.conf
	(
		exec "${leash[@]}" env SIM_HOST="$SIM_HOST" \
			LD_PRELOAD="$shim" OSM_CACHE_DIR="$SCRATCH/cache" \
			OSM_TMP_DIR="$SCRATCH/cache" opensm -F opensm.conf \
			-f "$SCRATCH/run.log"
	) >opensm.out 2>&1 </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

# The nth cable between switches, for Unlink: "S-2-12"[3]
cable() {
	awk -v nth="$1" -F '"' '/^Switch/ { sw = $2 }
		/^\[[0-9]+\]/ && sw != "" && $2 ~ /^S-/ {
			split($1, p, /[][]/)
			if (++n == nth) {
				printf "\"%s\"[%s]\n", sw, p[2]
				exit
			}
		}' repair.net
}

one() {	# PROGRAM: appends "lost back" ms to ./PROGRAM.runs
	local before i at lost

	rm -rf cache run.log
	mkdir cache
	sim_start "$SCRATCH/repair.net" || return 1
	"start_$1"
	await 600 log_has run.log 'SUBNET UP' || return 1
	rest
	for ((i = 1; i <= runs; i++)); do
		at=$(cable $((i * 997)))
		before=$(sm_cpu)
		sim_cmd "Unlink $at"
		sleep 6
		rest
		lost=$(($(sm_cpu) - before))
		before=$(sm_cpu)
		sim_cmd "ReLink $at"
		sleep 6
		rest
		echo "$lost $(($(sm_cpu) - before))" >>"$1.runs"
	done
	sm_kill_all
	sim_stop
}

median() {	# PROGRAM column
	sort -n -k "$2,$2" "$1.runs" | awk -v c="$2" '
		{ v[NR] = $c }
		END { print v[int((NR + 1) / 2)] }'
}

"$MINISM_BUILD/bench_repair_sim" "${sim_args[@]}" || exit 1
"$MINISM_FABRIC" "$spec" >repair.net || exit 1
for program in minism opensm; do
	if ! one $program; then
		echo "$program did not bring the fabric up" >&2
		tail -n 5 run.log >&2
		exit 1
	fi
done
echo "$spec on ibsim; medians of $runs cables; light sweeps each 5 s"
for program in minism opensm; do
	echo "$program: CPU ms, cable lost $(median $program 1)," \
		"back $(median $program 2)"
done

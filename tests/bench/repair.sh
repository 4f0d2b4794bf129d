#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What does a lost cable cost? On the simulated fabric (bench_repair_sim), then
# on ibsim minism beside OpenSM: the same fabric and the same cables, one after
# the other in the same run, a fresh ibsim for each.
# CPU time of the subnet manager from the moment when the cable is unplugged
# until it has used none for two seconds; both are left to find the change by
# their light sweeps and traps.
#
#	make bench_repair
#	RUNS=n			cables, 3 if not set: medians
#	SPEC=PGFT(..)		on ibsim, 5,184 hosts if not set
#	SIM_ARGS="-n CABLES PGFT(..)"	simulated, 9 and 11,664 hosts if not set
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

runs=${RUNS:-3}
spec=${SPEC:-PGFT(12,18,24;1,12,18)}
read -ra sim_args <<<"${SIM_ARGS:-}"
must_have opensm

# Until it has used less than 20 ms of CPU in each of two seconds.
rest() {
	local before now quiet=0

	before=$(cpu_ms "$SM_PID")
	while [ $quiet -lt 2 ]; do
		sleep 1
		now=$(cpu_ms "$SM_PID")
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
	opensm_start -F opensm.conf
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
	await log_has run.log 'SUBNET UP' || return 1
	rest
	for ((i = 1; i <= runs; i++)); do
		at=$(cable $((i * 997)))
		before=$(cpu_ms "$SM_PID")
		sim_cmd "Unlink $at"
		sleep 6
		rest
		lost=$(($(cpu_ms "$SM_PID") - before))
		before=$(cpu_ms "$SM_PID")
		sim_cmd "ReLink $at"
		sleep 6
		rest
		echo "$lost $(($(cpu_ms "$SM_PID") - before))" >>"$1.runs"
	done
	sm_kill_all
	sim_stop
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

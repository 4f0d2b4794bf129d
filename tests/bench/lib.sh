# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# What measurements beside OpenSM share, beyond what interop tests do.

# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

if [ $sanitized = yes ]; then
	echo "a sanitized build says nothing about speed" >&2
	exit 1
fi

MINISM_ROUTE=${MINISM_ROUTE:-$MINISM_BUILD/minism-route}
# Fabrics by their number of hosts; ibsim has room for all of them.
declare -A specs=(
	[648]='PGFT(18,36;1,18)'
	[3456]='PGFT(12,12,24;1,12,12)'
	[11664]='PGFT(18,18,36;1,18,18)'
	[27648]='PGFT(24,24,48;1,24,24)'
)
sim_sizes=(-N 60000 -S 6000 -P 600000)
patience=1200

have_specs() {	# hosts..
	local hosts

	for hosts; do
		[ -z "${specs[$hosts]:-}" ] || continue
		echo "no fabric of $hosts hosts; there are: ${!specs[*]}" >&2
		exit 2
	done
}

must_have() {	# programs
	local program

	for program; do
		command -v "$program" >/dev/null && continue
		echo "$program is missing: ./bootstrap bench installs it" >&2
		exit 1
	done
}

cpu_ms() {	# PID: the CPU time that it has used
	awk -v hz="$(getconf CLK_TCK)" '{
		sub(/.*\) /, "")
		printf "%d\n", ($12 + $13) * 1000 / hz
	}' "/proc/$1/stat"
}

opensm_start() {	# arguments...: as sm_start, its log is ./run.log
	(
		exec "${leash[@]}" env SIM_HOST="$SIM_HOST" \
			LD_PRELOAD="$shim" OSM_CACHE_DIR="$SCRATCH/cache" \
			OSM_TMP_DIR="$SCRATCH/cache" opensm "$@" \
			-f "$SCRATCH/run.log"
	) >opensm.out 2>&1 </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

median() {	# PROGRAM column: of ./PROGRAM.runs
	sort -n -k "$2,$2" "$1.runs" | awk -v c="$2" '
		{ v[NR] = $c }
		END {
			half = int((NR + 1) / 2)
			print (v[half] + v[NR + 1 - half]) / 2
		}'
}

# OpenSM once on a fresh ibsim, its tables into osm/opensm-lfts.dump; sets
# $made_by, the engine that made them in the end, empty without tables or
# "$limit s"; ./clock has the seconds of its run
opensm_once() {	# ENGINE NET
	local TIMEFORMAT=%1R status

	rm -rf osm
	mkdir osm
	sim_start "$2" || return 1
	{
		time client env OSM_CACHE_DIR="$SCRATCH/osm" \
			OSM_TMP_DIR="$SCRATCH/osm" opensm -o -R "$1" -D 0x43 \
			-f "$SCRATCH/osm/log" >osm/out 2>&1 </dev/null
	} 2>clock
	status=$?
	sim_stop
	made_by=$(sed -n 's/.*process: \([a-z-]*\) tables configured.*/\1/p' \
		osm/log | tail -n 1)
	[ -s osm/opensm-lfts.dump ] || made_by=
	[ $status -lt 124 ] || made_by="$limit s"
}

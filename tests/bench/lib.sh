# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# What measurements beside OpenSM share, beyond what interop tests do.

# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

if [ $sanitized = yes ]; then
	echo "a sanitized build says nothing about speed" >&2
	exit 1
fi

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

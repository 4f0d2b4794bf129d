#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The same fabric through libibumad on ibsim and in a lab, and on the simulator
# in the manager's own process: the same LIDs, tables and states.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# dumps NAME: sorted, since what a dump says is a set of lines; without the
# revision of the devices, which ibsim makes up
dumps() {
	local file

	for file in opensm-subnet.lst opensm.fdbs opensm-lfts.dump; do
		[ -e "dump/$file" ] || return 1
		sed 's/Rev:[0-9A-F]*//g' "dump/$file" | sort >"$1.$file"
	done
}

same_dumps() {	# NAME NAME
	local file

	for file in opensm-subnet.lst opensm.fdbs opensm-lfts.dump; do
		diff "$1.$file" "$2.$file" | head -n 10 >differences
		[ ! -s differences ] || { cat differences; return 1; }
	done
}

in_lab() {
	lab_start "$SCRATCH/parity.net" || return
	lab_sm lab.run "$MINISM" -p 1 "${sm_defaults[@]}" --once -v \
		--cache-dir "$SCRATCH/cache-lab" --view "$SCRATCH/view"
	sm_wait "$SM_PID" && dump_view
	lab_stop
	rm -rf cache-lab
}

parity() {	# NAME SPEC
	wanted_case "$1" || return 0
	"$MINISM_FABRIC" "${@:2}" >parity.net || return
	sim_start parity.net || return
	SIM_HOST=$(sed -n 's/^Ca[ \t].*"\(H-[^"]*\)".*/\1/p' parity.net |
		head -n 1)
	rm -rf dump
	check "$1: comes up on ibsim through libibumad" sm_once umad.log \
		--cache-dir "$SCRATCH/cache-$1"
	check "$1: there are dumps" dumps umad
	sim_stop
	rm -rf dump
	check "$1: comes up in a lab" in_lab
	check "$1: there are dumps" dumps lab
	rm -rf dump
	check "$1: comes up on the simulator" simulated --once \
		--view "$SCRATCH/view" parity.net
	dump_view
	check "$1: there are dumps" dumps sim
	check "$1: ibsim and the lab leave the same" same_dumps umad lab
	check "$1: ibsim and the simulator leave the same" \
		same_dumps umad sim
}

parity tree 'PGFT(4,4;1,4)'
parity shuffled --shuffle --seed 5 'PGFT(4,4,4;1,4,4)'
parity damaged --fail 10 --seed 3 'PGFT(4,4,8;1,4,4)'
parity ring 'ring(7;2)'
parity torus 'torus(4,4;1)'
parity random --seed 9 'random(12,4,2)'
parity dragonfly 'dragonfly(3,2,1)'
parity pair 'pair()'

done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# LIDs at LMC 2, and what OpenSM has left: its LIDs, and tables with credit loops.
# Who gets which LID: tests/unit/test_lid.c, test_state.c, scenarios/identity.scn;
# LIDs out of OpenSM's files: import.sh.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

found_lids() {	# into the file $1
	client ibnetdiscover >found 2>/dev/null
	guid_lids >"$1"
	[ -s "$1" ]
}

lmc_case() {
	fresh "$demo" || return
	check "lmc: comes up at LMC 2" sm_once lmc.log --lmc 2
	check "lmc: the fabric is whole" judge_whole "$demo"
	check "lmc: ranges of 4 LIDs, aligned and disjoint" judge_lids 2
	found_lids lids.lmc
	check "lmc: a second run exits 0" sm_once lmc2.log --lmc 2
	check "lmc: and sets nothing but PortInfo" \
		only_port_info_sets lmc2.log
	found_lids lids
	check "lmc: and leaves the LIDs alone" diff lids.lmc lids
	check "lmc: back to LMC 0" sm_once lmc3.log
	check "lmc: and every LID is routed" judge_whole "$demo"
	check "lmc: single LIDs, unique" judge_lids 0
}

# What OpenSM has brought up is taken over as it is.
opensm_case() {
	has opensm || return
	fresh "$demo" || return
	sim_cmd 'Baselid "node-07"[1] 700'
	osm_once
	found_lids lids.osm
	check "opensm: it did bring the fabric up" grep -qx '10071 700' lids.osm
	check "opensm: minism comes up after it" sm_once after.log
	found_lids lids
	check "opensm: its LIDs are kept" diff lids.osm lids
	awk '$1 == "lid" { print $2, $3, $4 "\n" }' cache/state >osm/guid2lid
	sim_start "$demo" || return
	osm_once -x
	found_lids lids
	check "opensm: it takes them back" diff lids.osm lids
}

# OpenSM's min-hop leaves loops on a ring; taking over ends them. Which engine
# routes, and what is said of it: tests/scenarios/engines.scn.
takeover_case() {
	has opensm || return
	"$MINISM_FABRIC" 'ring(6;2)' >ring.net
	sim_start "$SCRATCH/ring.net" || return
	osm_once -R minhop
	check "takeover: comes up" sm_once take.log
	check "takeover: the loop of before is told" \
		log_has take.log 'in the switches have a credit loop'
	check "takeover: without one" log_has_not take.log "CREDIT LOOP"
}

run_cases

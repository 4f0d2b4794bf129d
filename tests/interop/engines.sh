#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A fabric that another manager left with credit loops is taken over. Which
# engine routes, and what is said of it: tests/scenarios/engines.scn.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# OpenSM's min-hop leaves loops on a ring; taking over ends them.
takeover_case() {
	if ! command -v opensm >/dev/null; then
		skip "takeover" "opensm is not installed"
		return
	fi
	"$MINISM_FABRIC" 'ring(6;2)' >ring.net
	sim_start "$SCRATCH/ring.net" || return
	mkdir -p osm
	OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm \
		client opensm -R minhop -o -f "$SCRATCH/osm.log" \
		>/dev/null 2>&1
	check "takeover: comes up" sm_once take.log
	check "takeover: the loop of before is told" \
		log_has take.log 'in the switches have a credit loop'
	check "takeover: without one" log_has_not take.log "CREDIT LOOP"
	sim_stop
}

run_cases

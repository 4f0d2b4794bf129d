#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# LIDs and who has them: across restarts of the subnet manager and of the
# whole fabric, with a damaged memory, at LMC 2, after OpenSM; and two
# nodes with one GUID.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

found_lids() {	# into the file $1
	client ibnetdiscover >found 2>/dev/null
	guid_lids >"$1"
	[ -s "$1" ]
}

lid_of() {	# GUID without 0x, of a CA port (or S-... of a switch)
	sed -n "s/^$1 //p" lids
}

# The memory is honoured, and so is what is on the fabric.
restart_case() {
	fresh "$demo" || return
	mkdir cache
	printf 'lid 0x%016x 0x%04x 0x%04x\n' 0x10011 0x400 0x400 \
		0x10031 0x20 0x20 >cache/state
	sim_cmd 'Baselid "node-05"[1] 300'
	check "restart: comes up" sm_once one.log
	found_lids lids
	check "restart: the memory's LID is given" [ "$(lid_of 10011)" = 1024 ]
	check "restart: another one" [ "$(lid_of 10031)" = 32 ]
	check "restart: the LID on the fabric is kept" \
		[ "$(lid_of 10051)" = 300 ]
	check "restart: it is remembered" \
		grep -qixE 'lid 0x0*10051 0x012c 0x012c' cache/state
	check "restart: 24 ports are remembered" \
		[ "$(lines cache/state '^lid 0x')" -eq 24 ]
	cp lids lids.one

	rm -rf cache
	check "restart: comes up with the memory gone" sm_once two.log
	found_lids lids
	check "restart: LIDs are those on the fabric" diff lids.one lids

	sim_start "$demo" || return
	check "restart: comes up after a reset of the whole fabric" \
		sm_once three.log
	found_lids lids
	check "restart: LIDs are those in the memory" diff lids.one lids
	sim_stop
}

# A line that is damaged is said to be, set aside and not believed. What is
# damage: test_state.c.
damaged_case() {
	local name=damaged h='[0-9a-f]' line

	line="^lid 0x$h{16} 0x$h{4} 0x$h{4}\$"
	fresh "$demo" || return
	mkdir cache
	echo 'lid of no port' >cache/state
	check "$name: comes up" sm_once damaged.log
	check "$name: the log says it" \
		grep -qE '(warn|WARN|err|ERR).*cache/state: line 1' damaged.log
	check "$name: the line is set aside" \
		grep -qx 'lid of no port' cache/state.damaged
	check "$name: a good one takes its place" \
		[ "$(lines cache/state "$line")" -eq 24 ]
	check "$name: all is Active" judge_active 32
	sim_stop
}

lmc_case() {
	fresh "$demo" || return
	check "lmc: comes up at LMC 2" sm_once lmc.log --lmc 2
	judge_same "$demo" >/dev/null
	check "lmc: ranges of 4 LIDs, aligned and disjoint" judge_lids 2
	check "lmc: the tables on the switches are the ones dumped" \
		judge_tables dump/opensm-lfts.dump
	check "lmc: every LID reached from every switch" judge_routes
	check "lmc: ibdmchk finds every path between base LIDs" \
		judge_ibdmchk dump
	check "lmc: all is Active" judge_active 32
	found_lids lids.lmc
	check "lmc: a second run exits 0" sm_once lmc2.log --lmc 2
	check "lmc: and sets nothing but PortInfo" \
		only_port_info_sets lmc2.log
	found_lids lids
	check "lmc: and leaves the LIDs alone" diff lids.lmc lids
	check "lmc: back to LMC 0" sm_once lmc3.log
	client ibnetdiscover >found 2>/dev/null
	check "lmc: single LIDs, unique" judge_lids 0
	check "lmc: and every one of them routed" \
		eval 'judge_tables dump/opensm-lfts.dump && judge_routes'
	sim_stop
}

# Duplicate GUIDs: a named error with both places; the others work.
duplicate_case() {
	fresh "$DATA/duplicate.net" -I || return
	refute "duplicate: --once does not exit 0" sm_once dup.log
	check "duplicate: the GUID is named with both places" \
		log_has dup.log '0x0*2000.*S-[12].*S-[12]'
	check "duplicate: no SUBNET UP" [ "$(lines dup.log 'SUBNET UP')" -eq 0 ]
	# ibnetdiscover leaves one of the two out of its answer as well; of the
	# others H-4 and H-5 tell whether they were served
	client ibnetdiscover >found 2>/dev/null
	guid_lids >lids
	check "duplicate: H-4 has a LID" [ "$(lid_of 4001)" -gt 0 ]
	check "duplicate: H-5 has a LID" [ "$(lid_of 5001)" -gt 0 ]
	check "duplicate: H-4 is reached" \
		client smpquery nodeinfo "$(lid_of 4001)"
	check "duplicate: H-4's link is Active" dr_active 0,1,3,4
	check "duplicate: H-5's link is Active" dr_active 0,1,4
	sim_stop
}

dr_active() {	# directed route to a CA: its port 1
	client smpquery -D portinfo "$1" 1 >pi 2>&1
	grep -q '^LinkState.*Active' pi || { cat pi; return 1; }
}

# What OpenSM has brought up is taken over as it is.
opensm_case() {
	if ! command -v opensm >/dev/null; then
		skip "opensm: its LIDs are kept" "opensm is not installed"
		return
	fi
	fresh "$demo" || return
	sim_cmd 'Baselid "node-07"[1] 700'
	mkdir osm
	OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm \
		client opensm -o -f "$SCRATCH/osm.log" >/dev/null 2>&1
	found_lids lids.osm
	cp lids.osm lids
	check "opensm: it did bring the fabric up" [ "$(lid_of 10071)" = 700 ]
	check "opensm: minism comes up after it" sm_once after.log
	found_lids lids
	check "opensm: its LIDs are kept" diff lids.osm lids
	rm -rf cache
	mkdir cache empty
	"$MINISM_BUILD/minism-import" empty --opensm-cache osm --to to \
		--cache-dir cache --write >import.out 2>&1
	check "opensm: its LIDs are imported" [ $? -eq 0 ]
	sim_start "$demo" || return
	check "opensm: minism comes up with its guid2lid" sm_once after2.log
	check "opensm: which was not set aside" [ ! -e cache/state.damaged ]
	found_lids lids
	check "opensm: and its LIDs are kept over a reset" diff lids.osm lids
	awk '$1 == "lid" { print $2, $3, $4 "\n" }' cache/state >osm/guid2lid
	sim_start "$demo" || return
	OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm \
		client opensm -o -x \
		-f "$SCRATCH/osm2.log" >/dev/null 2>&1
	found_lids lids
	check "opensm: it takes them back" diff lids.osm lids
	sim_stop
}

run_cases

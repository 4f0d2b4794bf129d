#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Which engine routes, and what is said of it: auto takes what is safe, a name
# is obeyed or refused, and a fabric that another manager left with credit
# loops is taken over.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# run LOG FABRIC arguments...: one sweep of a simulated fabric
run() {
	local log=$1 fabric=$2

	shift 2
	rm -f "$log"
	timeout -k 5 60 "$MINISM_SIM" -F "$SCRATCH/empty.conf" -v -f "$log" \
		--once "$fabric" "$@" >run.out 2>run.err </dev/null
}

auto_case() {
	wanted_case auto || return 0
	check "auto: a tree comes up" run tree.log 'PGFT(4,4;1,4)'
	check "auto: it is routed by ftree" log_has tree.log 'engine ftree: '
	check "auto: a ring comes up" run ring.log 'ring(6;2)'
	check "auto: it is routed by updn" log_has ring.log 'engine updn: '
	check "auto: and told why" \
		log_has ring.log 'ftree: not possible: '
	check "auto: no loop is programmed" log_has_not ring.log 'CREDIT LOOP'
	check "auto: takes no engine that may loop" log_has_not ring.log minhop
}

# What of a tree is irregular is no trouble: told, but not as a warning.
notes_case() {
	wanted_case notes || return 0
	cat >strays.net <<-'END'
	Switch 8 "leaf-1"
	[1] "host-1"[1]
	[2] "host-2"[1]
	[5] "spine-1"[1]
	[6] "spine-2"[1]
	[8] "leaf-2"[8]

	Switch 8 "leaf-2"
	[1] "host-3"[1]
	[2] "host-4"[1]
	[5] "spine-1"[2]
	[6] "spine-2"[2]
	[8] "leaf-1"[8]

	Switch 8 "spine-1"
	[1] "leaf-1"[5]
	[2] "leaf-2"[5]

	Switch 8 "spine-2"
	[1] "leaf-1"[6]
	[2] "leaf-2"[6]

	Hca 1 "host-1"
	[1] "leaf-1"[1]

	Hca 1 "host-2"
	[1] "leaf-1"[2]

	Hca 1 "host-3"
	[1] "leaf-2"[1]

	Hca 1 "host-4"
	[1] "leaf-2"[2]
	END
	check "notes: two leaves with a cable come up" \
		run notes.log strays.net -R ftree
	check "notes: the cable is told" \
		log_has notes.log 'ftree: 1 cables between switches do not join'
	check "notes: not as a warning" log_has_not notes.log 'warning.*ftree: '
}

name_case() {
	wanted_case name || return 0
	check "minhop: a ring comes up" run loop.log 'ring(6;2)' -R minhop
	check "minhop: the loop is a warning" \
		log_has loop.log 'warning.*CREDIT LOOP: traffic can deadlock'
	check "minhop: the loop is printed with names" \
		log_has loop.log "CREDIT LOOP.*'S-1-2' .* port [0-9]* -> .LID"
	refute "minhop: refused if it must be free of deadlock" \
		run safe.log 'ring(6;2)' -R minhop --require-deadlock-free
	check "minhop: the reason is told" \
		log_has safe.log 'minhop are refused.*credit loops'
	check "minhop: nothing was written" no_sets safe.log
	refute "ftree: a ring is refused" run noftree.log 'ring(6;2)' -R ftree
	check "ftree: the reason is told" log_has noftree.log 'not a fat tree'
	check "ftree: no other engine takes its place" \
		log_has_not noftree.log 'SUBNET'
	check "updn: routes a tree as well" \
		run updn.log 'PGFT(4,4;1,4)' -R updn
	check "updn: SUBNET UP" log_has updn.log 'SUBNET UP.*updn'
}

list_case() {
	wanted_case list || return 0
	echo '0x5000000000000100 # the third' >roots
	check "roots: a ring comes up" run roots.log 'ring(6;2)' -R updn \
		-a roots
	echo 'spine-1' >badroots
	run bad.log 'ring(6;2)' -a badroots
	check "a bad list: exit 2" [ $? -eq 2 ]
	check "a bad list: file and line" grep -Eq 'badroots:1:[0-9]+: ' run.err
	run none.log 'ring(6;2)' -G nowhere
	check "no such list: exit 2" [ $? -eq 2 ]
}

# Ranks survive a restart: the order of before is that of after.
ranks_case() {
	wanted_case ranks || return 0
	check "ranks: comes up" run first.log 'ring(6;2)' --cache-dir cache1
	check "ranks: are remembered" grep -qx 'engine updn' cache1/ranks
	check "ranks: one for each switch" \
		[ "$(grep -c '^0x' cache1/ranks)" -eq 6 ]
	sed 's/updn/nonsense here/' cache1/ranks >ranks.bad
	cp ranks.bad cache1/ranks
	check "ranks: comes up with a damaged file" \
		run second.log 'ring(6;2)' --cache-dir cache1
	check "ranks: the damage is told" log_has second.log 'ranks:1:1: damaged'
	check "ranks: it is set aside" cmp -s ranks.bad cache1/ranks.damaged
}

# OpenSM's min-hop leaves loops on a ring; taking over ends them.
takeover_case() {
	wanted_case takeover || return 0
	if ! command -v opensm >/dev/null; then
		skip "takeover" "opensm is not installed"
		return
	fi
	"$MINISM_FABRIC" 'ring(6;2)' >ring.net
	sim_start "$SCRATCH/ring.net" || { ok 1 "takeover: ibsim starts"; return; }
	mkdir -p osm
	OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm \
		client -t 20 opensm -R minhop -o -f "$SCRATCH/osm.log" \
		>/dev/null 2>&1
	check "takeover: comes up" sm_once take.log
	check "takeover: the loop of before is told" \
		log_has take.log 'in the switches have a credit loop'
	check "takeover: without one" log_has_not take.log "CREDIT LOOP"
	sim_stop
}

auto_case
notes_case
name_case
list_case
ranks_case
takeover_case
done_testing

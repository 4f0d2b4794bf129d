#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --observe: beside a master, of minism and of OpenSM, the observer sends nothing
# but Gets, is not seen, and tells what happens by name.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

observer() {	# NODE
	rm -rf seen seen.log
	LAB_NODE=$1 lab_sm observer "$MINISM" -F "$SCRATCH/empty.conf" \
		--cache-dir "$SCRATCH/seen" --partitions= --observe -v -s 1 \
		-f "$SCRATCH/seen.log" --pcap "$SCRATCH/seen.pcapng" \
		--control-socket "$SCRATCH/ctl"
	OBSERVER=$SM_PID
}

# The methods of all MADs that passed the observer's port.
methods() {
	python3 - seen.pcapng <<-'END'
	import struct, sys
	data = open(sys.argv[1], "rb").read()
	at, seen = 0, set()
	while at < len(data):
	    kind, size = struct.unpack_from("=II", data, at)
	    if kind == 6:	# behind the ERF, LRH, BTH and DETH headers
	        seen.add("%02x" % data[at + 28 + 16 + 28 + 3])
	    at += size
	print(*sorted(seen))
	END
}

says() {	# VERDICT REGEX
	ctl status >status.out
	grep -q "^subnet:  *$1: " status.out && grep -qE -- "$2" status.out
}

is_sm() {	# NODE: how often its port says so
	inside smpquery portinfo "$(lab_cmd show "$1" |
		sed -n 's/.* lid \([0-9]*\).*/\1/p')" 1 | grep -c IsSM
}

state_of_fabric() {
	inside ibnetdiscover 2>/dev/null | grep -v '^#' | sort
	inside iblinkinfo -l 2>/dev/null | sort
	inside dump_fts 2>/dev/null | grep -vE '^Unicast lids|^#' | sort
}

is_as_before() {
	state_of_fabric >after
	diff before after
}

ends() {
	kill "$OBSERVER"
	wait "$OBSERVER" 2>/dev/null
	check "$1: it has sent Gets, and got their answers" \
		[ "$(methods)" = "01 81" ]
}

doctor() {	# status regex options
	gives "$1" "$2" "$MINISMCTL" "${@:3}" doctor
}

# faults NAME: with a master, what an observer tells
faults() {
	check "$1: it says UP" await says UP 'observing.* the master is on node-01'
	check "$1: its port does not say IsSM, the master's does" \
		[ "$(is_sm node-01) $(is_sm node-16)" = "1 0" ]
	lab_cmd unplug leaf-1 6 >/dev/null
	check "$1: a cable is pulled" await says DEGRADED \
		'link leaf-1/6 - spine-2/1'
	lab_cmd plug leaf-1 6 >/dev/null
	check "$1: it is back" await says UP 'observing'
}

# What it says of tables without a master: tests/scenarios/takeover.scn. What else
# may be found: tests/unit/test_doctor.c.
minism_case() {
	lab_start "$demo" || return
	lab_sm master "$MINISM" "${sm_defaults[@]}" -f "$SCRATCH/sm.log" -s 1 \
		-p 1 --control-socket "$SCRATCH/master"
	check "minism: the master is up" await log_has sm.log 'SUBNET UP'
	state_of_fabric >before
	observer node-16
	faults minism
	check "doctor: the other manager" doctor 1 \
		'^another subnet manager: node-01 \(0x[0-9a-f]*\), master, ' -s ctl
	check "doctor: and nothing else" \
		[ "$(grep -cvE '^(another|model|not asked)' answer)" -eq 0 ]
	check "doctor: of a clean fabric" doctor 0 ', nothing speaks' -s master
	check "doctor: without a manager: 3" doctor 3 . -s none
	check "doctor: without the file: 2" doctor 2 . --view none
	for words in takeover 'priority 9' 'avoid leaf-1/5' \
		'partition add Default node-01'; do
		# shellcheck disable=SC2086 # words
		check "$words is not for it" refuses . ctl $words
	done
	for words in groups members services subscriptions; do
		check "$words are the master's: none is told" \
			refuses 'only observes' ctl $words
	done
	check "path: by the tables that are held" \
		answers spine- ctl path node-01 node-16
	check "minism: the master has seen no other" log_has_not sm.log \
		'another subnet manager|handing over|standby'
	check "minism: the fabric is what it was" await is_as_before
	check "the expected fabric is kept" await grep -q spine-3 seen/state
	refute "but no LIDs" grep -q '^lid ' seen/state
	ends minism
	observer node-01
	check "minism: the master is on the observer's port" \
		await says UP 'observing.* the master is on node-01'
	ends 'minism: one port'
}

opensm_case() {
	has opensm || return
	lab_start "$demo" || return
	# its ftree has no paths between the ports 0 of spines
	lab_sm opensm opensm -R ftree -f "$SCRATCH/opensm.log" -s 2
	check "opensm: the master is up" await answers MASTER inside sminfo
	observer node-16
	faults opensm
	ends opensm
}

run_cases

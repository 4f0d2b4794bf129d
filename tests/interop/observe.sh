#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --observe: beside a master, of minism and of OpenSM, the observer sends nothing
# but Gets, is not seen, and tells what happens by name.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3


ctl() {
	"$MINISMCTL" -s "$SCRATCH/ctl" "$@"
}

# on node-16
observer() {
	rm -rf seen seen.log
	LAB_NODE=${SEEN_FROM:-node-16} lab_sm observer "$MINISM" -F "$SCRATCH/empty.conf" \
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

# doctor STATUS REGEX [options]: its exit status, and a line of it
doctor() {
	local status=$1 regex=$2

	shift 2
	"$MINISMCTL" "${@:--s$SCRATCH/ctl}" doctor >doctor.out
	[ $? -eq "$status" ] &&
		{ [ -z "$regex" ] || grep -qE -- "$regex" doctor.out; }
}

# faults NAME: with a master, what an observer tells
faults() {
	check "$1: it says UP" await says UP 'observing.* the master is on node-01'
	check "$1: its port does not say IsSM, the master's does" \
		[ "$(is_sm node-01) $(is_sm node-16)" = "1 0" ]
	lab_cmd unplug leaf-1 6 >/dev/null
	check "$1: a cable is pulled" await says DEGRADED \
		'link leaf-1/6 - spine-2/1'
	lab_cmd kill node-05 >/dev/null
	check "$1: a host dies" await says DEGRADED 'host node-05'
	lab_cmd plug leaf-1 6 >/dev/null
	lab_cmd revive node-05 >/dev/null
	check "$1: both are back" await says UP 'observing'
}

minism_case() {
	lab_start "$demo" || return
	lab_sm master "$MINISM" "${sm_defaults[@]}" -f "$SCRATCH/sm.log" -s 1 \
		-p 1 --control-socket "$SCRATCH/master"
	check "minism: the master is up" await log_has sm.log 'SUBNET UP'
	state_of_fabric >before
	observer
	faults minism
	check "doctor: the other manager" doctor 1 \
		'^another subnet manager: node-01 \(0x[0-9a-f]*\), master, '
	check "doctor: and nothing else" \
		[ "$(grep -cvE '^(another|model|not asked)' doctor.out)" -eq 0 ]
	check "doctor: of a clean fabric" doctor 0 '^nothing is found' \
		"-s$SCRATCH/master"
	check "doctor: without a manager: 2" doctor 2 '' "-s$SCRATCH/none"
	check "doctor: without the file: 2" doctor 2 '' --view "$SCRATCH/none"
	refute "takeover is not for it" ctl takeover
	check "nor are priority, avoid and partitions" eval '
		! ctl priority 9 && ! ctl avoid leaf-1/5 &&
		! ctl partition add Default node-01'
	check "path: by the tables that are held" \
		eval 'ctl path node-01 node-16 | grep -q spine-'
	for words in groups members services subscriptions; do
		check "$words are the master's: none is told" \
			refuses 'only observes' ctl $words
	done
	check "minism: the master has seen no other" log_has_not sm.log \
		'another subnet manager|handing over|standby'
	check "minism: the fabric is what it was" await is_as_before
	check "the expected fabric is kept" await grep -q spine-3 seen/state
	refute "but no LIDs" grep -q '^lid ' seen/state
	kill "${SM_PIDS[0]}"
	check "without a master it says so" await says 'NOT UP' \
		'no other port answers as the master'
	lab_cmd unplug leaf-1 6 >/dev/null
	check "and which paths nothing repairs" await says 'NOT UP' \
		'held leaves .* without a path .*[1-9][0-9]* pairs of hosts'
	lab_cmd kill node-05 >/dev/null
	lab_cmd revive node-05 >/dev/null
	check "and which host has lost its LID" await says 'NOT UP' \
		'1 port without a LID of its own, the first: node-05 '
	ends minism
}

# What a master with keys and QoS leaves.
foreign_case() {
	lab_start "$demo" || return
	cat >keys.conf <<-END
		m_key 0x5ec3e7a15ec3e7a1
		m_key_protection_level 1
		m_key_lease_period 60
		qos TRUE
		qos_sl2vl 0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,15
	END
	lab_sm master "$MINISM" "${sm_defaults[@]}" -F "$SCRATCH/keys.conf" \
		-f "$SCRATCH/sm.log" -p 1
	check "foreign: the master is up" await log_has sm.log 'SUBNET UP'
	observer
	check "foreign: M_Keys" await doctor 1 '^ports with an M_Key: .*and 2'
	check "foreign: SLs" doctor 1 '^SLs on other VLs than by default: .*and 1'
	ctl view >view.out
	check "foreign: with the VLs in the view, and without the key" eval '
		grep -q "^#trait .* key 2 sl2vl 011111111111111f\$" view.out &&
		! grep -qi 5ec3e7a1 view.out'
	check "foreign: the same of a file" doctor 1 '^ports with an M_Key' \
		--view view.out
	ends foreign
	sm_kill_all
	rm -rf cache
	lab_sm other "$MINISM" "${sm_defaults[@]}" -f "$SCRATCH/other.log" -p 1 \
		--control-socket "$SCRATCH/ctl"
	check "foreign: a master without the key says which ports have it" \
		await doctor 1 '^ports with a foreign M_Key: .*0x.*: enter it'
}

# Tables that deadlock, as the engine was asked for by name.
loop_case() {
	lab_start 'torus(4,4;1)' || return
	lab_sm master "$MINISM" "${sm_defaults[@]}" -f "$SCRATCH/sm.log" -p 1 \
		-R minhop
	check "loop: the master is up" await log_has sm.log 'SUBNET UP'
	SEEN_FROM=H-9 observer
	check "loop: it is told" await says 'NOT UP' \
		'CREDIT LOOP in the tables that the switches hold'
	ends loop
}

opensm_case() {
	command -v opensm >/dev/null || {
		skip "opensm" "it is not installed"
		return
	}
	lab_start "$demo" || return
	lab_sm opensm opensm -f "$SCRATCH/opensm.log" -s 2
	check "opensm: the master is up" await eval \
		'inside sminfo | grep -q MASTER'
	observer
	faults opensm
	ends opensm
}

options_case() {
	refute "not with --once" eval '"$MINISM" -F empty.conf --observe --once;
		[ $? -ne 2 ]'
	refute "nor with --plan" eval '"$MINISM" -F empty.conf --observe --plan;
		[ $? -ne 2 ]'
}

run_cases

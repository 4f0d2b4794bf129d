#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Every shape of fabric comes up, in the eyes of others: for each fabric a
# fresh ibsim, one `minism --once`, then the judges of lib.sh; then a second
# `minism --once`, which must find nothing to change. And in a lab, and on the
# simulator in the manager's own process, it leaves the same LIDs, tables and states.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# dumps NAME: those of the last run, in the folder NAME; sorted, since what a dump says
# is a set of lines; without the revision of the devices, which ibsim makes up
dumps() {
	local file

	rm -rf "$1"
	mkdir "$1"
	for file in opensm-subnet.lst opensm.fdbs opensm-lfts.dump; do
		sed 's/Rev:[0-9A-F]*//g' "dump/$file" | sort >"$1/$file" || return
	done
	rm -r dump
}

in_lab() {	# NET
	lab_start "$1" || return
	lab_sm lab.run "$MINISM" -p 1 "${sm_defaults[@]}" --once \
		--cache-dir= --view "$SCRATCH/view"
	sm_wait "$SM_PID" && dump_view && dumps lab
	lab_stop
	diff -r ibsim lab
}

in_process() {	# NET
	simulated --once --view "$SCRATCH/view" "$1" && dump_view && dumps sim &&
		diff -r ibsim sim
}

# come_up NAME NET: all that is asked of one fabric
come_up() {
	local name=$1 net=$2 cables switches

	cables=$(net_cables "$net" | wc -l)
	switches=$(net_nodes "$net" | grep -c '^Switch')
	fresh "$net" || return
	if sm_once first.log; then
		ok 0 "$name: --once exits 0"
	else
		ok 1 "$name: --once exits 0"
		note_file once.err
		note_file first.log
	fi
	check "$name: SUBNET UP in the log" log_has first.log 'SUBNET UP'
	check "$name: ibnetdiscover finds the fabric as it was cabled" \
		judge_same "$net"
	check "$name: minism.net tells the same cables" \
		judge_net dump/minism.net
	check "$name: $cables cables Active at both ends" judge_active "$cables"
	check "$name: LIDs unicast and unique" judge_lids 0
	if [ "$switches" -gt 0 ]; then
		check "$name: ibdmchk finds every path" judge_ibdmchk dump
		check "$name: the tables on the switches are the ones dumped" \
			judge_tables dump/opensm-lfts.dump
		check "$name: the first sweep did program switches" \
			log_has first.log 'LinearForwardingTable\.Set [1-9]'
	fi
	check "$name: there are dumps" dumps ibsim
	guid_lids >lids.first
	check "$name: a second --once exits 0" sm_once second.log
	check "$name: and sets nothing but PortInfo" \
		only_port_info_sets second.log
	client ibnetdiscover >found 2>/dev/null
	check "$name: and leaves the LIDs alone" \
		diff lids.first <(guid_lids)
	sim_stop
	check "$name: a lab is left in the same state" in_lab "$SCRATCH/$net"
	check "$name: and the simulator in process" in_process "$net"
}

# A judge that finds no fault with anything is none: on a fabric that is up,
# each of them has to see the damage that is done for it.
judges_case() {
	fresh "$demo" || return
	check "judges: the fabric is up" sm_once judges.log
	judge_same "$demo" >/dev/null 2>&1
	cp -r dump damaged

	# leaf-1 sends what is for the second CA's LID round by the spines
	sed -i '0,/^0x0003 : 002/s//0x0003 : 005/' damaged/opensm.fdbs
	refute "judges: ibdmchk sees a loop" judge_ibdmchk damaged
	cp dump/opensm.fdbs damaged/
	check "judges: the good tables pass" judge_ibdmchk damaged
	sed -i '/: 001  : /d' damaged/opensm.fdbs
	refute "judges: ibdmchk sees missing entries" judge_ibdmchk damaged
	sed -i '0,/^0x/{/^0x/d}' damaged/opensm-lfts.dump
	refute "judges: dump_fts against a dump with a hole" \
		judge_tables damaged/opensm-lfts.dump

	check "judges: all is Active" judge_active 32
	sim_cmd 'Unlink "node-16"[1]'
	refute "judges: a missing cable is seen" \
		judge_same "$demo"
	sim_cmd 'ReLink "node-16"[1]'
	refute "judges: a port in Init is seen" judge_active 32
	sim_cmd 'Baselid "node-15"[1] 1'
	sim_cmd 'Baselid "node-14"[1] 1'
	client ibnetdiscover >found 2>/dev/null
	refute "judges: a LID that two have is seen" judge_lids 0
	refute "judges: no MASTER where no SM runs" judge_master 1
}

# A tenth of the MADs through each of three nodes is lost. More of what may fail:
# tests/scenarios/faults.scn.
loss_case() {
	local node

	fresh "$demo" || return
	for node in leaf-1 spine-2 node-16; do
		sim_cmd "Error \"$node\" 10"
	done
	# of ten attempts all are lost, now and then
	check "loss: comes up all the same" sm_once loss.log -t 100 --retries 50
	check "loss: and says SUBNET UP" log_has loss.log 'SUBNET UP'
	check "loss: something was lost indeed" \
		log_has loss.log 'second time|retr'
	for node in leaf-1 spine-2 node-16; do
		sim_cmd "Error \"$node\" 0"
	done
	check "loss: the fabric is whole" judge_whole "$demo"
}

# fabric NAME arguments of minism-fabric...
fabric() {
	local name=$1

	shift
	wanted_case "$name" || return 0
	if ! "$MINISM_FABRIC" "$@" >"$name.net" 2>fabric.err; then
		ok 1 "$name: minism-fabric $*"
		note_file fabric.err
		return
	fi
	come_up "$name" "$name.net"
}

file() {	# NAME: a net file of tests/data
	wanted_case "$1" || return 0
	cp "$DATA/$1.net" .
	come_up "$1" "$1.net"
}

fabric pair 'pair()'
fabric ring 'ring(8;2)'
fabric tree3 'PGFT(4,4,8;1,4,4)'
fabric parallel 'PGFT(4,8;1,2;1,2)'
fabric torus3 'torus(3,3,3;1)'
fabric mesh 'mesh(4,4;1)'
fabric rails 'rails(4;6,2)'
fabric damaged --seed 5 --fail 10 'PGFT(4,4,8;1,4,4)'
fabric dragonfly 'dragonfly(3,2,1)'
fabric random --seed 3 'random(12,4,2)'
fabric shuffled --shuffle --seed 7 'PGFT(4,4,8;1,4,4)'
file loopback
file switchboard

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --pcap: what tshark makes of a capture, and that no key is in it.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need tshark


# fields FILE FILTER FIELD...: of the packets that the filter lets through
fields() {
	local file=$1 filter=$2 field args=()

	shift 2
	for field; do
		args+=(-e "$field")
	done
	HOME=$SCRATCH tshark -r "$file" -Y "$filter" -T fields "${args[@]}" \
		2>/dev/null
}

count() {	# FILE FILTER
	fields "$1" "$2" frame.number | wc -l
}

# Requests by attribute and method as the log counts them.
sent_by_log() {
	sed -nE 's/.*sent [0-9]+ MADs: (.*)/\1/p' run.log | tr ',' '\n' |
		sed 's/^ *//' | sort
}

sent_by_tshark() {
	fields demo.pcapng 'frame.packet_flags_direction == 2' _ws.col.Info |
		sed -nE 's/.*Subn(Get|Set)\((.*)\)$/\2.\1/p' | sort | uniq -c |
		awk '{ print $2, $1 }' | sort
}

sweep_case() {
	check "sweep: comes up" simulated "$demo" --once --pcap demo.pcapng
	check "sweep: tshark sees what the log counts" \
		diff <(sent_by_log) <(sent_by_tshark)
	check "sweep: each with an answer" [ \
		"$(count demo.pcapng 'infiniband.mad.method == 0x81')" -eq \
		"$(count demo.pcapng 'frame.packet_flags_direction == 2')" ]
	check "sweep: nothing is malformed, nor a checksum bad" \
		[ "$(count demo.pcapng '_ws.malformed ||
		_ws.expert.severity >= 0x600000')" -eq 0 ]
	check "sweep: each has its reason as a comment" [ \
		"$(count demo.pcapng '!frame.comment')" -eq 0 ]
	check "sweep: attributes down to their fields" grep -qx 0x01 <(fields \
		demo.pcapng 'infiniband.mad.method == 0x81 &&
		infiniband.nodeinfo.nodetype == 2 &&
		infiniband.nodeinfo.nodeguid == 0x20010 &&
		infiniband.nodeinfo.numports == 8' \
		infiniband.smpdirected.hopcount | sort -u)
	check "sweep: LIDs" [ "$(fields demo.pcapng \
		'infiniband.mad.method == 2 && infiniband.portinfo.lid > 0' \
		infiniband.portinfo.lid | sort -u | wc -l)" -eq 24 ]
	check "sweep: lengths" grep -qx '290	72	15' <(fields \
		demo.pcapng infiniband frame.len infiniband.lrh.pktlen \
		infiniband.lrh.vl | sort -u | sed 's/0x0*f/15/')
}

key_case() {
	printf 'm_key 0x1122334455667788\nsm_key 0x99aabbccddeeff00\n' >key.conf
	simulated "$demo" --once -F key.conf --pcap key.pcapng
	refute "keys: are not in the capture" grep -qaP \
		'\x11\x22\x33\x44\x55\x66\x77\x88' key.pcapng
	refute "full: a capture that cannot be written ends the run with 1" \
		simulated "$demo" --once --pcap /dev/full
}

# In a lab, with a client of the SA: GMPs have LIDs, a queue pair and a Q_Key.
lab_case() {
	lab_start "$demo" || return
	lab_sm sm.log "$MINISM" "${sm_defaults[@]}" -v -f sm.log \
		--pcap lab.pcapng
	check "lab: comes up" await log_has sm.log 'SUBNET UP'
	check "lab: a client asks" inside saquery -N
	check "lab: it ends in order" sm_end
	check "lab: the request and the segments of its answer" [ "$(count \
		lab.pcapng 'infiniband.mad.mgmtclass == 3 &&
		infiniband.deth.q_key == 0x80010000 &&
		infiniband.bth.destqp == 1 &&
		infiniband.sa.attributeoffset')" -ge 3 ]
	check "lab: nothing is malformed" \
		[ "$(count lab.pcapng _ws.malformed)" -eq 0 ]
}

run_cases

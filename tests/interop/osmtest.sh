#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# osmtest's flows in a lab: against opensm, which says what the lab is good for, and
# against minism. The two run side by side, for most of the time is spent waiting for
# leases and for requests that get no answer. Flow a has s and v, e does nothing.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need opensm osmtest

links_are_active() {	# how many ends
	lab_cmd show | grep -q ": $1 Active, 0 Armed, 0 Init, 0 Down"
}

# flow NODE NAME: a line of "status description"
flow() {
	LAB_NODE=$1 limit=500 inside osmtest -t 3000 -f "$2" \
		-i "$PWD/inventory" >"flow-$2.log" 2>&1
	set -- $? "$2"
	echo "$1 osmtest -f $2 passes for $who"
	[ "$1" -eq 0 ] || tail -n 5 "flow-$2.log" | sed 's/^/ # /'
}

# flows WHO program...: their lines in WHO.result, in a folder and a lab of its own.
# The 100,000 queries of flow f come from another host.
flows() {
	local who=$1

	shift
	mkdir -p "$SCRATCH/$who"
	cd "$SCRATCH/$who" || return
	export OSM_CACHE_DIR=$PWD OSM_TMP_DIR=$PWD
	lab_start "$demo" || return
	lab_sm run "$@"
	await links_are_active 64
	echo "$? $who brings the demo's fabric up"
	await inside saquery SMIR
	flow node-01 c
	[ "$who" = opensm ] || flow node-09 f >flood &
	flow node-01 q
	flow node-01 m
	flow node-01 a
	[ "$who" = opensm ] || { wait $!; cat flood; }
	sm_kill_all
	lab_stop
}

flows opensm opensm -F "$SCRATCH/empty.conf" -P "$SCRATCH/none" \
	-f "$SCRATCH/opensm.log" >opensm.result &
opensm_flows=$!
# with QoS, so that the SA knows the tables of flow q
echo "qos TRUE" >"$SCRATCH/qos.conf"
flows minism "$MINISM" -p 1 "${sm_defaults[@]}" -F "$SCRATCH/qos.conf" \
	-f "$SCRATCH/minism.log" >minism.result
cd "$SCRATCH" || exit
wait $opensm_flows
for who in opensm minism; do
	while read -r status what; do
		if [ "$status" = "#" ]; then
			note "$what"
		else
			ok "$status" "$what"
		fi
	done <$who.result
done
[ $tap_n -eq 11 ]
ok $? "all flows ran"
done_testing

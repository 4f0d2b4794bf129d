#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# osmtest in all its flows with default arguments, in a lab: against opensm,
# which says what the lab is good for, and against minism. The two run side by
# side, for most of the time is spent waiting for leases and answers.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need opensm osmtest

links_are_active() {	# how many ends
	lab_cmd show | grep -q ": $1 Active, 0 Armed, 0 Init, 0 Down"
}

# flows WHO program...: "status description" lines in WHO.result, in a folder
# and a lab of its own
flows() {
	local who=$1 flow status

	shift
	mkdir -p "$SCRATCH/$who"
	cd "$SCRATCH/$who" || return
	export OSM_CACHE_DIR=$PWD OSM_TMP_DIR=$PWD
	lab_start "$demo" || return
	lab_sm run "$@"
	await links_are_active 64
	echo "$? $who brings the demo's fabric up"
	await inside saquery SMIR
	for flow in c q e f m s v a; do
		limit=500 inside osmtest -f "$flow" -i "$PWD/inventory" \
			>"flow-$flow.log" 2>&1
		status=$?
		echo "$status osmtest -f $flow passes for $who"
		[ $status -eq 0 ] || tail -n 5 "flow-$flow.log" | sed 's/^/ # /'
	done
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
	[ "$(lines $who.result '^[0-9]')" -eq 9 ] ||
		ok 1 "$who: all flows ran"
done
done_testing

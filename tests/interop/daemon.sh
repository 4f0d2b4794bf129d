#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The resident daemon: comes up, answers SMInfo, notices what changes, obeys
# signals, and shares a fabric with another SM.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

fresh() {
	rm -rf cache dump
	sim_start "$1"
}

sm_lid() {	# of the node that the clients are attached to: "node-01"
	client ibnetdiscover 2>/dev/null | awk -v name="$1" '
	/^Ca/ { split($0, q, "\""); mine = q[4] == name }
	mine && /^\[1\]/ {
		sub(/.*# *lid /, "")
		print $1
		exit
	}'
}

# One SM from start to end.
life_case() {
	local ups lid sweeps ends

	wanted_case life || return 0
	fresh "$demo" || { ok 1 "life: ibsim starts"; return; }
	sm_start life.log -s 1 --view "$SCRATCH/view"
	check "life: SUBNET UP" await 15 log_has life.log 'SUBNET UP'
	check "life: the fabric is complete" judge_same "$demo"
	check "life: all is Active" judge_active 32
	lid=$(sm_lid node-01)
	# attached elsewhere: the answer has to come over the fabric
	check "life: sminfo finds a MASTER" on node-16 judge_master "$lid"

	# a second sweep on demand, of a fabric that has not changed
	sleep 1.5
	sweeps=$(lines life.log 'sent [0-9]+ MADs')
	kill -HUP "$SM_PID"
	check "life: HUP sweeps" \
		await 10 log_has life.log 'sent [0-9]+ MADs' $((sweeps + 1))
	sweeps=$(lines life.log 'heavy sweep')
	ends=$(lines life.log 'sent [0-9]+ MADs')
	kill -HUP "$SM_PID"
	check "life: HUP makes a heavy sweep" \
		await 10 log_has life.log 'heavy sweep' $((sweeps + 1))
	# a cable that is pulled before its end is no repair
	await 10 log_has life.log 'sent [0-9]+ MADs' $((ends + 1))
	# a person's sweep tries again what ibsim forgets
	check "life: with nothing to change, it sets PortInfo only" \
		only_port_info_sets life.log

	# a cable between switches is pulled and plugged again
	ups=$(lines life.log 'SUBNET UP')
	sweeps=$(lines life.log 'repair: ')
	sim_cmd 'Unlink "leaf-2"[5]'
	check "life: a pulled cable makes a repair" \
		await 10 log_has life.log 'repair: ' $((sweeps + 1))
	check "life: SUBNET UP again" \
		await 10 log_has life.log 'SUBNET UP' $((ups + 1))
	judge_same "$demo" >/dev/null 2>&1
	check "life: the tables on the switches are the ones dumped" \
		await 30 eval "dump_view && judge_tables dump/opensm-lfts.dump"
	check "life: every LID reached without the cable" judge_routes
	check "life: 31 cables are Active" judge_active 31
	ups=$(lines life.log 'SUBNET UP')
	sim_cmd 'ReLink "leaf-2"[5]'
	check "life: SUBNET UP with the cable back" \
		await 10 log_has life.log 'SUBNET UP' $((ups + 1))
	check "life: all is Active" judge_active 32

	# a host reboots: it comes back without LID, in Init
	ups=$(lines life.log 'SUBNET UP')
	sim_cmd 'Unlink "node-11"'
	check "life: SUBNET UP without a host" \
		await 10 log_has life.log 'SUBNET UP' $((ups + 1))
	ups=$(lines life.log 'SUBNET UP')
	sim_cmd 'Clear "node-11"'
	sim_cmd 'ReLink "node-11"'
	check "life: SUBNET UP with the host back" \
		await 10 log_has life.log 'SUBNET UP' $((ups + 1))
	check "life: the fabric is complete" judge_same "$demo"
	check "life: all is Active" judge_active 32

	# rotation
	mv life.log life.log.1
	kill -USR1 "$SM_PID"
	check "life: USR1 opens the log again" await 30 [ -e life.log ]
	sleep 0.3
	kill -HUP "$SM_PID"
	check "life: and the new one is written to" \
		await 10 log_has life.log 'sent [0-9]+ MADs'
	check "life: it still runs" kill -0 "$SM_PID"

	kill -TERM "$SM_PID"
	sm_wait "$SM_PID" 2
	check "life: TERM ends it within 2 s with exit 0" [ $? -eq 0 ]
	refute "life: nobody is MASTER then" on node-16 judge_master "$lid"
	check "life: nothing on standard error" [ ! -s life.log.err ]
	sim_stop
}

# A trap, not a light sweep, tells of the change: with --sweep 0 there is none.
trap_case() {
	local ups

	wanted_case trap || return 0
	fresh "$demo" || { ok 1 "trap: ibsim starts"; return; }
	sm_start trap.log -s 0
	check "trap: SUBNET UP" await 15 log_has trap.log 'SUBNET UP'
	sleep 0.5
	ups=$(lines trap.log 'SUBNET UP')
	sim_cmd 'Unlink "node-13"[1]'
	check "trap: SUBNET UP again, without a light sweep" \
		await 10 log_has trap.log 'SUBNET UP' $((ups + 1))
	check "trap: no light sweep was made" \
		[ "$(lines trap.log 'light sweep')" -eq 0 ]
	check "trap: 31 cables are Active" judge_active 31
	kill -INT "$SM_PID"
	sm_wait "$SM_PID" 3
	check "trap: INT ends it, too" [ $? -eq 0 ]
	sim_stop
}

# An SM that starts changes the CapabilityMask of its port: trap 144.
capability_case() {
	local first

	wanted_case capability || return 0
	fresh "$demo" || { ok 1 "capability: ibsim starts"; return; }
	sm_start first.log -s 0
	first=$SM_PID
	check "capability: SUBNET UP" await 15 log_has first.log 'SUBNET UP'
	sleep 0.5
	sm_defaults[3]=$SCRATCH/cache16
	on node-16 sm_start second.log -s 0 --priority 0
	sm_defaults[3]=$SCRATCH/cache
	check "capability: trap 144 comes" \
		await 10 log_has first.log 'trap: capability'
	check "capability: and makes a repair" \
		await 10 log_has first.log 'repair: .*trap'
	check "capability: no light sweep was made" \
		[ "$(lines first.log 'light sweep')" -eq 0 ]
	kill -TERM "$SM_PID"
	sm_wait "$SM_PID" 3
	kill -TERM "$first"
	sm_wait "$first" 3
	sim_stop
}

# How many SMs of node-01 and node-16 say that they are in state $1
count_state() {
	local n=0 name
	for name in node-01 node-16; do
		client -t 5 sminfo "$(sm_lid $name)" 2>/dev/null |
			grep -q "SMINFO_$1" && n=$((n + 1))
	done
	echo $n
}

one_master() {
	[ "$(on node-07 count_state MASTER)" -eq 1 ] &&
		[ "$(on node-07 count_state STANDBY)" -eq 1 ]
}

# Two SMs: the higher priority is MASTER, the other takes over when it ends.
two_case() {
	local first second lid16

	wanted_case two || return 0
	fresh "$demo" || { ok 1 "two: ibsim starts"; return; }
	sm_start low.log -s 1 --priority 3
	first=$SM_PID
	check "two: the first comes up" await 15 log_has low.log 'SUBNET UP'
	lid16=$(sm_lid node-16)
	sm_defaults[3]=$SCRATCH/cache16
	on node-16 sm_start high.log -s 1 --priority 9
	second=$SM_PID
	sm_defaults[3]=$SCRATCH/cache
	check "two: one MASTER and one STANDBY" await 30 one_master
	check "two: the MASTER is the one of higher priority" \
		await 10 on node-07 judge_master "$lid16"
	check "two: all is Active" judge_active 32
	kill -TERM "$second"
	sm_wait "$second" 3
	check "two: the MASTER ends with exit 0" [ $? -eq 0 ]
	check "two: the other takes over" \
		await 60 on node-07 judge_master "$(sm_lid node-01)"
	check "two: and still has the fabric up" judge_active 32
	check "two: it runs" kill -0 "$first"
	kill -TERM "$first"
	sm_wait "$first" 3
	check "two: and ends with exit 0" [ $? -eq 0 ]
	sim_stop
}

life_case
trap_case
capability_case
two_case

done_testing

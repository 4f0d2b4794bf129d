#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The resident daemon: comes up, answers SMInfo, notices what changes, obeys
# signals. Two managers: election.sh, standby.sh.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# makes LOG REGEX COUNT CABLE: a cable that was pulled has made that; if a trap
# was lost, or an answer, for which all is read, it is pulled once more.
makes() {
	sleep 3
	log_has "$1" "$2" "$3" && return
	sim_cmd "ReLink $4"
	sim_cmd "Unlink $4"
	return 1
}

# A cable that was pulled twice is repaired twice.
whole_without_cable() {
	judge_same "$demo"
	[ "$(net_cables found | wc -l)" -eq 31 ] && judge_active 31 &&
		dump_view && judge_tables dump/opensm-lfts.dump &&
		judge_ibdmchk dump
}

# One SM from start to end.
life_case() {
	local ups lid sweeps ends

	fresh "$demo" || return
	sm_start life.log -s 1 --view "$SCRATCH/view"
	check "life: SUBNET UP" await log_has life.log 'SUBNET UP'
	check "life: the fabric is complete" judge_same "$demo"
	check "life: all is Active" judge_active 32
	lid=$(lid_of node-01)
	# attached elsewhere: the answer has to come over the fabric
	check "life: sminfo finds a MASTER" on node-16 judge_master "$lid"

	# a sweep on demand, of a fabric that has not changed
	sweeps=$(lines life.log 'heavy sweep')
	ends=$(lines life.log 'sent [0-9]+ MADs')
	kill -HUP "$SM_PID"
	check "life: HUP makes a heavy sweep" \
		await log_has life.log 'heavy sweep' $((sweeps + 1))
	# a cable that is pulled before its end is no repair
	await log_has life.log 'sent [0-9]+ MADs' $((ends + 1))
	# a person's sweep tries again what ibsim forgets
	check "life: with nothing to change, it sets PortInfo only" \
		only_port_info_sets life.log

	# a cable between switches is pulled and plugged again
	sweeps=$(lines life.log 'repair: ')
	sim_cmd 'Unlink "leaf-2"[5]'
	check "life: a pulled cable makes a repair" await makes life.log \
		'repair: ' $((sweeps + 1)) '"leaf-2"[5]'
	check "life: SUBNET DEGRADED" \
		await log_has life.log 'SUBNET DEGRADED'
	check "life: every LID reached without the cable, by the tables dumped" \
		await whole_without_cable
	ups=$(lines life.log 'SUBNET UP')
	sim_cmd 'ReLink "leaf-2"[5]'
	check "life: SUBNET UP with the cable back" \
		await log_has life.log 'SUBNET UP' $((ups + 1))
	check "life: all is Active" await judge_active 32

	# rotation
	mv life.log life.log.1
	kill -USR1 "$SM_PID"
	check "life: USR1 opens the log again" await [ -e life.log ]
	kill -HUP "$SM_PID"
	check "life: and the new one is written to" \
		await log_has life.log 'sent [0-9]+ MADs'
	check "life: it still runs" kill -0 "$SM_PID"

	check "life: TERM ends it with exit 0" sm_end
	refute "life: nobody is MASTER then" on node-16 judge_master "$lid"
	check "life: nothing on standard error" [ ! -s life.log.err ]
}

run_cases

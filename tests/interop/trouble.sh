#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fabrics that lose packets, do not answer, or die while they are swept: the
# part at fault is named and costs the exit status, the rest comes up.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net
fast=(-t 50 --retries 3)

fresh() {
	rm -rf cache dump
	sim_start "$1"
}

# 10 % of the MADs through each of three nodes are lost
loss_case() {
	wanted_case loss || return 0
	fresh "$demo" || { ok 1 "loss: ibsim starts"; return; }
	sim_cmd 'Error "leaf-1" 10'
	sim_cmd 'Error "spine-2" 10'
	sim_cmd 'Error "node-16" 10'
	check "loss: comes up all the same" sm_once loss.log -t 50 --retries 9
	check "loss: and says SUBNET UP" log_has loss.log 'SUBNET UP'
	check "loss: something was lost indeed" \
		log_has loss.log 'second time|retr'
	sim_cmd 'Error "leaf-1" 0'
	sim_cmd 'Error "spine-2" 0'
	sim_cmd 'Error "node-16" 0'
	check "loss: the fabric is complete" judge_same "$demo"
	check "loss: all is Active" judge_active 32
	check "loss: the tables on the switches are the ones dumped" \
		judge_tables dump/opensm-lfts.dump
	check "loss: every LID reached from every switch" judge_routes
	sim_stop
}

# A host that never answers: everybody else comes up.
silent_host_case() {
	wanted_case silent-host || return 0
	fresh "$demo" || { ok 1 "silent host: ibsim starts"; return; }
	sim_cmd 'Error "node-16" 100'
	refute "silent host: --once does not exit 0" \
		sm_once host.log "${fast[@]}"
	check "silent host: the log says behind which port it is" \
		log_has host.log 'leaf-4.*port 4'
	check "silent host: no SUBNET UP" \
		[ "$(lines host.log 'SUBNET UP')" -eq 0 ]
	sim_cmd 'Error "node-16" 0'
	judge_same "$demo" >/dev/null
	client iblinkinfo -l >links 2>/dev/null
	check "silent host: 31 cables are Active at both ends" \
		[ "$(lines links 'Active/ *LinkUp\)==>')" -eq 62 ]
	check "silent host: 23 ports have LIDs" \
		[ "$(guid_lids | grep -vc ' 0$')" -eq 23 ]
	check "silent host: comes up once it answers" \
		sm_once host2.log "${fast[@]}"
	check "silent host: all is Active" judge_active 32
	sim_stop
}

# A switch that tells NodeInfo and then nothing more.
silent_switch_case() {
	wanted_case silent-switch || return 0
	fresh "$demo" || { ok 1 "silent switch: ibsim starts"; return; }
	sim_cmd 'Error "spine-4" 100 18'	# SwitchInfo
	refute "silent switch: --once does not exit 0" \
		sm_once switch.log "${fast[@]}"
	check "silent switch: the log names it" log_has switch.log 'spine-4'
	sim_cmd 'Error "spine-4" 0'
	client ibnetdiscover >found 2>/dev/null
	client iblinkinfo -l >links 2>/dev/null
	check "silent switch: the other 28 cables are Active" \
		[ "$(grep -v 'spine-4' links |
			grep -c 'Active/ *LinkUp)==>')" -eq 56 ]
	# no CA's way leads over the switch that cannot be programmed
	check "silent switch: hosts are reached from hosts" judge_trace
	check "silent switch: comes up once it answers" \
		sm_once switch2.log "${fast[@]}"
	check "silent switch: all is Active" judge_active 32
	sim_stop
}

# A leaf dies while the sweep is under way, at several moments of it.
dying_case() {
	local delay status leaf

	wanted_case dying || return 0
	"$MINISM_FABRIC" 'PGFT(4,4,8;1,4,4)' >dying.net
	# the switch of the last CA: far from the SM's, which is the first's
	leaf=$(awk '/^(Switch|Hca|Ca)[ \t]/ { ca = $1 != "Switch" }
		ca && /^\[1\]/ { split($0, q, "\""); last = q[2] }
		END { print last }' dying.net)
	for delay in 0 0.01 0.02 0.04 0.08; do
		fresh dying.net || { ok 1 "dying: ibsim starts"; return; }
		rm -f dying.log
		sm_start dying.log --once "${fast[@]}"
		sleep "$delay"
		sim_cmd "Unlink \"$leaf\""
		sm_wait "$SM_PID" 40
		status=$?
		check "dying: ends by itself, after $delay s (exit $status)" \
			[ $status -le 1 ]
		if [ $status -eq 0 ]; then
			check "dying: exit 0 means SUBNET UP" \
				log_has dying.log 'SUBNET UP'
		else
			check "dying: what is wrong is in the log" \
				log_has dying.log '(warning|error)'
		fi
		check "dying: the rest comes up" sm_once rest.log "${fast[@]}"
		client ibnetdiscover >found 2>/dev/null
		check "dying: all that is left is Active" \
			judge_active "$(net_cables found | wc -l)"
		check "dying: the leaf is gone" \
			[ "$(net_nodes found | grep -c '^Switch')" -eq 79 ]
		check "dying: the tables are the ones dumped" \
			judge_tables dump/opensm-lfts.dump
		check "dying: every LID reached from every switch" judge_routes
		sim_stop
	done
}

# The resident daemon keeps trying, and comes up when the host answers.
recovery_case() {
	wanted_case recovery || return 0
	fresh "$demo" || { ok 1 "recovery: ibsim starts"; return; }
	sim_cmd 'Error "node-08" 100'
	sm_start recovery.log -s 1 "${fast[@]}"
	check "recovery: the log says that the fabric is not up" \
		await 15 log_has recovery.log 'SUBNET NOT UP'
	sim_cmd 'Error "node-08" 0'
	check "recovery: SUBNET UP once the host answers" \
		await 20 log_has recovery.log 'SUBNET UP'
	check "recovery: all is Active" judge_active 32
	kill -TERM "$SM_PID"
	sm_wait "$SM_PID" 5
	check "recovery: TERM ends with exit 0" [ $? -eq 0 ]
	sim_stop
}

loss_case
silent_host_case
silent_switch_case
dying_case
recovery_case

done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fabrics that lose packets, do not answer, or die while they are swept: the
# part at fault is named and costs the exit status, the rest comes up. More of
# what may fail: tests/scenarios/faults.scn.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net
fast=(-t 50 --retries 3)

# 10 % of the MADs through each of three nodes are lost
loss_case() {
	fresh "$demo" || return
	sim_cmd 'Error "leaf-1" 10'
	sim_cmd 'Error "spine-2" 10'
	sim_cmd 'Error "node-16" 10'
	# of ten attempts all are lost, now and then
	check "loss: comes up all the same" sm_once loss.log -t 100 --retries 50
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

# A leaf dies while the sweep is under way, at several moments of it.
dying_case() {
	local delay status leaf

	"$MINISM_FABRIC" 'PGFT(4,4,8;1,4,4)' >dying.net
	# the switch of the last CA: far from the SM's, which is the first's
	leaf=$(awk '/^(Switch|Hca|Ca)[ \t]/ { ca = $1 != "Switch" }
		ca && /^\[1\]/ { split($0, q, "\""); last = q[2] }
		END { print last }' dying.net)
	for delay in 0.02 0.08; do
		fresh dying.net || return
		rm -f dying.log
		sm_start dying.log --once "${fast[@]}"
		sleep "$delay"
		sim_cmd "Unlink \"$leaf\""
		sm_wait "$SM_PID"
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
		check "dying: the rest comes up" sm_once rest.log
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

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A warm standby in a lab: the master is another minism or opensm, and is killed
# or told to end. Clients have joined groups, registered services and
# subscribed; saquery tells before and after what the SA knows.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery opensm python3

mkdir -p osm
export OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm

# manager NAME NODE PRIORITY: its log and control socket have its name. A host that
# does not answer in time has left, and its groups with it; here the machine may be
# slow.
manager() {
	LAB_NODE=$2 lab_sm "$1.run" "$MINISM" -p 1 -F "$SCRATCH/empty.conf" \
		--partitions= --cache-dir "$SCRATCH/cache-$1" --priority "$3" \
		-s 2 -t 1000 -v -f "$SCRATCH/$1.log" \
		--control-socket "$SCRATCH/$1.ctl"
}

foreign() {	# NODE PRIORITY
	LAB_NODE=$1 lab_sm opensm.run opensm -F "$SCRATCH/empty.conf" \
		-P "$SCRATCH/none" -p "$2" -f "$SCRATCH/osm.log"
}

asks() {	# manager regex command: whatever its exit status is
	"$MINISMCTL" -s "$1.ctl" "$3" >answer 2>&1
	grep -E -- "$2" answer || { cat answer; return 1; }
}

client() {	# node words: of sa_client.py
	LAB_NODE=$1 inside python3 "$here/sa_client.py" "${@:2}"
}

clients() {
	local node words

	while read -r node words; do
		# shellcheck disable=SC2086 # words
		check "$node: $words" await client "$node" $words
	done <<-END
		node-02 join 0
		node-03 join 0
		node-09 join 0
		node-02 join 77
		node-12 join 77
		node-07 serve 1234
		node-07 serve 99 3600
		node-11 subscribe 129
		node-10 subscribe 130
	END
}

# told FILE: what the SA says of them all. A lease becomes shorter, and Enum is
# the SA's own business; opensm repeats the RID of a subscriber.
told() {
	{
		inside saquery --smkey 1 MCMR
		inside saquery --smkey 1 SR
		inside saquery --smkey 1 IIR
	} >"$1.all" 2>&1
	grep -iE 'MGID|PortGid|Mlid|Mtu|pkey|Rate|scope|JoinState|ID\.|Gid|Name' \
		"$1.all" | grep -viE 'lease|enum|ProxyJoin' >"$1"
	[ "$(grep -c . "$1")" -gt 40 ]
}

same() {
	told after && diff before after
}

# By any sweep from then on.
no_table_was_set() {
	sed '1,/SM state .* -> master/d' standby.log >since
	grep -oE 'sent [0-9]+ MADs.*' since
	log_has since 'sent [0-9]+ MADs.*\.Get [1-9]' &&
		log_has_not since 'ForwardingTable\.Set [1-9]'
}

begin() {
	rm -rf cache-* osm/* ./*.log
	lab_start "$demo" || done_testing
	LAB_NODE=node-16
}

# ---- another minism ---------------------------------------------------------

two_minisms() {
	begin
	manager master node-01 9
	check "the master brings the fabric up" \
		await log_has master.log 'SUBNET UP'
	manager standby node-05 3
	check "the other one is a standby, and warm" \
		await asks standby '^warm: ' status
	clients
	check "the standby holds all of it" await asks standby \
		'^warm: +2 groups with 5 members, 2 services, 2 subscriptions' \
		status
	check "saquery sees all of it" told before
}

# Killed. If the fabric stood still meanwhile, and what the standby has read is too
# old, once more.
the_master_dies() {
	local try

	for try in 1 2 3; do
		two_minisms
		kill -9 "${SM_PIDS[0]}"
		check "the standby takes over" \
			await log_has standby.log 'SUBNET UP'
		log_has standby.log 'taken over .* as of ([3-9]|[0-9]{2,})\.'\
'.*asked to register again' || return
		note "$(grep 'taken over' standby.log)"
		sm_kill_all
	done
}

# A standby that has not answered it yet is not handed the fabric.
master_has_standby() {
	asks master '^standby .*node-05' sms || {
		"$MINISMCTL" -s master.ctl sweep --wait
		return 1
	}
}

minism_case() {
	the_master_dies
	check "no client has to register again" log_has standby.log \
		'taken over .*groups 2 with 5 members, services 2, subscriptions 2.*need not register'
	check "saquery sees the same" same
	check "no forwarding table was written" no_table_was_set
	check "a client is served" client node-03 join 77
	told before
	manager master node-01 9
	check "the master comes back, and is handed the fabric" \
		await log_has master.log 'SUBNET UP' 2
	check "and all that was registered" log_has master.log \
		'taken over .*groups 2 with 6 members, services 2, subscriptions 2.*need not register'
	check "it sees its standby" await master_has_standby
	check "told to end, it ends" sm_end
	check "and says whom it gave the fabric" log_has master.log \
		'exiting: handing over to node-05'
	check "which was told to take it" \
		log_has standby.log 'SMInfo control 1 .*\(master\)'
	check "and has it" await log_has standby.log 'SUBNET UP' 2
	check "saquery still sees the same" same
}

# ---- opensm -----------------------------------------------------------------

# It waits 40 s and more for a master that is gone without a word.
opensm_case() {
	begin
	foreign node-01 14
	check "opensm is master" await log_has opensm.run.out 'Entering MASTER state'
	manager standby node-05 3
	check "minism is its standby, and says that it reads nothing" \
		await asks standby '^NOT WARM: .*it is no minism' status
	check "opensm has nothing to complain of" \
		log_has_not osm.log 'ERR.*(Unsupported|ttribute)'
	kill -9 "${SM_PIDS[0]}"
	check "minism takes over" await log_has standby.log 'SUBNET UP'
	check "the clients are asked to register again" log_has standby.log \
		'no SA state of the former master is known'
	foreign node-01 2
	check "opensm comes back as a standby" await log_has opensm.run.out \
		'Entering STANDBY state'
	check "minism knows of it" await asks standby '^standby' sms
	kill "${SM_PIDS[1]}"
	check "minism ends, and opensm is the master" await \
		log_has opensm.run.out 'Entering MASTER state'
}

run_cases

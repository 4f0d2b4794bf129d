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

# manager NAME NODE PRIORITY: log, control socket and process id have its name.
# A host that does not answer in time has left, and its groups with it; here the
# machine may be slow.
manager() {
	LAB_NODE=$2
	lab_sm "$1.run" "$MINISM" -p 1 -F "$SCRATCH/empty.conf" --partitions= \
		--cache-dir "$SCRATCH/cache-$1" --priority "$3" -s 2 -t 1000 -v \
		-f "$SCRATCH/$1.log" --pidfile "$SCRATCH/$1.pid" \
		--control-socket "$SCRATCH/$1.ctl"
	LAB_NODE=node-16
}

status_has() {	# manager regex
	"$MINISMCTL" -s "$SCRATCH/$1.ctl" status >status.out 2>&1
	grep -E -- "$2" status.out || { cat status.out; return 1; }
}

client() {	# node words: of sa_client.py
	LAB_NODE=$1 inside python3 "$here/sa_client.py" "${@:2}"
}

clients() {
	local node

	for node in 02 03 09; do
		check "node-$node joins" await client "node-$node" join 0
	done
	check "node-02 creates a group" await client node-02 join 77
	check "node-12 joins it, too" await client node-12 join 77
	check "node-07 registers a service" await client node-07 serve 1234
	check "node-07 registers one for an hour" await client node-07 \
		serve 99 3600
	check "node-11 subscribes" await client node-11 subscribe 129
	check "node-10 subscribes" await client node-10 subscribe 130
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
	rm -rf cache-* osm/* ./*.log ./*.pid
	lab_start "$demo" || done_testing
}

# ---- another minism ---------------------------------------------------------

two_minisms() {
	begin
	manager master node-01 9
	check "the master brings the fabric up" \
		await log_has master.log 'SUBNET UP'
	manager standby node-05 3
	check "the other one is a standby, and warm" \
		await status_has standby '^warm: '
	clients
	check "the standby holds all of it" await status_has standby \
		'^warm: +2 groups with 5 members, 2 services, 2 subscriptions'
	check "saquery sees all of it" told before
}

# two_lose_one COMMAND: the master of both is ended by it. If the fabric stood still
# meanwhile, and what the standby has read is too old, once more.
two_lose_one() {
	local try

	for try in 1 2 3; do
		two_minisms
		"$1"
		check "the standby takes over" \
			await log_has standby.log 'SUBNET UP'
		log_has standby.log 'taken over .* as of ([3-9]|[0-9]{2,})\.'\
'.*asked to register again' || return
		note "$(grep 'taken over' standby.log)"
		sm_kill_all
	done
}

taken_over() {
	check "no client has to register again" log_has standby.log \
		'taken over .*groups 2 with 5 members, services 2, subscriptions 2.*need not register'
	check "saquery sees the same" same
	check "no forwarding table was written" no_table_was_set
	check "a client is served" client node-03 join 77
}

# To take over. One that misses the master is discovering before.
was_told_to() {
	sed '/SM state standby -> master/q' standby.log >until
	log_has until 'SM state standby -> master' &&
		log_has until 'SMInfo control 1 .*\(master\)'
}

kill_master() {
	kill -9 "$(cat master.pid)"
}

kill_case() {
	two_lose_one kill_master
	taken_over
}

# A standby that has not answered it yet is not handed the fabric.
master_has_standby() {
	"$MINISMCTL" -s "$SCRATCH/master.ctl" sms | grep '^standby .*node-05' ||
		{ "$MINISMCTL" -s "$SCRATCH/master.ctl" sweep --wait; return 1; }
}

end_master() {
	check "the master sees its standby" await master_has_standby
	kill "$(cat master.pid)"
}

term_case() {
	local ups

	two_lose_one end_master
	taken_over
	check "it was told to" was_told_to
	check "the master says whom it gave the fabric" log_has master.log \
		'exiting: handing over to node-05'
	sm_wait "${SM_PIDS[0]}"
	check "it ends" [ $? -eq 0 ]
	ups=$(lines master.log 'SUBNET UP')
	manager master node-01 9
	check "it comes back, and gets the fabric again" \
		await log_has master.log 'SUBNET UP' $((ups + 1))
	check "and all that was registered" log_has master.log \
		'taken over .*groups 2 with 6 members, services 2, subscriptions 2.*need not register'
}

# ---- opensm -----------------------------------------------------------------

opensm_case() {
	local pid

	begin
	LAB_NODE=node-01
	lab_sm opensm.run opensm -F "$SCRATCH/empty.conf" -P "$SCRATCH/none" \
		-p 14 -f "$SCRATCH/osm.log"
	LAB_NODE=node-16
	check "opensm is master" await log_has opensm.run.out 'Entering MASTER state'
	manager standby node-05 3
	check "minism is its standby, and says that it reads nothing" \
		await status_has standby '^NOT WARM: .*it is no minism'
	check "opensm has nothing to complain of" \
		log_has_not osm.log 'ERR.*(Unsupported|ttribute)'
	pid=$(pgrep -f "^opensm .*-f $SCRATCH/osm.log")
	kill -9 "$pid"
	check "minism takes over" await log_has standby.log 'SUBNET UP'
	check "the clients are asked to register again" log_has standby.log \
		'no SA state of the former master is known'
}

# opensm waits 40 s and more for a master that is gone without a word.
heir_case() {
	begin
	manager master node-01 9
	check "minism brings the fabric up" \
		await log_has master.log 'SUBNET UP'
	LAB_NODE=node-05
	lab_sm opensm.run opensm -F "$SCRATCH/empty.conf" -P "$SCRATCH/none" \
		-p 2 -f "$SCRATCH/osm.log"
	LAB_NODE=node-16
	check "opensm is a standby" await log_has opensm.run.out \
		'Entering STANDBY state'
	check "minism knows of it" await bash -c \
		'"$0" -s "$1" sms | grep -i standby' "$MINISMCTL" \
		"$SCRATCH/master.ctl"
	kill "$(cat master.pid)"
	check "minism ends, and opensm is the master" await \
		log_has opensm.run.out 'Entering MASTER state'
}

run_cases

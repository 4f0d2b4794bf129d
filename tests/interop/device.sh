#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The device under the port: it goes away and comes back, refuses, swallows;
# a library between minism and the simulator's plays the kernel's part, which
# tests/lib/umad_fault.c describes.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

fault=$MINISM_BUILD/tests/umad_fault.so
[ -e "$fault" ] || bail_out "$fault has not been built"
sm_preload=${sm_preload/$shim/$fault $shim}
export UMAD_FAULT=$SCRATCH/fault

fault() {	# words, for the next call
	echo "$*" >fault.new
	mv fault.new fault
}

# rests PID: of a second or more it computes less than a twentieth
rests() {
	local ticks uptime

	# a hundred ticks a second; so is uptime here
	ticks=$(cpu_ticks "$1") uptime=$(tr -d . </proc/uptime)
	sleep 1.2	# longer than a sweep's interval
	ticks=$(($(cpu_ticks "$1") - ticks))
	uptime=$(($(tr -d . </proc/uptime | cut -d ' ' -f 1) - ${uptime%% *}))
	echo "$ticks ticks of $uptime"
	[ $((ticks * 20)) -lt $uptime ]
}

cpu_ticks() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

is_sm() {	# another node sees IsSM in the CapabilityMask of the first
	answers IsSM on node-16 client smpquery -G portinfo 0x10011
}

# devices WORDS: that is all that was opened and closed since this was so the
# last time; ibsim keeps IsSM when issm is closed, so it cannot tell
devices() {
	local seen

	seen=$(tr '\n' ' ' <fault.log)
	[ "$seen" = "$* " ] || {
		echo "$seen"
		return 1
	}
	: >fault.log
}

# no_sweep_since LOG REGEX: the last such line
no_sweep_since() {
	tac "$1" | sed "/$2/q" >since
	log_has_not since 'own port does not answer'
}

# gone NAME WORDS: away in the middle of a quiet life, then back
gone() {
	local name=$1 words=$2

	rm -rf fault.log
	fault
	sim_start "$demo" || return
	sm_start "$name.log" -s 1 --control-socket "$SCRATCH/ctl"
	check "$name: comes up" await log_has "$name.log" 'SUBNET UP'
	check "$name: others see IsSM" await is_sm
	# Get, Set, GetTable, GetMulti, Delete; Report is for subscribers here
	check "$name: the SA leaves Reports to others" \
		grep -qx '3 0x340006' fault.agents
	fault "$words"
	check "$name: it is noticed" await log_has "$name.log" \
		'error port: ibsim0 port 1 .*the device is gone'
	check "$name: issm is closed, then umad" \
		await devices open umad open issm close issm close umad
	check "$name: minism waits, and at rest" rests "$SM_PID"
	check "$name: it is said once" \
		[ "$(lines "$name.log" 'device is gone')" -eq 1 ]
	check "$name: the status is not up" refuses \
		'device of the port is gone' ctl status
	check "$name: no sweep meanwhile" no_sweep_since "$name.log" \
		'the device is gone'
	sim_cmd 'Unlink "node-02"'
	fault
	check "$name: it is opened again" await log_has "$name.log" \
		'the device is back'
	check "$name: the fabric is up again" await log_has "$name.log" \
		'SUBNET (UP|DEGRADED)' 2
	check "$name: umad was opened, then issm" await devices open umad open issm
	check "$name: the change in between was seen" await log_has "$name.log" \
		'SUBNET DEGRADED: .*15 of 16 hosts'
	check "$name: the SA is there again" \
		await on node-16 client saquery -N
	check "$name: and ends in order" sm_end
}

once_case() {
	local status

	fresh "$demo" || return
	fault gone-after=40
	sm_once once.log
	status=$?
	check "once: exit 1 when the device goes away (it was $status)" \
		[ $status -eq 1 ]
	check "once: with the reason" log_has once.log 'the device is gone'
	fault
	check "once: and the next run is good" sm_once once2.log
}

# Reading fails for a moment, for a reason that passes (ENOMEM): a pause after
# each failure keeps it from being taken for the end of the device.
hiccup_case() {
	rm -rf cache fault.reads
	fault
	sim_start "$demo" || return
	sm_start hiccup.log -s 1
	check "hiccup: comes up" await log_has hiccup.log 'SUBNET UP'
	fault read=12 times=50
	sim_cmd 'Unlink "node-02"[1]'
	check "hiccup: reads fail" await log_has fault.reads . 50
	check "hiccup: the fabric is up without a host" \
		await log_has hiccup.log 'SUBNET DEGRADED: .*15 of 16 hosts'
	check "hiccup: there was a pause of 1 ms after each" awk '
		NR == 1 { first = $2 } END { exit NR != 50 || $2 - first < 49000 }
		' fault.reads
	check "hiccup: the device is not given up" \
		log_has_not hiccup.log 'device is gone'
	fault gone
	check "hiccup: it goes away" await log_has hiccup.log \
		'device is gone'
	fault issm=13
	check "hiccup: it is back, and may not be opened" await log_has \
		hiccup.log 'warning port: .*issm.*run as root'
	sim_cmd 'ReLink "node-02"[1]'
	fault
	check "hiccup: later it may, and is heard" await log_has hiccup.log \
		'SUBNET UP: .*16 hosts' 2
}

# Requests that never come back: the fabric is read all the same when the
# device has come to its senses, and nothing polls for what is lost.
swallow_case() {
	fault
	sim_start "$demo" || return
	sm_start swallow.log -s 1 -t 200
	check "swallow: comes up" await log_has swallow.log 'SUBNET UP'
	fault swallow
	sim_cmd 'Unlink "node-02"[1]'
	sim_cmd 'ReLink "node-02"[1]'
	check "swallow: a sweep fails" await log_has swallow.log \
		'own port does not answer'
	fault
	check "swallow: and the next one is good" await log_has \
		swallow.log 'SUBNET UP' 2
}

# refused FAULT REGEX: a run that fails, and why
refused() {
	fault "$1"
	refute "refusal: $1" sm_once refused.log
	check "refusal: $1: why" log_has refused.log "$2"
}

refusal_case() {
	local error

	fresh "$demo" || return
	for error in 1 95; do	# EPERM, EOPNOTSUPP
		fault issm=$error
		check "refusal: issm=$error is no end" sm_once refused.log
		check "refusal: issm=$error is said" log_has refused.log \
			'warning port: .*issm.*other subnet managers'
	done
	refused issm=13 'run as root'
	refused umad=13 'Permission denied.*run as root'
	refused no-module 'modprobe ib_umad'
	refused issm=11 'another subnet manager runs on this port'
	fault issm=11 times=5
	check "refusal: a manager that is just ending is waited for" \
		sm_once later.log
}

# port CA N GUID LINK_LAYER STATE PHYS LID SM_LID: in ./sys, as the kernel has it
port() {
	local ca=sys/infiniband/$1 p=sys/infiniband/$1/ports/$2

	mkdir -p "$p/gids" "$p/pkeys"
	echo "1: CA" >"$ca/node_type"
	echo "$3" >"$ca/node_guid"
	echo "$3" >"$ca/sys_image_guid"
	echo "fe80:0000:0000:0000:$3" >"$p/gids/0"
	echo 0xffff >"$p/pkeys/0"
	echo "$4" >"$p/link_layer"
	echo "$5" >"$p/state"
	echo "$6" >"$p/phys_state"
	echo "$7" >"$p/lid"
	echo "$8" >"$p/sm_lid"
	echo 0 >"$p/sm_sl"
	echo 0 >"$p/lid_mask_count"
	echo "100 Gb/sec (4X EDR)" >"$p/rate"
	echo 0x2651e84a >"$p/cap_mask"
	mkdir -p "sys/infiniband_mad/umad$umads"
	echo 5 >sys/infiniband_mad/abi_version
	echo "$1" >"sys/infiniband_mad/umad$umads/ibdev"
	echo "$2" >"sys/infiniband_mad/umad$umads/port"
	umads=$((umads + 1))
}

# choose arguments...: the log is in ./choice. There is no device behind the
# sysfs files, so the run ends with the name of the port that it would open.
choose() {
	timeout -k 2 $patience env UMAD_SYS="$SCRATCH/sys" \
		LD_PRELOAD="${sm_preload% *}" "$MINISM" "${sm_defaults[@]}" \
		-o "$@" >out 2>choice </dev/null
}

# The choice of a port, by what libibumad reads of a machine; the order of all:
# test_local_port.c.
choice_case() {
	fault
	umads=0
	port mlx5_0 1 0000:0000:0000:0010 Ethernet '4: ACTIVE' '5: LinkUp' 0x0 0x0
	refute "choice: Ethernet is not taken" choose
	check "choice: and is listed" grep -q '0010 Active (Ethernet)' choice
	refute "choice: -p of it" choose -p 1
	check "choice: says why" grep -q 'mlx5_0 port 1 is an Ethernet port' \
		choice
	port mlx5_1 1 0000:0000:0000:0011 InfiniBand '4: ACTIVE' '5: LinkUp' \
		0x5 0x3
	port mlx5_2 1 0000:0000:0000:0012 InfiniBand '2: INIT' '5: LinkUp' 0x0 0x0
	refute "choice: a device that is not there" choose
	check "choice: the port that needs a manager" \
		grep -q 'mlx5_2 port 1: cannot open its umad device' choice
	check "choice: the others are named" grep -q 'warning port: chosen:.*not '\
'chosen: mlx5_1 port 1 .*subnet manager at LID 3' choice
	choose -g 0x11
	check "choice: -g" grep -q 'mlx5_1 port 1: cannot' choice
	check "choice: which needs no word" log_has_not choice 'chosen'
	rm sys/infiniband_mad/abi_version
	choose
	check "choice: without the module" grep -q 'modprobe ib_umad' choice
}

nodes_by_sa() {
	LAB_NODE=node-09 inside saquery -C lab1 -N | grep -c NodeRecord
}

# An HCA with planes, in a lab: SMPs by one device, the rest by another.
planes_case() {
	local asan=

	lab_start "$demo" --planes ||
		{ ok 1 "planes: minism-lab starts"; return; }
	inside opensm -o -f "$SCRATCH/opensm.log" >opensm.out 2>&1
	check "planes: OpenSM 3.3 takes one and ends" \
		grep -q 'Error from osm_opensm_bind' opensm.out
	lab_sm planes.run "$MINISM" "${sm_defaults[@]}" \
		-f "$SCRATCH/planes.log" -C lab1 -s 1
	check "planes: minism takes both" await log_has planes.log \
		'on lab0 port 1, GSI lab1 port 1 '
	check "planes: comes up" await log_has planes.log 'SUBNET UP'
	check "planes: the SA answers" [ "$(nodes_by_sa)" -eq 24 ]
	lab_cmd unplug-device node-01
	check "planes: both are gone" await log_has planes.log \
		'the device is gone'
	lab_cmd kill node-02
	lab_cmd plug-device node-01 4
	check "planes: and back" await log_has planes.log \
		'SUBNET DEGRADED: .*15 of 16 hosts'
	check "planes: the SA, too" [ "$(nodes_by_sa)" -eq 23 ]
	sm_kill_all
	[ $sanitized = no ] || asan=$(gcc -print-file-name=libasan.so)
	LD_PRELOAD=$asan check \
		"planes: one alone is an error that says which is missing" \
		gives 1 'for GMPs, is missing' inside sh -c "
		env -u LD_PRELOAD rm -r \$MINISM_LAB_SYS/class/infiniband/lab1
		exec $MINISM ${sm_defaults[*]} --once"
}

# two_managers: the first with a standby beside it
two_managers() {
	rm -rf cache-b ./*.log
	echo 'routing_threads 2' >threads.conf
	fault
	sim_start "$demo" || return
	sm_start a.log -F "$SCRATCH/threads.conf" -s 1 --priority 5 \
		--control-socket "$SCRATCH/ctl"
	master=$SM_PID
	await log_has a.log 'SUBNET UP' || return
	UMAD_FAULT='' on node-09 sm_start b.log -s 1 --priority 4 \
		--cache-dir "$SCRATCH/cache-b" --control-socket "$SCRATCH/ctl-b"
	await log_has b.log 'STANDBY: the master is on node-01'
}

polls_answered() {	# of the standby's, by the master
	"$MINISMCTL" -s ctl-b metrics | sed -n \
		's/^minism_requests_total{.*"SMInfo",outcome="answered"} //p'
}

# stall NAME WORD: the manager answers while its disk, or its routing,
# stands still
stall() {
	local name=$1 word=$2 change reload words polls

	check "$name: two managers" two_managers || return
	sim_cmd 'Unlink "node-02"'
	check "$name: a node is missed" await log_has a.log 'SUBNET DEGRADED'
	rm -f fault.stalls
	fault "$word"
	"$MINISMCTL" -s ctl accept >accept.out 2>&1
	"$MINISMCTL" -s ctl partition add Default node-03=full \
		>partition.out 2>&1 &
	change=$!
	"$MINISMCTL" -s ctl reload >reload.out 2>&1 &
	reload=$!
	kill -HUP "$master"	# the engines run again
	check "$name: it stands still" await grep -q "$word" fault.stalls
	for words in "$MINISMCTL -s ctl status" \
		"on node-16 client sminfo 2" \
		"on node-16 client saquery --smkey 1 NR"; do
		check "$name: it answers ${words##*/}" await $words
	done
	polls=$(polls_answered)
	check "$name: it answers its standby" await eval \
		'[ "$(polls_answered)" -ge $((polls + 8)) ]'
	check "$name: there is one master" log_has_not b.log '-> master'
	[ "$word" = work ] ||
		check "$name: a change of partitions and a reload wait" \
			kill -0 $change $reload
	fault
	wait "$change"
	check "$name: a change of partitions is done" [ $? -eq 0 ]
	wait "$reload"
	check "$name: and the reload" [ $? -eq 0 ]
	rm fault.stalls
	fault "$word again"
	"$MINISMCTL" -s ctl partition add Default node-04=full \
		>partition.out 2>&1 &
	change=$!
	kill -HUP "$master"
	check "$name: once more" await grep -q "$word" fault.stalls
	kill "$master"
	check "$name: TERM hands over at once" await log_has b.log '-> master'
	check "$name: by a word of the master" \
		log_has b.log 'SMInfo control 1 .*\(master\)'
	fault
	sm_wait "$master"
	check "$name: and it ends" [ $? -eq 0 ]
	wait $change
}

disk_case() {
	stall disk fsync
}

routes_case() {
	stall routes work
}

gone_case() {
	gone gone gone
}

old_case() {
	gone old gone-old
}

run_cases

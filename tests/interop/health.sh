#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism-health in a lab: what it reads is what ibqueryerrors reads, and a manager
# routes around the cables that it finds.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need perfquery ibqueryerrors python3

health=$MINISM_BUILD/minism-health
asan=
[ "$sanitized" = no ] || asan=$(gcc -print-file-name=libasan.so)

# health_run options...: on the manager's node, until it ends; its number is in
# ./health.pid
health_run() {
	LD_PRELOAD=$asan timeout -k 2 $patience "$MINISM_LAB_PROGRAM" \
		--on "$LAB_NODE" -- sh -c 'echo $$ >health.pid; exec "$@"' \
		sh "$health" -s "$SCRATCH/ctl" "$@"
}

manager() {
	lab_sm minism.run "$MINISM" "${sm_defaults[@]}" -v -f "$SCRATCH/sm.log" \
		--control-socket "$SCRATCH/ctl"
	await log_has sm.log 'SUBNET UP'
}

up() {	# a lab and its manager
	rm -f sm.log
	lab_start "$demo" && manager && return
	ok 1 "a fabric is up"
}

says() {	# regex words...: an answer of minismctl has such a line
	answers "$1" ctl "${@:2}"
}

gmps() {	# that were sent in the lab: not the SMPs of the manager's sweeps
	local sent served

	read -r sent served < <(lab_cmd stats | sed -n \
		's/^\([0-9]*\) MADs sent, \([0-9]*\) SMPs served.*/\1 \2/p')
	echo $((sent - served))
}

has_sent() {	# N
	[ "$(gmps)" -ge "$1" ]
}

# A run in the background, once its first reading was made: one MAD a node, two a
# port.
health_start() {	# options...
	before=$(gmps)
	health_run "$@" >health.out 2>health.err &
	health_pid=$!
	SM_PIDS+=($!)
	await has_sent $((before + 152))
}

# once_start options...: a run that stands still between its two readings. If
# this shell comes too late for that, there is another run.
once_start() {
	local before try

	for try in 1 2 3 4 5; do
		health_start --once "$@"
		kill -STOP "$(cat health.pid)"
		SM_PIDS+=("$(cat health.pid)")
		[ "$(gmps)" -gt $((before + 152)) ] || return
		note "run $try was not held"
		kill -KILL "$(cat health.pid)"
		wait "$health_pid"
	done
}

once_ends() {	# its exit status
	kill -CONT "$(cat health.pid)"
	wait "$health_pid"
}

counted() {	# "PORT N": symbol errors of all ports, by ibqueryerrors
	inside ibqueryerrors >errors.ib 2>&1
	sed -n 's/.*GUID.*port \([0-9]*\):.*SymbolErrorCounter == \([0-9]*\).*/\1 \2/p' \
		errors.ib | sort
}

# Of a lab that is not run for a second no port answers.
reads_again() {
	health_run --once -i 1 || [ $? -eq 1 ]
}

once_case() {
	up || return
	check "once: nothing is wrong" health_run --once -i 1
	once_start -i 4
	lab_cmd errors leaf-3/2 symbol 1234
	lab_cmd errors spine-1/4 symbol 40000
	lab_cmd errors spine-1/4 wait 1600000
	lab_cmd errors leaf-1/1 discards 7
	refute "once: a bad cable is status 1" once_ends
	check "once: it is ibqueryerrors'" diff <(counted) <(
		sed -n 's|^  [^ ]*/\([0-9]*\): SymbolErrorCounter \([0-9]*\).*|\1 \2|p' \
			health.out | sort)
	check "once: the worst cable is the first" eval \
		'head -1 health.out | grep -q "^leaf-4/5 - spine-1/4: 40000 errors, "'
	check "once: one that waits, waits" grep -qE \
		'^  spine-1/4: .*PortXmitWait 1600000; waits (9|100)' health.out
	check "once: discards are no fault of a cable" grep -q \
		'^node-01 - leaf-1/1: 0 errors' health.out
	check "once: it ends with a sum" grep -q \
		'^2 bad cables; 64 ports read, 0 did not answer' health.out
	once_start -i 4 --json --limit 2000000
	lab_cmd errors leaf-3/2 symbol 100
	check "json: the limit is not reached" once_ends
	check "json: is JSON" python3 -c 'import json
r = json.load(open("health.out"))
c, = r["cables"]
assert r["bad"] == 0 and r["read"] == 64, r
assert c["link"] == "node-10 - leaf-3/2" and c["errors"] == 100, c
assert c["ends"][1]["counters"] == {"SymbolErrorCounter": 100}, c'
	lab_cmd hang spine-2
	check "silent: the other nodes are read" await answers \
		'60 ports read, 4 did not answer' reads_again
	check "silent: it is named" grep -qx 'no answer: spine-2' answer
}

# 8 bits, in their last quarter, are cleared and go on.
recovery_is() {
	answers "LinkErrorRecoveryCounter:\.*$1\$" inside perfquery -G 0x20030 2
}

end_case() {
	up || return
	lab_cmd errors leaf-3/2 recovery 240
	once_start -i 4
	check "end: near it a counter is cleared" recovery_is 0
	lab_cmd errors leaf-3/2 recovery 50
	refute "end: a bad cable" once_ends
	check "end: it is counted on" grep -q \
		'leaf-3/2: LinkErrorRecoveryCounter 50;' health.out
	once_start -i 4
	inside perfquery -R -a -G 0x20030 >cleared 2>&1
	lab_cmd errors leaf-3/2 recovery 5
	refute "end: and if another tool clears it" once_ends
	check "end: it is counted from 0" grep -q \
		'leaf-3/2: LinkErrorRecoveryCounter 5;' health.out
}

# What a manager does with it: tests/scenarios/health.scn.
avoid_case() {
	up || return
	health_start -i 2 --avoid
	lab_cmd errors spine-2/3 symbol 300
	check "avoid: the cable is told" await grep -q \
		'^bad cable: leaf-3/6 - spine-2/3: 300 errors' health.out
	check "avoid: the manager avoids it" await \
		says 'leaf-3/6 - spine-2/3 .*, avoided' links avoided
	check "avoid: its answer is told once" \
		[ "$(grep -c '^link leaf-3/6 - spine-2/3: ' health.out)" = 1 ]
	lab_cmd errors leaf-3/2 symbol 200
	check "avoid: a link of a host is told" await \
		grep -q "^bad cable: node-10" health.out
	check "avoid: and not asked for" \
		log_has_not health.out 'no link between'
	kill "$SM_PID"
	wait "$SM_PID" 2>/dev/null
	check "avoid: without a manager it reads on" await \
		grep -q 'minism-health: .*ctl' health.err
	rm -f sm.log
	check "avoid: a manager that starts again" manager
	check "avoid: is asked again" await \
		says 'leaf-3/6 - spine-2/3 .*, avoided' links avoided
}

nothing_case() {
	lab_start "$demo" >/dev/null
	check "nothing: no manager is status 3" ends_with 3 health_run --once
	lab_stop
	check "nothing: no port is status 3" ends_with 3 env -u MINISM_LAB \
		"$health" --view "$demo" --once
	check "nothing: wrong usage is status 2" ends_with 2 \
		"$health" --once --avoid
	check "nothing: nor are there arguments" ends_with 2 "$health" now
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --step: a run that waits, and shows what the devices hold meanwhile.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

# steps arguments...: commands from standard input; run.out
steps() {
	timeout -k 5 $patience "$MINISM_SIM" -F "$SCRATCH/empty.conf" -f run.log \
		"$demo" --step "$@" >run.out 2>run.err
}

printf '\n\nquit\n' | steps --once
check "quit: ends the run, which is not up" [ $? -eq 1 ]
check "enter: a line each" [ "$(grep -vc '^---' run.out)" -eq 3 ]

printf 'go\n' | steps --once
check "go: to the end" [ $? -eq 0 ]
cp run.out all.out
timeout $patience "$MINISM_SIM" -F empty.conf -f run.log "$demo" --once \
	--explain >run.out
check "go: is what --explain tells" cmp all.out run.out

# What the tables are at two moments: no step may run ahead of what is told.
printf '%s\n' 'until routed' 'lft leaf-1' 'path node-01 node-16' \
	'until LinearForwardingTable leaf-1' 'until SwitchInfo leaf-1' \
	'lft leaf-1' 'until up' \
	'path node-01 node-16' 'pkeys node-03' 'go' | steps --once
check "until: comes up" [ $? -eq 0 ]
check "until routed: no table is written yet, and no LID set" diff - <(
	sed -n '/  verify /,/ waits\? /p' run.out | grep -v '^0' | head -1) \
	<<<'node-01: no LID'
check "until LinearFDBTop has risen: now there is one" \
	grep -q '^  17 -> port 0' run.out
check "until up: there is a path" grep -qE \
	'^node-01/1 -> leaf-1/[5-8] -> spine-[1-4]/4 -> leaf-4/4 -> node-16: delivered' \
	run.out
check "pkeys: full in the default partition" \
	grep -qE '^    1  0xffff full$' run.out

printf '%s\n' 'break PortInfo leaf-2' 'go' 'show leaf-2' 'break' 'go' |
	steps --once
check "break: stops there" [ "$(grep -B1 '^leaf-2' run.out | head -1 |
	grep -c 'leaf-2 .*Get PortInfo')" -eq 1 ]

printf '%s\n' 'until routed' 'kill spine-4' 'plug-device leaf-1' 'go' |
	steps --once
check "kill: in the middle of a sweep is told, and not hidden" \
	[ $? -eq 1 ]
check "kill: the silent node is named" grep -q 'spine-4.*no answer' run.out
check "devices: are in minism-lab only" grep -q 'in minism-lab only' run.out
timeout $patience "$MINISM_SIM" -F empty.conf --step --once 2>run.err
check "step: is for a simulation only" [ $? -eq 2 ]

# A lab stands still for a manager in another process. What has been told so
# far: lab.out.
told() {	# COUNT
	[ "$(grep -c ' path 0' lab.out)" -eq "$1" ]
}

lab_case() {
	lab_start "$demo" || return
	echo step >&"$LAB_FD"
	await eval 'lab_cmd stats | grep -q "MADs sent"'
	lab_sm sm.log "$MINISM" "${sm_defaults[@]}" -t 60000 -f sm.log
	check "lab: the first MAD is told" await told 1
	sleep 0.5
	check "lab: and the fabric waits" told 1
	echo >&"$LAB_FD"
	check "lab: Enter is one more" await told 2
	echo 'until LinearForwardingTable leaf-1' >&"$LAB_FD"
	check "lab: until a table is written" await grep -q \
		'leaf-1 .*Set LinearForwardingTable' lab.out
	sleep 0.3
	check "lab: and no further" grep -q 'Set LinearForwardingTable' <(
		grep ' path 0' lab.out | tail -1)
	refute "lab: no path yet" lab_cmd expect path node-01 node-16
	echo go >&"$LAB_FD"
	check "lab: go" await log_has sm.log 'SUBNET UP: 8 switches'
	check "lab: now there is a path" lab_cmd expect path node-01 node-16
	kill "$SM_PID"
	wait "$SM_PID"
	lab_stop
}

run_cases

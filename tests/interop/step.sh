#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --step: a run that waits, and shows what the devices hold meanwhile.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# What is shown at which moment: doc/tour.md, which doc.sh reads again.
sim_case() {
	typed $'\n\nquit'
	check "quit: ends the run, which is not up" [ $status -eq 1 ]
	check "enter: a line each" [ "$(grep -vc '^---' run.out)" -eq 3 ]

	typed go
	check "go: to the end" [ $status -eq 0 ]
	cp run.out all.out
	simulated "$demo" --once --explain
	check "go: is what --explain tells" cmp all.out run.out

	# no step may run ahead of what is told
	typed $'until routed\nuntil LinearForwardingTable leaf-1\nuntil SwitchInfo leaf-1\nlft leaf-1
		until up\npkeys node-03\ngo'
	check "until LinearFDBTop has risen: there is a table" \
		grep -q '^  1 -> port 0' run.out
	check "pkeys: full in the default partition" \
		grep -qE '^    1  0xffff full$' run.out

	typed $'break PortInfo leaf-2\ngo\nshow leaf-2\nbreak\ngo'
	check "break: stops there" [ "$(grep -B1 '^leaf-2' run.out | head -1 |
		grep -c 'leaf-2 .*Get PortInfo')" -eq 1 ]

	typed $'until routed\nkill spine-4\nplug-device leaf-1\ngo'
	check "kill: in the middle of a sweep is told, and not hidden" \
		[ $status -eq 1 ]
	check "kill: the silent node is named" \
		grep -q 'spine-4.*no answer' run.out
	check "devices: are in minism-lab only" \
		grep -q 'in minism-lab only' run.out
	check "step: is for a simulation only" ends_with 2 \
		"$MINISM" -F empty.conf --step --once
}

typed() {	# commands of --step
	timeout -k 5 $patience "$MINISM_SIM" -F empty.conf -f run.log "$demo" \
		--step --once <<<"$1" >run.out 2>run.err
	status=$?
}

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
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism as a service: what systemd hears of it, the unit's sandbox, and a run
# as the user minism without any capability.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need python3 setpriv
demo=$MINISM_SRC/etc/fabrics/demo.net

# ---- what systemd hears ----------------------------------------------------

# In systemd's place: each datagram is a line of ./notified, its lines joined
# by blanks.
cat >listen.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\0", 1))
with open("notified", "w", buffering=1) as out:
    print("listening", file=out)
    while True:
        print(s.recv(4096).decode().replace("\n", " "), file=out)
END

listen() {	# address, as in NOTIFY_SOCKET
	"${leash[@]}" python3 listen.py "$1" 2>listen.err &
	SM_PIDS+=($!)
	await 5 log_has notified listening
	export NOTIFY_SOCKET=$1 WATCHDOG_USEC=1000000
}

fed() {
	lines notified '^WATCHDOG=1 STATUS=UP: '
}

notify_case() {	# NAME address
	local before

	wanted_case "$1" || return 0
	lab_start "$demo" || { ok 1 "$1: minism-lab starts"; return; }
	rm -rf cache notified
	listen "$2"
	lab_sm "$1" "$MINISM" "${sm_defaults[@]}" -p 1 -s 1 -f "$SCRATCH/$1.log"
	check "$1: READY when the first sweep has ended, with the verdict" \
		await 15 log_has notified \
		'^READY=1 STATUS=UP: 8 switches, 16 hosts, 32 of 32 links'
	check "$1: until then, what it does" \
		log_has notified '^STATUS=the first sweep is under way'
	before=$(fed)
	sleep 1.2
	check "$1: the watchdog is fed twice in its time" \
		[ "$(fed)" -ge $((before + 2)) ]

	kill -STOP "$SM_PID"
	sleep 0.2
	before=$(fed)
	sleep 1.2
	check "$1: a manager that hangs feeds nothing" \
		[ "$(fed)" -eq "$before" ]
	kill -CONT "$SM_PID"

	lab_cmd unplug leaf-1 6 >/dev/null
	check "$1: STATUS tells what is missing since" await 10 \
		log_has notified 'STATUS=DEGRADED: .* 31 of 31 links Active'

	kill -HUP "$SM_PID"
	check "$1: a reload is told" await 5 log_has notified \
		'^RELOADING=1 MONOTONIC_USEC=[0-9]+$'
	check "$1: and its end" await 5 ends_reload
	kill -TERM "$SM_PID"
	sm_wait "$SM_PID" 3
	check "$1: TERM ends it with exit 0" [ $? -eq 0 ]
	check "$1: STOPPING is the last word" \
		[ "$(tail -n 1 notified)" = STOPPING=1 ]
	unset NOTIFY_SOCKET WATCHDOG_USEC
	sm_kill_all
	lab_stop
}

ends_reload() {
	grep -A 1 '^RELOADING=1' notified | grep -q '^READY=1'
}

# Variables that mean another process, or nobody, are no reason to talk.
stray_case() {
	wanted_case stray || return 0
	rm -f notified
	listen "$SCRATCH/stray.sock"
	NOTIFY_SOCKET=relative timeout 20 "$MINISM" "${sm_defaults[@]}" \
		--simulate "$demo" --once >/dev/null 2>&1
	check "stray: an address that is none is left alone" [ $? -eq 0 ]
	timeout 20 "$MINISM" "${sm_defaults[@]}" --simulate "$demo" --once \
		>/dev/null 2>&1
	check "stray: a run that ends has nothing to say" \
		[ "$(lines notified =)" -eq 0 ]
	lab_start "$demo"
	WATCHDOG_PID=1 lab_sm stray "$MINISM" "${sm_defaults[@]}" -p 1
	check "stray: with another one's watchdog it is ready, too" \
		await 15 log_has notified '^READY=1'
	sleep 0.8
	check "stray: and does not feed that" [ "$(fed)" -eq 0 ]
	unset NOTIFY_SOCKET WATCHDOG_USEC
	sm_kill_all
	lab_stop
}

notify_case path "$SCRATCH/notify.sock"
notify_case abstract "@minism-notify-$$"
stray_case

done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism as a service: what systemd hears of it, the unit's sandbox, and a run
# as the user minism without any capability.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need python3 setpriv

# ---- what systemd hears ----------------------------------------------------

# In systemd's place: each datagram is a line of ./notified, its lines joined
# by blanks. After USR1 the next line is MARK, behind all that was sent before.
cat >listen.py <<'END'
import signal, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace("@", "\0", 1))
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
signal.signal(signal.SIGUSR1,
              lambda *_: sender.sendto(b"MARK", s.getsockname()))
with open("notified", "w", buffering=1) as out, \
        open("feeds", "w", buffering=1) as feeds:
    print("listening", file=out)
    while True:
        line = s.recv(4096).decode().replace("\n", " ")
        print(line, file=out)
        if line.startswith("WATCHDOG=1"):
            print(time.monotonic(), file=feeds)
END

listen() {	# address, as in NOTIFY_SOCKET
	"${leash[@]}" python3 listen.py "$1" 2>listen.err &
	listener=$!
	SM_PIDS+=($listener)
	await log_has notified listening
	export NOTIFY_SOCKET=$1 WATCHDOG_USEC=400000
}

fed() {	# all that was sent until now
	local marks

	marks=$(lines notified MARK)
	kill -USR1 "$listener"
	await log_has notified MARK $((marks + 1))
	lines notified '^WATCHDOG=1 STATUS=UP: '
}

# Of two feeds some are no more apart, whatever else the machine does.
fed_twice() {	# seconds
	awk -v s="$1" 'NR > 1 && $1 - last < s { found = 1 } { last = $1 }
		END { exit !found }' feeds
}

notify() {	# NAME address
	lab_start "$demo" || return
	rm -f notified
	listen "$2"
	lab_sm "$1" "$MINISM" "${sm_defaults[@]}" -p 1 -s 1 -f "$SCRATCH/$1.log"
	check "$1: READY when the first sweep has ended, with the verdict" \
		await log_has notified \
		'^READY=1 STATUS=UP: 8 switches, 16 hosts, 32 of 32 links'
	check "$1: until then, what it does" \
		log_has notified '^STATUS=first sweep in progress'
	[ "$1" = path ] && life_of "$1"
	check "$1: TERM ends it with exit 0" sm_end
	fed >/dev/null
	check "$1: STOPPING is the last word" \
		[ "$(grep -v MARK notified | tail -n 1)" = STOPPING=1 ]
	unset NOTIFY_SOCKET WATCHDOG_USEC
}

life_of() {	# NAME
	local before

	check "$1: the watchdog is fed twice in its time" await fed_twice 0.24

	kill -STOP "$SM_PID"
	await grep -q 'State:.T' "/proc/$SM_PID/status"
	before=$(fed)
	sleep 0.3	# longer than between two feeds
	check "$1: a manager that hangs feeds nothing" \
		[ "$(fed)" -eq "$before" ]
	kill -CONT "$SM_PID"

	lab_cmd unplug leaf-1 6 >/dev/null
	check "$1: STATUS tells what is missing since" await \
		log_has notified 'STATUS=DEGRADED: .* 31 of 32 links Active'

	kill -HUP "$SM_PID"
	check "$1: a reload is told" await log_has notified \
		'^RELOADING=1 MONOTONIC_USEC=[0-9]+$'
	check "$1: and its end" await ends_reload
}

ends_reload() {
	sed '1,/^RELOADING=1/d' notified | grep -q '^READY=1'
}

# Variables that mean another process, or nobody, are no reason to talk.
stray_case() {
	rm -f notified
	listen "$SCRATCH/stray.sock"
	NOTIFY_SOCKET=relative timeout $patience "$MINISM_SIM" "${sm_defaults[@]}" \
		"$demo" --once >/dev/null 2>&1
	check "stray: an address that is none is left alone" [ $? -eq 0 ]
	timeout $patience "$MINISM_SIM" "${sm_defaults[@]}" "$demo" --once \
		>/dev/null 2>&1
	fed >/dev/null
	check "stray: a run that ends has nothing to say" \
		[ "$(lines notified =)" -eq 0 ]
	lab_start "$demo"
	WATCHDOG_PID=1 lab_sm stray "$MINISM" "${sm_defaults[@]}" -p 1
	check "stray: with another one's watchdog it is ready, too" \
		await log_has notified '^READY=1'
	sleep 0.3	# the same
	check "stray: and does not feed that" [ "$(fed)" -eq 0 ]
	unset NOTIFY_SOCKET WATCHDOG_USEC
}

# ---- the log ------------------------------------------------------------------

logs_case() {
	: >journal
	JOURNAL_STREAM=$(stat -c %d:%i journal) timeout $patience "$MINISM_SIM" \
		"${sm_defaults[@]}" -v "$demo" --once 2>journal
	check "logs: in the journal a level and no time" \
		only_lines journal '<[34567]>[a-z]+: '
	check "logs: information, and what is more than that" \
		eval "grep -q '^<6>' journal && grep -q '^<7>' journal"
	: >journal
	JOURNAL_STREAM=$(stat -c %d:%i journal) "$MINISM" --lmc 8 2>journal
	check "logs: a mistake in the options is an error there" \
		only_lines journal '<3>--lmc: '
	has logrotate || return
	sed "s/su .*/su $(id -un) $(id -gn)/" \
		"$MINISM_SRC/etc/minism.logrotate" >logrotate.conf
	check "logs: logrotate takes its file" logrotate --debug \
		--state "$SCRATCH/rotated" logrotate.conf
}

only_lines() {	# file regex
	[ -s "$1" ] && ! grep -vE "^$2" "$1"
}

# ---- the unit ---------------------------------------------------------------

unit=$MINISM_BUILD/etc/minism.service

unit_case() {
	local exposure

	has systemd-analyze || return
	for unit in "$MINISM_BUILD"/etc/minism*.service; do
		exposure=$(systemd-analyze security --offline=true --no-pager \
			"$unit" 2>analyze.err | sed -n \
			's/^.*Overall exposure level for .*: \([0-9.]*\) .*/\1/p')
		check "unit: the exposure of ${unit##*/} is 2.0 at most, it is \
$exposure" awk -v e="${exposure:-10}" 'BEGIN { exit e > 2.0 }'
		check "unit: systemd knows every line of it" known_to_systemd
	done
}

# What is missing here are only the programs and units of other packages.
known_to_systemd() {
	systemd-analyze verify --man=no "$unit" >verify.out 2>&1
	! grep -iE 'unknown|invalid|failed to parse|ignoring' verify.out
}

# The calls that the filter of the unit permits, one a line.
expand() {	# @group
	local word

	systemd-analyze syscall-filter "$1" | sed '1d; s/#.*//' |
	while read -r word; do
		case $word in
		@*) expand "$word" ;;
		?*) echo "$word" ;;
		esac
	done
}

permitted() {
	local word add='' take=''

	for word in $(sed -n 's/^SystemCallFilter=//p' "$unit"); do
		case $word in
		\~*) take=$(expand "${word#\~}") ;;
		*) [ -z "$take" ] && add=$(expand "$word") ||
			take+=$'\n'$(expand "$word") ;;
		esac
	done
	comm -23 <(sort -u <<<"$add") <(sort -u <<<"$take")
}

user=64123	# in the place of minism: some number
group=daemon	# a group that every system has

# A manager's life under strace: the filter of the unit permits what it calls. A
# sanitizer has calls of its own.
calls_case() {
	local pid

	[ "$sanitized" = no ] || return 0
	has systemd-analyze || return
	strace -o calls true 2>strace.err || {
		skip "calls: the unit's filter permits them" "no strace"
		return
	}
	rm -f notified
	lab_start "$demo" || return
	listen "$SCRATCH/calls.sock"
	echo "control_group $group" >calls.conf
	lab_sm calls setpriv --regid "$group" --clear-groups \
		strace -f -qq -o "$SCRATCH/calls" "$MINISM" \
		"${sm_defaults[@]}" -F "$SCRATCH/calls.conf" -p 1 -s 1 \
		-f "$SCRATCH/calls.log" \
		--control-socket "$SCRATCH/calls.ctl" \
		--view "$SCRATCH/view"
	check "calls: SUBNET UP" await log_has calls.log 'SUBNET UP'
	lab_cmd unplug leaf-1 6 >/dev/null
	check "calls: a cable that is pulled" await log_has calls.log \
		'SUBNET DEGRADED'
	check "calls: minismctl is answered" \
		timeout $patience "$MINISMCTL" -s "$SCRATCH/calls.ctl" config
	pid=$(pgrep -P "$SM_PID" -x minism)
	kill -HUP "$pid"
	check "calls: a reload" await ends_reload
	kill -USR1 "$pid"
	kill -TERM "$pid"
	check "calls: the end" await log_has notified STOPPING
	sm_wait "$SM_PID"
	sed -E 's/^[0-9]+ +//' calls | grep -oE '^[a-z_0-9]+\(' | tr -d '(' |
		sort -u >called
	permitted >permitted
	check "calls: the socket is the group's" \
		log_has_not calls.log 'cannot be given'
	check "calls: the unit's filter permits all $(wc -l <called)" all_permitted
	check "calls: its sockets are of the families that the unit permits" \
		families_permitted
	unset NOTIFY_SOCKET WATCHDOG_USEC
}

all_permitted() {
	[ "$(wc -l <called)" -gt 20 ] && [ "$(wc -l <permitted)" -gt 100 ] &&
		[ -z "$(comm -23 called permitted | tee /dev/stderr)" ]
}

families_permitted() {
	local families

	families=$(sed -n 's/^RestrictAddressFamilies=//p' "$unit" |
		tr ' ' '|')
	grep -qE 'socket\(AF_UNIX' calls &&
		! grep -E 'socket\(' calls | grep -vE "socket\\(($families),"
}

# ---- the user -----------------------------------------------------------------

bare=(--inh-caps=-all --bounding-set=-all --no-new-privs)
servant=(setpriv --reuid $user --regid $group --clear-groups "${bare[@]}")

status_for() {	# supplementary group, of another user; a request
	setpriv --reuid 64200 --regid 64200 --groups "$1" "${bare[@]}" \
		bin/minismctl -s run/user.ctl "${@:2}"
}

user_start() {	# log
	rm -f "run/user.ctl"
	lab_sm "$1" "${servant[@]}" \
		bash -c 'umask 0027; exec "$@"' -- "$SCRATCH/bin/minism" \
		-F "$SCRATCH/user.conf" --partitions= -p 1 -s 1 -t 3000 \
		--cache-dir "$SCRATCH/state" -f "$SCRATCH/log/$1.log" \
		--control-socket "$SCRATCH/run/user.ctl"
}

# Programs where others have a way in.
user_may() {	# NAME of the case
	[ "$sanitized" = no ] || return 1
	if [ "$(id -u)" -ne 0 ]; then
		skip "$1: minism without root" "not root"
		return 1
	fi
	chmod 711 "$SCRATCH"
	mkdir -p bin
	install -m 755 "$MINISM" "$MINISM_SIM" "$MINISMCTL" \
		"$MINISM_LAB_PROGRAM" \
		"$MINISM_BUILD/libminism-lab-umad.so" bin/
}

user_case() {
	user_may user || return 0
	install -d -m 750 -o $user -g $group state log
	install -d -m 755 -o $user -g $group run
	echo "control_group $group" >user.conf
	TMPDIR=$SCRATCH lab_start "$demo" || return
	chmod 666 lab.sock
	chmod 755 minism-lab.*
	local MINISM_LAB_PROGRAM=$SCRATCH/bin/minism-lab

	user_start first
	check "user: SUBNET UP without root and capabilities" \
		await log_has log/first.log 'SUBNET UP'
	check "user: it is that user, with no capability" has_nothing
	check "user: nothing went wrong" \
		log_has_not log/first.log ' (warning|error) '
	check "user: the socket is the group's" \
		[ "$(stat -c '%a %u %G' run/user.ctl)" = "660 $user $group" ]
	check "user: status for the group" status_for "$group" status
	check "user: changes by the group" status_for "$group" \
		partition set Default node-05 limited
	check "user: nothing for others, who are told why" gives 3 \
		'Permission denied' status_for 64200 status
	check "user: it ends with exit 0" sm_end
	check "user: what it remembers is closed to others" closed_to_others
	user_start second
	check "user: SUBNET UP again" \
		await log_has log/second.log 'SUBNET UP'
	check "user: nothing went wrong" \
		log_has_not log/second.log ' (warning|error) '
	check "user: what was changed is remembered" \
		grep -q limited state/partitions-runtime
}

has_nothing() {
	local status=/proc/$SM_PID/status

	grep -qE "^Uid:\s+$user\s+$user\s+$user" "$status" &&
		[ "$(grep -cE '^Cap(Prm|Eff|Bnd|Amb):\s+0+$' "$status")" -eq 4 ]
}

closed_to_others() {
	[ -s state/state ] && [ -z "$(find state -type f -perm /007)" ]
}

# A run by hand as root in the service's folder, then the service.
hand_run() {	# command...: minism of that user; its end is in SM_PID
	"${leash[@]}" "$@" bin/minism-sim -F "$SCRATCH/hand.conf" --partitions= \
		'PGFT(2,2;1,2)' --cache-dir "$SCRATCH/hand/state" \
		-f "$SCRATCH/hand/log" --view "$SCRATCH/hand/view" \
		-J "$SCRATCH/hand/pid" \
		--control-socket "$SCRATCH/hand/ctl" 2>hand.err </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

hand_refused() {	# file: root's by mistake
	cp "hand/state/$1" before
	chown 0:0 "hand/state/$1"
	chmod "$2" "hand/state/$1"
	hand_run "${servant[@]}"
	sm_wait "$SM_PID"
	check "hand: with root's $1 it ends with exit 1" [ $? -eq 1 ]
	check "hand: and says what to type" grep -qsE \
		"chown --reference=$SCRATCH/hand/state $SCRATCH/hand/state/$1" \
		hand.err hand/log
	check "hand: and leaves it as it is" cmp "hand/state/$1" before
	chown --reference=hand/state "hand/state/$1"
}

hand_case() {
	user_may hand || return 0
	install -d -m 750 -o $user -g $group hand
	printf 'm_key 1\nm_key_per_port TRUE\n' >hand.conf
	hand_run
	check "hand: root's SUBNET UP" await log_has hand/log 'SUBNET UP'
	check "hand: a member is changed" await "$MINISMCTL" -s hand/ctl \
		partition set Default H-1 limited
	check "hand: it ends with exit 0" sm_end
	check "hand: all files are there" [ -s hand/state/guid2mkey ] &&
		[ -s hand/state/partitions-runtime ] &&
		[ -s hand/view ]
	check "hand: and all are the service's" \
		[ -z "$(find hand ! -user $user | tee /dev/stderr)" ]
	hand_run "${servant[@]}"
	check "hand: the service has the change" await eval \
		'"$MINISMCTL" -s hand/ctl partitions Default | grep -q "limited .* H-1"'
	sm_end
	check "hand: nothing went wrong" \
		log_has_not hand/log ' (warning|error) '
	echo 'control_group root' >hand.conf
	hand_run "${servant[@]}"
	check "hand: a group that is not its own: what can work is told" \
		await log_has hand/log 'given to the group root.*Group='
	sm_end
	hand_refused guid2mkey 600
	hand_refused partitions-runtime 600
	hand_refused lock 644
}

path_case() {
	notify path "$SCRATCH/notify.sock"
}

abstract_case() {
	notify abstract "@minism-notify-$$-$RANDOM"
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Options, as a process has them: what is wrong costs one line and exit status 2,
# before anything is touched; files, signals, devices and the background. What
# each key and word may be is in test_options.c and test_command_line.c.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# refused WHAT REGEX program arguments...: exit 2, nothing on stdout, one line on
# stderr, which says what is accepted
refused() {
	check "$1: one line, exit 2" refuses_in_a_line "${@:2}"
}

refuses_in_a_line() {
	timeout -k 2 $patience "${@:2}" >out 2>err </dev/null
	[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
		grep -qiE -- "$1" err && return
	cat out err
	return 1
}

bad_case() {
	refused "an unknown option" 'nonsense' "$MINISM" --nonsense
	refused "a log that cannot be opened" 'no/log' "$MINISM_SIM" \
		-F empty.conf -o -f no/log 'single(2)'
	check "too few descriptors: exit status 1, and why" gives 1 LimitNOFILE \
		bash -c 'ulimit -n 10; exec "$@"' - "$MINISM_SIM" -F empty.conf \
		'single(3)' --once
}

# checked STATUS REGEX arguments...: --check-config of minism, or of PROGRAM
checked() {
	gives "$1" "$2" "${PROGRAM:-$MINISM}" --check-config -F empty.conf \
		--cache-dir= "${@:3}"
}

config_case() {
	printf 'lmc 9\nlcm 1\nsweep_interval  often\nrouting_engine fast\n' \
		>bad.conf
	printf '0x1\n  nobody\n' >bad.guids
	printf 'Default=0x7fff, ipoib : ALL=full ;\nStorage=0x10 : 0x1=fill ;\n' \
		>bad.partitions
	sed 's/fill/full/' bad.partitions >good.partitions
	check "config: nothing is wrong" checked 0 'valid, with 0 warnings'
	check "config: an error has its place" \
		checked 2 'bad\.conf:1:5: lmc: 9' -F bad.conf
	check "config: the second error, too" \
		grep -qE 'bad\.conf:3:17: sweep_interval: often' answer
	check "config: and the warning" \
		grep -qE 'bad\.conf:2:1: lcm is no key' answer
	check "config: and what is read later" \
		grep -q 'unknown routing engine "fast"' answer
	check "config: a bad partition file" checked 2 \
		'bad\.partitions:2:[0-9]+: ' -P bad.partitions -a bad.guids
	check "config: all files are looked at" grep -q 'bad\.guids:2' answer
	echo "partition_config_file no-such" >named.conf
	check "config: one that is not there is a warning" checked 0 \
		'no-such: .*\(warning\)' -F named.conf
	PROGRAM=$MINISM_SIM check "config: a member that a fabric lacks" checked 0 \
		'good\.partitions:2: port 0x0+1 is not on the fabric' \
		-P good.partitions "$demo"
	PROGRAM=$MINISM_SIM check "config: a fabric that is none" checked 2 \
		'PGFT' 'PGFT(4,8)'
	has opensm || return
	opensm -c opensm.conf >opensm.out 2>&1
	check "config: opensm writes its keys" log_has opensm.conf '^[a-z]' 150
	check "config: which can be used" checked 0 valid -F opensm.conf
	check "config: and what is not used is one warning" \
		log_has answer '[0-9]+ keys are none of minism' 1
}

# Keys come out in the plan for a fabric that has the defaults: each one is in the
# policy (test_options.c), and what that wants in plan.scn.
policy_case() {
	local key told wanted=()

	printf 'Default=0x7fff : ALL=full ;\nBlue=0x10 : ALL=full ;\n' >blue
	while IFS='|' read -r key told; do
		echo "$key" >>policy.conf
		wanted+=("$told")
	done <<-'END'
	lmc 2|LMC 0 -> 2
	routing_engine updn|updn
	partition_config_file blue|0x8010
	m_key 0x1234|M_Key 0 -> .secret
	m_key_protection_level 1|M_KeyProtectBits 0 -> 1
	END
	simulated -F policy.conf 'PGFT(2,2;1,2)' --plan
	for key in "${wanted[@]}"; do
		check "policy: $key" grep -qE "$key" run.out run.log
	done
	check "policy: the key itself is not told" \
		log_has_not run.out '1234|4660'
}

info_case() {
	check "--help exits 0" gives 0 . "$MINISM" --help
	mv answer help
	check "--version is a line with a version" gives 0 \
		'^minism [0-9]+(\.[0-9]+)+' "$MINISM" --version
	check "--version is nothing else" [ "$(wc -l <answer)" -eq 1 ]
	if grep -q "^S\[\"prefix\"\]=\"/usr/local\"" \
		"$MINISM_BUILD/config.status"; then
		check "--help has the cache folder of the service unit" \
			grep -qF '(/var/cache/minism)' help
		check "--help has the configuration of the manuals" \
			grep -qF '(/etc/minism/minism.conf)' help
	else
		skip "--help has the folders of the unit" "another prefix"
	fi
}

# Without a fabric there is a message and an end, not a hang.
nowhere_case() {
	if [ -n "$(ls /sys/class/infiniband_mad 2>/dev/null)" ]; then
		skip "nowhere: no CA, a message" "this machine has one"
		return
	fi
	check "nowhere: exit 1, and what needs no device" gives 1 minism-sim \
		"$MINISM" "${sm_defaults[@]}" -o
	check "nowhere: -p is no priority" gives 1 ' --priority' \
		"$MINISM" "${sm_defaults[@]}" -o -p 15
}

took_ms() {	# until the subnet was up
	sed -nE 's/.*SUBNET UP.* ([0-9]+)\.[0-9]+ ms.*/\1/p' run.log
}

# Of keys that no plan shows.
effect_case() {
	local one

	# 20 us for an answer: one at a time takes longer than many
	echo 'max_wire_smps 1' >one.conf
	simulated 'PGFT(4,4;1,4)' -o -F one.conf
	one=$(took_ms)
	simulated 'PGFT(4,4;1,4)' -o
	check "effect: max_wire_smps ($one and $(took_ms) ms)" \
		[ "${one:-0}" -ge $((3 * $(took_ms))) ]
	fresh "$demo" || return
	printf 'sm_priority 9\nsa_key 7\nlog_file "%s"\n' \
		"$SCRATCH/key.log" >sm.conf
	sm_start sm.log -F "$SCRATCH/sm.conf"
	check "effect: -f goes before log_file" await log_has sm.log 'SUBNET UP'
	check "effect: sm_priority" answers 'priority 9 state 3' client sminfo
	# another one: tests/scripts/sa.scn
	has saquery &&
		check "effect: sa_key" on node-16 client saquery --smkey 7 PKTR
}

# in_background PID: a process of its own that holds on to nothing
in_background() {
	local fd session

	# proc(5): behind the name state, parent, group, session
	session=$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 4)
	[ "$session" = "$1" ] || {
		echo "not the leader of a session"
		return 1
	}
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ] || {
			echo "$fd is $(readlink "/proc/$1/fd/$fd")"
			return 1
		}
	done
}

# start_daemon arguments...: its process number is in SM_PID
start_daemon() {
	rm -f pid daemon.log
	inside "$MINISM" "${sm_defaults[@]}" -v \
		-f "$SCRATCH/daemon.log" --pidfile "$SCRATCH/pid" "$@" \
		>out 2>err </dev/null
	local status=$?

	[ $status -ne 0 ] || await pid_runs pid
	SM_PID=$(cat pid 2>/dev/null)
	[ -n "$SM_PID" ] && SM_PIDS+=("$SM_PID")
	cat out err
	return "$status"
}

gone() {	# pid
	! kill -0 "$1" 2>/dev/null
}

# In a lab: a part of umad2sim is a thread, which does not survive a fork.
daemon_case() {
	local first

	# a lab preloads its library, and the runtime of a sanitizer is first
	[ "$sanitized" = no ] || { skip "daemon: -B" "not with sanitizers"
		return; }
	lab_start "$demo" || return
	check "daemon: -B ends with 0" start_daemon -B -s 1
	cat out err >said
	check "daemon: and says nothing" [ ! -s said ]
	check "daemon: the pid file names who runs" kill -0 "$SM_PID"
	check "daemon: it is in the background" in_background "$SM_PID"
	check "daemon: SUBNET UP" await log_has daemon.log 'SUBNET UP'
	first=$SM_PID
	kill -TERM "$first"
	check "daemon: TERM ends it" await gone "$first"
	check "daemon: in order" log_has daemon.log 'told to end'
	check "daemon: the pid file is gone" [ ! -e pid ]

	echo 'daemon TRUE' >daemon.conf
	check "daemon: by the configuration" \
		start_daemon -F "$SCRATCH/daemon.conf"
	check "daemon: it is in the background, too" in_background "$SM_PID"
	kill -TERM "$SM_PID"
	await gone "$SM_PID"
	check "daemon: --once stays" inside "$MINISM" "${sm_defaults[@]}" \
		-f "$SCRATCH/once.log" --once -B -s 1
	check "daemon: until the subnet is up" log_has once.log 'SUBNET UP'

	# a start that fails
	refute "daemon: no such port, exit 1" start_daemon -B -g 0x99
	check "daemon: the message is on standard error" \
		grep -q '^minism: .*0x0*99' err
	check "daemon: and in the log" log_has daemon.log 'error.*0x0*99'
	check "daemon: there is no pid file" [ ! -e pid ]
	refute "daemon: no place for the pid file, exit 1" \
		start_daemon -B --pidfile "$SCRATCH/no/pid"
	check "daemon: nobody stays behind" \
		log_has_not daemon.log 'SUBNET UP|heavy sweep'
}

log_case() {
	"$MINISM_SIM" -F empty.conf -o -v 'PGFT(2,2;1,2)' 2>&1 >/dev/null |
		head -n 1 >out
	check "log: that its reader goes is no end" [ "${PIPESTATUS[0]}" -eq 0 ]
}

# One manager a pid file and a cache folder; what else is there is left alone.
alone() {	# arguments...: a simulated fabric, and no shim
	timeout -k 2 $patience "$MINISM_SIM" "${sm_defaults[@]}" \
		'PGFT(2,2;1,2)' "$@" </dev/null
}

alone_starts() {	# its process number, not one that was there, is in SM_PID
	local before

	before=$(cat pid 2>/dev/null)
	alone -B --pidfile "$SCRATCH/pid" >out 2>err || {
		cat out err
		return 1
	}
	await eval '[ "$(cat pid)" != "$before" ] && pid_runs pid' || return
	SM_PID=$(cat pid)
	SM_PIDS+=("$SM_PID")
}

alone_case() {
	local first

	check "alone: the first one" alone_starts
	first=$SM_PID
	cp pid pid.copy
	check "alone: a second one on the pid file names it" gives 1 \
		"process $first" alone -B --pidfile "$SCRATCH/pid" \
		--cache-dir "$SCRATCH/cache2"
	check "alone: a second one on the cache folder says what to do" gives 1 \
		"process $first.*--cache-dir" alone -B --pidfile "$SCRATCH/pid2"
	check "alone: no pid file of it" [ ! -e pid2 ]
	check "alone: the pid file is the first one's" cmp -s pid pid.copy
	check "alone: a plan disturbs nobody" alone --plan
	check "alone: the first one is there" kill -0 "$first"
	echo 1 >pid.other
	mv pid.other pid
	kill -TERM "$first"
	check "alone: TERM ends it" await gone "$first"
	check "alone: a pid file of another's is not removed" [ -e pid ]
	check "alone: what was left behind is no obstacle" \
		alone_starts
	kill -KILL "$SM_PID"
	check "alone: KILL leaves the pid file" await gone "$SM_PID"
	check "alone: which is no obstacle" alone_starts
	kill -KILL "$SM_PID"
}

# names_in FILE REGEX...: each is there
names_in() {
	local file=$1 regex

	shift
	for regex; do
		grep -qE -- "$regex" "$file" || {
			echo "$file lacks $regex"
			return 1
		}
	done
}

# What is written with names of the site; in the log and to resident managers:
# tests/scenarios/belief.scn.
names_case() {
	fresh "$demo" || return
	printf '# rack 1\n0x20020 "Rack 1 {top} # 2" # left\n0x10050 Rack 1 host 5\n' \
		>map
	check "names: with dumps" sm_once show.log --node-name-map map
	check "names: in OpenSM's dumps" names_in dump/opensm-lfts.dump \
		"\\('Rack 1 \\{top\\} # 2'\\):" ": 'Rack 1 host 5'"
	check "names: without the braces in the one of ibdmchk" \
		names_in dump/opensm-subnet.lst '\{Rack 1 \(top\) # 2\}' \
		'\{Rack 1 host 5\}'
	check "names: the nodes have their own" judge_same "$demo"
	check "names: ibdmchk reads it" judge_ibdmchk dump
	check "names: the tables are read as before" \
		judge_tables dump/opensm-lfts.dump
	check "names: minism.net, too" judge_net dump/minism.net
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Options, as a process has them: what is wrong costs one line and exit status 2,
# before anything is touched; files, signals, devices and the background. What
# each key and word may be is in test_options.c and test_command_line.c.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

# refused WHAT REGEX arguments...: exit 2, nothing on stdout, one line on
# stderr, which says what is accepted
refused() {
	local what=$1 regex=$2 status

	shift 2
	timeout -k 2 $patience "${PROGRAM:-$MINISM}" "$@" >out 2>err </dev/null
	status=$?
	if [ $status -eq 2 ] && [ ! -s out ] &&
		[ "$(wc -l <err)" -eq 1 ] && grep -qiE -- "$regex" err; then
		ok 0 "$what: one line, exit 2"
	else
		ok 1 "$what: one line, exit 2"
		note "exit $status, stdout $(wc -c <out) bytes, stderr:"
		note_file err
	fi
}

bad_case() {
	refused "an unknown option" 'nonsense' --nonsense
	(
		ulimit -n 10
		"$MINISM_SIM" -F "$SCRATCH/empty.conf" 'single(3)' --once
	) >few.out 2>&1
	check "too few descriptors: exit status 1, and why" \
		test $? -eq 1 -a -n "$(grep 'LimitNOFILE' few.out)"
	refused "-F of a file that is not there" 'no-such-file' \
		-F "$SCRATCH/no-such-file"
}

file_case() {
	printf '# a file\nsm_priority 5\nlmc 9\n' >bad.conf
	refused "a bad value in the file" 'bad\.conf:3' -F "$SCRATCH/bad.conf"
	printf 'lmc 1\nsweep_intervall 3\n' >odd.conf
	run_simulated odd.log 'PGFT(2,2;1,2)' -o -F "$SCRATCH/odd.conf"
	check "an unknown key in the file is no error" \
		log_has odd.log 'SUBNET UP'
	check "the log names it and the nearest one" \
		log_has odd.log 'sweep_intervall.*sweep_interval'
}

# check_says WHAT STATUS REGEX arguments...: --check-config
check_says() {
	local what=$1 wanted=$2 regex=$3 status

	shift 3
	timeout -k 2 $patience "${PROGRAM:-$MINISM}" --check-config -F "$SCRATCH/empty.conf" \
		--cache-dir= "$@" >out 2>err </dev/null
	status=$?
	[ $status -eq "$wanted" ] && [ ! -s err ] && grep -qE -- "$regex" out
	ok $? "--check-config: $what" || {
		note "exit $status"
		note_file out
		note_file err
	}
}

config_case() {
	printf 'lmc 9\nlcm 1\nsweep_interval  often\n' >bad.conf
	printf '0x1\n  nobody\n' >bad.guids
	check_says "nothing is wrong" 0 'valid, with 0 warnings'
	check_says "an error has its place" 2 'bad\.conf:1:5: lmc: 9' \
		-F "$SCRATCH/bad.conf"
	check "--check-config: the second error, too" \
		grep -qE 'bad\.conf:3:17: sweep_interval: often' out
	check "--check-config: and the warning" \
		grep -qE 'bad\.conf:2:1: lcm is no key' out
	printf 'Default=0x7fff, ipoib : ALL=full ;\nStorage=0x10 : 0x1=fill ;\n' \
		>bad.partitions
	printf 'Default=0x7fff, ipoib : ALL=full ;\nStorage=0x10 : 0x1=full ;\n' \
		>good.partitions
	check_says "a bad partition file" 2 'bad\.partitions:2:[0-9]+: ' \
		-P "$SCRATCH/bad.partitions" -a "$SCRATCH/bad.guids"
	check "--check-config: all files are looked at" \
		grep -q 'bad\.guids:2' out
	echo "partition_config_file $SCRATCH/no-such" >named.conf
	check_says "one that is not there is a warning" 0 \
		'no-such: .*\(warning\)' -F "$SCRATCH/named.conf"
	PROGRAM=$MINISM_SIM check_says "a member that a fabric lacks" 0 \
		'good\.partitions:2: port 0x0+1 is not on the fabric' \
		-P "$SCRATCH/good.partitions" "$demo"
	PROGRAM=$MINISM_SIM check_says "a fabric that is none" 2 'PGFT' 'PGFT(4,8)'
	PROGRAM=$MINISM_SIM refused "at the start a bad partition file" 'bad\.partitions:2:' \
		-o -P "$SCRATCH/bad.partitions" 'single(2)'
}

# Each key of policy comes out in the plan for a fabric that has the defaults.
policy_case() {
	local key

	cat >policy.conf <<-'END'
	subnet_timeout 17
	sm_sl 3
	head_of_queue_lifetime 13
	leaf_head_of_queue_lifetime 12
	vl_stall_count 6
	leaf_vl_stall_count 5
	max_op_vls 2
	local_phy_errors_threshold 9
	overrun_errors_threshold 10
	packet_life_time 11
	m_key 0x1234
	m_key_protection_level 1
	m_key_lease_period 60
	END
	"$MINISM_SIM" -F "$SCRATCH/policy.conf" --cache-dir= --partitions= \
		'PGFT(2,2;1,2)' --plan >plan.out 2>err
	for key in 'SubnetTimeOut [0-9]+ -> 17' 'SMSL 0 -> 3' \
		'HOQLife [0-9]+ -> 13' 'HOQLife [0-9]+ -> 12' \
		'VLStallCount [0-9]+ -> 6' 'VLStallCount [0-9]+ -> 5' \
		'OperationalVLs VL0-7 -> VL0-1' \
		'ErrorThresholds 8/8 -> 9/10' \
		'LifeTimeValue [0-9]+ -> 11' 'M_KeyProtectBits 0 -> 1' \
		'M_KeyLeasePeriod 0 -> 60'; do
		check "policy: $key" grep -qE "$key" plan.out
	done
	check "policy: the key itself is not told" \
		log_has_not plan.out '1234|4660'
}

info_case() {
	timeout -k 2 $patience "$MINISM" --help >help 2>err
	check "--help exits 0" [ $? -eq 0 ]
	check "--help says nothing on stderr" [ ! -s err ]
	timeout -k 2 $patience "$MINISM" --version >version 2>err
	check "--version exits 0" [ $? -eq 0 ]
	check "--version is one line with a version" \
		grep -qxE 'minism [0-9]+(\.[0-9]+)+.*' version
	check "--version is nothing else" [ "$(wc -l <version)" -eq 1 ]
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

# Which port: by name and number, by GUID; and one that is not there. The
# choice: test_local_port.c, test_umad.c.
port_case() {
	fresh "$demo" || return
	check "-C and -p" sm_once port.log -C ibsim0 -p 1
	check "-g" sm_once port.log -g 0x10011
	refute "-C of a CA that is not there" sm_once port.log -C mlx9_9
	check "one line says what there is" \
		grep -qE 'ibsim0' once.err port.log
	sim_stop
}

# Without a fabric there is a message and an end, not a hang.
nowhere_case() {
	local status

	if [ -n "$(ls /sys/class/infiniband_mad 2>/dev/null)" ]; then
		skip "nowhere: no CA, a message" "this machine has one"
		return
	fi
	timeout -k 2 $patience "$MINISM" "${sm_defaults[@]}" -o >out 2>err </dev/null
	status=$?
	check "nowhere: exit 1 (it was $status)" [ $status -eq 1 ]
	check "nowhere: says why" [ -s err ]
	check "nowhere: and what needs no device" grep -q 'minism-sim' err
	timeout -k 2 $patience "$MINISM" "${sm_defaults[@]}" -o -p 15 >out 2>err \
		</dev/null
	check "nowhere: -p is no priority" grep -q -e '--priority' err
}

# --show: the picture, with every switch and host of the demo, and a route
show_case() {
	local name missing=

	check "--show comes up" run_simulated show.log "$demo" --once --show
	for name in $(net_nodes "$demo" | cut -d' ' -f2); do
		grep -q "$name" out || missing="$missing $name"
	done
	check "the picture has every node (missing:$missing)" \
		[ -z "$missing" ]
	check "the picture has states" grep -qi 'active' out
}

# A file that OpenSM writes: no key in it is a word that we have never heard.
foreign_case() {
	if ! command -v opensm >/dev/null; then
		skip "foreign: the keys of OpenSM" "opensm is not installed"
		return
	fi
	timeout -k 2 $patience opensm -c opensm.conf >/dev/null 2>&1
	check "foreign: opensm wrote its keys" \
		[ "$(lines opensm.conf '^[a-z]')" -ge 150 ]
	timeout -k 2 $patience "${PROGRAM:-$MINISM}" --check-config -F "$SCRATCH/opensm.conf" \
		>out 2>err
	check "foreign: the file can be used" grep -q 'is valid' out
	check "foreign: every key in it is known" log_has_not out 'is no key'
	check "foreign: what OpenSM wrote itself needs no warning" \
		log_has_not out 'not used by minism'
}

# opensm_file FILE [KEY VALUE]...: what OpenSM writes, with these values
opensm_file() {
	local file=$1

	shift
	cp opensm.conf "$file"
	while [ $# -gt 0 ]; do
		grep -q "^$1 " "$file" || echo "$1 is no key of OpenSM" >&2
		sed -i "s|^$1 .*|$1 $2|" "$file"
		shift 2
	done
}

took_ms() {	# LOG: until the subnet was up, or was seen not to be
	sed -nE 's/.*SUBNET (UP|NOT).*[ ;]([0-9]+)\.[0-9]+ ms.*/\2/p' "$1" |
		tail -n 1
}

# run_simulated LOG FABRIC arguments...: time there is virtual
run_simulated() {
	local log=$1 fabric=$2

	shift 2
	rm -f "$log"
	timeout -k 2 $patience "$MINISM_SIM" "${sm_defaults[@]}" --cache-dir= -f "$log" \
		"$fabric" "$@" >out 2>err </dev/null
}

# Unless an answer of another node was lost, too.
sends_again() {	# times
	sm_once many.log -F "$SCRATCH/many.conf"
	log_has many.log " $1 of them a second time or more, 1 requests without"
}

# The common keys, in a file of OpenSM's, do what they do there. Partitions,
# M_Keys, QoS, roots and what follows from them have tests of their own.
effect_case() {
	local one many

	command -v opensm >/dev/null || return
	[ -s opensm.conf ] ||
		timeout -k 2 $patience opensm -c opensm.conf >/dev/null 2>&1
	printf 'Default=0x7fff : ALL=full ;\nBlue=0x10 : ALL=full ;\n' >blue
	opensm_file effect.conf lmc 2 subnet_prefix 0xfec0000000000000 \
		routing_engine updn partition_config_file "$SCRATCH/blue"
	rm -f effect.log
	timeout -k 2 $patience "$MINISM_SIM" -F "$SCRATCH/effect.conf" --cache-dir= \
		-f effect.log 'PGFT(2,2;1,2)' --plan >plan.out 2>err
	check "effect: lmc" grep -qE 'LMC 0 -> 2' plan.out
	check "effect: subnet_prefix" grep -qE \
		'GidPrefix 0x[0-9a-f]+ -> 0xfec0000000000000' plan.out
	check "effect: partition_config_file" grep -qiE '0x8010' plan.out
	check "effect: routing_engine" grep -q 'updn' plan.out effect.log

	# 20 us for an answer: one at a time takes longer than many
	opensm_file one.conf max_wire_smps 1
	opensm_file many.conf max_wire_smps 64
	run_simulated one.log 'PGFT(4,4;1,4)' -o -F "$SCRATCH/one.conf"
	run_simulated many.log 'PGFT(4,4;1,4)' -o -F "$SCRATCH/many.conf"
	one=$(took_ms one.log)
	many=$(took_ms many.log)
	check "effect: max_wire_smps (${one:-?} and ${many:-?} ms)" \
		[ "${one:-0}" -ge $((3 * ${many:-1000})) ]

	fresh "$demo" || return
	opensm_file sm.conf sm_priority 9 sa_key 7 sweep_interval 1 \
		log_file "$SCRATCH/sm.log"
	sm_start sm.log -vv -F "$SCRATCH/sm.conf"
	check "effect: comes up" await log_has sm.log 'SUBNET UP'
	client sminfo >sminfo.out 2>&1
	check "effect: sm_priority" grep -q 'priority 9 state 3' sminfo.out
	if command -v saquery >/dev/null; then
		check "effect: sa_key" \
			on node-16 client saquery --smkey 7 PKTR
		on node-16 client saquery --smkey 1 PKTR >out 2>&1
		check "effect: another sa_key is not it" [ $? -ne 0 ]
	fi
	check "effect: sweep_interval" \
		await log_has sm.log 'idle -> light sweep' 3
	sm_kill_all

	# a host that answers nothing; ibsim says so at once, so that only the
	# number of attempts can be seen here, not the time between them
	sim_cmd 'Error "node-16" 100'
	opensm_file many.conf transaction_retries 6
	check "effect: transaction_retries 6" await sends_again 6
	sim_stop
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
	rm -rf cache
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
	lab_stop
}

# A log that nobody reads stops nothing: its pipe is full before the start.
log_case() {
	local pipe

	rm -rf cache	# of another fabric
	mkfifo unread
	exec {pipe}<>unread
	dd if=/dev/zero of=unread bs=4096 count=100 oflag=nonblock 2>/dev/null
	"$MINISM_SIM" "${sm_defaults[@]}" 'PGFT(2,2;1,2)' -s 1 -v \
		--control-socket "$SCRATCH/log.ctl" 2>unread >/dev/null </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
	check "log: with a full pipe it manages its fabric" await \
		eval 'timeout 10 "$MINISMCTL" -s log.ctl status | grep -q UP'
	check "log: and ends in order" sm_end
	exec {pipe}>&-
	timeout -k 2 $patience "$MINISM_SIM" "${sm_defaults[@]}" -o -f "$SCRATCH/unread" \
		'PGFT(2,2;1,2)' >out 2>err </dev/null
	check "log: -f of a FIFO is refused" [ $? -eq 2 ]
	check "log: with the reason" grep -q 'unread: it is not a regular file' err
	timeout -k 2 $patience "$MINISM_SIM" "${sm_defaults[@]}" -o -v -f stdout \
		'PGFT(2,2;1,2)' >out 2>err </dev/null
	check "log: -f stdout" log_has out 'SUBNET UP'
	timeout -k 2 $patience "$MINISM_SIM" "${sm_defaults[@]}" -o -v \
		'PGFT(2,2;1,2)' 2>&1 >/dev/null </dev/null | head -n 1 >out
	check "log: that its reader goes is no end" \
		[ "${PIPESTATUS[0]}" -eq 0 ]
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

	rm -rf cache pid pid2
	check "alone: the first one" alone_starts
	first=$SM_PID
	cp pid pid.copy
	refute "alone: a second one on the pid file, exit 1" \
		alone -B --pidfile "$SCRATCH/pid" \
		--cache-dir "$SCRATCH/cache2"
	cp check.out why
	check "alone: the message names the first" grep -q "process $first" why
	refute "alone: a second one on the cache folder, exit 1" \
		alone -B --pidfile "$SCRATCH/pid2"
	cp check.out why
	check "alone: the message says what to do" \
		grep -q "process $first.*--cache-dir" why
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

	rm -rf cache
	mkdir cache
	mkfifo cache/guid2mkey cache/neighbors cache/state
	alone -o -v -f "$SCRATCH/fifo.log"
	check "alone: FIFOs in the cache folder do not block" [ $? -eq 0 ]
	check "alone: they are told of" log_has fifo.log '(neighbors|state) is a FIFO' 2
	check "alone: and left as they are" [ -p cache/neighbors -a -p cache/state ]
	rm -rf cache
}

heavy_case() {
	rm -rf cache
	printf 'force_heavy_sweep TRUE\nsweep_interval 1\n' >heavy.conf
	sim_start "$demo" || return
	sm_start heavy.log -F "$SCRATCH/heavy.conf"
	check "heavy: each sweep is one" await \
		log_has heavy.log 'heavy sweep: periodic' 2
	sm_kill_all
	sim_stop
}

node_guid() {	# of a node of ./found: 16 digits
	awk -v name="$1" '
	/^(switch|ca)guid=/ { g = $0; sub(/.*=0x/, "", g); sub(/\(.*/, "", g) }
	/^(Switch|Ca)[ \t]/ {
		split($0, q, "\"")
		if (q[4] == name) print g
	}' found
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

write_map() {	# name of a leaf, name of a host
	printf '# rack 1\n0x%s "%s" # left\n0x%s %s\n' \
		"$(node_guid leaf-2)" "$1" "$(node_guid node-05)" "$2" >map
}

names_case() {
	local map=$SCRATCH/map

	fresh "$demo" || return
	client ibnetdiscover >found 2>/dev/null
	write_map 'Rack 1 {top} # 2' 'Rack 1 host 5'
	sm_run --plan --node-name-map "$map" >plan.out 2>plan.err
	check "names: in the plan" names_in plan.out \
		'Rack 1 \{top\} # 2 \(0x' 'Rack 1 host 5 '
	check "names: with dumps" sm_once show.log --node-name-map "$map"
	check "names: in OpenSM's dumps" names_in dump/opensm-lfts.dump \
		"\\('Rack 1 \\{top\\} # 2'\\):" ": 'Rack 1 host 5'"
	check "names: without the braces in the one of ibdmchk" \
		names_in dump/opensm-subnet.lst '\{Rack 1 \(top\) # 2\}' \
		'\{Rack 1 host 5\}'
	check "names: ibdmchk reads it" judge_ibdmchk dump
	check "names: the tables are read as before" \
		judge_tables dump/opensm-lfts.dump
	check "names: the nodes have their own" judge_same "$demo"
	check "names: minism.net, too" judge_net dump/minism.net

	echo "node_name_map_name $map" >names.conf
	sm_start names.log -s 0 -F "$SCRATCH/names.conf" \
		--view "$SCRATCH/view"
	check "names: resident, UP" await log_has names.log 'SUBNET UP'
	write_map 'Rack 2' 'Rack 2 host 5'
	kill -HUP "$SM_PID"
	check "names: others after HUP" \
		await eval "dump_view && \
		names_in dump/opensm-lfts.dump \"'Rack 2'\""
	sm_kill_all
	sim_stop
}

run_cases

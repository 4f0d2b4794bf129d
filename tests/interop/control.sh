#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minismctl and the manager that runs: what it says, what it changes, who may
# ask; and what a bad file does at a reload.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need smpquery
[ -x "$MINISMCTL" ] || bail_out "$MINISMCTL has not been built"
demo=$MINISM_SRC/etc/fabrics/demo.net

# ctl STATUS arguments...: ends with that status; what it prints is in ctl.out
ctl() {
	local wanted=$1 status

	shift
	timeout -k 2 $patience "$MINISMCTL" -s "$SCRATCH/ctl" "$@" \
		>ctl.out 2>ctl.err </dev/null
	status=$?
	cat ctl.out ctl.err
	[ $status -eq "$wanted" ] || {
		echo "exit $status, not $wanted"
		return 1
	}
}

ctl_says() {	# status regex arguments...
	local wanted=$1 regex=$2
	shift 2
	ctl "$wanted" "$@" && cat ctl.out ctl.err | grep -qE -- "$regex"
}

# has_pkey NAME P_KEY: is it in the table of that host? 2: nobody knows
has_pkey() {
	local lid
	lid=$(client ibnetdiscover 2>/dev/null | awk -v name="$1" '
	/^Ca/ { split($0, q, "\""); mine = q[4] == name }
	mine && /^\[1\]/ { sub(/.*# *lid /, ""); print $1; exit }')
	client smpquery pkeys "$lid" >pkeys 2>/dev/null &&
		[ -s pkeys ] || return 2
	grep -qiE "0x$2\\b" pkeys
}

lacks_pkey() {
	has_pkey "$@"
	[ $? -eq 1 ]
}

port_guid() {	# of a host of demo.net, as ibnetdiscover tells it
	client ibnetdiscover 2>/dev/null | awk -v name="$1" '
	/^caguid=/ { next }
	/^Ca/ { split($0, q, "\""); mine = q[4] == name }
	mine && /^\[1\]/ { gsub(/.*\(|\).*/, "", $1); print "0x" $1; exit }'
}

partition_file() {
	cat >partitions.conf <<-END
	Default=0x7fff, ipoib : ALL=full ;
	Storage=0x10 : $(port_guid node-01)=full ;
	END
}

# same_table SWITCH: minismctl's entries are those that ibroute reads from it
same_table() {
	local lid

	lid=$(ctl 0 --json who "$1" | grep -oE '"lid":[0-9]+' | head -n 1)
	ctl 0 lft "$1" || return 1
	sed -nE 's/^  LID ([0-9]+)  port ([0-9]+).*/\1 \2/p' ctl.out >lft.minism
	client ibroute "${lid#*:}" |
		sed -nE 's/^(0x[0-9a-f]+) ([0-9]+) .*/\1 \2/p' |
		while read -r lid port; do
			echo "$((lid)) $((10#$port))"
		done >lft.ibroute
	[ -s lft.ibroute ] && diff lft.minism lft.ibroute
}

# same_path A B: minismctl's switches and ports are those of ibtracert
same_path() {
	local a b

	ctl 0 path "$1" "$2" || return 1
	awk '/^ *[0-9]+ / { print $2, $4, $6 }' ctl.out >mine
	a=$(ctl 0 --json who "$1" | grep -oE '"lid":[0-9]+' | head -n 1)
	b=$(ctl 0 --json who "$2" | grep -oE '"lid":[0-9]+' | head -n 1)
	client ibtracert "${a#*:}" "${b#*:}" >trace 2>&1 || return 1
	# a line is "[1] -> switch port {0x..}[5] lid 17-17 "leaf-1""
	sed -n 's/^\[\([0-9]*\)\] -> switch.*\[\([0-9]*\)\].*"\(.*\)"$/\1 \2 \3/p
		' trace >theirs
	if [ "$1" = "$2" ]; then
		[ ! -s theirs ] && [ ! -s mine ]
		return
	fi
	awk 'NR == FNR { sw[++n] = $3; in_port[n] = $2; out[n - 1] = $1; next }
		FNR <= n && ($1 != sw[FNR] || $2 != in_port[FNR] ||
			(FNR < n && $3 != out[FNR])) { bad = 1 }
		END { exit bad || FNR != n || n == 0 }' theirs mine || {
		cat mine trace
		return 1
	}
}

# path_as_saquery A B: SL, MTU, rate and P_Key are those that the SA answers
path_as_saquery() {
	local a b pkey sl mtu rate gbps=([3]=10 [7]=40 [12]=56 [16]=100)

	ctl 0 path "$1" "$2" || return 1
	a=$(sed -nE '1s/.*LID ([0-9]+).*LID ([0-9]+).*/\1/p' ctl.out)
	b=$(sed -nE '1s/.*LID ([0-9]+).*LID ([0-9]+).*/\2/p' ctl.out)
	client saquery PR --slid "$a" --dlid "$b" >record 2>&1
	cat record
	read -r pkey sl mtu rate < <(sed -nE \
		's/^\s*(pkey|sl|mtu|rate)\.+//p' record | tr 'A-F\n' 'a-f ')
	grep -q ": 3 switches, SL $((sl)), MTU $((128 << (mtu & 63))), ${gbps[rate & 63]} Gb/s, P_Key $pkey\$" \
		ctl.out
}

is_open_metrics() {	# file
	/usr/bin/python3 -c 'if True:
		import sys
		from prometheus_client.openmetrics import parser
		text = open(sys.argv[1]).read()
		families = list(parser.text_string_to_metric_families(text))
		# the parser takes the first of two
		series = [l.rsplit(" ", 1)[0] for l in text.split("\n")
			  if not l.startswith("#")]
		sys.exit(len(families) < 10 or
			 len(series) > len(set(series)))' "$1"
}

# completes VERB START N: bash knows so many words
completes() {
	(
		minismctl() {
			if [ "$1" = help ]; then
				"$MINISMCTL" help
			else
				"$MINISMCTL" -s "$SCRATCH/ctl" "$@"
			fi
		}
		complete() { :; }
		. "$MINISM_SRC/etc/minismctl.bash"
		COMP_WORDS=(minismctl $1 "$2")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_minismctl
		echo "${COMPREPLY[*]}"
		[ ${#COMPREPLY[@]} -eq "$3" ]
	)
}

# A host writes what it likes into its NodeDescription: completion runs none of
# it, and what it inserts is one word for the shell.
HOSTILE=('$(touch${IFS}ran)' '`touch ran`' 'a;touch ran' "it's" 'b *')
completion_of_hostile_names() {
	local i names=() net=hostile.net verb name status pid

	cp "$MINISM_SRC/etc/fabrics/demo.net" $net
	for ((i = 0; i < ${#HOSTILE[@]}; i++)); do
		name=${HOSTILE[i]}
		names+=("$name")
		sed -i "s|# \"node-0$((i + 1))\"|# \"$name\"|" $net
	done
	"$MINISM_SIM" $net -F /dev/null -f hostile.log \
		--control-socket "$SCRATCH/hostile" >/dev/null 2>&1 &
	pid=$!
	await "$MINISMCTL" -s "$SCRATCH/hostile" status >/dev/null 2>&1
	(
		minismctl() { "$MINISMCTL" -s "$SCRATCH/hostile" "$@"; }
		complete() { :; }
		. "$MINISM_SRC/etc/minismctl.bash"
		for verb in who path avoid; do
			COMP_WORDS=(minismctl $verb "")
			COMP_CWORD=2
			_minismctl
			for name in "${names[@]}"; do
				[ $verb != avoid ] || name+=/1
				printf -v name %q "$name"
				printf '%s\n' "${COMPREPLY[@]}" |
					grep -qxF -- "$name" ||
					{ echo "$verb: no $name"; exit 1; }
			done
		done
		COMP_WORDS=(minismctl who '\$\(t')
		_minismctl
		[ ${#COMPREPLY[@]} -eq 1 ] && [ ! -e ran ]
	)
	status=$?
	kill -TERM $pid
	wait $pid
	return $status
}

slow_as_iblinkinfo() {
	client iblinkinfo >linkinfo 2>/dev/null || return 1
	ctl 0 links slow
	echo "$(wc -l <ctl.out), $(grep -c 'Could be' linkinfo) ends"
	[ "$(($(wc -l <ctl.out) * 2))" = "$(grep -c 'Could be' linkinfo)" ]
}

is_kept() {
	grep -q "^host .*$1" cache/state
}

is_forgotten() {
	! is_kept "$1"
}

# A host and a spine are taken away; status says so until they are back or it
# is accepted, over a restart, too.
expected_checks() {
	ctl 0 view >/dev/null
	mv ctl.out whole.view
	sim_cmd 'Unlink "node-05"'
	check "fabric: what is missing is named" await ctl_says 1 \
		'missing host node-05, at leaf-2/1, since 20' status
	check "fabric: as DEGRADED" ctl_says 1 'subnet: +DEGRADED: 8 sw' status
	check "fabric: it differs from what it was" ctl_says 1 \
		'^missing host node-05: at leaf-2/1$' diff whole.view
	check "fabric: and from its design" ctl_says 1 \
		'^missing host node-05: at leaf-2/1$' expect "$demo"
	check "fabric: of which a manager need not run" ctl 0 expect "$demo" \
		--view whole.view
	check "fabric: a design that cannot be read is no difference" ctl 2 \
		expect no/such
	check "fabric: nor a view what would happen" ctl 2 \
		--view no/such whatif kill node-05
	check "fabric: bash knows what may be accepted" completes accept n 1
	sm_end
	echo 0xa1 >roots
	: >compute
	printf '0xa3\n0xa4\n' >io
	sm_start fabric.log -s 1 --control-socket "$SCRATCH/ctl" -a roots \
		-u compute -G io
	check "fabric: also after a restart" await ctl_says 1 \
		'missing host node-05, at leaf-2/1, since 20' status
	check "fabric: whose view has the lists of routing" eval '
		ctl 0 view && [ "$(grep -E "^#(root|compute|io) " ctl.out |
			tr "\n" " ")" = "#root 0x00000000000000a1 #compute \
0x0000000000000000 #io 0x00000000000000a3 #io 0x00000000000000a4 " ]'
	sim_cmd 'ReLink "node-05"'
	check "fabric: UP when it is back" await ctl_says 0 \
		'subnet: +UP: 8 switches, 16 hosts' status
	sim_cmd 'Unlink "node-06"'
	await ctl_says 1 DEGRADED status
	check "fabric: it is expected after a crash" await is_kept node-06
	check "fabric: or accepted" ctl_says 0 '1 fault is' accept node-06
	check "fabric: which makes it UP" ctl_says 0 'UP: 8 sw.* 15 h' status
	check "fabric: and is written" await is_forgotten node-06
	kill -KILL "$SM_PID"
	wait "$SM_PID" 2>/dev/null
	sm_start fabric.log -s 1 --control-socket "$SCRATCH/ctl"
	check "fabric: also after a crash" await ctl_says 0 \
		'subnet: +UP: 8 switches, 15 hosts' status
	sim_cmd 'ReLink "node-06"'
	await ctl_says 0 'subnet: +UP: 8 switches, 16 hosts' status
}

fabric_case() {
	fresh "$demo" || return
	sm_start fabric.log -s 1 --control-socket "$SCRATCH/ctl" -v
	check "fabric: it is up" \
		await ctl_says 0 'subnet: +UP: 8 switches, 16 hosts' status
	check "fabric: a path is that of ibtracert" same_path node-01 node-07
	check "fabric: also to the node itself" same_path node-05 node-05
	check "fabric: and has what the SA says of it" \
		path_as_saquery node-01 node-07
	check "fabric: also on one leaf" same_path node-01 node-02
	check "fabric: also to the other side" same_path node-16 node-01
	check "fabric: with what the SA says of it" ctl_says 0 \
		'^node-01 \(LID [0-9]+\) -> node-07 .*SL 0, MTU .*, P_Key 0xffff$' \
		path node-01 node-07
	check "fabric: and why" ctl_says 0 'one of 4 shortest: ports 5 6 7 8' \
		path node-01 node-07 --why
	check "fabric: ends by LID and GUID" ctl_says 0 '-> node-07' \
		path 1 "$(port_guid node-07)"
	check "fabric: who" ctl_says 0 'port 1 - leaf-2/3  4x' who node-07
	check "fabric: nodes" ctl_says 0 '^switch .* leaf-1  8 of 8 links' nodes
	check "fabric: nodes of a kind" [ "$(ctl 0 nodes switch | wc -l)" = 8 ]
	check "fabric: links" ctl_says 0 '^leaf-1/5 - spine-1/1 ' links spine-1
	check "fabric: a table is that of ibroute" same_table leaf-1
	# ibsim's ports support 12xHDR, and say that they are at 4xEDR
	check "fabric: slow links are those of iblinkinfo" slow_as_iblinkinfo
	ctl 0 view tables >/dev/null && cp ctl.out demo.view
	check "fabric: status of a view" ctl_says 0 \
		'^subnet: +UP: 8 switches, 16 hosts, 32 of 32 links' \
		--view demo.view status
	for what in nodes links 'path node-01 node-07 --why' 'who leaf-1' \
		'lft spine-1'; do
		# shellcheck disable=SC2086 # words
		check "fabric: a view says the same of $what" eval "ctl 0 $what &&
			cp ctl.out live && ctl 0 --view demo.view $what &&
			cmp live ctl.out"
	done
	check "fabric: metrics" ctl_says 0 \
		'^minism_links\{state="Active",width="4x",speed="EDR"\} 32$' metrics
	cp ctl.out metrics
	check "fabric: which Prometheus' own client reads" is_open_metrics metrics
	check "fabric: bash completes names" completes who node-0 9
	check "fabric: names that hosts choose are not run" \
		completion_of_hostile_names
	check "fabric: and words" completes '' pa 4
	check "fabric: and groups" completes members 0xc 1
	check "fabric: nobody is called so" ctl_says 2 'nothing on the fabric' \
		path node-01 node-99
	expected_checks
	printf 'Default=0x7fff : ALL=limited, SELF=full;' >partitions.conf
	sm_end
	sm_start apart.log -s 1 --control-socket "$SCRATCH/ctl" \
		-P "$SCRATCH/partitions.conf"
	check "fabric: limited members do not meet" await ctl_says 1 \
		'NO PATH: no partition lets them talk: limited in Default' \
		path node-03 node-07
	check "fabric: each meets the full one" ctl_says 0 'P_Key 0x7fff' \
		path node-03 node-01
	sm_end
	sim_stop
}

# field FILE NAME: values of a field that saquery prints as "NAME....value", in
# small letters, sorted
field() {
	sed -nE "s/^[[:space:]]*$2\.+//p" "$1" | tr A-F a-f | sort
}

# What clients keep at the SA, as the manager remembers it from before.
sa_state() {
	local a=$1 b=$2 zeros
	zeros=$(printf '%0128d' 0)
	cat >cache/state <<-END
	= sa-state
	group 0xff120000000000000000000000000000 0xc001 0xffff 0x00000abc 0x00000 4 3 18 0 0 0 0 0x0000000000000000
	member 0xff120000000000000000000000000000 0xfe80000000000000$a 1 0
	member 0xff120000000000000000000000000000 0xfe80000000000000$b 4 0
	service 0x0000000000000007 0xfe80000000000000$a 0xffff 600 0x${zeros:0:32} 0x73746f72616765${zeros:0:114} 0x$zeros
	service 0x0000000000000008 0xfe80000000000000$a 0xffff 600 0x${zeros:0:32} 0x${zeros//0000/c3a9} 0x$zeros
	inform 0xfe80000000000000$b 1 1 0x${zeros:0:32} 0xffff 0x0000 1 0xffff 0x0040 10 0xffffff 1
	END
}

lists_as_saquery() {	# file of ours, column, file of saquery, field
	awk -v c="$2" '{ print $c }' "$1" | sort >mine
	field "$3" "$4" >theirs
	[ -s theirs ] && diff mine theirs
}

sa_case() {
	local a b

	fresh "$demo" || return
	a=$(printf '0x%016x' "$(port_guid node-03)")
	b=$(printf '0x%016x' "$(port_guid node-06)")
	mkdir cache
	sa_state "${a#0x}" "${b#0x}"
	sm_start sa.log -s 1 --control-socket "$SCRATCH/ctl"
	check "sa: it is up" await ctl_says 0 'subnet: +UP: 8 sw' status
	client saquery -g >groups 2>&1
	ctl 0 groups >mine.groups
	check "sa: groups are those of saquery" \
		lists_as_saquery mine.groups 1 groups MGID
	check "sa: with their MLIDs" \
		lists_as_saquery mine.groups 3 groups Mlid
	ctl 0 members >mine.members
	client saquery --smkey 1 -m 0xc001 >members 2>&1
	check "sa: as saquery has them" \
		eval '[ "$(field members PortGid | wc -l)" = 2 ]'
	check "sa: members, and how they joined" ctl_says 0 \
		"^ff12::  MLID 0xc001  full  $a  node-03\$" members ff12::
	check "sa: also who only sends" ctl_says 0 \
		"MLID 0xc001  send-only-non  $b  node-06\$" members 0xc001
	check "sa: no such group" ctl_says 2 'MGID or MLID of no' members 0xc077
	check "sa: services" ctl_says 0 \
		"0x0000000000000007  storage  on node-03  fe80::.* 0xffff  for " \
		services
	check "sa: saquery has it, too" \
		eval 'client saquery SR | grep -q "ServiceName.*storage"'
	check "sa: long names are whole in JSON" ctl_says 0 \
		"\"name\":\"$(printf 'é%.0s' {1..32})\"" --json services
	check "sa: subscriptions" ctl_says 0 \
		"^node-06  $b  QP 1  trap 64 GID in service, of any LID" \
		subscriptions
	check "sa: saquery has it, too" \
		eval 'client saquery --smkey 1 IIR >iir 2>&1; grep -q "[tT]rap.*64" iir'
	check "sa: answers by record are counted" ctl_says 0 \
		'^minism_sa_answers_total.record="MCMemberRecord". [1-9]' metrics
	cp ctl.out metrics
	check "sa: as are their times" grep -qE \
		'^minism_sa_seconds_bucket.le="1.0". [1-9]' metrics
	check "sa: Prometheus' own client reads that" is_open_metrics metrics
	for what in services subscriptions sms; do
		# shellcheck disable=SC2086 # words
		check "sa: $what as JSON" \
			eval "ctl 0 --json $what && python3 -m json.tool ctl.out"
	done
	on node-16 client sminfo >sminfo 2>&1
	check "sa: the manager is that of sminfo" sm_as_sminfo
	sm_end
	sim_stop
}

# "sminfo: sm lid 1 sm guid 0x10021, activity count 5 priority 0 state 3 ..."
sm_as_sminfo() {
	local guid prio

	guid=$(sed -n 's/.*sm guid \(0x[0-9a-f]*\),.*/\1/p' sminfo)
	prio=$(sed -n 's/.*priority \([0-9]*\) .*/\1/p' sminfo)
	cat sminfo
	ctl_says 0 "^master  priority $prio  $(printf '0x%016x' "$guid")  node-01  \\(this one" sms
}

status_case() {
	local what first follower

	fresh "$demo" || return
	check "status: nobody listens" ctl_says 3 'ctl: No such file' status
	check "status: a wrong word is told nevertheless" \
		ctl_says 2 'there is no command statsu; the nearest is status' statsu
	check "words of OpenSM's console are hints" \
		ctl_says 2 'here it is: who LID' querylid 5
	check "control: help says how a command is used" ctl_says 0 \
		'^  avoid \[NAME/PORT' help avoid
	check "control: and what to take in place of a word" ctl_says 2 \
		'here it is: sms' help sminfo
	check "status: help needs no manager" ctl_says 0 'partition set' help
	check "status: what is no JSON is refused" \
		ctl_says 2 'report takes neither --json nor' --json report
	check "status: and is not repeated" \
		ctl_says 2 'dump takes neither --json nor' --watch dump x
	check "status: what only a manager knows is in no view" \
		ctl_says 2 'sms needs a manager' --view "$demo" sms
	check "status: nor in a net file" \
		ctl_says 1 'no state of a manager; minismctl view' --view "$demo" status
	check "status: which has no tables" \
		ctl_says 1 'no forwarding tables' --view "$demo" path node-01 node-02
	sm_start status.log -s 1 --control-socket "$SCRATCH/ctl"
	first=$SM_PID
	check "status: it listens" await ctl_says 0 '' loglevel
	check "status: UP, and exit 0" \
		await ctl_says 0 'subnet: +UP: 8 switches, 16 hosts' status
	check "status: the socket is its owner's" \
		[ "$(stat -c %a ctl)" = 600 ]
	check "status: JSON" ctl_says 0 '"verdict":"up"' --json status
	if command -v python3 >/dev/null; then
		check "status: it is JSON" python3 -m json.tool ctl.out
	fi
	check "status: a wrong word" ctl_says 2 'nearest is status' stats
	check "status: nothing of that on stdout" [ ! -s ctl.out ]
	check "status: a wrong part of a view" \
		ctl_says 2 '^view: wrong arguments; usage:$' view x
	check "status: sweep" ctl_says 0 'sweep begins' sweep
	check "status: and until it has ended" \
		ctl_says 0 '^swept in .* ms: up$' sweep --wait
	"$MINISMCTL" -s "$SCRATCH/ctl" -f events >followed 2>&1 &
	follower=$!
	check "status: events" ctl_says 0 ' info sweep: SUBNET UP: ' events
	ctl 0 --json events >events.json
	check "status: events in JSON" eval 'python3 -m json.tool events.json'
	check "status: events that are followed" await \
		grep -q 'heavy sweep: requested' followed
	ctl 0 sweep --wait >/dev/null
	check "status: once each" await eval \
		'[ "$(grep -c "sweep requested" followed)" = 3 ]'
	kill "$follower"
	wait "$follower" 2>/dev/null
	"$MINISMCTL" -s "$SCRATCH/ctl" status --watch >watched &
	follower=$!
	check "status: --watch asks again" await log_has watched '^subnet: ' 2
	kill "$follower"
	wait "$follower" 2>/dev/null
	check "status: it sweeps" \
		await log_has status.log 'heavy sweep: requested'
	for what in services subscriptions members "links inactive" avoid; do
		# shellcheck disable=SC2086 # words
		check "status: none of $what" ctl_says 0 '^no [a-z ]+$' $what
	done
	check "status: none in JSON" ctl_says 0 '^{"services":\[\]}$' \
		--json services
	check "status: config" ctl_says 0 \
		'^sweep_interval 1	# command line$' config
	check "status: is a configuration" eval \
		'ctl 0 config >effective.conf &&
		"$MINISM" --check-config -F effective.conf'
	check "status: config as JSON" eval \
		'ctl 0 --json config && python3 -m json.tool ctl.out'
	check "status: pause" ctl_says 0 'no sweeps' pause
	check "status: which is said" ctl_says 0 '^PAUSED: ' status
	check "status: a sweep is refused" ctl_says 1 'paused' sweep --wait
	check "status: resume" ctl_says 0 'a heavy one' resume
	check "status: priority" ctl_says 0 '^0 -> 3' priority 3
	check "status: which sminfo has" await eval \
		'client sminfo 1 | grep -q "priority 3 "'
	check "status: loglevel" ctl_says 0 debug loglevel debug
	ctl 0 sweep >/dev/null
	check "status: it logs more" \
		await log_has status.log 'debug sweep: '
	if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 true 2>/dev/null; then
		chmod 711 .
		chmod 666 ctl
		refute_other
		chmod 600 ctl
	fi

	# a second manager leaves the first one's socket alone
	sm_defaults[3]=$SCRATCH/cache16
	on node-16 sm_start second.log -s 1 --control-socket "$SCRATCH/ctl"
	check "status: a second one is told who is there" \
		await log_has second.log "process $first, listens"
	sm_end

	# a standby says so, and where the master is
	on node-16 sm_start standby.log -s 1 --control-socket "$SCRATCH/ctl2"
	check "status: a standby names the master" await standby_says
	sm_end
	sm_defaults[3]=$SCRATCH/cache
	check "status: the first one still answers" ctl_says 0 '' loglevel

	# killed, it leaves its socket behind; the next one takes it over
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	check "status: the dead one's socket is there" [ -S ctl ]
	check "status: exit 3 says that it is dead" \
		ctl_says 3 'no manager listens' status
	sm_start third.log -s 1 --control-socket "$SCRATCH/ctl"
	check "status: the next one takes it over" \
		await ctl_says 0 'UP' status
	sm_end
	check "status: TERM ends it with exit 0" [ $? -eq 0 ]
	check "status: and removes the socket" [ ! -e ctl ]
	sim_stop
}

# A standby knows nothing of the fabric, and as the master again what is
# missing of it.
standby_case() {
	rm -rf cache16
	fresh "$demo" || return
	sm_start first.log -s 1 --control-socket "$SCRATCH/ctl"
	await ctl_says 0 'subnet: +UP: 8 sw' status
	sim_cmd 'Unlink "node-07"'
	check "standby: as the master it misses a host" await ctl_says 1 \
		'missing host node-07' status
	sm_defaults[3]=$SCRATCH/cache16
	on node-16 sm_start second.log -s 1 --priority 9 \
		--control-socket "$SCRATCH/ctl2"
	check "standby: exit 5" await ctl_says 5 'subnet: +STANDBY' status
	refute "standby: it lists nothing" grep -q missing ctl.out
	check "standby: nor do its metrics" ctl_says 0 \
		'^minism_faults.kind="host". 0' metrics
	check "standby: sms lists both, this one first" await eval \
		'ctl_says 0 "^standby  priority 0 .*this one" sms &&
		grep -q "^master  priority 9 .* node-16$" ctl.out'
	sm_end
	sm_defaults[3]=$SCRATCH/cache
	check "standby: the master again, it misses the host" await \
		ctl_says 1 'missing host node-07' status
	kill -TERM "${SM_PIDS[-2]}"
	sm_wait "${SM_PIDS[-2]}"
	sim_stop
}

standby_says() {
	timeout -k 2 $patience "$MINISMCTL" -s "$SCRATCH/ctl2" status >standby.out
	[ $? -eq 5 ] &&
		grep -qE '^role: +standby.*the master is on node-01 ' \
			standby.out
}

# Another user, even one who can open the socket, is turned away. The program
# is run from a copy: the tree may lie where other users have no way in.
refute_other() {
	install -m 755 "$MINISMCTL" other-minismctl
	setpriv --reuid 65534 --clear-groups \
		timeout -k 2 $patience "$SCRATCH/other-minismctl" -s "$SCRATCH/ctl" sweep \
		>other.out 2>&1
	check "status: another user is turned away (exit $?)" \
		grep -q 'only root, the user' other.out
	check "status: and the log says it" \
		await log_has status.log 'user 65534 may not'
}

# A min-hop that was asked for by name on a ring: the loop is in status.
loop_case() {
	"$MINISM_FABRIC" 'ring(5;1)' >ring.net
	fresh ring.net || return
	sm_start loop.log -s 1 -R minhop --control-socket "$SCRATCH/ctl"
	check "loop: status is there" await ctl_says 0 'UP' status
	check "loop: status warns" ctl_says 0 'WARNING: +CREDIT LOOP' status
	check "loop: and names five channels" \
		[ "$(grep -cE "port [0-9]+, with packets to LID" ctl.out)" -eq 5 ]
	check "loop: JSON says it" ctl_says 0 '"safety":"credit loop"' \
		--json status
	sm_end
	sim_stop
}

# A host into a partition, and out; over a restart; and a file that is bad.
partition_case() {
	local guid

	fresh "$demo" || return
	guid=$(port_guid node-05)
	partition_file
	sm_start partition.log -s 1 -P "$SCRATCH/partitions.conf" \
		--control-socket "$SCRATCH/ctl"
	check "partition: UP" await ctl_says 0 'UP' status
	check "partition: the file's member has the P_Key" \
		await has_pkey node-01 8010
	check "partition: the other has not" lacks_pkey node-05 8010
	check "partition: add" ctl_says 0 'node-05 .*: none -> full' \
		partition add Storage "$guid=full"
	check "partition: now it has" await has_pkey node-05 8010
	check "partition: it is listed" ctl_says 0 'full .*node-05' \
		partitions Storage
	check "partition: a port that is not there" \
		ctl_says 0 'no such port on the fabric now' \
		partition add Storage 0x0000000000abcdef
	check "partition: the log says it, and why it is wanted" await \
		log_has partition.log 'changed at run time: port 0x0+abcdef'
	check "partition: it is listed as away" await \
		ctl_says 0 'limited  0x0+abcdef \(away\)' partitions
	check "partition: reset" ctl_says 0 'limited -> none' \
		partition reset Storage 0x0000000000abcdef
	check "partition: set does" ctl_says 0 'node-05 .*full -> limited' \
		partition set Storage node-05 limited
	check "partition: on the host, too" await has_pkey node-05 0010
	check "partition: and back" ctl_says 0 'limited -> full' \
		partition set Storage node-05 full
	check "partition: our own port" ctl_says 1 'refused: node-01 runs this' \
		partition remove Default node-01
	check "partition: and it is a member still" has_pkey node-01 ffff
	check "partition: unless it is forced" ctl_says 0 'full -> none' \
		partition remove Default node-01 --force
	check "partition: then it is out" await lacks_pkey node-01 ffff
	check "partition: and in again" ctl_says 0 'none -> full' \
		partition reset Default node-01
	check "partition: with its P_Key" await has_pkey node-01 ffff

	sm_end
	sm_start again.log -s 1 -P "$SCRATCH/partitions.conf" \
		--control-socket "$SCRATCH/ctl"
	check "partition: UP again" await ctl_says 0 'UP' status
	check "partition: the change survived" ctl_says 0 'full .*node-05' \
		partitions Storage
	check "partition: on the host, too" has_pkey node-05 8010
	check "partition: remove" ctl_says 0 'full -> none' \
		partition remove Storage "$guid"
	check "partition: it is gone" await lacks_pkey node-05 8010

	# a bad file at a reload changes nothing
	echo 'Storage=0x10 : 0x1=fill ;' >partitions.conf
	check "partition: reload tells the place" \
		ctl_says 1 'partitions\.conf:1:' reload
	kill -HUP "$SM_PID"
	check "partition: HUP logs it" \
		await log_has again.log 'error conf: .*partitions\.conf:1:' 2
	check "partition: and status tells it" await ctl_says 0 \
		'of before are in force; the first: .*partitions\.conf:1:' status
	check "partition: the old members stay" has_pkey node-01 8010
	check "partition: it is still UP" await ctl_says 0 'UP' status
	: >partitions.conf
	check "partition: an emptied file is refused" \
		ctl_says 1 'partitions\.conf: empty, which would open everything' reload
	partition_file
	sed -i 's/^Storage.*/&\nNew=0x20 : ALL=limited ;/' partitions.conf
	# with a lease nobody opens it for 45 s (fcntl(2)), as on a disk that hangs
	python3 -c 'if 1:
		import fcntl, os, signal
		signal.signal(signal.SIGIO, signal.SIG_IGN)
		fd = os.open("partitions.conf", os.O_WRONLY)
		fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
		open("leased", "w").close()
		signal.pause()' 2>/dev/null &
	await eval "[ -e leased ] || ! kill -0 $!"
	kill -HUP "$SM_PID"
	check "partition: a file that cannot be read stops nothing" \
		ctl_says 0 'UP' status
	kill $! 2>/dev/null
	wait $!
	check "partition: a good file at HUP is taken" \
		await has_pkey node-05 0020
	check "partition: then status has no warning" eval \
		"ctl 0 status && ! grep -q WARNING ctl.out"
	sm_end
	sim_stop
}

# The folder of sockets is another one in here: see which_case.
managers_of() {	# DIR
	local first second

	says() {	# status regex arguments...
		local wanted=$1 regex=$2
		shift 2
		"$MINISMCTL" "$@" status >said 2>&1
		[ $? -eq "$wanted" ] && grep -qE -- "$regex" said && return
		echo "not $wanted, $regex: $(cat said)"
		return 1
	}
	manager() {	# socket
		"$MINISM_SIM" "$demo" -F /dev/null -f which.log \
			--control-socket "$1" >/dev/null 2>&1 &
		await "$MINISMCTL" -s "$1" status
	}
	mount -t tmpfs none "$1" && says 3 'no manager listens in' || return
	: >"$1/dead.ctl"
	manager "$1/1.ctl"
	first=$!
	says 0 'subnet: +UP' || return
	manager "$1/0000000000010010.ctl"
	second=$!
	says 2 "2 managers: $1/0000000000010010.ctl, $1/1.ctl; say which" &&
		says 0 'subnet: +UP' --guid 10010 &&
		says 2 'xyz: not a GUID' --guid xyz &&
		says 3 'No such file' --guid 10011 &&
		kill -TERM $first && wait $first &&
		says 0 'subnet: +UP'
	set -- $?
	kill -TERM $first $second 2>/dev/null
	wait
	return "$1"
}

# asked PID: that manager answers, and TERM ends it
asked() {
	local status

	await timeout 10 "$MINISMCTL" -s "$SCRATCH/full.ctl" status
	status=$?
	kill -TERM "$1"
	sm_wait "$1"		# 1: a record is not whole
	[ $? -lt 2 ] || status=1
	kill -KILL "$1" 2>/dev/null
	return $status
}

# unread arguments...: with all output into a pipe that is full and not read
unread() {
	local fd

	rm -f full
	mkfifo full
	exec {fd}<>full
	head -c 65536 /dev/zero >&"$fd"
	"${leash[@]}" "$MINISM_SIM" "$demo" -F /dev/null -s 1 \
		--control-socket "$SCRATCH/full.ctl" "$@" >full 2>&1 &
	asked $!
	set -- $?
	exec {fd}>&-
	return "$1"
}

# Each asks for much, and reads nothing.
deaf_clients() {
	local deaf status

	rm -f deaf.log
	"${leash[@]}" "$MINISM_SIM" 'PGFT(9,9,18;1,9,9)' -F /dev/null \
		-v -f deaf.log \
		--control-socket "$SCRATCH/full.ctl" >/dev/null 2>&1 &
	set -- $!
	await log_has deaf.log 'SUBNET UP'
	/usr/bin/python3 -c 'if True:
		import socket, time
		def ask(line):
			s = socket.socket(socket.AF_UNIX)
			s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
			s.connect("full.ctl")
			s.sendall(line)
			return s
		def made(line):	# a text that is made for all
			while not ask(line).recv(12).startswith(b"minism 2 0 "):
				time.sleep(0.01)
			return line
		deaf = [ask(made(line)) for line in
			3 * [b"view\n", b"view tables\n"]]
		print("all", flush=True)
		time.sleep(600)' >deaf.out 2>&1 &
	deaf=$!
	await grep -qx all deaf.out && asked "$1"
	status=$?
	kill "$deaf" "$1" 2>/dev/null
	wait "$deaf" "$1"
	return $status
}

# No output of a resident manager stops it.
unread_case() {
	local what

	for what in --log-format=text --explain --explain=json --show \
		--pcap=full; do
		check "unread: $what into a full pipe" unread "$what"
	done
	check "unread: clients that do not read" deaf_clients
}

# answered STATUS REGEX BYTES: what minismctl makes of this answer
answered() {
	/usr/bin/python3 -c 'if True:
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind("fake.new")
		s.listen()
		os.rename("fake.new", "fake")
		c = s.accept()[0]
		c.recv(100)
		os.remove("fake")
		c.sendall(sys.argv[1].encode())' "$3" &
	await [ -S fake ]
	"$MINISMCTL" -s "$SCRATCH/fake" sms >ctl.out 2>ctl.err
	[ $? -eq "$1" ] && cat ctl.out ctl.err | grep -qx "$2" &&
		if [ "$1" -eq 3 ]; then [ ! -s ctl.out ]; fi
	set -- $?
	wait $!
	return "$1"
}

whole_case() {
	check "whole: an answer is printed" answered 0 UP $'minism 2 0 3\nUP\n'
	check "whole: nothing of one that is cut off" answered 3 \
		'minismctl: the answer is cut off, after 15 bytes' \
		$'minism 2 0 4\nUP'
	check "whole: nor of none" answered 3 '.* cut off, after 0 bytes' ''
	check "whole: nor of another version" answered 3 '.* is no minism .*' \
		$'minism 1 0\nUP\n'
}

which_case() {
	local dir

	dir=$("$MINISMCTL" status 2>&1 |
		sed -n 's/.*no manager listens in \([^ ]*\) .*/\1/p')
	if [ -z "$dir" ] || ! mkdir -p "$dir" ||
	   ! unshare -m true 2>/dev/null; then
		skip "which: one of several managers" "no folder of its own"
		return
	fi
	export -f managers_of await await_of
	check "which: the only one, or the one that is named" \
		env demo="$demo" MINISM_SIM="$MINISM_SIM" MINISMCTL="$MINISMCTL" \
		unshare -m bash -c "managers_of '$dir'"
	rmdir "$dir" 2>/dev/null
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minismctl and the manager that runs: what others see of what it says and
# changes, over sockets and restarts; and what a bad file does at a reload. The
# answers themselves: tests/scripts/control.scn, tests/unit/test_show.c.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need smpquery python3
[ -x "$MINISMCTL" ] || bail_out "$MINISMCTL has not been built"

says() {	# status regex words: of minismctl
	gives "$1" "$2" ctl "${@:3}"
}

up() {	# [HOSTS]
	await says 0 "subnet: +UP: 8 switches, ${1:-16} hosts" status
}

manager() {	# LOG arguments...
	sm_start "$1.log" -s 1 --control-socket "$SCRATCH/ctl" "${@:2}"
}

# has_pkey NAME P_KEY: is it in the table of that host? 2: nobody knows
has_pkey() {
	client smpquery pkeys "$(lid_of "$1")" >pkeys 2>/dev/null &&
		[ -s pkeys ] || return 2
	grep -qiE "0x$2\\b" pkeys
}

lacks_pkey() {
	has_pkey "$@"
	[ $? -eq 1 ]
}

partition_file() {
	cat >partitions.conf <<-END
	Default=0x7fff, ipoib : ALL=full ;
	Storage=0x10 : $(guid_of node-01)=full, 0xabcd ;
	END
}

lid_told() {	# name: by minismctl
	ctl --json who "$1" | grep -oE '"lid":[0-9]+' | head -n 1 | cut -d : -f 2
}

# same_table SWITCH: minismctl's entries are those that ibroute reads from it
same_table() {
	local lid

	ctl lft "$1" | sed -nE 's/^  LID ([0-9]+)  port ([0-9]+).*/\1 \2/p' \
		>lft.minism
	client ibroute "$(lid_told "$1")" |
		sed -nE 's/^(0x[0-9a-f]+) ([0-9]+) .*/\1 \2/p' |
		while read -r lid port; do
			echo "$((lid)) $((10#$port))"
		done >lft.ibroute
	[ -s lft.ibroute ] && diff lft.minism lft.ibroute
}

# same_path A B: minismctl's switches and ports are those of ibtracert
same_path() {
	ctl path "$1" "$2" >answer || return 1
	awk '/^ *[0-9]+ / { print $2, $4, $6 }' answer >mine
	client ibtracert "$(lid_told "$1")" "$(lid_told "$2")" >trace 2>&1 ||
		return 1
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

	ctl path "$1" "$2" >path || return 1
	read -r a b < <(sed -nE '1s/.*LID ([0-9]+).*LID ([0-9]+).*/\1 \2/p' path)
	client saquery PR --slid "$a" --dlid "$b" >record 2>&1
	cat record
	read -r pkey sl mtu rate < <(sed -nE \
		's/^\s*(pkey|sl|mtu|rate)\.+//p' record | tr 'A-F\n' 'a-f ')
	grep -q ": 3 switches, SL $((sl)), MTU $((128 << (mtu & 63))), ${gbps[rate & 63]} Gb/s, P_Key $pkey\$" \
		path
}

slow_as_iblinkinfo() {
	client iblinkinfo >linkinfo 2>/dev/null || return 1
	ctl links slow >slow
	echo "$(wc -l <slow), $(grep -c 'Could be' linkinfo) ends"
	[ "$(($(wc -l <slow) * 2))" = "$(grep -c 'Could be' linkinfo)" ]
}

# What minismctl makes of a view in a file is what a manager says.
same_of_view() {	# words
	ctl "$@" >live && ctl --view demo.view "$@" >answer && cmp live answer
}

fabric_case() {
	sed -E 's/# "node-14"/# "3"/; s/# "node-(03|15)"/# "twin"/' \
		"$demo" >named.net	# the LID of 3 is 14
	fresh named.net || return
	manager fabric -v
	check "fabric: it is up" up
	for ends in 'node-01 node-07' 'node-05 node-05' 'node-01 node-02' \
		'node-16 node-01'; do
		# shellcheck disable=SC2086 # words
		check "fabric: a path is that of ibtracert: $ends" \
			same_path $ends
	done
	check "fabric: and has what the SA says of it" \
		path_as_saquery node-01 node-07
	check "fabric: a table is that of ibroute" same_table leaf-1
	# ibsim's ports support 12xHDR, and say that they are at 4xEDR
	check "fabric: slow links are those of iblinkinfo" slow_as_iblinkinfo
	ctl view tables >demo.view
	check "fabric: status of a view" says 0 \
		'^subnet: +UP: 8 switches, 16 hosts, 32 of 32 links' \
		--view demo.view status
	sed 's/^\(#view .* at \)[0-9]*/\11700000000000/' demo.view >old.view
	check "fabric: a list of a view says of when it is" says 0 \
		'^minismctl: the fabric as of 2023-11-1' --view old.view links
	for what in nodes links 'path node-01 node-07 --why' 'who leaf-1' \
		'lft spine-1' 'who 3'; do
		# shellcheck disable=SC2086 # words
		check "fabric: a view says the same of $what" same_of_view $what
	done
	sim_cmd 'Unlink "node-05"'
	check "fabric: what is missing is named" await says 1 \
		'missing host node-05, at leaf-2/1, since 20' status
	check "fabric: it differs from what it was" says 1 \
		'^missing host node-05: at leaf-2/1$' diff demo.view
	check "fabric: and from its design" says 1 \
		'^missing host node-05: at leaf-2/1$' expect named.net
	check "fabric: of which a manager need not run" ends_with 0 \
		"$MINISMCTL" expect named.net --view demo.view
	check "fabric: a design that cannot be read is no difference" says 2 \
		'no/such' expect no/such
	head -c 3000 demo.view >cut.view
	for what in status nodes 'whatif kill node-05'; do
		# shellcheck disable=SC2086 # words
		check "fabric: nor a view that is cut off: $what" says 2 \
			'cut.view: the view is cut off' --view cut.view $what
	done
	check "fabric: bash knows what may be accepted" completes ctl accept n 1
	sm_end
	manager fabric
	check "fabric: also after a restart" await says 1 \
		'missing host node-05, at leaf-2/1, since 20' status
	check "fabric: or accepted" says 0 '1 fault is' accept node-05
	check "fabric: which makes it UP" up 15
}

# ---- completion --------------------------------------------------------------

completion() {	# socket words: what bash offers for the last one, a line each
	(
		minismctl() {
			if [ "$1" = help ]; then
				"$MINISMCTL" help
			else
				"$MINISMCTL" -s "$SCRATCH/$socket" "$@"
			fi
		}
		complete() { :; }
		. "$MINISM_SRC/etc/minismctl.bash"
		socket=$1
		COMP_WORDS=(minismctl "${@:2}")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_minismctl
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

completes() {	# socket words N: so many words
	[ "$(completion "${@:1:$#-1}" | tee /dev/stderr | wc -l)" = "${*: -1}" ]
}

# A host writes what it likes into its NodeDescription: completion runs none of
# it, and what it inserts is one word for the shell.
HOSTILE=('$(touch${IFS}ran)' '`touch ran`' 'a;touch ran' "it's" 'b *')
completes_hostile_names() {
	local verb name

	for verb in who path avoid; do
		completion hostile $verb '' >offered
		for name in "${HOSTILE[@]}"; do
			[ $verb != avoid ] || name+=/1
			printf -v name %q "$name"
			grep -qxF -- "$name" offered || {
				echo "$verb: no $name"
				return 1
			}
		done
	done
	completes hostile who '\$\(t' 1 && [ ! -e ran ]
}

completion_case() {
	local i

	cp "$demo" hostile.net
	for i in "${!HOSTILE[@]}"; do
		sed -i "s|# \"node-0$((i + 1))\"|# \"${HOSTILE[i]}\"|" hostile.net
	done
	"${leash[@]}" "$MINISM_SIM" hostile.net -F /dev/null -f hostile.log \
		--control-socket "$SCRATCH/hostile" >/dev/null 2>&1 &
	SM_PIDS+=($!)
	await "$MINISMCTL" -s hostile status
	check "completion: names" completes hostile who node-0 4
	check "completion: words" completes hostile pa 4
	check "completion: groups" completes hostile members 0xc 1
	check "completion: names that hosts choose are not run" \
		completes_hostile_names
}

# ---- what clients keep at the SA ----------------------------------------------

# As the manager remembers it from before.
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

# lists_as_saquery COLUMN FIELD: what saquery prints as "FIELD....value", in small
# letters, is a column of ours
lists_as_saquery() {
	diff <(awk -v c="$1" '{ print $c }' mine.groups | sort) \
		<(sed -nE "s/^[[:space:]]*$2\.+//p" groups | tr A-F a-f | sort |
			grep .)
}

sa_case() {
	local a b

	fresh "$demo" || return
	a=$(printf '0x%016x' "$(guid_of node-03)")
	b=$(printf '0x%016x' "$(guid_of node-06)")
	mkdir cache
	sa_state "${a#0x}" "${b#0x}"
	manager sa
	check "sa: it is up" up
	client saquery -g >groups 2>&1
	ctl groups >mine.groups
	check "sa: groups are those of saquery" lists_as_saquery 1 MGID
	check "sa: with their MLIDs" lists_as_saquery 3 Mlid
	check "sa: as saquery has members" eval '[ "$(client saquery --smkey 1 \
		-m 0xc001 2>&1 | grep -c PortGid)" = 2 ]'
	check "sa: members, and how they joined" says 0 \
		"^ff12::  MLID 0xc001  full  $a  node-03\$" members ff12::
	check "sa: services" says 0 \
		"0x0000000000000007  storage  on node-03  fe80::.* 0xffff  for " \
		services
	check "sa: saquery has it, too" answers 'ServiceName.*storage' \
		client saquery SR
	check "sa: subscriptions" says 0 \
		"^node-06  $b  QP 1  trap 64 GID in service, of any LID" \
		subscriptions
	check "sa: saquery has it, too" answers '[tT]rap.*64' \
		client saquery --smkey 1 IIR
	on node-16 client sminfo >sminfo 2>&1
	check "sa: the manager is that of sminfo" sm_as_sminfo
}

# "sminfo: sm lid 1 sm guid 0x10021, activity count 5 priority 0 state 3 ..."
sm_as_sminfo() {
	local guid prio

	guid=$(sed -n 's/.*sm guid \(0x[0-9a-f]*\),.*/\1/p' sminfo)
	prio=$(sed -n 's/.*priority \([0-9]*\) .*/\1/p' sminfo)
	cat sminfo
	says 0 "^master  priority $prio  $(printf '0x%016x' "$guid")  node-01  \\(this one" sms
}

# ---- requests and sockets -----------------------------------------------------

alone_case() {
	check "alone: nobody listens" says 3 'ctl: No such file' status
	check "alone: a wrong word is told nevertheless" \
		says 2 'there is no command statsu; the nearest is status' statsu
	check "alone: words of OpenSM's console are hints" \
		says 2 'here it is: who LID' querylid 5
	check "alone: and programs of infiniband-diags" \
		says 2 'here it is: path A B' ibtracert 1 2
	check "alone: help says how a command is used" says 0 \
		'^  avoid \[NAME/PORT' help avoid
	check "alone: and what to take in place of a word" says 2 \
		'here it is: sms' help sminfo
	check "alone: help needs no manager" says 0 'partition set' help
	check "alone: a page is no JSON" says 2 'takes no --json' --json report
	check "alone: what only a manager knows is in no view" \
		says 2 'config needs a manager' --view "$demo" config
	check "alone: nor in a net file" \
		says 2 'demo.net: it has no state of a manager' --view "$demo" status
	check "alone: which has no tables" says 2 'demo.net: .* no forwarding tables' \
		--view "$demo" path node-01 node-02
	check "alone: clients wait for a place at the socket" \
		env CTL="$MINISMCTL" python3 - <<-'END'
	import os, socket, subprocess, time
	s = socket.socket(socket.AF_UNIX)
	s.bind("full.ctl")
	s.listen(1)
	s.settimeout(20)
	c = [subprocess.Popen([os.environ["CTL"], "-s", "full.ctl", "config"])
	     for i in range(6)]
	time.sleep(0.5)
	for i in c:
	    a = s.accept()[0]
	    a.recv(99)
	    a.sendall(b"minism 2 0 3\nyes")
	    a.close()
	assert not any(i.wait() for i in c)
	END
	"$MINISM_SIM" -F /dev/null 'pair()' --once --view pair.view -f pair.log
	check "alone: where there is no switch, none are needed" says 0 \
		': 0 switches, ' --view pair.view path H-0 H-1
	check "alone: a view has the subnet managers" says 0 \
		'^master .* H-0  \(this one\)' --view pair.view sms
}

# follow NAME words: in the background, into ./NAME
follow() {
	"${leash[@]}" "$MINISMCTL" -s "$SCRATCH/ctl" "${@:2}" >"$1" 2>&1 &
	SM_PIDS+=($!)
}

status_case() {
	local first

	fresh "$demo" || return
	manager status
	first=$SM_PID
	check "status: UP, and exit 0" up
	ctl view status >part.view
	check "an empty file is no fabric, and none that is all gone" says 2 \
		'/dev/null: neither a node nor a cable' --view /dev/null report
	check "status: its view has no nodes to tell of" says 2 \
		'it has no nodes; minismctl view' --view part.view doctor
	check "status: nor for a comparison" says 2 \
		'part.view: it has no nodes' diff "$demo" part.view
	check "status: sweep" says 0 'sweep begins' sweep
	check "status: and until it has ended" \
		says 0 '^swept in .* ms: up$' sweep --wait
	follow followed -f events
	check "status: events that are followed" await \
		log_has followed 'heavy sweep: requested'
	ctl sweep --wait >/dev/null
	check "status: once each" await eval \
		'[ "$(grep -c "sweep requested" followed)" = 3 ]'
	check "status: config is a configuration" eval \
		'ctl config >effective.conf &&
		"$MINISM" --check-config -F effective.conf'
	check "status: priority" says 0 '^0 -> 3' priority 3
	check "status: which sminfo has" await answers 'priority 3 ' \
		client sminfo 2

	# a second manager leaves the first one's socket alone
	on node-16 manager second --cache-dir "$SCRATCH/cache16"
	check "status: a second one is told who is there" \
		await log_has second.log "process $first, listens"
	sm_end
	check "status: the first one still answers" says 0 '' loglevel

	# killed, it leaves its socket behind; the next one takes it over
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	check "status: exit 3 says that it is dead" \
		says 3 'no manager listens' status
	rm "$SCRATCH/cache/state"
	mkdir "$SCRATCH/cache/state"
	manager third --view /dev/full/view
	check "status: the next one takes its socket over" up
	check "status: why the state is not written" await \
		says 0 'WARNING: not written: .*cache/state' status
	check "status: why the view is not, which others read" await \
		says 0 'WARNING: not written: .*dev/full' status
	rmdir "$SCRATCH/cache/state"
	check "status: TERM ends it with exit 0" sm_end
	check "status: and removes the socket" [ ! -e ctl ]
}

# A host into a partition, and out; over a restart; and a file that is bad.
partition_case() {
	local guid

	fresh "$demo" || return
	guid=$(guid_of node-05)
	partition_file
	manager partition -P "$SCRATCH/partitions.conf"
	check "partition: UP, and a member is away" await says 0 \
		'\.conf; not on the fabric: 1 member$' status
	check "partition: the file's member has the P_Key" \
		await has_pkey node-01 8010
	check "partition: the other has not" lacks_pkey node-05 8010
	check "partition: add" says 0 'node-05 .*: none -> full' \
		partition add Storage "$guid=full"
	check "partition: now it has" await has_pkey node-05 8010
	check "partition: a name that is none has the nearest" says 2 \
		'GUID node-O5; the nearest is node-05$' \
		partition add Storage node-O5=full

	sm_end
	manager again -P "$SCRATCH/partitions.conf"
	check "partition: UP again" up
	check "partition: the change survived" has_pkey node-05 8010
	check "partition: remove" says 0 'full -> none' \
		partition remove Storage "$guid"
	check "partition: it is gone" await lacks_pkey node-05 8010

	# a bad file at a reload changes nothing
	echo 'Storage=0x10 : 0x1=fill ;' >partitions.conf
	check "partition: reload tells the place" \
		says 1 'partitions\.conf:1:' reload
	kill -HUP "$SM_PID"
	check "partition: HUP logs it" \
		await log_has again.log 'error conf: .*partitions\.conf:1:' 2
	check "partition: and status tells it" await says 0 \
		'of before are in force; the first: .*partitions\.conf:1:' status
	check "partition: the old members stay" has_pkey node-01 8010
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
	check "partition: a file that cannot be read stops nothing" up
	kill $! 2>/dev/null
	wait $!
	check "partition: a good file at HUP is taken" \
		await has_pkey node-05 0020
	check "partition: then status has no warning" eval \
		'ctl status >answer && ! grep -q WARNING answer'
}

# unread arguments...: with all output into a pipe that is full and not read the
# manager answers, and TERM ends it
unread() {
	local fd status

	rm -f full
	mkfifo full
	exec {fd}<>full
	head -c 65536 /dev/zero >&"$fd"
	"${leash[@]}" "$MINISM_SIM" "$demo" -F /dev/null -s 1 \
		--control-socket "$SCRATCH/full.ctl" "$@" >full 2>&1 &
	set -- $!
	await timeout 10 "$MINISMCTL" -s "$SCRATCH/full.ctl" status
	status=$?
	kill -TERM "$1"
	sm_wait "$1"		# 1: a record is not whole
	[ $? -lt 2 ] || status=1
	kill -KILL "$1" 2>/dev/null
	exec {fd}>&-
	return $status
}

# Its log and captures: test_log.c, test_pcap.c; clients that do not read: test_control_socket.c.
unread_case() {
	local what

	for what in --explain --explain=json; do
		check "unread: $what into a full pipe" unread "$what"
	done
}

# ---- one of several managers ---------------------------------------------------

which() {	# status regex options...: of the folder of sockets
	gives "$1" "$2" "$MINISMCTL" "${@:3}" status
}

which_manager() {	# socket
	"${leash[@]}" "$MINISM_SIM" "$demo" -F /dev/null -f which.log \
		--control-socket "$1" >/dev/null 2>&1 &
	SM_PID=$!
	SM_PIDS+=($!)
	await "$MINISMCTL" -s "$1" status
}

# In a lab it is another folder.
which_case() {
	local -x MINISM_LAB=none MINISM_LAB_SYS=$SCRATCH
	local run=$SCRATCH/run

	mkdir "$run"
	check "which: there is none" which 3 'no manager listens in'
	check "which: for doctor, too" gives 3 'no manager listens in' \
		"$MINISMCTL" doctor
	: >"$run/dead.ctl"
	which_manager "$run/0000000000010010.ctl"
	check "which: the only one" which 0 'subnet: +UP'
	which_manager "$run/1.ctl"
	check "which: of two none" which 2 \
		"2 managers: $run/0000000000010010.ctl, $run/1.ctl; say which"
	check "which: the one that is named" which 0 'subnet: +UP' --guid 10010
	check "which: by a GUID" which 2 'xyz: not a GUID' --guid xyz
	check "which: not another one" which 3 'No such file' --guid 10011
	sm_end
	check "which: the one that is left" which 0 'subnet: +UP'
}

run_cases

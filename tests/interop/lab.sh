#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism in a lab: the diagnostics, tables longer than a MAD, faults of the console, a device that goes and comes back. The lab itself is
# judged by opensm and osmtest in osmtest.sh.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery perfquery ibping ibqueryerrors ibhosts ibroute \
	ibstat ibswitches smpquery smpdump

minism_here=("$MINISM" -p 1 "${sm_defaults[@]}" -v)

# ---- one manager ----------------------------------------------------------

minism_case() {
	lab_start "$demo" || return
	lab_sm minism.run "${minism_here[@]}" -f "$SCRATCH/sm.log" \
		--control-socket "$SCRATCH/ctl"
	check "minism brings the fabric up" \
		await log_has sm.log 'SUBNET UP'
	check "all its links are Active" answers ": 64 Active, 0 Armed" lab_cmd show
	LAB_NODE=node-01 lab_sm second "${minism_here[@]}" \
		--cache-dir "$SCRATCH/cache2"
	sm_wait "$SM_PID"
	check "a second one on its port is refused" [ $? -eq 1 ]
	avoid_by_hand
	diagnostics
	faults
}

# ---- the prompt -----------------------------------------------------------

# Types at a prompt with a terminal, as a newcomer does.
runner=()
type_at_prompt() {
	"${runner[@]}" python3 - "$MINISM_LAB_PROGRAM" \
		"$demo" <<-'END'
		import os, pty, select, sys, time

		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		text = b""

		def until(what, begin):
		    global text
		    end = time.monotonic() + 100
		    while what not in text[begin:]:
		        if not select.select([fd], [], [], end - time.monotonic())[0]:
		            sys.exit(f"no {what} in {text}")
		        try:
		            text += os.read(fd, 4096)
		        except OSError:
		            sys.exit(f"ended after {text}")
		    return text.index(what, begin) + len(what)

		at = until(b"lab> ", 0)
		for line, answer in (
		        (b"show node-01\n", b"leaf-1/1"),     # and the next lines are edited:
		        (b"sho\tnode-02\n", b"node-02: Channel Adapter"),
		        (b"\x1b[A\n", b"node-02: Channel Adapter"),  # once more
		        (b"rubbish\x03", b"lab> "),     # cleared
		        (b"on node-01 minism -p 1 -B\n", b"lab> "),
		        (b"on node-01 sh -c 'until minismctl status; do sleep .1; done'\n",
		         b"subnet:"),
		        (b"on node-02 minismctl status\n", b"no manager listens in")):
		    os.write(fd, line)
		    at = until(answer, at)
		    if answer != b"lab> ":
		        at = until(b"lab> ", at)
		os.write(fd, b"quit\n")
		sys.stdout.buffer.write(text)
		_, status = os.waitpid(pid, 0)
		sys.exit(os.waitstatus_to_exitcode(status))
	END
}

# Commands as a reader types them: see doc.sh and readme.sh in tests.am.
prompt_case() {
	[ "$sanitized" = no ] || return 0
	local PATH=$MINISM_BUILD:/usr/sbin:/usr/bin:/sbin:/bin
	local -x TMPDIR

	unset MINISM_LAB
	# the control sockets in it have names of up to 49 bytes more
	TMPDIR=$(mktemp -d /tmp/minism-test.XXXXXX)
	chmod 1777 "$TMPDIR"
	chmod 711 "$SCRATCH"
	check "each line at the prompt is edited" type_at_prompt
	if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups \
		test -x "$MINISM_LAB_PROGRAM" 2>/dev/null; then
		runner=(setpriv --reuid 65534 --clear-groups)
		check "also of a user without privileges" type_at_prompt
		runner=()
	fi
	check "nothing of a lab stays" await rmdir "$TMPDIR" || rm -rf "$TMPDIR"
}

# ---- infiniband-diags -----------------------------------------------------

diagnostics() {
	local line

	LAB_NODE=node-07
	while read -r line; do
		# shellcheck disable=SC2086 # words
		check "$line" await inside $line
	done <<-END
		ibstat
		ibstatus
		ibnetdiscover
		ibhosts
		ibswitches
		ibnodes
		iblinkinfo
		ibqueryerrors
		ibaddr
		ibroute -G 0x20010
		ibroute -M -G 0x20010
		ibportstate 3 1 query
		sminfo
		smpdump 3 0x15
		smpquery nodeinfo 3
		smpquery portinfo 3
		smpquery pkeys 3
		smpquery sl2vl 3
		smpquery vlarb 3
		smpquery guidinfo 3
		perfquery
		perfquery -x
		perfquery -a -G 0x20020
		ibrouters
		ibnetdiscover -p
		saquery
		saquery -g
		dump_lfts
		dump_fts
	END
	check "ibtracert" await inside ibtracert 1 9
	ping_and_pong
	LAB_NODE=node-01
}

ping_and_pong() {
	LAB_NODE=node-03 lab_sm pong ibping -S
	check "ibping reaches another host" await inside ibping -c 3 \
		"$(lab_cmd show node-03 | sed -n 's/.* lid \([0-9]*\).*/\1/p')"
}

# leads_to PORT: some entry of its switch does
leads_to() {
	lab_cmd lft "${1%/*}" | grep -q "port ${1#*/}\$"
}

# What is avoided, and for how long: tests/scenarios/health.scn.
avoid_by_hand() {
	check "the table of leaf-1 leads to port 5" leads_to leaf-1/5
	check "no link between switches is at port 4" refuses \
		'leaf-1/4 leads to node-04; only links between switches' \
		ctl avoid leaf-1/4
	check "minismctl avoid ends when no traffic is there" answers \
		'no traffic on leaf-1/5 - spine-1/1: rerouted in .*use .leaf-1/5.$' \
		ctl avoid leaf-1/5
	refute "no entry leads there" leads_to leaf-1/5
	check "says why" answers \
		'link leaf-1/5 - spine-1/1 is avoided: by the operator' ctl avoid
	check "status lists it" answers '^avoided: .*leaf-1/5' ctl status
	check "a line that goes on with nothing is refused" answers \
		'no link between switches' /usr/bin/python3 -c 'if True:
			import socket; s = socket.socket(socket.AF_UNIX)
			s.connect("ctl"); s.sendall(b"again 0 avoid\n")
			print(s.recv(99))'
	check "so do the metrics" answers \
		'^minism_bad_links\{routing="avoided"\} [1-9]' ctl metrics
	check "it is avoided once, by whatever name" refuses 'asked for already' \
		ctl avoid 0x0000000000030010/1
	check "minismctl use" answers 'spine-1 .*/1 is in use: rerouted' \
		ctl use 'spine-1 (0x0000000000030010)/1'
	check "entries lead there again" leads_to leaf-1/5
	ctl pause >/dev/null
	check "a paused manager does it later" answers \
		'for the next sweep of this manager, which is paused now' \
		ctl avoid leaf-1/5
	check "and takes it back" answers 'which is paused' ctl use leaf-1/5
}

# ---- the console ----------------------------------------------------------

loses_smps() {
	inside ibnetdiscover -t 100 -o 16 >found 2>&1
	lab_cmd stats | grep -q 'lost: [1-9][0-9]* by a full queue'
}

faults() {
	lab_cmd slow leaf-1 200us 4
	check "a slow agent with few places loses SMPs" await loses_smps
	lab_cmd slow leaf-1 20us 1000
	lab_cmd errors "$LAB_NODE/1" symbol 7
	check "errors are counted" answers '^SymbolErrorCounter:\.*7$' \
		inside perfquery
	check "path: delivered" await answers 'node-16: delivered' \
		lab_cmd path node-01 node-16
	refute "a net without a node" "$MINISM_LAB_PROGRAM" empty.conf
	lab_cmd unplug-device node-09
	LAB_NODE=node-09
	refute "a device that was pulled out has no ports" \
		answers Port inside ibstat
	lab_cmd plug-device node-09 3
	check "it is back under another number" inside smpquery -D nodeinfo 0
	refute "a device file that is not there" \
		inside cat /dev/infiniband/umad99
	LAB_NODE=node-01
}

# ---- long tables ----------------------------------------------

# 81 hosts: 6,561 paths, 53 KB of RMPP and more
tables_case() {
	local lid

	lab_start 'PGFT(9,9;1,9)' || return
	lab_sm minism.run "${minism_here[@]}" --lmc 1 \
		-f "$SCRATCH/tables.log"
	check "minism brings 81 hosts up" \
		await log_has tables.log 'SUBNET UP'
	lid=$(lab_cmd show H-9 | sed -n 's/.* lid \([0-9]*\).*/\1/p')
	check "a host answers on its first LID" inside perfquery "$lid" 1
	check "and on its second" inside perfquery $((lid + 1)) 1
	LAB_NODE=H-44
	inside saquery -p >paths
	check "saquery -p: every path" log_has paths '^PathRecord' 6561
	check "a table that its reader has a small buffer for" \
		inside saquery LR
}

# ---- the runner -----------------------------------------------------------

runner_case() {
	local pid

	unset MINISM_LAB
	check "the command's status is the lab's" \
		ends_with 7 "$MINISM_LAB_PROGRAM" "$demo" -- sh -c 'exit 7'
	check "a signal that ends it counts from 128" \
		ends_with 137 "$MINISM_LAB_PROGRAM" "$demo" -- sh -c 'kill -9 $$'
	check "no such node" \
		ends_with 1 "$MINISM_LAB_PROGRAM" "$demo" --on nobody -- true
	sed 's/# "node-02"/# "node-01"/' "$demo" >same.net
	check "of two nodes of one name each has its own device" \
		answers 'Node GUID: 0x0*10020$' "$MINISM_LAB_PROGRAM" same.net \
		--on 0x10020 -- ibstat
	check "no lab is around" ends_with 2 "$MINISM_LAB_PROGRAM" -- true
	"$MINISM_LAB_PROGRAM" "$demo" -- sh -c 'touch runs; exec sleep 60' &
	pid=$!
	await [ -e runs ]
	kill "$pid"
	sm_wait "$pid"
	[ $? -eq 143 ]
	ok $? "it passes a SIGTERM on and ends with the command"
	printf 'on "node-03" ibstat -l | tr a A\n! exit 3\nbogus\nexit\n' |
		"$MINISM_LAB_PROGRAM" "$demo" >prompt.out
	check "a prompt ends with 0" test $? -eq 0
	check "on NODE runs there, by a shell" grep -qx lAb0 prompt.out
	check "a status is shown" grep -q 'exit status 3' prompt.out
	sed 's/^vendid=.*/vendid=0x2c9/; s/^devid=.*/devid=0x1003/' "$demo" >x3.net
	check "ibportstate reads what it wants of a ConnectX-3" answers '^# MLNX' \
		"$MINISM_LAB_PROGRAM" x3.net -- ibportstate -D 0 1
	check "an unknown command, too" grep -q 'called bogus' prompt.out
	check "a kernel that is not known is 2" ends_with 2 \
		"$MINISM_LAB_PROGRAM" "$demo" --kernel 6.18 -- true
	check "a command that is wrong is 1, with its own lines of errors" \
		gives 1 '^minism-lab: unplug leaf-1: which port of leaf-1\?$' \
		"$MINISM_LAB_PROGRAM" "$demo" -c list -c 'unplug leaf-1' \
		-c list -- true
	check "and how it is used" grep -qx 'usage: unplug PORT' answer
	check "the output of those before it stands, and no other is done" \
		[ "$(grep -cx node-16 answer)" -eq 1 ]
	(echo 'on node-03 true'; sleep 0.5; echo show) |
		"$MINISM_LAB_PROGRAM" "$demo" >prompt.out
	check "the prompt goes on after a program" grep -q '^8 switches' \
		prompt.out
	# a sanitized program does not start below a library that is preloaded
	check "-c of two words, in quotes" "$MINISM_LAB_PROGRAM" "$demo" \
		-c '"expect lid" node-01 0' -- true
	check "-c outside and inside" answers 'Adapter 0x0*123$' \
		"$MINISM_LAB_PROGRAM" "$demo" -c 'clash node-03 0x123' -- env \
		-u LD_PRELOAD "$MINISM_LAB_PROGRAM" -c 'show node-03'
}

# ---- a lab that is killed ---------------------------------------------------

# "" or "-": the process, or its group. It has a daemon in a session of its own.
kill_lab() {
	local pid

	rm -f daemon
	setsid "$MINISM_LAB_PROGRAM" "$demo" --socket killed.sock -- \
		sh -c 'setsid sleep 600 & echo $! >daemon.new
		mv daemon.new daemon; exec sleep 600' >run.out 2>&1 &
	pid=$!
	await test -e daemon
	check "a second one on its socket names it" refuses \
		"$SCRATCH/killed.sock: a lab is running there" \
		"$MINISM_LAB_PROGRAM" "$demo" --socket killed.sock -- true
	kill -KILL "$1$pid"
	wait "$pid" 2>/dev/null
	check "a daemon in a lab ends with it" await \
		eval '! kill -0 "$(cat daemon)"'
	check "and no folder stays" await rmdir tmp
	mkdir tmp
}

killed_case() {
	local -x TMPDIR=$SCRATCH/tmp

	unset MINISM_LAB
	mkdir tmp
	kill_lab ""
	kill_lab -
	check "the next lab takes the socket of one that was killed" \
		"$MINISM_LAB_PROGRAM" "$demo" --socket killed.sock -- true
	touch killed.sock
	check "but no other file" refuses \
		"$SCRATCH/killed.sock: .*Address already in use" \
		"$MINISM_LAB_PROGRAM" "$demo" --socket killed.sock -- true
	check "a program that cannot be run is 127" \
		ends_with 127 "$MINISM_LAB_PROGRAM" "$demo" -- ./no-such-program
	check "nothing of them stays" await rmdir tmp
}

# ---- foreign programs -------------------------------------------------------

foreign_case() {
	lab_start "$demo" || return
	check "each call for a path finds the lab's adapter" \
		inside python3 "$here/lab_client.py" paths
	check "a thread that waits in read keeps no other one" \
		inside python3 "$here/lab_client.py" threads
	check "a descriptor is a umad by what is open, not by its number" \
		inside python3 "$here/lab_client.py" copies
	check "a length that is wrong is told, and changes nothing" \
		inside python3 "$here/lab_client.py" lengths
	check "an answer that is under way is refused" \
		inside python3 "$here/lab_client.py" answers
	check "without its lab a program finds no adapter" \
		refuses 'Not a directory' inside env MINISM_LAB=none \
		cat /sys/class/infiniband/x
	check "without the library it reads the adapter of a folder" \
		inside sh -c "env -u LD_PRELOAD grep -q . \
		\$MINISM_LAB_SYS/class/infiniband/lab0/ports/1/state"
	refute "no node of a lab has such a name" \
		"$MINISM_LAB_PROGRAM" --on nobody -- true
	if mknod umad0 c 231 0 2>/dev/null; then
		check "no path leads to a device of the host" \
			refuses 'Operation not permitted' inside cat umad0
	else
		skip "no path leads to a device of the host" "no mknod"
	fi
}

run_cases

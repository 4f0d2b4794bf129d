#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism without anything beneath it: on a simulated fabric.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

# run LOG arguments...: a run that ends by itself; its output in run.out
run() {
	local log=$1

	shift
	rm -f "$log"
	timeout -k 5 $patience "$MINISM_SIM" -F "$SCRATCH/empty.conf" -v -f "$log" \
		"$@" >run.out 2>run.err </dev/null
}

file_case() {
	check "file: comes up" run file.log --once --show "$demo"
	check "file: SUBNET UP" log_has file.log 'SUBNET UP: 8 switches, 16 hosts'
	check "file: the picture is drawn" grep -q 'node-16' run.out
	check "file: a route is traced" grep -q '^route from' run.out
	check "formula: comes up" run formula.log --once \
		'PGFT(4,8;1,4)'
	check "formula: SUBNET UP" \
		log_has formula.log 'SUBNET UP: 12 switches, 32 hosts'
	check "plan: exits 0" run plan.log --plan "$demo"
	check "plan: sends no Set" no_sets plan.log
	check "plan: names what it would do" grep -q 'leaf-1' run.out
	check "end: --once with all that is logged" \
		run once.log --once -D 0xf "$demo"
	check "end: one heavy sweep" [ "$(lines once.log 'heavy sweep')" -eq 1 ]
	check "end: no light one" [ "$(lines once.log 'light sweep')" -eq 0 ]
	check "end: --plan with all that is logged" \
		run plan.log --plan -D 0xf "$demo"
	check "end: one heavy sweep" [ "$(lines plan.log 'heavy sweep')" -eq 1 ]
	check "end: no light one" [ "$(lines plan.log 'light sweep')" -eq 0 ]
	check "time: says that it is simulated" \
		log_has once.log 'SUBNET UP.* [0-9.]+ ms simulated$'
	check "time: of all that is timed by the fabric" \
		[ "$(grep -v 'route:' once.log | grep -cE '[0-9] ms$')" -eq 0 ]
	check "plan: a small fabric has one plan, too" \
		run small.log --plan 'single(2)'
	check "plan: and no more than one" \
		[ "$(grep -c '^plan:' run.out)" -eq 1 ]
	refute "no such file: exits 1" run none.log --once \
		nowhere.net
	check "no such file: the log says it" log_has none.log 'nowhere.net'
	refute "bad formula: exits 1" run bad.log --once 'PGFT(4,8)'
	check "bad formula: the log says it" log_has bad.log 'PGFT'
	printf 'Switch 8 "S-1"\n[9] "H-1"[1]\n' >bad.net
	refute "bad file: exits 1" run badfile.log --once bad.net
	check "bad file: file and line in the log" \
		log_has badfile.log 'bad.net:[0-9]'
}

pcap_case() {
	local n

	for n in first second; do
		check "pcap: comes up" run "$n.log" --once --pcap "$n.pcapng" \
			'torus(3,3;1)'
	done
	check "pcap: there is one" [ -s first.pcapng ]
	check "pcap: the same again, byte for byte" \
		cmp first.pcapng second.pcapng
	echo theirs >target
	ln -s target link.pcapng
	refute "pcap: a link is not followed" run first.log --once \
		--pcap link.pcapng 'torus(3,3;1)'
	check "pcap: and what it leads to stays" grep -qx theirs target
}

# HUP and USR1 end nothing, neither before the loop runs (the partition file is
# a pipe, so the start waits for us) nor behind it; further TERMs change nothing.
signals_case() {
	local pid fd

	mkfifo rules
	"${leash[@]}" "$MINISM_SIM" -F "$SCRATCH/empty.conf" -P rules \
		'PGFT(12,12,24;1,12,12)' --cache-dir "$SCRATCH/cache" \
		-J signals.pid -f signals.log >signals.out 2>&1 </dev/null &
	pid=$!
	exec {fd}>rules
	kill -HUP "$pid"
	kill -USR1 "$pid"
	echo 'Default=0x7fff : ALL=full;' >&"$fd"
	exec {fd}>&-
	check "signals: HUP and USR1 leave a start alone" \
		await log_has signals.log 'SUBNET UP'
	while kill -TERM "$pid" && kill -USR1 "$pid" && kill -HUP "$pid"; do
		:
	done 2>/dev/null
	wait "$pid"
	check "signals: nothing cuts the end short" [ $? -eq 0 ]
	check "signals: the pid file is away" [ ! -e signals.pid ]
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism without anything beneath it: on a simulated fabric.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

file_case() {
	check "plan: a small fabric has one plan, too" \
		simulated --plan 'single(2)'
	check "plan: and no more than one" \
		[ "$(grep -c '^plan:' run.out)" -eq 1 ]
	check "once: comes up" simulated --once -D 0xf "$demo"
	check "once: SUBNET UP" log_has run.log 'SUBNET UP: 8 switches, 16 hosts'
	check "once: one heavy sweep, and no light one" one_sweep
	check "time: says that it is simulated" \
		log_has run.log 'SUBNET UP.* [0-9.]+ ms simulated$'
	check "time: of all that is timed by the fabric" \
		[ "$(grep -v 'route:' run.log | grep -cE '[0-9] ms$')" -eq 0 ]
	printf 'Switch 8 "S-1"\n[9] "H-1"[1]\n' >bad.net
	for what in nowhere.net 'PGFT(4,8)' bad.net:2; do
		refute "bad: exits 1 of $what" simulated --once "${what%:*}"
		check "bad: the log says $what" grep -qF "${what%(*}" run.log
	done
}

one_sweep() {
	[ "$(lines run.log 'heavy sweep') $(lines run.log 'light sweep')" = "1 0" ]
}

pcap_case() {
	local n

	for n in first second; do
		check "pcap: comes up" simulated --once --pcap "$n.pcapng" \
			'torus(3,3;1)'
	done
	check "pcap: there is one" [ -s first.pcapng ]
	check "pcap: the same again, byte for byte" \
		cmp first.pcapng second.pcapng
	echo theirs >target
	ln -s target link.pcapng
	refute "pcap: a link is not followed" simulated --once \
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

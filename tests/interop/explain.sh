#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --explain, and minism-explain on a capture: each MAD and each decision in a line.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# Requests on the wire by the log, which counts by itself.
sent() {
	sed -nE 's/.*sent ([0-9]+) MADs.*/\1/p' run.log
}

a_line_each() {	# file
	[ "$(sent)" -eq "$(grep -cE '^[0-9]+\.[0-9]{6} .* path 0' "$1")" ]
}

# What the lines say: doc/tour.md, which doc.sh reads again; tests/unit/test_explain.c,
# where no key is told.
text_case() {
	check "text: comes up" simulated "$demo" --once --explain
	check "text: a line for each MAD" a_line_each run.out
	check "text: a clause with each MAD" \
		[ "$(grep ' path 0' run.out | grep -vc '\[IBA [0-9.]*\]$')" -eq 0 ]
	check "off: comes up" simulated "$demo" --once
	check "off: not a word" [ ! -s run.out ]
}

json_case() {
	check "json: comes up" simulated "$demo" --once --explain=json
	check "json: each line is an object with its reason" python3 - <<-'END'
	import json
	kinds = set()
	for line in open("run.out"):
	    o = json.loads(line)
	    assert o["ms"] >= 0 and o["phase"] and o["text"], o
	    kinds.add(o.get("what"))
	    if "path" in o:
	        assert o["why"] and o["clause"].startswith("IBA "), o
	assert {"Get NodeInfo", "Set PortInfo", "LID", "verify"} <= kinds, kinds
	END
}

# tells FILE: of a capture, in told.out
tells() {
	"$MINISM_BUILD/minism-explain" "$@" >told.out 2>told.err
}

# A manager on a port, by what it left behind.
capture_case() {
	lab_start "$demo" || return
	rm -f run.log
	mkfifo live.pcapng
	"$MINISM_BUILD/minism-explain" live.pcapng >live.out &
	SM_PIDS+=($!)
	lab_sm run.log "$MINISM" "${sm_defaults[@]}" -p 1 -v -f run.log --once \
		--pcap lab.pcapng
	sm_wait "$SM_PID"
	check "capture: comes up" [ $? -eq 0 ]
	lab_sm more.log "$MINISM" "${sm_defaults[@]}" -p 1 --once \
		--pcap live.pcapng
	sm_wait "$SM_PID"
	lab_stop
	check "capture: is told" tells lab.pcapng
	check "capture: a line for each MAD" a_line_each told.out
	check "capture: as JSON" tells --json lab.pcapng
	check "capture: which is JSON" python3 -c 'if True:
		import json
		kinds = {json.loads(l).get("what") for l in open("told.out")}
		assert {"Get NodeInfo", "LID", "verify", "plan"} <= kinds'
	check "capture: a FIFO, while it is written" await grep -q \
		'leaf-4 .*LinearForwardingTable' live.out
	head -c 30000 lab.pcapng >cut.pcapng
	check "capture: half of one is told" tells cut.pcapng
	check "capture: as far as it goes" [ "$(wc -l <told.out)" -gt 20 ]
	check "capture: and that it ends there" grep -q \
		'ends within a packet' told.err
	check "capture: what is none: exit 1" gives 1 'no capture' \
		"$MINISM_BUILD/minism-explain" "$demo"
	check "capture: nor an empty file" gives 1 'no capture' \
		"$MINISM_BUILD/minism-explain" /dev/null
	check "capture: none at all: exit 2" ends_with 2 \
		"$MINISM_BUILD/minism-explain"
}

run_cases

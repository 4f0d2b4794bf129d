#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One verdict: whatever happens to a fabric, the log, minismctl's text, JSON,
# metrics and exit status, the view and the web page say the same of it, and the
# cause is named in the first three lines of status. With 16 hosts and with 648;
# with MINISM_LARGE=yes also with 11,664, which takes minutes.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

ctl() {
	"$MINISMCTL" -s "$SCRATCH/ctl" "$@"
}

# The last verdict in the log: "DEGRADED: 8 switches, 15 of 16 hosts, ..". The
# counts of UP are those of status in other words.
logged() {
	sed -n 's/.* sweep: SUBNET \([A-Z ]*: .*\)/\1/p' sm.log | tail -n 1 |
		sed -E 's/^NOT UP: [0-9]+ problems?; /NOT UP: /; s/; .*//
			s/([0-9]+) links, all Active/\1 of \1 links Active/'
}

# What all say, a line each; they are the same.
told() {
	local code state

	ctl status >status.out
	code=$?
	ctl --json status >status.json
	ctl view >view.out
	ctl metrics >metrics.out
	ctl report >page.html
	state=$(sed -n 's/^minism_subnet_state{minism_subnet_state="\(.*\)"} 1$/\1/p' \
		metrics.out)
	printf 'log %s\n' "$(logged)"
	printf 'status %s\n' "$(sed -n '1s/^subnet:  *\(.*\), LIDs to .*/\1/p' \
		status.out)"
	python3 - "$code" "$state" "$(sed -n \
		's/^#verdict .* is \(.*\)/\1/p' view.out)" <<-'PYTHON'
	import base64, gzip, json, re, sys
	d = json.load(open("status.json"))
	code = {"0": "up", "1": "degraded", "4": "not up"}.get(sys.argv[1])
	s = d["subnet"]
	of = lambda n, all: f"{n} of {all}" if all > n else str(n)
	print("json", f'{d["verdict"].upper()}: '
	      f'{of(s["switches"], s["expected_switches"])} switches, '
	      f'{of(s["hosts"], s["expected_hosts"])} hosts, '
	      f'{s["active"]} of {s["expected_links"]} links Active')
	packed = re.search("H4sI[A-Za-z0-9+/=]+", open("page.html").read())[0]
	page = json.loads(gzip.decompress(base64.b64decode(packed)))["title"]
	for what, word in zip(("exit", "metrics", "view", "page"),
	                      (code, *sys.argv[2:],
	                       page.removeprefix("Fabric: "))):
	    print(what, word)
	PYTHON
}

# one_truth NAME VERDICT CAUSE command of the lab: all say VERDICT, the first
# three lines of status name the cause, if there is one
one_truth() {
	local name=$1 verdict=$2 cause=$3

	shift 3
	[ $# -eq 0 ] || lab_cmd "$@" >/dev/null
	check "$name: $verdict" await settled "$verdict" "$cause"
	check "$name: all say the same" await all_say "${verdict,,}" ||
		note_file told.out 10
}

# Not in the middle of a sweep, of which the first has not heard.
all_say() {	# verdict
	told >told.out
	[ "$(sed -n 's/^status //p; s/^json //p' told.out | sort -u)" = \
		"$(sed -n 's/^log //p' told.out)" ] &&
		[ "$(sed -nE 's/^(exit|metrics|page|view) //p' told.out |
			sort -u)" = "$1" ]
}

settled() {	# verdict cause
	logged | grep -q "^$1: " && ctl status | head -n 3 >three &&
		grep -q "^subnet:  *$1: " three && grep -qE -- "$2" three
}

# What whatif said would be, by what it says of the present tables.
foretold() {
	ctl --json whatif engine auto >present.json
	python3 - 2>foretold.err <<-'PYTHON'
	import json
	told, now = (json.load(open(f"{n}.json")) for n in ("foretold", "present"))
	assert told["after"] == now["before"], told
	PYTHON
}

# states NET host its-place cable its-far-end spine leaf "its links, its hosts"
# slow-cable its-far-end hung-spine; a spine has as many links as $links
states() {
	local net=$1 host=$2 at=$3 cable=$4 far=$5 spine=$6 leaf=$7 has=$8
	local slow=$9 slow_far=${10} hung=${11}

	rm -rf cache sm.log
	lab_start "$net" || bail_out "minism-lab does not start"
	lab_sm sm.run "$MINISM" "${sm_defaults[@]}" -t 1000 -f "$SCRATCH/sm.log" -s 1 \
		--control-socket "$SCRATCH/ctl"
	one_truth whole UP .
	one_truth host DEGRADED "host $host, at $at" kill "$host"
	one_truth back UP . revive "$host"
	ctl --json whatif unplug "$cable" >foretold.json
	one_truth cable DEGRADED "link $cable - $far" unplug ${cable/\// }
	check "cable: whatif foretold the load" await foretold
	one_truth spine DEGRADED "switch $spine, $links links" kill "$spine"
	one_truth leaf DEGRADED "switch $leaf, $has hosts" kill "$leaf"
	lab_cmd plug ${cable/\// } >/dev/null
	lab_cmd revive "$spine" >/dev/null
	one_truth mended UP . revive "$leaf"
	lab_cmd speed ${slow/\// } 1xSDR >/dev/null
	ctl sweep --wait >/dev/null
	one_truth slow DEGRADED "slow link $slow - $slow_far, 1xSDR of 4xEDR"
	lab_cmd speed ${slow/\// } 4xEDR >/dev/null
	ctl sweep --wait >/dev/null
	one_truth fast UP .
	lab_cmd hang "$hung" >/dev/null
	one_truth hung DEGRADED "switch $hung, $links links"
	lab_cmd revive "$hung" >/dev/null
	one_truth awake UP .
	strange "$spine"
	sm_kill_all
	lab_stop
}

is_failed() {
	ctl status >status.out
	[ $? -eq 6 ] && settled FAILED 'own port, is down'
}

# SPINE is replaced by a switch of its name; the links of that one get slow, which
# only a reading of the ports in turn can find, with so many within seconds; and
# the manager loses its own cable.
strange() {
	local spine=$1 port

	lab_cmd guid "$spine" 0xabcd >/dev/null
	one_truth replaced DEGRADED "switch $spine, NodeGUID 0x[0-9a-f]*, $links \
links, where $spine .0x000000000000abcd. is now"
	check "replaced: who tells of both" eval "ctl who $spine |
		grep -q 'another one of that name: switch $spine is missing'"
	ctl accept "$spine" >/dev/null
	one_truth accepted UP .
	for ((port = 1; links > 30 && port <= links; port++)); do
		lab_cmd speed "$spine" $port 1xSDR >/dev/null
	done
	[ "$links" -le 30 ] ||
		one_truth 'in turn' DEGRADED "slow link .*, 1xSDR of 4xEDR"
	for ((port = 1; links > 30 && port <= links; port++)); do
		lab_cmd speed "$spine" $port 4xEDR >/dev/null
	done
	ctl sweep --wait >/dev/null
	lab_cmd unplug "$LAB_NODE" 1 >/dev/null
	check "its own cable: FAILED" await is_failed
	lab_cmd plug "$LAB_NODE" 1 >/dev/null
	one_truth 'its own cable is back' UP .
}

tree() {	# formula: its leaves and spines have 36 cables
	"$MINISM_FABRIC" "$1" >tree.net
	links=36 states tree.net H-19 S-1-1/2 S-1-0/20 S-2-1/1 S-2-2 S-1-3 \
		'36 links, 18' S-1-1/21 S-2-2/2 S-2-0
}

links=4 states "$demo" node-05 leaf-2/1 leaf-1/6 \
	spine-2/1 spine-3 leaf-4 '8 links, 4' leaf-2/7 spine-3/2 spine-1
tree 'PGFT(18,36;1,18)'
patience=600
[ "${MINISM_LARGE:-no}" != yes ] || tree 'PGFT(18,18,36;1,18,18;1,1,1)'
done_testing

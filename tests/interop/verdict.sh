#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One verdict: whatever happens to a fabric, the log, minismctl's text, JSON,
# metrics and exit status, the view and the web page say the same of it, and the
# cause is named in the first three lines of status. With 648 hosts, and with
# MINISM_LARGE=yes also with 11,664, which takes minutes.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

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
	code = {"0": "up", "1": "degraded", "4": "not up",
	        "6": "failed"}.get(sys.argv[1])
	s = d["subnet"]
	of = lambda n, all: f"{n} of {all}" if all > n else str(n)
	print("json", f'{d["verdict"].upper()}: '
	      f'{of(s["switches"], s["expected_switches"])} switches, '
	      f'{of(s["hosts"], s["expected_hosts"])} hosts, '
	      f'{s["active"]} of {s["expected_links"]} links Active')
	packed = re.search("H4sI[A-Za-z0-9+/=]+", open("page.html").read())[0]
	page = json.loads(gzip.decompress(base64.b64decode(packed)))
	open("notes", "w").write("\n".join(page["notes"][:2]))
	for what, word in zip(("exit", "metrics", "view", "page"),
	                      (code, *sys.argv[2:],
	                       page["title"].removeprefix("Fabric: "))):
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
	check "$name: all say the same" await all_say "${verdict,,}" "$cause" ||
		note_file told.out 10
}

# Not in the middle of a sweep, of which the first has not heard.
all_say() {	# verdict cause
	told >told.out
	[ "$(sed -n 's/^status //p; s/^json //p' told.out | sort -u)" = \
		"$(sed -n 's/^log //p' told.out)" ] &&
		[ "$(sed -nE 's/^(exit|metrics|page|view) //p' told.out |
			sort -u)" = "$1" ] &&
		{ [ "$2" = . ] || grep -qE -- "$2" notes; }
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

says_missing() {	# switch or link, words: whatever the exit status
	ctl "${@:2}" >answer 2>&1
	grep "$1 is missing since 20" answer
}

is_failed() {
	ctl status >status.out
	[ $? -eq 6 ] && settled FAILED 'own port, is down'
}

# Other faults, a line each: name, verdict, cause, commands of the lab; after each
# the fabric is swept, and after the last ones it is whole again.
others() {
	local name verdict cause commands command

	while IFS='|' read -r name verdict cause commands; do
		while IFS= read -r command; do
			# shellcheck disable=SC2086 # words
			lab_cmd $command >/dev/null
		done < <(tr ';' '\n' <<<"$commands")
		ctl sweep --wait >/dev/null
		one_truth "$name" "$verdict" "$cause"
	done <<-FAULTS
	two switches with one GUID|NOT UP|missing switch S-2-2, 36 links|clash S-2-2 $(guid_of S-2-1)
	a GUID of its own|UP|.|clash S-2-2 $(guid_of S-2-2)
	slow|DEGRADED|slow link S-2-2/2 - S-1-1/21, 1xSDR of 4xEDR|speed S-1-1 21 1xSDR
	fast|UP|.|speed S-1-1 21 4xEDR
	a cable that loses all|DEGRADED|link S-2-2/2 - S-1-1/21, no answer|loss S-1-1/21 100%
	a sound one|UP|.|loss S-1-1/21 0
	two hosts that change places|UP|changed: *link S-1-2/2 - H-37 is gone: S-1-2/2 leads to H-19|swap S-1-1/2 S-1-2/2
	two uplinks that change places|UP|changed: *link S-1-0/20 - S-2-1/1 is gone: |swap S-1-1/2 S-1-2/2;swap S-1-0/20 S-1-1/21
	two that are back|UP|.|swap S-1-0/20 S-1-1/21
	a cable that flaps|UP|flapping: *link S-1-0/20 - S-2-1/1|flap S-1-0 20 6 50ms 1s
	FAULTS
}

guid_of() {	# node
	lab_cmd show "$1" | sed -n 's/.*\(0x[0-9a-f]\{16\}\).*/\1/p' | head -n 1
}

# What only a reading of the ports in turn can find: within 300 s, for one switch's
# ports may follow each other.
all_links() {	# switch speed
	local port

	for ((port = 1; port <= 36; port++)); do
		lab_cmd speed "$1" $port "$2" >/dev/null
	done
}

states() {	# formula: its leaves and spines have 36 cables
	"$MINISM_FABRIC" "$1" >tree.net
	lab_start tree.net || bail_out "minism-lab does not start"
	lab_sm sm.run "$MINISM" "${sm_defaults[@]}" -t 1000 -f "$SCRATCH/sm.log" -s 1 \
		--control-socket "$SCRATCH/ctl"
	one_truth whole UP .
	one_truth host DEGRADED 'host H-19, at S-1-1/2' kill H-19
	one_truth back UP . revive H-19
	ctl avoid S-1-1/25 >/dev/null
	ctl --json whatif unplug S-1-0/20 >foretold.json
	one_truth cable DEGRADED 'link S-1-0/20 - S-2-1/1' unplug S-1-0 20
	check "cable: whatif foretold the load, beside an avoided link" \
		await foretold
	check "cable: loads are told to be of the tables before" \
		log_has status.out 'repaired since: all loads'
	for words in 'avoid S-1-0/20' 'whatif unplug S-1-0/20'; do
		# shellcheck disable=SC2086 # words
		check "cable: $words says that it is missing" says_missing \
			'link S-1-0/20 - S-2-1/1' $words
	done
	ctl use S-1-1/25 >/dev/null
	one_truth spine DEGRADED 'switch S-2-2, 36 links' kill S-2-2
	one_truth leaf DEGRADED 'switch S-1-3, 36 links, 18 hosts' kill S-1-3
	for words in 'avoid S-1-3/20' 'whatif unplug S-1-3/20' \
		'links S-1-3/20' 'accept S-1-3/20' 'ports S-1-3' 'lft S-1-3'; do
		# shellcheck disable=SC2086 # words
		check "leaf: $words says that it is missing" says_missing \
			'switch S-1-3' $words
	done
	lab_cmd plug S-1-0 20 >/dev/null
	lab_cmd revive S-2-2 >/dev/null
	one_truth mended UP . revive S-1-3
	lab_cmd hang S-2-0 >/dev/null
	one_truth hung DEGRADED 'switch S-2-0, 36 links, .*with a link and no answer'
	lab_cmd revive S-2-0 >/dev/null
	one_truth awake UP .
	# a spine is replaced by a switch of its name
	lab_cmd guid S-2-2 0xabcd >/dev/null
	one_truth replaced DEGRADED 'switch S-2-2, NodeGUID 0x[0-9a-f]*, 36 '\
'links, where S-2-2 .0x000000000000abcd. is now'
	check "replaced: who tells of both" answers \
		'another one of that name: switch S-2-2 is missing' ctl who S-2-2
	ctl accept S-2-2 >/dev/null
	one_truth accepted UP .
	others
	all_links S-2-2 1xSDR
	patience=320 one_truth 'in turn' DEGRADED 'slow link .*, 1xSDR of 4xEDR'
	all_links S-2-2 4xEDR
	ctl sweep --wait >/dev/null
	lab_cmd unplug "$LAB_NODE" 1 >/dev/null
	check "its own cable: FAILED" await is_failed
	lab_cmd plug "$LAB_NODE" 1 >/dev/null
	one_truth 'its own cable is back' UP .
}

states 'PGFT(18,36;1,18)'
patience=600
[ "${MINISM_LARGE:-no}" != yes ] || {
	sm_kill_all
	rm -rf cache sm.log
	states 'PGFT(18,18,36;1,18,18;1,1,1)'
}
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism-route end to end: verdicts and exit status, JSON, tables out and in
# again, failures, and the tables of OpenSM read back in two formats.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

MINISM_ROUTE=${MINISM_ROUTE:-$MINISM_BUILD/minism-route}
[ -x "$MINISM_ROUTE" ] || bail_out "$MINISM_ROUTE has not been built"
tree='PGFT(4,8;1,4)'

route() {
	timeout -k 5 $patience "$MINISM_ROUTE" --permutations 50 --shifts 50 "$@"
}

exits() {	# status arguments...: what it says is in ./answer
	ends_with "$1" route "${@:2}"
}

# routes STATUS REGEX ARGUMENTS...: it ends with that, and has such a line
routes() {
	gives "$1" "$2" route "${@:3}"
}

says() {	# regex: the last one has it, too
	grep -E -- "$1" answer || { cat answer; return 1; }
}

# json EXPRESSION: true of ./json, f being the fabric, rows the results and r the
# first of them
json() {
	python3 - "$1" json <<-'END'
	import json, sys
	d = json.load(open(sys.argv[2]))
	f, rows, r = d["fabric"], d["results"], d["results"][0]
	if not eval("(" + sys.argv[1] + ")"):
	    sys.exit(json.dumps(d, indent=1))
	END
}

verdict_case() {
	check "tree: says good" routes 0 '^verdict +GOOD' "$tree"
	check "tree: auto says what it took" says 'auto took [a-z]+:'
	check "tree: counts" says '12 switches, 32 CA ports, 32 cables'
	check "torus: min-hop exits 5, and the loop is printed" routes 5 \
		'for example .*port.*LID' 'torus(4,4;1)' --engine minhop
	check "time: of the CPU" says '^time +[0-9.]+ ms of CPU to compute'
	exits 0 "$tree" --engine minhop --shuffle --dump held.lfts
	check "auto: good tables that the switches hold stay" routes 0 \
		'^churn +0 entries in 0 ' "$tree" --shuffle --before held.lfts
	check "all: the worst of all, and a line for each engine" routes 5 \
		'^minhop .* credit loop' 'torus(4,4;1)' --all
	check "all: with a legend" says '^looped +channels'
	check "rails: are counted" routes 0 '^rails +4 of 16 nodes' \
		'rails(8;16,4;2,2)'
	check "rails: a ring" says '^  ring +1 '
	check "rails: two trees" says '^  trees +4 '
	check "single switch: exits 0" exits 0 'single(4)' --all
	check "no switch: exits 0" exits 0 'pair()' --engine minhop
	check "updn: leaves no entry of a path that is not there any more" \
		exits 0 -e updn "$DATA/leftover.net"
}

path_case() {
	touch H-31	# no fabric
	check "path: hop by hop" routes 0 \
		'S-1-0  in [0-9]+  out [0-9]+     one of [0-9]+ shortest' "$tree" \
		--path H-0 H-31
	check "path: its length" says '^H-0 .*: [35] switches$'
	check "path: and back" says '^H-31 .* -> H-0 '
	check "path: by LID, the fabric last" exits 0 --path 1 2 "$tree"
	check "path: a port that is not there" exits 1 "$tree" --path H-0 X
	check "path: two ends" exits 1 "$tree" --path H-0
	exits 0 "$tree" -d whole
	# a byte order mark hides nothing
	{ printf '\357\273\277'; sed 's/^0x0008 .*/0x0008 255 : (gone)/' whole
	} >holed
	check "path: there is none, and why not" routes 3 \
		'NO PATH: that switch has no entry' "$tree" --lfts holed --path 1 8
}

usage_case() {
	local options

	for options in '' "$tree $tree" "$tree --fail 101" \
		"$tree --fail 0.05" "$tree --fail-switches x" \
		"$tree --seed -1" "$tree --engine nosuch" \
		"$tree --all --engine minhop" "$tree --all --dump x" \
		"$tree --threads 0" "$tree --shifts -1" "$tree --nosuch" \
		"nosuch.net" 'PGFT(4,8)' "$tree --lfts nosuch" \
		"$tree --before nosuch" "$tree --roots nosuch" /dev/null; do
		# shellcheck disable=SC2086 # words are what they are
		check "wrong: exits 1 of '$options'" exits 1 $options
		check "wrong: in a line" [ "$(wc -l <answer)" -eq 1 ]
	done
	printf 'Unicast lids [0-1] of switch Lid 1 guid 0x1\n0x0001 999\n' \
		>bad.lfts
	check "bad table: file and line are named" \
		routes 1 'bad\.lfts:2: ' "$tree" --lfts bad.lfts
	printf 'Unicast lids [0-1] of switch Lid 1 guid 0x1\n' >other.lfts
	check "no switch of ours: exits 1" exits 1 "$tree" --lfts other.lfts
	check "one end: a path needs two" routes 1 'two ports' --path "$tree" a
	printf 'not a GUID\n' >bad.guids
	check "bad list: exits 1" exits 1 "$tree" --io bad.guids
	check "no room: exits 1" exits 1 "$tree" --dump /dev/full/x
}

json_case() {
	route "$tree" --engine minhop --json >json
	check "json: fabric" json 'f["switches"] == 12 and
		f["ca_ports"] == 32 and f["cables"] == 32'
	check "json: verdict" json 'r["verdict"] == "good" and
		r["tables"] == "minhop" and r["looped_channels"] == 0 and
		r["cycle"] == []'
	check "json: all pairs are there" json 'r["paths"]["arrived"] ==
		32 * 31 == sum(r["paths"]["pairs"])'
	check "json: all-to-all is at its bound" json '
		r["all_to_all"]["max"] == r["all_to_all"]["mean"] == 28'
	check "json: samples" json 'r["permutations"]["n"] == 50 and
		r["shifts"]["n"] == r["shifts"]["n_all"] == 31'
	check "json: one rail" json 'r["rails"]["rails"] == 1 and
		r["rails"]["nodes"] == 32 and
		r["rails"]["shifts"] == r["shifts"]'
	route 'rails(8;16,4;2,2)' --json >json
	check "json: four rails" json 'r["rails"]["rails"] == 4 and
		r["rails"]["nodes"] == 16 and r["rails"]["ring"]["max"] == 1 and
		r["rails"]["shifts"]["max"] == r["rails"]["trees"]["max"] == 4'
	route 'torus(4,4;1)' --all --json >json
	check "json: a loop closes" json 'all(
		c["to"] == n["from"] and c["lid"] > 0 for x in rows
		for c, n in zip(x.get("cycle", []),
			x.get("cycle", [])[1:] + x.get("cycle", [])[:1]))'
	check "json: min-hop has a loop on a torus" json '[x for x in rows
		if x["tables"] == "minhop"][0]["looped_channels"] > 0'
	printf 'Switch 2 "S" # "a\\"\t{"\n[1] "H"[1]\n' >odd.net
	printf '\nHca 1 "H"\n[1] "S"[1]\n' >>odd.net
	route odd.net --json --engine minhop >json
	check "json: odd names do not break it" json 'f["ca_ports"] == 1'
	route -j --fail 10 'PGFT(4,4,4;1,4,4)' >json
	check "multicast: no member is missed of a damaged tree" json \
		'r["multicast"]["missed"] == 0'
	route -j --fail 20 --seed 1 'PGFT(6,6,12;1,6,6)' >json
	check "multicast: members without a common top: 45 were on one cable" \
		json 'r["multicast"]["max"] < 40'
	check "bound: the load is not below it" json \
		'r["all_to_all"]["max"] >= r["all_to_all"]["bound"] > 0'
	"$MINISM_FABRIC" "$tree" | sed -E \
		'/^\[5\].*900"\[1\]|^\[1\].*S.*100"\[5\]/s/4xEDR/1xSDR/' >slow.net
	route -j --engine ftree slow.net >json
	check "load: flows on a slow cable count by its rate" json \
		'r["all_to_all"]["max"] > 10 * r["all_to_all"]["mean"]'
}

# a seed says which; net and tables written are the ones judged
files_case() {
	local broken=(--fail 10% --fail_switches 5 --seed 7)

	check "files: a damaged tree is smaller" routes 0 ' [0-9]+ switches' \
		"$tree" "${broken[@]}" --engine updn --dump one.lfts --net one.net
	refute "files: by a switch or more" says '12 switches'
	figures one
	check "files: the same again" exits 0 "$tree" "${broken[@]}" \
		--engine updn --dump two.lfts --threads 1
	check "files: byte for byte" cmp one.lfts two.lfts
	check "files: another seed" exits 0 "$tree" "${broken[@]}" --seed 8 \
		--engine updn --dump two.lfts
	refute "files: other tables" cmp one.lfts two.lfts
	check "files: read back, on the fabric that was written" \
		exits 0 one.net --lfts one.lfts
	figures read
	check "files: the figures are the same" diff one.figures read.figures
	check "files: nothing changed, and it says so" routes 0 \
		'^churn +0 entries in 0 ' one.net --engine updn --before one.lfts
	check "files: damage of a file" exits 0 one.net --fail 10 \
		--engine updn
}

figures() {	# NAME: of the last one
	grep -E '^(all-to-all|path|not)|CREDIT' answer >"$1.figures"
}

# A hole, an entry that leads to a stranger, and a way that goes round.
broken_case() {
	local small='PGFT(2,2;1,2)'

	exits 0 "$small" --engine minhop --dump good.lfts
	awk '!(/^0x/ && ++n == 8)' good.lfts >hole.lfts
	check "hole: says how many" routes 3 'UNREACHABLE: [0-9]+ pairs' \
		"$small" --lfts hole.lfts
	check "hole: and where" says 'the first: from .S-.* to LID [0-9]'
	check "hole: beside others, with what changes, one block" routes 3 \
		'^hole.lfts .* 1$' "$small" --all --lfts hole.lfts \
		--before good.lfts
	check "up and down: some paths are longer" routes 0 \
		'^not minimal +[1-9][0-9.]*% \([1-9]' 'ring(7;1)' --engine updn
	sed 's/^\(0x0008\) [0-9]*/\1 009/' good.lfts >astray.lfts
	check "stranger: exits 4" exits 4 "$small" --lfts astray.lfts
	# the spines send what is for the last host to the first leaf, which
	# sends it up
	awk '/^Unicast/ { n++ }
		/^0x0001/ { down = $2 }
		/^0x0008/ && n > 2 { $2 = down }
		{ print }' good.lfts >round.lfts
	route "$small" --lfts round.lfts >answer
	check "round: exits 4 or 5" [ $? -ge 4 ]
	check "round: says that ways go round" says ' [1-9][0-9]* go round'
}

# What OpenSM programmed, read from its dump and from the switches.
opensm_case() {
	has opensm || return
	exits 0 'torus(4,4;1)' --net ring.net
	sim_start ring.net || return
	osm_once -R minhop -D 0x43
	client dump_fts >fts 2>fts.err
	client ibnetdiscover >found 2>found.err
	sim_stop
	check "opensm: min-hop on a torus has a loop, too" \
		exits 5 ring.net --lfts osm/opensm-lfts.dump
	refute "opensm: every LID is who it is" says '^note'
	figures osm
	check "opensm: the same of dump_fts on what ibnetdiscover saw" \
		exits 5 found --lfts fts
	figures fts
	check "opensm: the same figures" diff osm.figures fts.figures
	check "opensm: ours next to its, in one table" \
		routes 5 '^fts  ' found --all --lfts fts
	check "opensm: going over to updn changes entries" routes 5 \
		'^churn +[1-9]' found --engine updn --before fts
}

# Where the tables go: a file is replaced, a link or device is not, and standard
# output takes them alone.
output_case() {
	local out

	check "output: a file" exits 0 -d tables 'ring(4;1)'
	for out in - /dev/stdout; do
		route -d $out 'ring(4;1)' >route.out 2>route.err
		check "output: $out is standard output" cmp -s tables route.out
	done
	check "output: the report goes to standard error" \
		grep -q "^verdict" route.err
	"$MINISM_ROUTE" -d >(cat >piped) 'ring(4;1)' >/dev/null
	check "output: a pipe of the shell's" await cmp -s tables piped
	check "output: /dev/null" exits 0 -d /dev/null 'ring(4;1)'
	check "output: is still a device" [ -c /dev/null ]
	echo theirs >target
	ln -s target link
	check "output: a link is refused" exits 1 -d link 'ring(4;1)'
	check "output: and stays" [ -L link ]
	check "output: and so does what it leads to" grep -qx theirs target
}

run_cases

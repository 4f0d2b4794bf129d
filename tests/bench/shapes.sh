#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How near to the bound are the tables on fabrics as people build them? A table
# in Markdown on standard output, for the fabrics at the end and formulas.
#
#	shapes.sh [NAME..]	shapes whose name matches one of these patterns,
#				or formulas; all shapes if none is given.
#				"FORMULA PERCENT [PERCENT]": without so many
#				cables, and switches
#	ENGINES="updn .."	OpenSM's, on ibsim; none if it is empty
#	LIMIT=60		s, for one run of OpenSM
#	SEED=1
#	MINISM_ROUTE=PROGRAM	another minism-route, for all tables
#
# All tables are judged by minism-route: what the busiest channel carries if
# every host sends to every other, times the least that any tables could do (its
# lower bound); or the pairs of CAs that the tables lose. In brackets: channels in
# credit loops of CAs with each other, and of all data, as if all used one VL;
# with tables for several VLs, their number. "as ENGINE": OpenSM took that one.
# Of formulas also the flows on the busiest channel of shifts, mean; worst.
# The means are of tables for one VL that lose no pair and have no loop of CAs;
# their number is beside them. "missed": members that multicast trees leave out.
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

limit=${LIMIT:-60}
seed=${SEED:-1}
theirs=${ENGINES-minhop updn ftree dfsssp nue}
judged=(--json --threads 1 --permutations 20 --shifts 20)
must_have python3 "$MINISM_ROUTE" ${theirs:+opensm}
[ -z "$theirs" ] || opensm --version 2>/dev/null | grep -om1 'OpenSM [0-9.]*'

# judge KIND SHAPE LABEL VLS ARGUMENTS...: a line of judged.txt; a bad verdict is
# a result too
judge() {
	local line="$1 $2 $3 $4"

	shift 4
	"$MINISM_ROUTE" "${judged[@]}" "$@" >judged.json 2>judged.err
	printf '%s %s\n' "$line" "$(tr '\n' ' ' <judged.json)" >>judged.txt
}

one_opensm() {	# KIND SHAPE ENGINE FILE
	local vls

	opensm_once "$3" "$4" || return 1
	if [ "$made_by" = "$3" ]; then
		vls=$(sed -n 's/.*Virtual Lanes needed: //p' osm/log | tail -n 1)
		judge "$1" "$2" "opensm-$3" "${vls:-1}" \
			--lfts osm/opensm-lfts.dump "$4"
		return
	fi
	[ "$made_by" = "$limit s" ] || made_by="as ${made_by:-none}"
	printf '%s %s opensm-%s 1 {"instead": "%s"}\n' "$1" "$2" "$3" \
		"$made_by" >>judged.txt
}

one_shape() {	# KIND SHAPE FILE
	local engine

	judge "$1" "$2" minism 1 "$3"
	for engine in $theirs; do
		one_opensm "$1" "$2" "$engine" "$3"
	done
}

draw() {	# FORMULA|SHAPE PERCENT [SWITCHES]: ./drawn.net, without so many
	rm -f drawn.net
	if [[ $1 != *\(* ]]; then
		"$MINISM_BUILD/draw_shape" "$1" "$seed" "$2" >drawn.net
		return
	fi
	"$MINISM_ROUTE" --engine minhop --shuffle --seed "$seed" --fail "$2" \
		--fail-switches "${3:-0}" --net drawn.net "$1" >/dev/null
	[ -s drawn.net ]	# what min-hop makes of it is all the same
}

[ $# -gt 0 ] || set -- '*'
for wanted; do
	[[ $wanted == *\(* ]] || continue
	read -r what lost <<<"$wanted"
	# shellcheck disable=SC2086 # none, one number, or two
	if [ -n "$lost" ]; then
		draw "$what" $lost
	else
		"$MINISM_FABRIC" --seed "$seed" "$what" >drawn.net
	fi || bail_out "no $wanted"
	one_shape formulas "${wanted// /_}" drawn.net
done
while read -r -u 3 kind shape what lost; do
	for wanted; do
		# shellcheck disable=SC2053 # a glob is what it is
		[[ $shape == $wanted ]] || continue
		# shellcheck disable=SC2086 # one number, or two
		draw "$what" $lost || bail_out "no $shape"
		one_shape "$kind" "$shape" drawn.net
	done
done 3<<'END'
trees service service 0
trees production-0 production 0
trees production-1 production 1
trees production-3 production 3
trees production-5 production 5
trees host-spine host-spine 0
trees host-spine-3 host-spine-3 0
trees hosts-everywhere hosts-everywhere 0
trees 648-0 PGFT(18,36;1,18) 0
trees 648-1 PGFT(18,36;1,18) 1
trees 648-5 PGFT(18,36;1,18) 5
trees 648-10 PGFT(18,36;1,18) 10
trees damaged-20 PGFT(12,24;1,12) 20
trees damaged-30 PGFT(12,24;1,12) 30
trees three-1 PGFT(6,6,12;1,6,6) 1
trees three-15 PGFT(6,6,12;1,6,6) 15
trees three-switches PGFT(6,6,8;1,6,6) 0 3
trees over-0 PGFT(12,12,12;1,6,4) 0
trees over-6 PGFT(12,12,12;1,6,4) 6
trees clos4-0 PGFT(3,3,3,6;1,3,3,3) 0
trees clos4-5 PGFT(3,3,3,6;1,3,3,3) 5
trees full-core full-core 0
trees full-core-4 full-core-4 0
trees half-core half-core 0
trees hosts-off hosts-off 0
trees hosts-off-pod hosts-off-pod 0
trees rails-2 PGFT(16,32;1,16) 0
trees rails-2-3 PGFT(16,32;1,16) 3
trees rails-3 rails-3 0
trees rails-3-2 rails-3 2
trees directors directors 0
trees growth growth 0
trees half PGFT(9,18;1,18) 0
trees half-3 PGFT(6,6,3;1,6,6) 0
trees uneven-cables uneven-cables 0
trees uneven-cables-5 uneven-cables 5
trees uneven-leaves uneven-leaves 0
trees leaf-peers leaf-peers 0
trees spine-peers spine-peers 0
trees leaf-below leaf-below 0
trees management-leaf management-leaf 0
trees two-trees-4 two-trees-4 0
trees two-trees-8 two-trees-8 0
trees two-trees-leaves two-trees-leaves 0
others dragonfly-6-3-3 dragonfly(6,3,3) 0
others dragonfly-4-2-2 dragonfly(4,2,2) 0
others dragonfly-plus dragonfly-plus-9 0
others torus-6-6-6 torus(6,6,6;2) 0
others torus-6-less torus(6,6,6;2) 0.5 0.5
others torus-5-5-5 torus(5,5,5;2) 0
others torus-8-8 torus(8,8;4) 0
others mesh-8-8 mesh(8,8;4) 0
others mesh-4-4-4 mesh(4,4,4;3) 0
others ring-12 ring(12;6) 0
others random-64-8 random(64,8,6) 0
others random-128-12 random(128,12,8) 0
others slim-fly-5 slim-fly 0
others hyperx-6-6 hyperx(6,6;6) 0
others hypercube-6 hyperx(2,2,2,2,2,2;4) 0
others kautz-4 kautz 0
END
python3 - judged.txt <<'END'
import collections, json, math, sys

shapes, labels, facts = collections.defaultdict(dict), {}, {}
for line in open(sys.argv[1]):
    kind, shape, label, vls, rest = line.split(" ", 4)
    labels[label] = True
    d = json.loads(rest) if rest.strip() else {}
    r = d.get("results", [{}])[0]
    cell = shapes[kind][shape, label] = {"text": d.get("instead", "refused")}
    if "all_to_all" not in r:
        continue
    a2a, lost = r["all_to_all"], r["lost_ca_pairs"]
    loops = r["looped_channels_ca_only"], r["looped_channels"]
    facts[shape] = (d["fabric"]["switches"], d["fabric"]["ca_ports"],
                    f"{a2a['bound']:.0f}")
    missed = r["multicast"]["missed"]
    cell["times"] = a2a["max"] / a2a["bound"]
    cell["safe"] = vls == "1" and not loops[0] and not lost
    cell["tables"] = r["tables"]
    cell["text"] = f"lost {lost}" if lost else f"{cell['times']:.2f}"
    if vls != "1":
        cell["text"] += f" ({vls} VLs)"
    elif any(loops):
        cell["text"] += f" ({loops[0]}/{loops[1]})"
    elif missed:
        cell["text"] += f" ({missed} missed)"
    if kind == "formulas":
        s = r["shifts"]
        cell["text"] += f", shifts {s['mean']:.2f}; {s['max']}"


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x))


for kind in sorted(shapes, reverse=True):
    cells = shapes[kind]
    print(f"\n| {kind} | switches | hosts | bound | auto took | "
          + " | ".join(labels) + " |")
    print("|---" * (len(labels) + 5) + "|")
    for shape in dict.fromkeys(s for s, _ in cells):
        print("|", " | ".join([shape, *map(str, facts.get(shape, [""] * 3)),
              cells[shape, "minism"].get("tables", ""),
              *(cells.get((shape, l), {}).get("text", "") for l in labels)]),
              "|")
    good = {label: [c["times"] for (_, l), c in cells.items()
                    if l == label and c.get("safe")] for label in labels}
    for name, f in (("geometric mean", mean), ("worst", max)):
        print(f"| {name} | | | | |", " | ".join(
            f"{f(good[l]):.2f} ({len(good[l])})" if good[l] else ""
            for l in labels), "|")
END

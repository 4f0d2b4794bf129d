#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How near to the bound are the tables on fabrics as people build them? A table
# in Markdown on standard output, for the shapes of shapes.py and formulas.
#
#	shapes.sh [NAME..]	shapes whose name matches one of these patterns,
#				or formulas; all shapes if none is given
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
# The means are of tables for one VL that lose no pair and have no loop of CAs;
# their number is beside them. "missed": members that multicast trees leave out.
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

limit=${LIMIT:-60}
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

[ $# -gt 0 ] || set -- '*'
python3 "$MINISM_SRC/tests/bench/shapes.py" shapes "${SEED:-1}" || bail_out "no shapes"
for wanted; do
	if [[ $wanted == *\(* ]]; then
		"$MINISM_FABRIC" --seed "${SEED:-1}" "$wanted" >formula.net ||
			bail_out "no $wanted"
		one_shape formulas "$wanted" formula.net
		continue
	fi
	for file in shapes/*/*.net; do
		shape=$(basename "$file" .net)
		# shellcheck disable=SC2053 # a glob is what it is
		[[ $shape == $wanted ]] || continue
		one_shape "$(basename "$(dirname "$file")")" "$shape" "$file"
	done
done
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

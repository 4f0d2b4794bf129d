#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How near to the bound are the tables on fabrics as people build them? A table
# in Markdown on standard output, for the shapes of shapes.py.
#
#	shapes.sh [PATTERN]	shapes whose name matches; all if none is given
#	OLD=PROGRAM		another minism-route, to compare with
#	ENGINES="updn .."	OpenSM's, on ibsim; none if it is empty
#	SEED=1
#
# All tables are judged by the same minism-route: what the busiest channel
# carries if every host sends to every other, times the least that any tables
# could do (its lower bound). A figure in brackets does not count for the best:
# the tables have a credit loop on one VL, of CAs with each other, or lose pairs
# of CAs. The means are of the others; their number is beside them.
#
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/../interop/lib.sh"

MINISM_ROUTE=${MINISM_ROUTE:-$MINISM_BUILD/minism-route}
theirs=${ENGINES-minhop updn ftree nue}
judged=(--json --threads 1 --permutations 20 --shifts 20)
for program in python3 "$MINISM_ROUTE" ${OLD:+"$OLD"} ${theirs:+opensm}; do
	command -v "$program" >/dev/null || bail_out "$program is missing"
done

# judge KIND SHAPE LABEL ARGUMENTS...: a line of judged.txt; a bad verdict is a
# result too
judge() {
	local line="$1 $2 $3"

	shift 3
	"$MINISM_ROUTE" "${judged[@]}" "$@" >judged.json 2>judged.err
	printf '%s %s\n' "$line" "$(tr '\n' ' ' <judged.json)" >>judged.txt
}

one_opensm() {	# KIND SHAPE ENGINE FILE
	rm -rf osm
	mkdir osm
	sim_start "$4" || return 1
	client -t 60 env OSM_CACHE_DIR="$SCRATCH/osm" \
		OSM_TMP_DIR="$SCRATCH/osm" opensm -o -R "$3" -D 0x43 \
		-f "$SCRATCH/osm/log" >osm/out 2>&1 </dev/null
	sim_stop
	# Where it falls back on another engine that one is in the table.
	grep -q "process: $3 tables configured" osm/log 2>/dev/null &&
		judge "$1" "$2" "opensm-$3" --lfts osm/opensm-lfts.dump "$4"
}

python3 "$MINISM_SRC/tests/bench/shapes.py" shapes "${SEED:-1}" || bail_out "no shapes"
for file in shapes/*/*.net; do
	shape=$(basename "$file" .net)
	kind=$(basename "$(dirname "$file")")
	# shellcheck disable=SC2053 # a glob is what it is
	[[ $shape == ${1:-*} ]] || continue
	judge "$kind" "$shape" minism "$file"
	if [ -n "${OLD:-}" ]; then
		"$OLD" --threads 1 --permutations 1 --shifts 1 --dump old.lfts \
			"$file" >/dev/null 2>&1
		judge "$kind" "$shape" old --lfts old.lfts "$file"
	fi
	for engine in $theirs; do
		one_opensm "$kind" "$shape" "$engine" "$file"
	done
done
python3 - judged.txt <<'END'
import collections, json, math, sys

shapes, labels = collections.defaultdict(dict), {}
bound, facts = {}, {}
for line in open(sys.argv[1]):
    kind, shape, label, rest = line.split(" ", 3)
    labels[label] = True
    d = json.loads(rest) if rest.strip() else {"results": [{}]}
    r = d["results"][0]
    if "all_to_all" not in r:
        continue
    a2a = r["all_to_all"]
    bound[shape] = a2a["bound"]
    facts[shape] = (d["fabric"]["switches"], d["fabric"]["ca_ports"])
    safe = not r["looped_channels_ca_only"] and not r["lost_ca_pairs"]
    shapes[kind][shape, label] = (a2a["max"] / a2a["bound"], safe,
                                  r["multicast"]["missed"], r["tables"])
def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x))


for kind in sorted(shapes, reverse=True):
    cells = shapes[kind]
    names = list(dict.fromkeys(s for s, _ in cells))
    for shape in names:    # the best that OpenSM has without loop or loss
        theirs = [c for (s, l), c in cells.items() if s == shape and c[1]
                  and l.startswith("opensm") and c[0]]
        if theirs:
            cells[shape, "opensm, best"] = min(theirs)
    columns = list(labels) + ["opensm, best"] * any(
        label == "opensm, best" for _, label in cells)
    print(f"\n| {kind} | switches | hosts | bound | minism took | "
          + " | ".join(columns) + " | multicast missed |")
    print("|---" * (len(columns) + 6) + "|")
    for shape in names:
        row = [cells.get((shape, label)) for label in columns]
        text = ["" if c is None else f"{c[0]:.2f}" if c[1] else
                f"({c[0]:.2f})" for c in row]
        mine = cells.get((shape, "minism"))
        print("|", " | ".join([shape, *map(str, facts[shape]),
              f"{bound[shape]:.0f}", mine[3] if mine else "", *text,
              str(mine[2]) if mine else ""]), "|")
    good = {label: [c[0] for (_, l), c in cells.items()
                    if l == label and c[1] and c[0]] for label in columns}
    for name, f in (("geometric mean", mean), ("worst", max)):
        print(f"| {name} | | | | |", " | ".join(
            f"{f(good[l]):.2f} ({len(good[l])})" if good[l] else ""
            for l in columns), "| |")
END

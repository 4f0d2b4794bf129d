#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# How good are the tables? The engine that minism takes and those of OpenSM on
# the same fat trees, whole and damaged: a table in Markdown on standard output.
#
#	route.sh [HOSTS..]	648, 3456, 11664; 648 and 3456 if none is given
#	RATES="0 0.1 1 5 10"	per cent that are taken away
#	KINDS="links switches"	of what
#	SEED=7
#	MINE="-e auto"		options of minism-route: --all for all engines
#	ENGINES="minhop .."	OpenSM's; none of them if it is empty
#	LIMIT=180		s, for one run of OpenSM
#
# minism's tables are computed by minism-route, one thread. OpenSM runs once
# on ibsim (-o -R ENGINE); its tables are read from opensm-lfts.dump and judged
# by the same minism-route. Its time is that of the whole run, discovery and
# programming included, for it does not tell another: not to be compared with
# the milliseconds of an engine. Its log tells which engine made the tables in
# the end; where that is another one the table says so.
#
# Credit loops are counted in two ways. "All data" is what minism promises: CA
# port to anything and a switch's port 0 to CA ports. "CA-CA" is what other
# engines promise: CA port to CA port only. Both as if all rode one VL; DFSSSP,
# LASH and Nue may use several, and then neither figure is fair to them.
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

rates=${RATES:-0 0.1 1 5 10}
kinds=${KINDS:-links switches}
read -ra mine <<<"${MINE:--e auto}"
seed=${SEED:-7}
theirs=${ENGINES-minhop updn ftree dfsssp lash nue}
limit=${LIMIT:-180}
[ $# -gt 0 ] || set -- 648 3456
have_specs "$@"
must_have python3 "$MINISM_ROUTE" ${theirs:+opensm}

# rows FILE LABEL HOSTS KIND RATE [TIME REMARK]: a line for each result
rows() {
	python3 - "$@" <<-'END'
	import json, sys

	path, label, hosts, kind, rate = sys.argv[1:6]
	wall, remark = (sys.argv[6:8] + ["", ""])[:2]
	for r in json.load(open(path))["results"]:
	    cells = [hosts, f"{rate}% {kind}", label + " " +
	             (remark if wall else r["tables"])]
	    if "refused" in r:
	        cells += ["refused"] + [""] * 9
	    else:
	        s = r["shifts"]
	        cells += [
	            wall or f"{r['compute_ms']:.2f} ms",
	            r["lost_ca_pairs"], r["lost_mixed_pairs"],
	            r["looped_channels"], r["looped_channels_ca_only"],
	            r["all_to_all"]["max"],
	            f"{r['all_to_all']['bound']:.0f}",
	            f"{r['permutations']['mean']:.2f}",
	            f"{s['mean']:.2f}", s["max"]]
	    print("| " + " | ".join(map(str, cells)) + " |")
	END
}

# judge ARGUMENTS...: JSON into ./judged.json; a bad verdict is a result too
judge() {
	"$MINISM_ROUTE" --seed "$seed" --json "$@" >judged.json 2>judged.err
	[ -s judged.json ] || {
		cat judged.err >&2
		return 1
	}
}

one_opensm() {	# HOSTS KIND RATE ENGINE: on ./fabric.net
	local remark=$4

	opensm_once "$4" fabric.net || return 1
	if [ ! -s osm/opensm-lfts.dump ]; then
		echo "| $1 | $3% $2 | opensm $4 | ${made_by:-no tables} |" \
			"| | | | | | | | |"
		return
	fi
	[ "$made_by" = "$4" ] || remark="$4 (made by ${made_by:-nobody})"
	judge --lfts osm/opensm-lfts.dump fabric.net || return 1
	rows judged.json opensm "$1" "$2" "$3" "$(tail -n 1 clock) s" "$remark"
}

one_fabric() {	# HOSTS KIND RATE
	local option=--fail engine

	[ "$2" = switches ] && option=--fail-switches
	judge "${specs[$1]}" $option "$3" --net fabric.net --threads 1 \
		"${mine[@]}" || return 1
	rows judged.json minism "$1" "$2" "$3"
	for engine in $theirs; do
		one_opensm "$1" "$2" "$3" "$engine" || return 1
	done
}

version=
[ -z "$theirs" ] || version="; $(opensm --version 2>/dev/null |
	grep -om1 'OpenSM [0-9.]*')"
cat <<END
Seed $seed$version. Lost: pairs that have cables but no way, of two CA ports
and of a CA port and a switch. Looped: channels in credit loops if all rides
one VL; of all data (CA ports to anything, a switch's port 0 to CA ports), and
of what CA ports send to CA ports alone. Loads and congestion in flows on one
channel; 1,000 permutations, at most 1,000 shifts. Time: minism's is that of
the engine on one thread, OpenSM's that of its whole run on ibsim.

| hosts | taken away | tables | time | lost CA-CA | lost CA-switch | looped, all data | looped, CA-CA | a2a max | bound | permutations mean | shifts mean | shifts max |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
END
for hosts; do
	for kind in $kinds; do
		for rate in $rates; do
			# nothing of either is the same fabric
			[ "$rate" = 0 ] && [ "$kind" != "${kinds%% *}" ] &&
				continue
			one_fabric "$hosts" "$kind" "$rate" || exit 1
		done
	done
done

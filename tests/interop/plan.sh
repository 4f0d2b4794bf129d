#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# --plan reads and never writes: it sends no Set, the fabric is after it what
# it was before, and the plan it prints is the one that --once then carries
# out.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# Everything that the diagnostics show of the fabric, without the time of day
# and without the order in which they met the nodes.
state_of_fabric() {
	client ibnetdiscover 2>/dev/null | grep -v '^#' | sort
	client iblinkinfo -l 2>/dev/null | sort
	client dump_fts 2>/dev/null | grep -vE '^Unicast lids|^#' | sort
}

plan() {	# LOG arguments...
	local log=$1

	shift
	rm -f "$log"
	sm_run -v -f "$log" "$@" >plan.out 2>plan.err </dev/null
}

# What a plan on paper has to satisfy: {"steps": [{"kind": ..}], "counts":
# {kind: n, .., "total": n}}, the counts right. Prints the counts, then each
# kind with the components that change, sorted.
json_summary() {	# FILE
	python3 - "$1" <<-'PYTHON'
	import collections, json, sys
	plan = json.load(open(sys.argv[1]))
	kinds = collections.Counter(s["kind"] for s in plan["steps"])
	counts = plan["counts"]
	assert counts["total"] == len(plan["steps"]), counts
	for kind, n in counts.items():
	    if kind != "total":
	        assert kinds[kind] == n, (kind, n)
	print("total", counts["total"])
	for kind in sorted(kinds):
	    print(kind, kinds[kind])
	fields = set()
	for s in plan["steps"]:
	    for field in s.get("changes", {}):
	        fields.add((s["kind"], field))
	for kind, field in sorted(fields):
	    print("field", kind, field)
	PYTHON
}

text_case() {
	fresh "$demo" || return
	state_of_fabric >before
	check "plan: exits 0 on a fabric that is not up" \
		plan plan.log --plan
	check "plan: there is a text" [ -s plan.out ]
	check "plan: it names switches and hosts" \
		eval 'grep -q leaf-3 plan.out && grep -q node-16 plan.out'
	check "plan: no Set was sent" no_sets plan.log
	check "plan: and no SUBNET UP claimed" \
		[ "$(lines plan.log 'SUBNET UP')" -eq 0 ]
	state_of_fabric >after
	check "plan: the fabric is what it was" diff before after
	check "plan: the memory of LIDs is not written" \
		[ ! -e cache/state ]
	cp plan.out plan.first
	plan plan.log --plan=text
	check "plan: twice the same" diff plan.first plan.out
	digest=$(sed -n 's/^minism --apply \([0-9a-f]*\) writes this$/\1/p' \
		plan.out)
	refute "plan: --apply of another digest: exit 1" \
		plan plan.log --apply "${digest/[0-9a-f]/x}"
	check "plan: which says the present one" log_has plan.log \
		"the plan has the digest $digest now"
	check "plan: and has sent no Set" no_sets plan.log

	plan plan.log --plan=json
	check "plan: no Set for JSON either" no_sets plan.log
	if command -v python3 >/dev/null; then
		check "plan: JSON, with the counts right" \
			json_summary plan.out
		json_summary plan.out >sum
		check "plan: tables for 8 switches" \
			[ "$(sed -n 's/^lft //p' sum)" -ge 8 ]
		check "plan: 64 ports go to Armed" grep -qx 'arm 64' sum
		check "plan: 64 ports go to Active" grep -qx 'activate 64' sum
	else
		skip "plan: JSON" "python3 is not installed"
	fi
	plan plan.log --plan --apply "$digest"
	check "plan: not both: exit 2" [ $? -eq 2 ]
	check "plan: --apply carries it out" plan plan.log --apply "$digest"
	check "plan: the fabric is up" log_has plan.log 'SUBNET UP'
	refute "plan: once: then there is another plan" \
		plan plan.log --apply "$digest"
}

# After a bring-up nothing is left to do but what ibsim forgets.
empty_case() {
	local kept

	fresh "$demo" || return
	check "empty: the fabric comes up" sm_once up.log
	check "empty: --plan exits 0" plan plan.log --plan=json
	check "empty: no Set was sent" no_sets plan.log
	if ! command -v python3 >/dev/null; then
		skip "empty: nothing left" "python3 is not installed"
		sim_stop
		return
	fi
	check "empty: JSON, with the counts right" json_summary plan.out
	json_summary plan.out >sum
	check "empty: no step but PortInfo" \
		eval '! grep -vE "^(total|port|field port) " sum'
	# to want again what the simulator keeps would be our fault
	kept='LID|LMC|SMLID|GidPrefix|HOQLife|OperationalVLs|PortState'
	check "empty: no component that the simulator keeps" \
		eval '! grep -iE "^field port ($kept)$" sum'

	# one host is reset: the plan is about that host, and only about it
	sim_cmd 'Unlink "node-06"'
	sim_cmd 'Clear "node-06"'
	sim_cmd 'ReLink "node-06"'
	plan plan.log --plan=json
	json_summary plan.out >sum
	check "empty: a reset host is to be armed, at both ends" \
		grep -qx 'arm 2' sum
	check "empty: and costs no block of a table" \
		eval '! grep -E "^lft " sum'
	check "empty: --once carries it out" sm_once again.log
	check "empty: without a Set of a table" \
		eval '! sets_in again.log | grep -E "^Linear"'
	judge_same "$demo" >/dev/null
	check "empty: all is Active" judge_active 32
}

run_cases

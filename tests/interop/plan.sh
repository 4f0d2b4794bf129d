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

plan() {	# arguments...: its log is ./plan.log
	rm -f plan.log
	sm_run -v -f plan.log "$@" >plan.out 2>plan.err </dev/null
}

# Which steps there are: tests/scripts/plan.scn.
plan_case() {
	local digest files kept

	fresh "$demo" || return
	state_of_fabric >before
	mkdir -p cache
	echo damaged | tee cache/state >cache/guid2mkey
	files=$(stat -c '%n %a %y' cache cache/*)
	check "plan: exits 0 on a fabric that is not up" plan --plan
	check "plan: it names a switch" grep -q leaf-3 plan.out
	check "plan: 64 ports go to Armed, 64 to Active" grep -q \
		', 64 ports to arm, 64 ports to activate$' plan.out
	check "plan: a line each" [ "$(grep -c '[:;] arm$' plan.out)" = 64 ]
	check "plan: no Set was sent" no_sets plan.log
	check "plan: and no SUBNET UP claimed" log_has_not plan.log 'SUBNET UP'
	state_of_fabric >after
	check "plan: the fabric is what it was" diff before after
	check "plan: no file is written" \
		[ "$(stat -c '%n %a %y' cache cache/*)" = "$files" ]
	digest=$(sed -n 's/^minism --apply \([0-9a-f]*\) writes this$/\1/p' \
		plan.out)
	refute "plan: --apply of another digest: exit 1" \
		plan --apply "$(tr 0-9a-f 1-9a-f0 <<<"$digest")"
	check "plan: which says the present one" log_has plan.log \
		"the plan has the digest $digest now"
	check "plan: and has sent no Set" no_sets plan.log
	check "plan: not both: exit 2" ends_with 2 sm_run --plan --apply "$digest"
	check "plan: --apply carries it out" plan --apply "$digest"
	check "plan: the fabric is up" log_has plan.log 'SUBNET UP'
	refute "plan: once: then there is another plan" plan --apply "$digest"

	# nothing is left to do but what ibsim forgets
	check "empty: --plan exits 0" plan --plan
	refute "empty: no step but PortInfo" grep -vE \
		'^(plan: |  PortInfo of |minism --apply )' plan.out
	# to want again what the simulator keeps would be our fault
	kept='LID|LMC|SMLID|GidPrefix|HOQLife|OperationalVLs|PortState'
	refute "empty: no component that the simulator keeps" \
		grep -E "[:,] ($kept) [^ ]+ -> " plan.out

	# one host is reset: the plan is about that host, and only about it
	sim_cmd 'Unlink "node-06"'
	sim_cmd 'Clear "node-06"'
	sim_cmd 'ReLink "node-06"'
	plan --plan
	check "reset: a host is to be armed, at both ends" grep -q \
		', 2 ports to arm' plan.out
	refute "reset: and costs no block of a table" grep -E '^  LFT ' plan.out
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# M_Keys from the configuration to the files: what is written is private and
# OpenSM reads it, nothing that is printed holds a key, and a fabric whose
# devices have no M_Keys (ibsim's) comes up all the same.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

fabric='PGFT(2,3;1,2)'
secret=5ec3e7a15ec3e7a1
decimal=$((0x$secret))

cat >keys.conf <<END
m_key 0x$secret
m_key_per_port TRUE
m_key_protection_level 2
m_key_lease_period 60
END

# run LOG arguments...: a run in a simulation; its output in run.out
run() {
	local log=$1

	shift
	timeout -k 5 60 "$MINISM_SIM" -F "$SCRATCH/keys.conf" -v -v -f "$log" \
		--partitions= --control-socket= "$fabric" "$@" \
		>run.out 2>run.err </dev/null
}

private() {	# files: for their owner alone
	local file

	for file; do
		[ "$(stat -c %a "$file")" = 600 ] || return 1
	done
}

# keyless FILES...: neither the seed nor a key of a port is in them
keyless() {
	local key

	grep -qi -e "$secret" -e "$decimal" "$@" && return 1
	while read -r _ key; do
		[ -z "$key" ] || ! grep -qi "${key#0x}" "$@" || return 1
	done <cache/guid2mkey
}

files_case() {
	check "files: comes up" run up.log --once --cache-dir cache \
		--view "$SCRATCH/view" --show
	dump_view
	check "files: SUBNET UP" log_has up.log 'SUBNET UP'
	check "files: private" private cache/guid2mkey cache/neighbors \
		dump/*
	check "output: no key in log, picture, dumps" \
		keyless up.log run.out run.err dump/*
	check "plan: is made" run plan.log --plan --cache-dir cache
	check "plan: tells that there is a key" grep -q 'M_Key' run.out
	check "plan: and not which" keyless plan.log run.out run.err
	check "plan: as JSON" run plan.log --plan=json --cache-dir cache
	check "plan: nor there" keyless plan.log run.out run.err
	refute "--help: no key" grep -q "$secret" <("$MINISM" -F keys.conf \
		--help 2>&1)
}

# The devices of ibsim take M_Key without a word and forget it.
ibsim_case() {
	"$MINISM_FABRIC" "$fabric" >fabric.net
	sim_start "$SCRATCH/fabric.net" || return
	check "ibsim: comes up" sm_run 30 -F "$SCRATCH/keys.conf" --once \
		-f ibsim.log --cache-dir ibcache
	check "ibsim: SUBNET UP" log_has ibsim.log 'SUBNET UP'
	check "ibsim: a key that is not taken is told" \
		log_has ibsim.log 'warning.*M_Key is not in force on'
	check "ibsim: nobody has a key that is not there" \
		[ "$(grep -c ^0x ibcache/guid2mkey)" = 0 ]
	if command -v opensm >/dev/null; then
		mkdir -p osm
		cp cache/guid2mkey cache/neighbors osm/
		OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm \
			client -t 20 opensm -o -f "$SCRATCH/osm.log" >/dev/null 2>&1
		check "opensm: comes up with our files" \
			log_has osm.log 'SUBNET UP'
		check "opensm: complains of none" \
			log_has_not osm.log 'osm_db|guid2mkey|neighbors'
		check "opensm: what it leaves is read" run osmfiles.log --once \
			--cache-dir osm
		check "opensm: and whole" log_has_not osmfiles.log 'set aside'
	else
		skip "opensm: the files" "opensm is not installed"
	fi
	sim_stop
}

run_cases

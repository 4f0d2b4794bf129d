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

# The devices of ibsim take M_Key without a word and forget it. Keys in plans, in
# files and in the log of another fabric: plan.scn, keys.scn.
files_case() {
	check "files: comes up" simulated -F keys.conf -v "$fabric" --once \
		--partitions= --cache-dir cache --view view
	dump_view
	check "files: private" private cache/guid2mkey cache/neighbors dump/*
	check "files: no key in log, dumps" \
		keyless run.log run.out run.err dump/*
	refute "files: no key in --help" grep -q "$secret" \
		<("$MINISM" -F keys.conf --help 2>&1)
	"$MINISM_FABRIC" "$fabric" >fabric.net
	sim_start "$SCRATCH/fabric.net" || return
	check "ibsim: comes up" sm_run -F "$SCRATCH/keys.conf" --once \
		-f ibsim.log --cache-dir ibcache
	check "ibsim: a key that is not taken is told" \
		log_has ibsim.log 'warning.*M_Key is not in force on'
	check "ibsim: nobody has a key that is not there" \
		[ "$(grep -c ^0x ibcache/guid2mkey)" = 0 ]
	has opensm || return
	mkdir osm
	cp cache/guid2mkey cache/neighbors osm/
	osm_once
	check "opensm: comes up with our files" log_has osm.log 'SUBNET UP'
	check "opensm: complains of none" \
		log_has_not osm.log 'osm_db|guid2mkey|neighbors'
	check "opensm: what it leaves is read" simulated -F keys.conf \
		"$fabric" --once --cache-dir osm
	check "opensm: and whole" log_has_not run.log 'set aside'
}

support() {	# STATUS words
	ends_with "$1" ctl support "${@:2}"
}

# The user's file is replaced by a whole archive, or stays.
check_archive() {
	local more

	mkdir -p fake x/y
	printf '#!/bin/sh\necho x; exit 2\n' >fake/tar
	chmod +x fake/tar
	echo mine >x/support.log
	ln -sf support.log x/link
	ln -sf old.tar.gz to.tar.gz
	yes | head -c 1000000 >old.tar.gz
	cp old.tar.gz same
	PATH="$SCRATCH/fake:$PATH" check "support: tar fails: 1" \
		support 1 old.tar.gz
	for more in support.log=x/support.log x/y /dev/null; do
		# shellcheck disable=SC2086
		check "support: $more: 1" support 1 old.tar.gz ${more/=/ }
	done
	check "support: a link to a file: 1" support 1 to.tar.gz
	check "support: what was there stays" cmp same old.tar.gz
	check "support: nothing is beside it" [ "$(echo old.tar.gz*)" = \
		old.tar.gz ]
	check "support: replaces a longer file" support 0 old.tar.gz x/link
	check "support: by a whole one" gzip -t old.tar.gz
	check "support: which is private" private old.tar.gz
	check "support: says that a file may hold keys" \
		grep -q 'may hold keys' answer
	check "support: follows links" [ "$(tar -xzOf old.tar.gz ./link)" = mine ]
}

# What is sent elsewhere has the answers of the manager, and no key.
support_case() {
	local others='badcafe0badcafe1|c0ffee00c0ffee01' file

	{
		cat keys.conf
		echo "sm_key 0xbadcafe0badcafe1"
		echo "sa_key 0xc0ffee00c0ffee01"
	} >more.conf
	"${leash[@]}" "$MINISM_SIM" -F more.conf -f support.log --cache-dir \
		cache --partitions= --control-socket "$SCRATCH/ctl" "$fabric" \
		>run.out 2>run.err </dev/null &
	SM_PIDS+=($!)
	check "support: the manager is up" await log_has support.log \
		'SUBNET UP'
	check "support: packs" support 0
	check "support: is an archive" tar -xzf minism-support.tar.gz
	for file in config events status subscriptions versions view \
		view-status; do
		check "support: has $file" [ -e "minism-support/$file" ]
	done
	check "support: the keys were made" [ "$(wc -l <cache/guid2mkey)" -gt 4 ]
	check "support: no key is in it" keyless minism-support/*
	refute "support: of the SM and SA neither" grep -qiE "$others" \
		minism-support/*
	check "support: the options are, and that there is a key" \
		grep -q 'm_key (secret)' minism-support/config
	check "support: the view is whole" "$MINISMCTL" --view \
		minism-support/view nodes
	check "support: status" grep -q '^subnet:  *UP' minism-support/status
	check "support: events" grep -q 'SUBNET UP' minism-support/events
	mkdir 'a:b'
	: >-x
	check "support: with another file, of any name" support 0 \
		a:b/s.tar.gz support.log ./-x
	check "support: both are in it" [ "$(tar -tz <a:b/s.tar.gz |
		grep -cxE './(support.log|-x)')" -eq 2 ]
	check "support: a file that is not there: 1" \
		support 1 none.tar.gz missing
	check_archive
	sm_kill_all
	check "support: without a manager: 3" support 3 none.tar.gz
	check "support: and no archive" [ ! -e none.tar.gz ]
}

run_cases

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
	timeout -k 5 $patience "$MINISM_SIM" -F "$SCRATCH/keys.conf" -v -v -f "$log" \
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
	PATH="$SCRATCH/fake:$PATH" "$MINISMCTL" -s ctl support old.tar.gz \
		>run.out 2>&1
	check "support: tar fails: 1" [ $? -eq 1 ]
	for more in support.log=x/support.log x/y /dev/null; do
		# shellcheck disable=SC2086
		"$MINISMCTL" -s ctl support old.tar.gz ${more/=/ } \
			>run.out 2>&1
		check "support: $more: 1" [ $? -eq 1 ]
	done
	"$MINISMCTL" -s ctl support to.tar.gz >run.out 2>&1
	check "support: a link to a file: 1" [ $? -eq 1 ]
	check "support: what was there stays" cmp same old.tar.gz
	check "support: nothing is beside it" [ "$(echo old.tar.gz*)" = \
		old.tar.gz ]
	check "support: replaces a longer file" eval '
		"$MINISMCTL" -s ctl support old.tar.gz x/link >run.out &&
		gzip -t old.tar.gz && private old.tar.gz'
	check "support: says that a file may hold keys" \
		grep -q 'may hold keys' run.out
	check "support: follows links" eval '
		[ "$(tar -xzOf old.tar.gz ./link)" = mine ]'
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
	rm -rf minism-support*
	check "support: packs" "$MINISMCTL" -s "$SCRATCH/ctl" support
	check "support: is an archive" tar -xzf minism-support.tar.gz
	for file in config events sms status subscriptions versions view \
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
	check "support: status and events" eval '
		grep -q "^subnet:  *UP" minism-support/status &&
		grep -q "SUBNET UP" minism-support/events'
	mkdir -p 'a:b'
	check "support: with another file, of any name" eval '
		"$MINISMCTL" -s ctl support a:b/s.tar.gz support.log ./-x &&
		[ "$(tar -tz <a:b/s.tar.gz | grep -c -e "^./support.log\$" \
		-e "^./-x\$")" -eq 2 ]' 5>-x
	"$MINISMCTL" -s ctl support none.tar.gz missing >run.out 2>&1
	check "support: a file that is not there: 1, and no archive" \
		[ "$? $(ls none.tar.gz 2>/dev/null)" = "1 " ]
	check_archive
	sm_kill_all
	"$MINISMCTL" -s ctl support none.tar.gz >run.out 2>&1
	check "support: without a manager: 3" [ $? -eq 3 ]
}

# The devices of ibsim take M_Key without a word and forget it.
ibsim_case() {
	"$MINISM_FABRIC" "$fabric" >fabric.net
	sim_start "$SCRATCH/fabric.net" || return
	check "ibsim: comes up" sm_run -F "$SCRATCH/keys.conf" --once \
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
			client opensm -o -f "$SCRATCH/osm.log" >/dev/null 2>&1
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
}

run_cases

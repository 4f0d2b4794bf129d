#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism-import: each key of an opensm.conf has one verdict; what is written is
# what minism reads without a complaint, and brings the fabric to what OpenSM
# made of the old files: the same LIDs and the same P_Keys.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need smpquery
# import STATUS REGEX options...: the report, which stays in ./answer, has that
import() {
	gives "$1" "$2" "$MINISM_BUILD/minism-import" osm --to to \
		--cache-dir "$SCRATCH/cache" \
		--opensm-cache "$SCRATCH/osm-cache" "${@:3}"
}

fresh() {
	rm -rf osm to cache osm-cache
	mkdir osm osm-cache
}

# A site as they are, with each kind of key.
site() {
	fresh
	cat >osm/opensm.conf <<-'END'
	# a site
	routing_engine lash
	sweep_interval 10
	sm_priority 7
	m_key 0x5ecf00d
	lmc 0
	console loopback
	event_plugin_name osmx
	qos_max_vls 0
	babbling_port_policy TRUE
	log_file /var/log/opensm.log
	daemon TRUE
	root_guid_file "/somewhere/else/roots"
	cn_guid_file /nowhere/cns
	partition_config_file /etc/opensm/partitions.conf
	qos_policy_file /etc/opensm/qos-policy.conf
	prefix_routes_file /etc/opensm/no-such-routes.conf
	spelt_wrongly 1
	END
	echo '0x00020000	spine-1' >osm/roots
	echo 'qos-ulps' >osm/qos-policy.conf
	echo 'Red=0x10 : 0x10011=full, 0x10021=full ;' >osm/partitions.conf
	echo '0x0000000000010011 0x0005 0x0005' >osm-cache/guid2lid
	cat >verdicts <<-'END'
	  used           sm_priority 7
	  used           m_key (secret)
	  used           babbling_port_policy TRUE
	  used           root_guid_file /somewhere/else/roots
	  used           partition_config_file /etc/opensm/partitions.conf
	  otherwise      console loopback: minismctl asks a running minism
	  otherwise      log_file /var/log/opensm.log: the journal; for a file log_file /var/log/minism/NAME
	  otherwise      daemon TRUE: the service stays in the foreground; by hand minism -B
	  otherwise      qos_policy_file /etc/opensm/qos-policy.conf: a path has the SL of its partition, "sl=" in partitions.conf
	  otherwise      routing_engine lash: auto, the best of minism's that fits
	  NOT AVAILABLE  event_plugin_name osmx
	  NOT AVAILABLE  cn_guid_file /nowhere/cns: no such file
	  NOT AVAILABLE  spelt_wrongly 1: no key of OpenSM 3.3
	END
}

report_case() {
	site
	check "report: partitions" import 0 \
		'partitions.conf: 2 partitions; ports that could communicate before and cannot now: none'
	check "report: each key has its verdict" \
		diff <(grep -E '^  ' answer) verdicts
	check "report: and is counted" grep -qxF \
		'osm/opensm.conf: 17 keys: 5 used, 4 the same by default, 5 done otherwise, 3 NOT AVAILABLE' \
		answer
	check "report: LIDs" \
		grep -q 'LIDs of 1 port are kept' answer
	check "report: nothing is written" [ ! -e to ]
	sed -i 's/lash/updn,lash/' osm/opensm.conf
	check "report: one of two engines is used" import 0 \
		'^  otherwise +routing_engine updn,lash: updn$'
	echo 'Blue : 0x10031=full, 0x10041=full ;' >>osm/partitions.conf
	check "report: a P_Key that OpenSM counts may be in use" import 0 \
		'cannot now: those in 1 partition without a P_Key'
}

# What opensm itself writes is no choice of a site's: no word about what is
# missing, and none of its slow values.
default_case() {
	has opensm || return
	fresh
	opensm -c osm/opensm.conf >/dev/null 2>&1
	check "default: of that nothing is missing, and nothing taken" import 0 \
		' keys: 0 used, 1[0-9][0-9] the same by default, 5 done otherwise, 0 NOT AVAILABLE'
}

write_case() {
	site
	check "write: good" import 0 . --write
	check "write: minism has no complaint" \
		answers '^the configuration is valid, with 0 warnings$' \
		"$MINISM" --check-config -F to/minism.conf --cache-dir cache
	check "write: keys of the fabric are hidden" \
		[ "$(stat -c %a to/minism.conf)" = 640 ]
	check "write: files are copied" cmp osm/roots to/roots
	check "write: and named by full path" grep -qxF \
		"root_guid_file \"$SCRATCH/to/roots\"" to/minism.conf
	check "write: and LIDs" grep -qx \
		'lid 0x0000000000010011 0x0005 0x0005' cache/state
	check "write: for the owner only" [ "$(stat -c %a cache/state)" = 600 ]
	check "write: again, there is nothing to do" import 0 . --write
	check "write: which is told" [ "$(grep -c ^unchanged: answer)" -eq 4 ]
	echo 'disabled 0x0000000000010021 1' >>cache/state
	cp to/minism.conf before
	sed -i 's/sm_priority 7/sm_priority 8/' osm/opensm.conf
	check "write: another time" import 0 \
		'the old one is .*minism.conf.bak' --write
	check "write: the rest of the state is kept" grep -qx \
		'disabled 0x0000000000010021 1' cache/state
	check "write: the new value" grep -q 'sm_priority "8"' to/minism.conf
	check "write: the old file is kept" cmp before to/minism.conf.bak
	echo '0x0000000000010011 0x0006 0x0006' >osm-cache/guid2lid
	"$MINISM_SIM" -F "$SCRATCH/empty.conf" 'single(2)' \
		--cache-dir "$SCRATCH/cache" -B --pidfile "$SCRATCH/pid" \
		-f "$SCRATCH/beside.log"
	await pid_runs pid
	SM_PIDS+=("$(cat pid)")
	check "write: not beside a minism that runs, which is named" import 1 \
		"held by process $(cat pid)" --write
	sm_kill_all
	check "write: when it has ended" import 0 \
		'LIDs of 1 port are kept' --write
	check "write: OpenSM's LID is in place of its own" grep -qx \
		'lid 0x0000000000010011 0x0006 0x0006' cache/state
}

refused_case() {
	site
	echo 'Blue=0x11 : 0x1002g=full ;' >>osm/partitions.conf
	check "refused: a mistake in the partitions, with its place" import 1 \
		'REFUSED .*partitions.conf:2:13: ' --write
	check "refused: and what OpenSM makes of it" grep -q \
		'OpenSM lets every port talk to every other one' answer
	check "refused: nothing is written" [ ! -e to ]
	site
	echo 'lmc 9' >>osm/opensm.conf
	check "refused: a bad value, with its line" import 1 \
		'REFUSED .*opensm.conf:19: lmc: ' --write
	site
	echo '0x0000000000010021 0x0005 0x0005' >>osm-cache/guid2lid
	check "refused: a LID of two ports" import 1 . --write
	site
	mkdir -p to/minism.conf.bak
	echo 'sm_priority 1' >to/minism.conf
	check "refused: no backup, no write" import 1 . --write
	check "refused: the old one is there" grep -qx 'sm_priority 1' \
		to/minism.conf
	for folder in '' none; do
		check "refused: no folder: '$folder'" ends_with 2 \
			"$MINISM_BUILD/minism-import" $folder
	done
}

# The same fabric under OpenSM with its files, and under minism with what was
# made of them.
# "node-01 0x8010 0xffff" a line: the P_Keys of every host, sorted
tables() {
	local name lid

	while read -r name _ lid; do
		echo "$name" "$(client smpquery pkeys "$lid" 2>/dev/null |
			grep -oE '0x[0-9a-f]{4}' | grep -v 0x0000 | sort |
			tr '\n' ' ')"
	done <hosts.now
}

found() {	# who: the LIDs and the P_Keys of all hosts
	hosts >hosts.now
	awk '{ print $1, $3 }' hosts.now >"$1.lids"
	tables >"$1.keys"
}

same_case() {
	has opensm || return
	fresh
	sim_start "$demo" || return
	hosts >hosts.now
	cat >osm/partitions.conf <<-END
	Default=0x7fff, ipoib : ALL=limited, SELF=full ;
	Storage=0x10 : $(guid_of node-01)=full, $(guid_of node-02)=limited ;
	Both=0x20, defmember=both : $(guid_of node-03), $(guid_of node-04)=full ;
	Everybody=0x30 : ALL_CAS=full ;
	END
	# LIDs that neither would give by itself
	awk '{ guid = sprintf("%16s", substr($2, 3)); gsub(/ /, "0", guid)
		lid = 100 + 7 * NR
		printf "0x%s 0x%04x 0x%04x\n\n", guid, lid, lid }' \
		hosts.now >osm-cache/guid2lid
	cp osm-cache/guid2lid osm/
	# a limited and a full key can be one port's, if it is told
	printf 'honor_guid2lid_file TRUE\nallow_both_pkeys TRUE\n' \
		>osm/opensm.conf
	osm_once -F "$SCRATCH/osm/opensm.conf" -x -R minhop \
		-P "$SCRATCH/osm/partitions.conf"
	found theirs
	check "same: OpenSM has taken the LIDs" grep -qx 'node-01 107' theirs.lids
	check "same: and the partitions" \
		grep -qx 'node-03 0x0020 0x7fff 0x8020 0x8030 ' theirs.keys
	check "same: the import" import 0 . --write
	sim_start "$demo" || return
	check "same: minism brings the fabric up" sm_run --once -v \
		-F "$SCRATCH/to/minism.conf" -f same.log \
		--partitions "$SCRATCH/to/partitions.conf"
	found ours
	check "same: the same LIDs at all hosts" diff theirs.lids ours.lids
	check "same: the same P_Keys" diff theirs.keys ours.keys
	check "same: all of them" [ "$(wc -l <ours.keys)" -eq 16 ]
	check "same: another run" sm_run --once -v \
		-F "$SCRATCH/to/minism.conf" -f again.log \
		--partitions "$SCRATCH/to/partitions.conf"
	check "same: has no table to write" only_port_info_sets again.log
}

run_cases

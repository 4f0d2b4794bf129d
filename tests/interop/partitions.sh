#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Partitions as hosts see them: the P_Key tables are those that OpenSM writes
# from the same file; a second run has no table to write, and one member costs
# one block. What --plan says of them: tests/scripts/plan.scn.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need smpquery

demo=$MINISM_SRC/etc/fabrics/demo.net

guid_of() {
	awk -v name="$1" '$1 == name { print $2 }' hosts.now
}

partition_file() {	# GUIDs of hosts are in hosts.now
	cat >partitions.conf <<-END
	Default=0x7fff, ipoib : ALL=limited, SELF=full ;
	Storage=0x10 : $(guid_of node-01)=full, $(guid_of node-02)=limited,
		$(guid_of node-11)=full ;
	Both=0x20, defmember=both : $(guid_of node-03), $(guid_of node-04)=full ;
	Everybody=0x30 : ALL_CAS=full ;
	END
}

partitioned() {	# LOG arguments...
	sm_once "$@" --partitions "$SCRATCH/partitions.conf" \
		--cache-dir "$SCRATCH/cache"
}

table_sets() {	# LOG: how many P_Key blocks were sent in the last sweep
	sets_in "$1" | sed -n 's/^P_KeyTable\.Set //p'
}

tables_case() {
	local five

	fresh "$demo" || return
	hosts >hosts.now
	partition_file
	check "tables: the fabric comes up" partitioned up.log
	check "tables: P_Keys were sent" [ "$(table_sets up.log)" -gt 16 ]
	tables >ours
	check "tables: 16 hosts" [ "$(wc -l <ours)" -eq 16 ]
	check "tables: a full member" \
		grep -qx 'node-01 0x8010 0x8030 0xffff ' ours
	check "tables: a limited one" \
		grep -qx 'node-02 0x0010 0x7fff 0x8030 ' ours
	check "tables: both" grep -qx 'node-03 0x0020 0x7fff 0x8020 0x8030 ' \
		ours
	check "tables: none" grep -qx 'node-05 0x7fff 0x8030 ' ours

	check "tables: another run" partitioned again.log
	check "tables: has no table to write" only_port_info_sets again.log

	# One host into one partition
	five=$(guid_of node-05)
	sed -i "s/^Storage=0x10 : /&$five=full, /" partitions.conf
	check "tables: it is carried out" partitioned add.log
	check "tables: by one block" [ "$(table_sets add.log)" -eq 1 ]
	tables >now
	check "tables: which has it" \
		grep -qx 'node-05 0x7fff 0x8010 0x8030 ' now

	# And out again.
	sed -i "s/$five=full, //" partitions.conf
	check "tables: out" partitioned out.log
	check "tables: by one block, too" [ "$(table_sets out.log)" -eq 1 ]
	tables >now
	check "tables: as it was" diff ours now

	# Keys stay at their place, or queue pairs would lose them.
	sed -i "s/^Both.*/A=0x2 : $(guid_of node-01)=full ;\n&/" partitions.conf
	client smpquery pkeys "$(awk '$1 == "node-01" { print $3 }' \
		hosts.now)" 2>/dev/null | head -1 >before
	check "tables: a lower P_Key" partitioned lower.log
	client smpquery pkeys "$(awk '$1 == "node-01" { print $3 }' \
		hosts.now)" 2>/dev/null | head -1 >after
	check "tables: takes the first free place" \
		[ "$(sed 's/0x0000/0x8002/' before)" = "$(cat after)" ]

	echo "Away=0x40 : 0xabcdef=full ;" >>partitions.conf
	check "tables: a member that is away is no fault" partitioned away.log
	check "tables: but a warning, with its line" log_has away.log \
		'partitions\.conf:7: port 0x0+abcdef is not on the fabric'
	sim_stop
}

peer_case() {
	if ! command -v opensm >/dev/null; then
		skip "peer" "opensm is not installed"
		return
	fi
	fresh "$demo" || return
	hosts >hosts.now
	partition_file
	# OpenSM does not know that a limited and a full key can be one port's,
	# unless it is told.
	printf 'allow_both_pkeys TRUE\n' >osm.conf
	OSM_TMP_DIR=$SCRATCH OSM_CACHE_DIR=$SCRATCH client opensm -o \
		-F "$SCRATCH/osm.conf" -f "$SCRATCH/osm.log" \
		-P "$SCRATCH/partitions.conf" >osm.out 2>&1 </dev/null
	tables >theirs
	check "peer: OpenSM has written tables" grep -q 0x8010 theirs
	sim_stop
	sim_start "$demo" || return
	check "peer: the fabric comes up" partitioned peer.log
	tables >ours
	check "peer: the same P_Keys at every host" diff theirs ours
	check "peer: all of it" [ "$(wc -l <ours)" -eq 16 ]
	sim_stop
}

run_cases

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Quality of service as clients see it: smpquery finds the tables that were
# configured; saquery asks for paths, and their SLs are those of the partitions.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery smpquery

cat >partitions <<END
Default=0x7fff, sl=2 : ALL=full ;
Storage=0x10, sl=3 : ALL=full ;
END
echo policy >policy
printf 'qos TRUE\nqos_policy_file "%s"\n' "$SCRATCH/policy" >qos.conf
echo 'qos FALSE' >off.conf

# Four VLs: SL 4 and 5 are folded, as VL 9 is; SL 6 is dropped.
cat >tables.conf <<END
qos TRUE
qos_max_vls 4
qos_sl2vl 0,1,2,3,4,5,15
qos_vlarb_low 2:10,1:20,9:30,3:40
END

query() {	# smpquery-arguments...
	on H-0 client smpquery "$@"
}

path() {	# saquery-arguments...
	on H-5 client saquery PR --slid 9 --dlid 10 "$@"
}

sl_is() {	# SL WHAT saquery-arguments...: the path has this SL
	check "$2" answers "^[[:space:]]*sl\\.+0x$1\$" path "${@:3}"
}

"$MINISM_FABRIC" 'PGFT(4,4;1,4)' >tree.net
sim_start "$SCRATCH/tree.net" || done_testing

rm -rf cache
check "tables are written" sm_once tables.log -F "$SCRATCH/tables.conf" \
	--cache-dir "$SCRATCH/cache"
check "of a CA: SLs without a VL in the list go to VL 0" answers \
	'out  0: \| 0\| 1\| 2\| 3\| 0\| 1\|15\| 0\|' query -D sl2vl 0 1
for in in 0 1 8; do
	check "of a switch, from port $in: as configured, folded" answers \
		"in  $in, out  1: \| 0\| 1\| 2\| 3\| 0\| 1\|15\| 0\|" \
		query -D sl2vl 0,1 1
done
check "arbitration: weights in their places" answers \
	'WEIGHT: \|0xA \|0x14\|0x1E\|0x28\|' query -D vlarb 0,1 1
check "as many VLs as configured" \
	answers 'OperVLs:\.*VL0-3' query -D portinfo 0,1 1
table_sets='(SLtoVLMapping|VLArbitration)Table\.Set'
check "they were Set" log_has tables.log "$table_sets"
check "another run comes up as well" \
	sm_once again.log -F "$SCRATCH/tables.conf" \
	--cache-dir "$SCRATCH/cache"
check "and has nothing to write" log_has_not again.log "$table_sets"
sim_stop

fresh "$SCRATCH/tree.net" || done_testing
sm_start on.log -F "$SCRATCH/qos.conf" --cache-dir "$SCRATCH/cache" \
	-P "$SCRATCH/partitions"
check "the fabric comes up" await log_has on.log 'SUBNET UP'
check "a policy file is a warning" log_has on.log 'qos_policy_file is no key'
for what in "SL2VL 1" "VLAR 9"; do
	# shellcheck disable=SC2086
	check "the SA has the tables: $what" on H-5 client saquery $what
done
sl_is 2 "a path has the SL of its partition"
sl_is 3 "in another partition another one" --pkey 0x8010
sl_is 3 "the SL that is asked for chooses the partition" --sl 3
check "there is no path with another one" eval '! answers dlid path --sl 4'
sm_kill_all

sm_start off.log -F "$SCRATCH/off.conf" --cache-dir "$SCRATCH/cache" \
	-P "$SCRATCH/partitions"
check "it comes up with QoS off" await log_has off.log 'SUBNET UP'
sl_is 0 "then SLs of partitions are not used" --pkey 0x8010
sm_kill_all
sim_stop
done_testing

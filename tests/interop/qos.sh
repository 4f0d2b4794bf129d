#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Quality of service as smpquery sees it: the tables that were configured. They in the
# SA: osmtest.sh, flow q. SLs of paths: tests/scripts/sa_path.scn.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need smpquery

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

done_testing

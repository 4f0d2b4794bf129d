#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Subnet administration as clients of the field see it: saquery for every
# record; osmtest's flows, those of tables with QoS among them, are in osmtest.sh.
# On ibsim, whose shim cuts a table to what fits into one MAD and has no RMPP: how
# long tables go is tested in tests/unit/test_sa_message.c and test_sa_server.c.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery

"$MINISM_FABRIC" 'PGFT(4,4;1,4)' >tree.net
fresh "$SCRATCH/tree.net" || done_testing
sm_start sa.log --cache-dir "$SCRATCH/cache"
check "the fabric comes up" await log_has sa.log 'SUBNET UP'

sa() {	# saquery-arguments...
	on H-5 client saquery "$@"
}

while read -r regex words; do
	# shellcheck disable=SC2086 # words
	check "saquery $words" answers "$regex" sa $words
done <<'END'
node_type NR
node_desc|NodeDescription NR 1
EndPortLid PIR
SwitchInfo|lin_cap|LinearFDBCap SWIR
FromLID LR
LFT.Record LFTR
dgid PR
pkey\.*0x(ffff|FFFF) --slid 9 --dlid 10 PR
ff12:401b:ffff -g
SMInfoRecord|Priority|prio SMIR
IsSM.ports -s
0x2602 CPI
0x0002B4C8 CPI
Redirect.QKey.*0x80010000 CPI
PKey.Table --smkey 1 PKTR
END
check "ServiceRecord: none, and said so" sa SR
check "InformInfoRecord: none, and said so" sa IIR

# The diagnostics by GUID ask the SA for the path, each in its own way: what
# they resolve must be what the fabric says.
own_guid=$(guid_of H-3) own_lid=$(lid_of H-3)
guid=$(guid_of H-9) lid=$(lid_of H-9)
check "ibnetdiscover names H-3 and H-9" \
	[ -n "$own_lid" -a -n "$lid" -a "${own_lid:-0}" != "${lid:-0}" ]

hex_lid=$(printf '0x%x' "$lid")
check "ibaddr finds a GUID" answers "LID start $hex_lid end $hex_lid" \
	on H-3 client ibaddr -G "$guid"
check "ibaddr is told of a GUID that nobody has" refuses "can't resolve" \
	on H-3 client ibaddr -G 0x1234
check "ibtracert finds the way between two GUIDs" answers \
	"^To ca .* lid $lid-$lid \"H-9\"" \
	on H-3 client ibtracert -G "$own_guid" "$guid"
# ibsim carries a ping to no client but a subnet manager, so no server can
# answer; where it was sent is what the SA said.
check "ibping finds a GUID" answers "\(Lid $lid\) ibping statistics" \
	on H-3 client ibping -c 1 -G "$guid"

check "nobody saw the SA fail" log_has_not sa.log ' error '
sm_kill_all
sim_stop
done_testing

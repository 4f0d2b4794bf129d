#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Subnet administration as clients of the field see it: saquery for every
# record, osmtest's flows, two managers. On ibsim, whose shim cuts a table to
# what fits into one MAD and has no RMPP: how long tables go is tested in
# tests/unit/test_bulk.c and test_sa_server.c.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery osmtest

"$MINISM_FABRIC" 'PGFT(4,4;1,4)' >tree.net
sim_start "$SCRATCH/tree.net" || { ok 1 "ibsim starts"; done_testing; }
rm -rf cache
sm_start sa.log --cache-dir "$SCRATCH/cache"
check "the fabric comes up" await 20 log_has sa.log 'SUBNET UP'

# shows WHAT REGEX saquery-arguments...: the answer has it, exit 0
asker=H-5
shows() {
	local what=$1 regex=$2

	shift 2
	if on $asker client -t 10 saquery "$@" >answer 2>answer.err &&
		grep -qE -- "$regex" answer; then
		ok 0 "$what"
	else
		ok 1 "$what"
		note_file answer
		note_file answer.err
	fi
}

shows "NodeRecord" 'node_type' NR
shows "NodeRecord of a LID" 'node_desc|NodeDescription' NR 1
shows "PortInfoRecord" 'EndPortLid' PIR
shows "SwitchInfoRecord" 'SwitchInfo|lin_cap|LinearFDBCap' SWIR
shows "LinkRecord" 'FromLID' LR
shows "LinearForwardingTableRecord" 'LFT Record' LFTR
shows "PathRecord" 'dgid' PR
shows "PathRecord between two LIDs" 'pkey\.*0x(ffff|FFFF)' \
	--slid 9 --dlid 10 PR
shows "MCMemberRecord: IPoIB's group is there" 'ff12:401b:ffff' -g
shows "SMInfoRecord" 'SMInfoRecord|Priority|prio' SMIR
shows "the port with the SM" 'IsSM ports' -s
shows "ClassPortInfo" '0x2602' CPI
shows "ClassPortInfo: what later revisions have" '0x0002B4C8' CPI
shows "ClassPortInfo: QP 1 has its Q_Key" 'Redirect QKey.*0x80010000' CPI
shows "P_KeyTableRecord for the trusted" 'PKey Table' --smkey 1 PKTR
check "ServiceRecord: none, and said so" \
	on H-5 client -t 10 saquery SR
check "InformInfoRecord: none, and said so" \
	on H-5 client -t 10 saquery IIR
if on H-5 client -t 10 saquery PKTR >answer 2>&1; then
	ok 1 "P_KeyTableRecord is refused to others"
else
	ok 0 "P_KeyTableRecord is refused to others"
fi

# flow NAME ARGUMENTS...: osmtest passes it
flow() {
	local what=$1

	shift
	if on H-3 client -t 60 osmtest "$@" -i "$SCRATCH/inventory" \
		>flow.log 2>&1; then
		ok 0 "osmtest: $what"
	else
		ok 1 "osmtest: $what"
		note_file flow.log
	fi
}

flow "inventory" -f c
flow "validation" -f v -d1
flow "event forwarding" -f e
flow "multicast" -f m -M2

# port_of NAME: "guid lid" of port 1 of a CA, as ibnetdiscover sees it
port_of() {
	awk -v name="\"$1\"" '
		/^Ca\t/ { mine = $0 ~ "# " name "$" }
		mine && /^\[1\]\(/ {
			split($0, g, /[()]/)
			sub(/.*# *lid /, "")
			print "0x" g[2], $1
			exit
		}' found
}

# The diagnostics by GUID ask the SA for the path, each in its own way: what
# they resolve must be what the fabric says.
client ibnetdiscover >found 2>found.err
read -r own_guid own_lid < <(port_of H-3)
read -r guid lid < <(port_of H-9)
check "ibnetdiscover names H-3 and H-9" \
	[ -n "$own_lid" -a -n "$lid" -a "${own_lid:-0}" != "${lid:-0}" ]

# asks WHAT REGEX program...: from H-3; what it says matches
asks() {
	local what=$1 regex=$2

	shift 2
	on H-3 client -t 10 "$@" >said 2>&1
	if grep -qE -- "$regex" said; then
		ok 0 "$what"
	else
		ok 1 "$what: $regex"
		note_file said
	fi
}

hex_lid=$(printf '0x%x' "$lid")
asks "ibaddr finds a GUID" "LID start $hex_lid end $hex_lid" \
	ibaddr -G "$guid"
asks "ibaddr is told of a GUID that nobody has" "can't resolve" \
	ibaddr -G 0x1234
asks "ibtracert finds the way between two GUIDs" \
	"^To ca .* lid $lid-$lid \"H-9\"" ibtracert -G "$own_guid" "$guid"
# ibsim carries a ping to no client but a subnet manager, so no server can
# answer; where it was sent is what the SA said.
asks "ibping finds a GUID" "\(Lid $lid\) ibping statistics" \
	ibping -c 1 -G "$guid"

# Tables of a CA's port: the LID names it, whatever port number is asked for.
for number in 0 1; do
	shows "P_Keys of a CA, asked with port $number" 'PortNum|Port' \
		--smkey 1 PKTR "$lid/$number/0"
done
check "SL to VL of a CA: not known without QoS" \
	on H-5 client -t 10 saquery SL2VL "$lid"
shows "PathRecord with an SL, without QoS" 'sl\.*0x3' \
	--slid "$own_lid" --dlid "$lid" --sl 3 PR
shows "PathRecord: the number of paths is not repeated" 'num_path_revers\.*0x80' \
	--slid "$own_lid" --dlid "$lid" PR

check "nobody saw the SA fail" log_has_not sa.log ' error '
sm_kill_all
sim_stop

# The same flow where cables are not all alike, and that of tables with QoS.
SIM_HOST=node-01
sim_start "$MINISM_SRC/etc/fabrics/demo.net" ||
	{ ok 1 "ibsim starts"; done_testing; }
rm -rf cache
echo 'qos TRUE' >qos.conf
sm_start demo.log --cache-dir "$SCRATCH/cache" -F "$SCRATCH/qos.conf"
check "the demo's fabric comes up" await 20 log_has demo.log 'SUBNET UP'
for what in c q; do
	check "osmtest -f $what on the demo's fabric" on node-02 client -t 60 \
		osmtest -f $what -i "$SCRATCH/inventory"
done
asker=node-02
for number in 0 1; do
	shows "SL to VL of a CA, asked with port $number" \
		'InPort' SL2VL "9/0/$number"
	shows "VL arbitration of a CA, asked with port $number" \
		'Block' VLAR "9/$number/1"
done
sm_kill_all
sim_stop
done_testing

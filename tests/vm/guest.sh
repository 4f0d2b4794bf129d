#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The first process of the virtual machine that run.sh boots: eight HCAs on a
# fabric of minism-lab, an IPoIB interface of each in a network namespace, and
# the checks. TAP goes to the second serial line.
#
# Eight hosts, two leaves, two spines: H-n is vibn, namespace hn and address
# 10.0.0.n+1; H-0 to H-3 hang on one leaf, H-4 to H-7 on the other.
set -u
export LC_ALL=C PATH=/opt:/bin:/sbin
net='PGFT(4,2;1,2)'
hosts=8
everybody='Default=0x7fff, ipoib: ALL=full;'
all=devices,bringup,queries,send_only,restart,user,standby,opensm,spine,pkeys,device,planes,tables
cases=${cases:-$all}	# from the kernel's command line

# ---- TAP -------------------------------------------------------------------

tap_n=0
tap_bad=0
bad_max=5	# more is a waste of time

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

check() {	# description command...
	local what=$1 begin=$SECONDS

	shift
	tap_n=$((tap_n + 1))
	if "$@" >/tmp/check.out 2>&1; then
		echo "ok $tap_n - $what # $((SECONDS - begin)) s"
		return
	fi
	echo "not ok $tap_n - $what"
	note "$*: failed after $((SECONDS - begin)) s"
	tail -n 30 /tmp/check.out | sed 's/^/# /'
	[ ! -s /tmp/sm.log ] || tail -n 12 /tmp/sm.log | sed 's/^/# sm: /'
	tap_bad=$((tap_bad + 1))
	[ $tap_bad -lt $bad_max ] || {
		echo "Bail out! $tap_bad checks failed"
		poweroff -f
	}
}

refute() {	# description command...: it fails
	check "$1" fails "${@:2}"
}

fails() {
	! "$@"
}

# Until it succeeds: emulated processors beside others may be slow.
await() {	# command...
	local end=$((SECONDS + 180))

	until "$@" >/tmp/await.out 2>&1; do
		if [ $SECONDS -ge $end ]; then
			cat /tmp/await.out
			return 1
		fi
		sleep 0.2
	done
}

# ---- the fabric ------------------------------------------------------------

# start_lab NET HOSTS: the fabric, and an HCA for each of its first hosts
start_lab() {
	local i nodes=()

	for ((i = 0; i < $2; i++)); do
		nodes+=("H-$i")
	done
	rm -f /run/lab.sock /run/lab.fifo
	mkfifo /run/lab.fifo
	minism-lab --socket /run/lab.sock "$1" <>/run/lab.fifo \
		>/tmp/lab.out 2>&1 &
	lab_pid=$!
	await test -S /run/lab.sock
	echo /run/lab.sock "${nodes[@]}" >/sys/module/vib/parameters/lab
	await has_cards "$2" || cat /tmp/lab.out
}

stop_lab() {
	kill "$lab_pid"
	wait "$lab_pid" 2>/dev/null
	await has_cards 0
}

has_cards() {	# how many HCAs the kernel has
	local n

	n=$(find /sys/class/infiniband -name 'vib*' 2>/dev/null | wc -l)
	echo "$n HCAs instead of $1"
	[ "$n" -eq "$1" ]
}

lab() {		# a command of the lab's console
	MINISM_LAB=/run/lab.sock minism-lab -c "$*"
}

port() {	# number of the host, file
	cat "/sys/class/infiniband/vib$1/ports/1/$2"
}

guid() {	# number of the host: its PortGUID
	port "$1" gids/0 | tr -d : | sed 's/.*\(.\{16\}\)$/0x\1/'
}

are_active() {	# all ports of the hosts that are named
	local i

	for i; do
		port "$i" state | grep -q ACTIVE || return
	done
}

# ---- the hosts' network ----------------------------------------------------

# The interface of a host: the only one that is not in a namespace yet, unless
# they all come at once, in the order of their HCAs.
settle() {	# number of the host, interface
	ip netns add "h$1" 2>/dev/null
	ip link set "$2" netns "h$1" name ib0 &&
		ip -n "h$1" address add "10.0.0.$(($1 + 1))/24" dev ib0 &&
		ip -n "h$1" link set ib0 up
}

at() {		# number of the host, command...
	nsenter "--net=/run/netns/h$1" "${@:2}"
}

pings() {	# from, to
	at "$1" ping -q -c 1 -W 3 "10.0.0.$(($2 + 1))" >/dev/null 2>&1
}

pairs=()
for ((i = 0; i < hosts; i++)); do
	for ((j = i + 1; j < hosts; j++)); do
		pairs+=("$i-$j")
	done
done

try() {		# pair...: all at once; those that do not ping are in `left`
	local pair ping pinging=()

	for pair; do
		pings "${pair%-*}" "${pair#*-}" &
		pinging+=("$!:$pair")
	done
	left=()
	for ping in "${pinging[@]}"; do
		wait "${ping%:*}" || left+=("${ping#*:}")
	done
}

all_ping() {
	try "${pairs[@]}"
	echo "no ping: ${left[*]}"
	[ ${#left[@]} -eq 0 ]
}

# A guest on a busy machine is slow, so each pair has a minute.
mesh() {
	local end=$((SECONDS + 180))

	try "${pairs[@]}"
	while [ ${#left[@]} -gt 0 ]; do
		echo "after $SECONDS s no ping: ${left[*]}"
		[ $SECONDS -lt $end ] || return 1
		sleep 0.5
		try "${left[@]}"
	done
}

# ---- subnet managers -------------------------------------------------------

as=()		# in front of minism
sm_start() {	# options...
	: >/tmp/sm.log
	"${as[@]}" minism -p 1 -F /etc/minism.conf --partitions /etc/partitions.conf \
		--cache-dir /var/cache --control-socket /run/sm.ctl \
		-f /tmp/sm.log "$@" </dev/null >/tmp/sm.out 2>&1 &
	sm_pid=$!
}

sm_stop() {
	kill "$sm_pid"
	wait "$sm_pid" 2>/dev/null
}

is_up() {
	grep -q 'SUBNET UP' /tmp/sm.log
}

opensm_start() {	# number of the host, priority
	opensm -F /etc/none -P /etc/none -g "$(guid "$1")" -p "$2" \
		-f /tmp/osm.log </dev/null >/tmp/osm.out 2>&1 &
	osm_pid=$!
}

sm_lid_is() {	# what the kernels of the hosts think: LID of that host
	local i lid

	lid=$(port "$1" lid)
	for ((i = 0; i < hosts; i++)); do
		[ "$(port $i sm_lid)" = "$lid" ] || return
	done
}

# ---- checks ----------------------------------------------------------------

case_devices() {
	check "the kernel has 8 HCAs" start_lab "$net" $hosts
	check "with a umad and an issm each" test -c /dev/infiniband/umad7 -a \
		-c /dev/infiniband/issm7
	check "and an IPoIB interface" await test -d /sys/class/net/ib7
}

case_bringup() {
	local i

	for ((i = 0; i < hosts; i++)); do
		settle $i "ib$i"
	done
	sm_start
	check "minism -p 1 brings the fabric up" await is_up
	check "the kernel sees 8 Active ports" \
		await are_active 0 1 2 3 4 5 6 7
	check "IPoIB: every host pings every other" mesh
}

count() {	# how many, pattern, command...
	local n

	n=$("${@:3}" 2>/tmp/count.err | grep -c "$2")
	echo "$n instead of $1: $(head -c 300 /tmp/count.err)"
	[ "$n" -eq "$1" ]
}

finds() {	# pattern, command...
	"${@:2}" >/tmp/finds.out 2>&1
	cat /tmp/finds.out
	grep -q -- "$1" /tmp/finds.out
}

# The members of a group, as the SA has them: MGID of 10.0.0.255 is the
# broadcast group of IPoIB. Each line is a PortGUID and its JoinState.
members() {	# MGID
	saquery -C vib3 --smkey 1 -m | sed 's/\.\.\.\.*/ /' |
		awk -v mgid="$1" '$1 == "MGID" { mine = $2 == mgid }
			mine && $1 == "PortGid" { gid = $2 }
			mine && $1 == "ScopeState" { print gid, $2 }'
}

case_queries() {
	check "all 8 hosts are in IPoIB's broadcast group" \
		await count 8 0x21 members ff12:401b:ffff::ffff:ffff
	check "saquery: 12 nodes" \
		await count 12 '^NodeRecord dump' saquery -C vib5
	check "ibnetdiscover: 8 hosts" \
		await count 8 '^Ca' ibnetdiscover -C vib6
	check "ibnetdiscover: 4 switches" \
		await count 4 '^Switch' ibnetdiscover -C vib6
	check "a second manager on the port is refused, and says why" \
		finds "another subnet manager" timeout 100 minism -p 1 --once \
		-F /etc/minism.conf --cache-dir /run/second --partitions= \
		--control-socket=
}

# H-5 becomes a router and so a member of IPv6's group of all routers. Who
# only sends there, joins to send.
case_send_only() {
	echo 1 >/tmp/forwarding
	at 5 sh -c 'cat /tmp/forwarding >/proc/sys/net/ipv6/conf/ib0/forwarding'
	check "a group of one member" \
		await finds 0x21 members ff12:601b:ffff::2
	check "another host sends to it" \
		await at 2 ping6 -c 1 -W 1 ff02::2%ib0
	check "as a send-only member" \
		await finds "$(port 2 gids/0 | sed 's/.*://;s/^0*//') 0x2[48]" \
		members ff12:601b:ffff::2
}

case_restart() {
	sm_stop
	sm_start -C vib0
	check "minism restarted: the fabric is up" await is_up
	check "minism restarted: pings" mesh
}

# As the service: the group of the devices, which udev gives them, and nothing
# else of root.
case_user() {
	sm_stop
	chown 0:64000 /dev/infiniband/umad* /dev/infiniband/issm*
	chmod 660 /dev/infiniband/umad* /dev/infiniband/issm*
	mkdir -p /run/user
	chown 64000:64000 /run/user /tmp/sm.log
	as=(setpriv --reuid 64000 --regid 64000 --clear-groups --no-new-privs
		--bounding-set=-all --inh-caps=-all)
	sm_start -C vib0 --cache-dir /run/user --control-socket /run/user/ctl
	as=()
	check "minism as a user in the devices' group: the fabric is up" \
		await is_up
	check "it has no capability" \
		finds 'CapEff:.0000000000000000' cat "/proc/$sm_pid/status"
	check "its port is marked as a subnet manager's" \
		await finds "state 3" sminfo -C vib4 "$(($(port 0 lid)))"
	check "as a user: pings" mesh
	sm_stop
	chown 0:0 /tmp/sm.log
	sm_start -C vib0
	check "as root again: the fabric is up" await is_up
}

second_start() {	# host, options...
	: >/tmp/sm2.log
	minism -p 1 -C "vib$1" -F /etc/minism.conf \
		--partitions /etc/partitions.conf --cache-dir /var/cache2 \
		--control-socket /run/sm2.ctl -f /tmp/sm2.log -v "${@:2}" \
		</dev/null >/tmp/sm2.out 2>&1 &
	second_pid=$!
}

same_members() {
	members ff12:401b:ffff::ffff:ffff >/tmp/members.after
	cat /tmp/members.after
	[ -s /tmp/members.after ] &&
		cmp /tmp/members.before /tmp/members.after
}

# Its state is newer than that: of a master with news that its standby has not read
# all clients register again.
is_read_since() {	# time in us
	local ms

	ms=$(minismctl --json -s /run/sm2.ctl status |
		sed -n 's/.*"as_of_ms":\([0-9]*\).*/\1/p')
	echo "as of ${ms:-never} ms ago"
	[ -n "$ms" ] && [ $((${EPOCHREALTIME/./} - ms * 1000)) -gt "$1" ]
}

writes_tables() {
	tail -n +$((said + 1)) /tmp/sm2.log |
		grep -E 'ForwardingTable.Set [1-9]'
}

# The master is killed: its port stays, and the kernel answers SMInfo for
# nobody. The tables of the SA come by the kernel's RMPP. What is handed over:
# tests/interop/standby.sh.
case_standby() {
	local said

	sm_stop
	sm_start -C vib0 --priority 9
	check "a master of priority 9" await is_up
	second_start 4 --priority 3
	check "a second minism is warm" await \
		finds '^warm: .* with [1-9][0-9]* members' minismctl -s /run/sm2.ctl status
	check "all clients are its members: pings" mesh
	check "and the second knows them" await is_read_since "${EPOCHREALTIME/./}"
	members ff12:401b:ffff::ffff:ffff >/tmp/members.before
	said=$(wc -l </tmp/sm2.log)
	kill -9 "$sm_pid"
	check "the master is killed: the second takes over" \
		await sm_lid_is 4
	check "it knows the clients" await \
		finds 'need not register again' cat /tmp/sm2.log
	note "$(grep -E 'gone|SUBNET UP|sent .* MADs' /tmp/sm2.log | tail -n 4)"
	refute "and writes no table" writes_tables
	check "the members are the same" await same_members
	check "the second is master: pings" mesh
	sm_start -C vib0 --priority 9
	check "the first comes back, and is the master" await sm_lid_is 0
	check "the members are still the same" await same_members
	kill "$second_pid"
	wait "$second_pid" 2>/dev/null
}

# The top of each switch's multicast table is not below the groups in use.
case_opensm() {
	opensm_start 4 14
	check "minism hands over to opensm" await sm_lid_is 4
	check "opensm is master: pings" mesh
	check "opensm is still the master" await sm_lid_is 4
	kill -9 "$osm_pid"
	check "opensm dies, minism takes over" await sm_lid_is 0
	check "minism has taken over: pings" mesh
	sm_stop
	opensm_start 4 5
	check "opensm alone is master" await sm_lid_is 4
	check "it is to be asked by directed route" \
		await finds "priority 5 state 3" sminfo -C vib4 -D 0
	check "also from afar" await finds "priority 5 state 3" \
		sminfo -C vib0 -D 0,1,5,2,1
	sm_start -C vib0 --priority 9
	check "a living opensm hands over to minism" await sm_lid_is 0
	check "minism is master again: pings" mesh
	check "and opensm a standby" await \
		finds "state 2" sminfo -C vib3 "$(($(port 4 lid)))"
	check "also to a new group" await at 3 ping6 -c 1 -W 1 ff02::2%ib0
	kill "$osm_pid"
	wait "$osm_pid" 2>/dev/null
}

case_spine() {
	kill -STOP "$sm_pid"
	lab kill S-2-1
	refute "a spine is lost, no manager: some do not ping" all_ping
	kill -CONT "$sm_pid"
	check "a spine is lost: pings" mesh
	lab revive S-2-1
	check "it is back" await finds ' 24 Active' lab show
	check "it is back: pings" mesh
}

has_pkey() {	# of host, P_Key
	[ "$(port "$1" pkeys/0)" = "$2" ]
}

case_pkeys() {
	echo "Default=0x7fff, ipoib: ALL=limited, SELF=full, $(guid 1)=full;" \
		>/etc/partitions.conf
	kill -HUP "$sm_pid"
	check "the kernel sees a limited P_Key" await has_pkey 3 0x7fff
	check "a full and a limited member ping" await pings 1 2
	check "also a limited and a full one" await pings 3 0
	refute "two limited ones do not" pings 2 3
	refute "nor across the spines" pings 2 6
	echo "$everybody" >/etc/partitions.conf
	kill -HUP "$sm_pid"
	check "full members again: pings" mesh
}

bring_back() {	# host: its HCA, a new interface in its namespace
	lab plug-device "H-$1"
	await has_cards $hosts
	await test -d /sys/class/net/ib0
	settle "$1" ib0
}

case_device() {
	lab unplug-device H-7
	check "an HCA is gone" await has_cards 7
	refute "and does not ping" pings 1 7
	check "it is back" bring_back 7
	check "it is back: pings" mesh
	: >/tmp/sm.log
	lab unplug-device H-0
	check "the manager's HCA is gone" await has_cards 7
	refute "nor is it up without" is_up
	check "it is back, too" bring_back 0
	check "minism opens it again" await is_up
	check "minism has opened it again: pings" mesh
}

add_smi() {	# number of the host: its device for SMPs
	echo "$1" >/sys/module/vib/parameters/smi
}

opensm_once() {
	opensm -o -F /etc/none -P /etc/none -g "$(guid 0)" -f /tmp/osm.log
}

# smi0 and vib0 are one HCA, as are smi4 and vib4. Of the others SMPs are answered
# without their kernel.
case_planes() {
	local i

	[ -e /sys/module/vib/parameters/planes ] ||
		{ note "no HCAs with planes before Linux 6.11"; return; }
	sm_stop
	stop_lab
	echo 2 >/sys/module/vib/parameters/planes
	check "8 HCAs with planes" start_lab "$net" $hosts
	await test -d /sys/class/net/ib7
	for ((i = 0; i < hosts; i++)); do
		settle $i "ib$i"
	done
	refute "the device for GMPs has no issm" test -e /dev/infiniband/issm0
	refute "minism needs one for SMPs, too" timeout 100 \
		minism -C vib0 --once --cache-dir /run/x -f /tmp/x.log
	check "and says how it is made" finds \
		'rdma dev add smi0 type SMI parent vib0' cat /tmp/x.log
	check "devices for SMPs are added" add_smi 0
	check "two" add_smi 4
	check "with a port for each plane, and one GUID" cmp \
		/sys/class/infiniband/smi0/ports/2/gids/0 \
		/sys/class/infiniband/vib0/ports/1/gids/0
	refute "opensm takes one of them and ends" opensm_once
	sm_start -C vib0
	check "minism with both: the fabric is up" await is_up
	check "SMPs by the one, GMPs by the other" finds \
		'on smi0 port 1, GSI vib0 port 1 ' cat /tmp/sm.log
	check "both devices are Active" finds ACTIVE \
		cat /sys/class/infiniband/smi0/ports/2/state
	check "with planes: every host pings every other" mesh
	check "with planes: the SA answers 12 nodes" \
		await count 12 '^NodeRecord dump' saquery -C vib5
	check "with planes: ibnetdiscover" await count 8 '^Ca' ibnetdiscover -C smi4
	second_start 4 --priority 3
	check "a second one is warm" await \
		finds '^warm: .* with [1-9][0-9]* members' \
		minismctl -s /run/sm2.ctl status
	kill "$second_pid"
	wait "$second_pid" 2>/dev/null
	: >/tmp/sm.log
	lab unplug-device H-0
	check "both are gone" await has_cards 7
	check "the one for GMPs is back" bring_back 0
	sleep 1
	refute "and is not enough" is_up
	add_smi 0
	check "the other, too: minism opens both again" await is_up
	check "with planes again: pings" mesh
	echo 0 >/sys/module/vib/parameters/planes
}

# A second fabric, of 100 hosts, for its 10,000 paths
case_tables() {
	sm_stop
	check "all HCAs go" stop_lab
	check "two come, of 100" start_lab 'PGFT(10,10;1,10)' 2
	sm_start
	check "minism brings 100 hosts up" await is_up
	check "saquery -p: a table of more than 10,000 records" table
	sm_stop
}

table() {
	saquery -C vib1 -t 30000 -p >/tmp/paths 2>/tmp/paths.err
	cat /tmp/paths.err
	grep -c '^PathRecord' /tmp/paths
	[ "$(grep -c '^PathRecord' /tmp/paths)" -ge 10000 ]
}

kernel_complains() {
	dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|hung task|cut here'
}

# ---- power on --------------------------------------------------------------

/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /run
mount -t tmpfs none /tmp
mkdir -p /run/netns
exec >/dev/ttyS1 2>&1
ip link set lo up
# any process here may not run for some seconds: then its manager is not dead
echo 'polling_retry_number 8' >/etc/minism.conf
echo "$everybody" >/etc/partitions.conf
modprobe -a ib_umad ib_ipoib vib
note "$(uname -sr), started after $(cut -d' ' -f1 /proc/uptime) s"
for name in ${cases//,/ }; do
	"case_$name"
done
check "the kernel does not complain" fails kernel_complains
echo "1..$tap_n"
poweroff -f

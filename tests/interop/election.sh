#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Next to a default OpenSM: whichever starts first, whatever the priorities,
# there is one master in the end. Masters are counted by what the ports
# answer to SMInfo, by directed route, and not by what a manager says of itself
# in its log. Where minism wins the ports obey it; where OpenSM does, libumad2sim
# drops the TrapRepress to its trap 144, for which OpenSM would wait on a kernel
# no longer than a time-out and here, with its sweep, for ever (it does so next
# to another OpenSM as well).
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need opensm smpquery

"$MINISM_FABRIC" 'single(3)' >star.net
star=$SCRATCH/star.net
mapfile -t hosts < <(awk -F '"' '/^(Hca|Ca)[ \t]/ { print $2 }' "$star")
# The directed route from the third host to that of minism, and of OpenSM.
route=([0]=0,1,1 [1]=0,1,2)

osm_start() {	# priority arguments...
	(
		exec "${leash[@]}" env SIM_HOST="${hosts[1]}" \
			OSM_CACHE_DIR="$SCRATCH" OSM_TMP_DIR="$SCRATCH" \
			LD_PRELOAD="$shim" opensm -p "$1" -f osm.log "${@:2}"
	) >osm.out 2>&1 </dev/null &
	SM_PIDS+=("$!")
}

masters() {	# which of both are master: "minism", "opensm", both, or none
	local i name=(minism opensm)

	for i in 0 1; do
		on "${hosts[2]}" client sminfo -D "${route[i]}" \
			2>/dev/null | grep -q SMINFO_MASTER &&
			printf '%s ' "${name[i]}"
	done
}

is_master() {
	masters | grep -q "$1"
}

# smlids LID: the ports of all three hosts obey this one (a pattern)
smlids() {
	local i

	for i in 1 2 3; do
		on "${hosts[2]}" client smpquery -D portinfo "0,1,$i" 1 \
			2>/dev/null | grep -qE "^SMLid:\.*$1\$" || return
	done
}

start() {	# minism|opensm PRIORITY
	if [ "$1" = minism ]; then
		SIM_HOST=${hosts[0]} sm_start minism.log -s 2 \
			--cache-dir "$SCRATCH/cache" --priority "$2"
	else
		osm_start "$2"
	fi
}

# arena NAME: a folder and a fabric of its own; what comes out is in ./result,
# whose first word is 0 if it is good
arena() {
	mkdir "$SCRATCH/$1" && cd "$SCRATCH/$1" || exit
	SCRATCH=$PWD
	: >empty.conf
	sm_defaults[1]=$SCRATCH/empty.conf
	sim_start "$star" || exit
}

results() {	# NAME..: of all that are under way
	local name bad said

	wait
	for name; do
		read -r bad said <"$name/result" || bad=1
		ok "${bad:-1}" "$name: ${said:-no result}" ||
			{ note_file "$name/minism.log"; note_file "$name/osm.log"; }
	done
}

# The second manager knows what it is.
has_decided() {	# minism|opensm
	if [ "$1" = minism ]; then
		log_has minism.log 'SUBNET (UP|STANDBY)'
	else
		log_has osm.out 'Entering (MASTER|STANDBY) state'
	fi
}

# One master for a while, from some time on: for longer than the 10 s after which
# OpenSM, by default, sweeps as a master and asks the master as a standby.
one_master() {	# FIRST PRIORITY SECOND PRIORITY
	local end last=$SECONDS began=$SECONDS found='' was wrong=0 lid

	arena "$1-$2-$4"
	start "$1" "$2"
	await is_master "$1" || { sm_kill_all; sim_stop; exit; }
	start "$3" "$4"
	await has_decided "$3" || wrong=1
	began=$SECONDS end=$((SECONDS + patience))
	while [ $SECONDS -le $end ] && { [ $SECONDS -lt $((last + 5)) ] ||
		[ $SECONDS -lt $((began + 12)) ]; }; do
		was=$found
		found=$(masters)
		[ "$(wc -w <<<"$found")" -eq 1 ] && [ "$found" = "$was" ] ||
			last=$SECONDS
		# who asks often, in twelve fabrics, has the processor
		sleep 1.3
	done
	[ $SECONDS -le $end ] || wrong=1
	if [ "$found" = "minism " ]; then
		lid=$(on "${hosts[2]}" client smpquery -D portinfo \
			"${route[0]}" 1 2>/dev/null | sed -n 's/^Lid:\.*//p')
		await smlids "${lid:-none}" || wrong=1
	fi
	echo "$wrong $2 and $4: master is ${found:-none}from" \
		"$((last - began)) s on" "${lid:+and ports obey LID $lid}" >result
	sm_kill_all
	sim_stop
}

cases=()
for order in 'minism opensm' 'opensm minism'; do
	for priorities in '0 0' '0 5' '5 0' '0 15' '15 0' '15 15'; do
		read -r first second <<<"$order"
		read -r a b <<<"$priorities"
		wanted_case "$first-$a-$b" || continue
		cases+=("$first-$a-$b")
		one_master "$first" "$a" "$second" "$b" &
	done
done
results "${cases[@]}"

# Without a priority, whatever that of OpenSM is, and whoever has the lower GUID
# (host 0 is below OpenSM's): OpenSM stays the master, and minism is not seen and
# sends no Set, until OpenSM is killed or minism is told to take over.
guest() {	# HOST PRIORITY
	local where=0,1,$(($1 + 1)) found sets seen=no after

	arena "guest-$1-$2"
	route[0]=$where
	osm_start "$2"
	await is_master opensm || { sm_kill_all; sim_stop; exit; }
	await smlids '[1-9]'
	SIM_HOST=${hosts[$1]} sm_start minism.log -s 2 \
		--cache-dir "$SCRATCH/cache" --control-socket "$SCRATCH/ctl"
	await log_has minism.log 'SUBNET STANDBY'
	sleep 12	# as above: it has looked round once more
	found=$(masters)
	sets=$(ctl status --json | sed -n 's/.*"sets":\([0-9]*\).*/\1/p')
	on "${hosts[2]}" client smpquery -D portinfo "$where" 1 \
		>portinfo 2>&1
	grep -qw IsSM portinfo && seen=yes
	if [ "$1" = 0 ]; then
		kill -KILL "${SM_PIDS[0]}"
		after=killed
	else
		after=$(ctl takeover)
	fi
	await log_has minism.log 'SUBNET UP' && await is_master minism &&
		[ "$found-${sets:-?}-$seen" = "opensm -0-no" ]
	echo "$? master is $found; $sets Sets, seen: $seen; then $after:" \
		"$(masters)" >result
	sm_kill_all
	sim_stop
}

if wanted_case guest; then
	for priority in 0 5 14; do
		for host in 0 2; do
			guest $host $priority &
		done
	done
	results guest-{0,2}-{0,5,14}
fi

# With another key, or not in the list, OpenSM takes no part in the election.
other='H-1 port 1 \(0x6000000000000201, LID [0-9]+\)'
is_warned() {	# VERDICT WARNING
	ctl status | head -n 2 | grep -zqE "^subnet: +$1: .*WARNING: $2"
}

stranger_run() {	# NAME SETTING REASON VERDICT
	wanted_case "$1" || return
	sim_start "$star" || return
	echo "$2" >stranger.conf
	SIM_HOST=${hosts[0]} sm_start stranger.log -s 1 -F stranger.conf \
		--control-socket "$SCRATCH/ctl" --cache-dir "$SCRATCH/cache"
	check "$1: the fabric comes up" \
		await log_has stranger.log 'SUBNET UP'
	osm_start 0
	check "$1: the log names the other manager" await \
		log_has stranger.log "$other"
	check "$1: the status names it, why it takes no part, and is $4" \
		await is_warned "$4" "$other.*$3"
	check "$1: in the log as well" await log_has stranger.log "SUBNET $4: "
	sm_kill_all
	sim_stop
}
stranger_run keys 'sm_key 5' 'another SM_Key' DEGRADED
stranger_run allowed 'allowed_sm_guids 0x1,0x6000000000000301' \
	'is not in allowed_sm_guids' UP	# it stands by
done_testing

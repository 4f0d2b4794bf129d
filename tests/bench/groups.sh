#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Trees of a group of all hosts and of 200 groups of 8: those of minism, as
# members join and after a start that knows all groups, beside OpenSM's.
#
#	groups.sh 'FORMULA [PERCENT]'...	without so many cables
#	ENGINES="minhop updn"			of OpenSM
#	SEED=1
#
# One port joins for all (ProxyJoin). groups.py judges what the switches hold.
#
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

seed=${SEED:-1}
must_have python3 "$MINISM_ROUTE" opensm
groups=$MINISM_SRC/tests/bench/groups.py

settle() {	# LABEL: until the switches' tables stay as they are
	sleep 2
	client dump_mfts >is.mfts
	until cmp -s is.mfts was.mfts; do
		mv is.mfts was.mfts
		sleep 2
		client dump_mfts >is.mfts
	done
	echo "$what $1: $(python3 "$groups" judge drawn.net "$seed" <is.mfts)"
}

join() {
	client python3 "$groups" join drawn.net "$seed" ||
		bail_out "a join is refused"
}

for what; do
	read -r formula lost <<<"$what"
	"$MINISM_ROUTE" -e minhop --shuffle --seed "$seed" --fail "${lost:-0}" \
		--net drawn.net "$formula" >/dev/null
	for engine in ${ENGINES-minhop updn}; do
		fresh drawn.net
		mkdir -p cache
		opensm_start -t 10000 -R "$engine"
		await client saquery CPI
		join
		settle "opensm $engine"
		sm_kill_all
		rm -f run.log
	done
	fresh drawn.net
	for run in joined known; do
		sim_start drawn.net
		sm_start "$run.log"
		await grep -q 'SUBNET UP' "$run.log"
		[ $run = known ] || join
		settle "minism $run"
		sm_kill_all
		rm "$run.log"
	done
done

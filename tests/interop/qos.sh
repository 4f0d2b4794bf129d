#!/bin/bash
# The QoS policy as clients see it: saquery asks for paths, and their SLs are
# those of the policy's rules; a policy with a mistake in it starts nothing.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need saquery

cat >policy <<END
qos-ulps
	any, service-id 0x6234 : 3
	sdp, port-num 5000     : 4
	ipoib                  : 2
end-qos-ulps
END
printf 'qos TRUE\nqos_policy_file "%s"\n' "$SCRATCH/policy" >qos.conf
sed 's/TRUE/FALSE/' qos.conf >off.conf
printf 'qos TRUE\nqos_policy_file /nowhere/policy\n' >away.conf

# sl_is SL WHAT saquery-arguments...: the path has this SL
sl_is() {
	local sl=$1 what=$2

	shift 2
	if on H-5 client -t 10 saquery PR --slid 9 --dlid 10 "$@" >answer \
		2>&1 && grep -qE "^[[:space:]]*sl\.+0x$sl\$" answer; then
		ok 0 "$what"
	else
		ok 1 "$what"
		note_file answer
	fi
}

"$MINISM_FABRIC" 'PGFT(4,4;1,4)' >tree.net
sim_start "$SCRATCH/tree.net" || { ok 1 "ibsim starts"; done_testing; }

rm -rf cache
sm_start on.log -F "$SCRATCH/qos.conf" --cache-dir "$SCRATCH/cache"
check "the fabric comes up" await 20 log_has on.log 'SUBNET UP'
sl_is 2 "a path in the default partition has the SL of ipoib"
sl_is 3 "a path to a ServiceID has the SL of its rule" --service_id 0x6234
sl_is 4 "a path to an SDP port has the SL of its rule" --service_id 0x11388
sl_is 2 "a path to another ServiceID has not" --service_id 0x6235
sl_is 2 "the SL that it has may be asked for" --sl 2
if on H-5 client -t 10 saquery PR --slid 9 --dlid 10 --sl 3 >answer 2>&1 &&
	grep -q dlid answer; then
	ok 1 "another one may not"
	note_file answer
else
	ok 0 "another one may not"
fi
sm_kill_all
sim_stop

sim_start "$SCRATCH/tree.net" || { ok 1 "ibsim starts"; done_testing; }
sm_start off.log -F "$SCRATCH/off.conf" --cache-dir "$SCRATCH/cache"
check "it comes up with QoS off" await 20 log_has off.log 'SUBNET UP'
sl_is 0 "then the policy is not used" --service_id 0x6234
sm_kill_all

check "a policy that is not there is no error" \
	sm_once away.log -F "$SCRATCH/away.conf" \
	--cache-dir "$SCRATCH/cache"
check "but a warning" log_has away.log 'there is no /nowhere/policy'

sed -i 's/sdp/spd/' policy
timeout -k 2 10 "$MINISM" -o -F "$SCRATCH/qos.conf" >out 2>err </dev/null
[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
	grep -q 'policy:3:2: "spd" is not known here; the nearest is sdp' err
ok $? "a mistake in it is one line with its place, exit 2" || note_file err

sim_stop
done_testing

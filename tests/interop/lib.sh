# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034 # those who source this use the variables
# What the interop tests share: a scratch folder with a simulated fabric in
# it, clients of that fabric, judges that are not minism, and TAP.
#
# Each test is a bash script that sources this file and ends with run_cases, or
# with done_testing if it has no functions NAME_case. The fabric is ibsim's; a client is any program of the
# diagnostics, or minism, with libumad2sim preloaded. Every scratch folder
# has a socket name of its own, so tests run next to each other; the trap at
# the end of the script kills what is left of its processes.
#
# From the environment (set by `make check`, with defaults for a run by hand):
#   MINISM_SRC, MINISM_BUILD	the two trees
#   MINISM, MINISM_SIM, MINISM_FABRIC, MINISMCTL	the programs under test
#   KEEP=1			leave the scratch folder and say where it is
#   ONLY=glob			run the cases whose name matches
#
# What was measured of ibsim and shapes this file: a client leaves a folder
# in its working directory, so everything runs in the scratch folder; the
# console's answers go to the file of -f, one prompt after each command; the
# server needs a linear capability of 49,151 or it overruns its own tables;
# a client without a server waits for ever, so all of them have a time limit.
#
# Time. How long anything takes depends on what else the machine does. A test
# waits for an event (await), for as long as a machine may take that runs twenty
# other programs: a limit costs nothing where the event comes. What happens first
# is judged by what caused it, or by the times in a log, and not by a clock here.
# Any process may stand still for seconds: clients and managers wait longer for
# an answer than by default. What leads nowhere comes back at once: from ibsim
# always, from a lab unless a node hangs.

set -u
export LC_ALL=C
export patience=120	# seconds
PATH=$PATH:/usr/sbin:/sbin

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MINISM_SRC=$(cd "${MINISM_SRC:-$here/../..}" && pwd)
MINISM_BUILD=$(cd "${MINISM_BUILD:-$MINISM_SRC/build}" && pwd)
MINISM=${MINISM:-$MINISM_BUILD/minism}
MINISM_SIM=${MINISM_SIM:-$MINISM_BUILD/minism-sim}
MINISM_FABRIC=${MINISM_FABRIC:-$MINISM_BUILD/minism-fabric}
MINISMCTL=${MINISMCTL:-$MINISM_BUILD/minismctl}
MINISM_LAB_PROGRAM=${MINISM_LAB_PROGRAM:-$MINISM_BUILD/minism-lab}
DATA=$MINISM_SRC/tests/data
demo=$MINISM_SRC/etc/fabrics/demo.net
umask 022

# ---- TAP ------------------------------------------------------------------

tap_n=0
tap_bad=0

note() {	# any text, as diagnostics
	printf '%s\n' "$*" | sed 's/^/# /'
}

note_file() {	# file [lines]: its end
	[ -s "$1" ] || return 0
	note "--- the end of ${1##*/}:"
	tail -n "${2:-15}" "$1" | sed 's/^/# /'
}

ok() {	# status description: 0 is "ok"
	local status=$1
	shift
	tap_n=$((tap_n + 1))
	if [ "$status" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_n" "$*"
	else
		printf 'not ok %d - %s\n' "$tap_n" "$*"
		tap_bad=$((tap_bad + 1))
		[ $tap_bad -gt 1 ] || note_logs
	fi
	return "$status"
}

note_logs() {	# what the managers said last
	local log

	note "$(date '+%F %T.%3N'), load $(cut -d ' ' -f 1-3 /proc/loadavg)"
	# shellcheck disable=SC2012 # our own names
	ls -t -- *.log 2>/dev/null | head -n 2 | while read -r log; do
		note_file "$log" 40
	done
}

check() {	# description command...: the command's output only if it fails
	local what=$1
	shift
	if "$@" >"$SCRATCH/check.out" 2>&1; then
		ok 0 "$what"
	else
		ok 1 "$what"
		note_file "$SCRATCH/check.out" 20
		return 1
	fi
}

refute() {	# description command...: that must fail, and on its merits
	local what=$1
	shift
	"$@" >"$SCRATCH/check.out" 2>&1
	case $? in
	1) ok 0 "$what" ;;
	*) ok 1 "$what"
		note_file "$SCRATCH/check.out" 20
		return 1 ;;
	esac
}

skip() {	# description reason
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

skip_all() {
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

bail_out() {
	printf 'Bail out! %s\n' "$*"
	exit 1
}

done_testing() {
	[ "$tap_n" -gt 0 ] || bail_out "no case ran"
	printf '1..%d\n' "$tap_n"
	[ "$tap_bad" -eq 0 ]
	exit
}

wanted_case() {	# name: does ONLY let it run?
	# shellcheck disable=SC2053 # a glob is what ONLY is
	[[ $1 == ${ONLY:-*} ]]
}

# The functions NAME_case of the script, in their order, then the end. Each finds
# neither a fabric nor a manager, nor what one remembers.
run_cases() {
	local name

	shopt -s extdebug	# declare tells the lines
	# shellcheck disable=SC2046 # names
	for name in $(declare -F $(compgen -A function -X '!*_case') |
		sort -n -k 2 | awk '$3 !~ /lib\.sh$/ { print $1 }'); do
		wanted_case "$(tr _ - <<<"${name%_case}")" || continue
		"$name"
		sm_kill_all
		lab_stop
		sim_stop
		rm -rf cache
	done
	done_testing
}

# ---- what must be there ---------------------------------------------------

need() {	# programs that the test cannot do without
	local program
	for program; do
		command -v "$program" >/dev/null ||
			skip_all "$program is not installed"
	done
}

has() {	# program: is it installed? If not, the rest of a case is skipped
	command -v "$1" >/dev/null && return
	skip "${FUNCNAME[1]}" "$1 is not installed"
	return 1
}

shim=
for shim in /usr/lib/*/umad2sim/libumad2sim.so \
	/usr/lib*/umad2sim/libumad2sim.so; do
	[ -e "$shim" ] && break
done
need ibsim ibnetdiscover iblinkinfo ibtracert dump_fts sminfo ibdmchk timeout
[ -e "$shim" ] || skip_all "libumad2sim is not installed"
[ -x "$MINISM" ] || bail_out "$MINISM has not been built"
[ -x "$MINISM_FABRIC" ] || bail_out "$MINISM_FABRIC has not been built"

# A sanitized program wants its runtime before any other preloaded library.
sm_preload=$shim
sanitized=no
if grep -qs -- '-fsanitize=address' "$MINISM_BUILD/Makefile"; then
	sanitized=yes
	sm_preload="$(gcc -print-file-name=libasan.so) $shim"
fi

# What runs in the background dies with this script, however it ends.
leash=()
if setpriv --pdeathsig KILL true 2>/dev/null; then
	leash=(setpriv --pdeathsig KILL)
fi
# What plays the hardware comes before all programs, as far as it may: answers that
# are seconds late are those of a broken fabric.
hardware=("${leash[@]}")
[ -n "$(nice -n -10 true 2>&1)" ] || hardware+=(nice -n -10)

# ---- scratch folder and clean-up ------------------------------------------

SCRATCH=
SIM_PID=
SIM_FD=
SM_PIDS=()

# Ends the process and closes the descriptor that these variables have, if any.
end_program() {	# names of variables
	local -n pid=$1 fd=$2

	[ -z "$pid" ] || { kill "$pid"; wait "$pid"; } 2>/dev/null
	[ -z "$fd" ] || exec {fd}>&-
	pid='' fd=''
}

sim_stop() {
	end_program SIM_PID SIM_FD
}

# By TERM, since what is killed leaves no counts of coverage; a process that is
# stopped takes it when it goes on.
sm_kill_all() {
	local pid
	for pid in "${SM_PIDS[@]}"; do
		kill -TERM "$pid" 2>/dev/null && kill -CONT "$pid" 2>/dev/null
	done
	for pid in "${SM_PIDS[@]}"; do
		sm_wait "$pid" 10 2>/dev/null
		[ $? -ne 124 ] || {
			kill -KILL "$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
		}
	done
	SM_PIDS=()
}

cleanup() {
	trap '' INT TERM
	sm_kill_all
	lab_stop
	sim_stop
	cd /
	if [ -n "$SCRATCH" ] && [ -z "${KEEP:-}" ]; then
		rm -rf "$SCRATCH"
	elif [ -n "$SCRATCH" ]; then
		note "kept $SCRATCH"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/minism-test.XXXXXX") ||
	bail_out "no scratch folder"
cd "$SCRATCH" || bail_out "no scratch folder"
: >empty.conf
echo "interceptor_via_lib:libumad2sim.so" >asan.supp
export ASAN_OPTIONS="suppressions=$SCRATCH/asan.supp:${ASAN_OPTIONS:-}"
sim_count=0
# Room for nodes, switches and ports.
sim_sizes=(-N 4096 -S 1024 -P 65536)

# ---- the simulated fabric -------------------------------------------------

# sim_start FILE [ibsim options]: a fresh ibsim on that fabric; clients attach
# to its first CA (SIM_HOST may be changed afterwards).
sim_start() {
	local file=$1 fifo

	shift
	sim_stop
	rm -rf sys-*
	sim_count=$((sim_count + 1))
	export IBSIM_SOCKNAME=minism-$BASHPID-$RANDOM-$sim_count
	SIM_HOST=$(awk -F '"' '/^(Hca|Ca)[ \t]/ { print $2; exit }' "$file")
	export SIM_HOST
	fifo=console-$sim_count
	SIM_LOG=$SCRATCH/sim-$sim_count.log
	mkfifo "$fifo"
	exec {SIM_FD}<>"$fifo"
	"${hardware[@]}" ibsim -s -f "$SIM_LOG" "${sim_sizes[@]}" \
		-L 49151 "$@" "$file" <"$fifo" >"sim-$sim_count.err" 2>&1 &
	SIM_PID=$!
	await_of "$SIM_PID" sim_is_ready && return
	ok 1 "ibsim starts on $file"
	note_file "$SIM_LOG"
	note_file "sim-$sim_count.err"
	sim_stop
	return 1
}

sim_is_ready() {
	grep -q "@$IBSIM_SOCKNAME:ctl" /proc/net/unix &&
		grep -q 'sim> ' "$SIM_LOG"
}

fresh() {	# as sim_start, and no manager remembers it
	rm -rf cache dump
	sim_start "$@"
}

sim_prompts() {
	grep -o 'sim> ' "$SIM_LOG" | wc -l
}

# sim_cmd 'Unlink "H-1"[1]': one console command, and wait until it is done. A
# command that is refused is a failed test point: what follows would judge a
# fabric in which nothing has happened.
sim_cmd() {
	local before size answer

	before=$(sim_prompts)
	size=$(stat -c %s "$SIM_LOG")
	printf '%s\n' "$1" >&"$SIM_FD"
	if ! await eval '[ "$(sim_prompts)" -gt "$before" ]'; then
		ok 1 "ibsim answers to: $1"
		return 1
	fi
	answer=$(tail -c "+$((size + 1))" "$SIM_LOG" | sed 's/sim> //g')
	[ -z "$answer" ] && return
	ok 1 "ibsim takes: $1"
	note "$answer"
}

# on NODE command...: with clients attached to that node
on() {
	local SIM_HOST=$1
	shift
	"$@"
}

# patient NAME: the options by which a program waits for 10 s, not 1 s or less
patient() {
	case $1 in
	saquery | sminfo | smpquery | smpdump | perfquery | dump_fts | opensm | \
		osmtest | ibnetdiscover | iblinkinfo | ibtracert | ibroute | \
		ibaddr | ibping | ibportstate | ibqueryerrors | ibccquery | \
		ibccconfig)
		echo "-t 10000" ;;
	esac
}

# client program...: a diagnostics program on the fabric
client() {
	# shellcheck disable=SC2046 # words
	SIM_HOST=$SIM_HOST timeout -k 2 "${limit:-$patience}" \
		env LD_PRELOAD="$shim" "$1" $(patient "$1") "${@:2}"
}

# osm_once arguments...: OpenSM brings the fabric up and ends; ./osm has its files
osm_once() {
	mkdir -p osm
	OSM_CACHE_DIR=$SCRATCH/osm OSM_TMP_DIR=$SCRATCH/osm client opensm -o \
		-f "$SCRATCH/osm.log" "$@" >osm.out 2>&1 </dev/null
}

# ---- a lab ----------------------------------------------------------------
#
# minism-lab as the fabric: the kernel's rules, RMPP, several programs at once.

LAB_PID=
LAB_FD=

lab_stop() {
	end_program LAB_PID LAB_FD
}

# lab_start NET [options of minism-lab]: a fresh lab in the working directory;
# LAB_NODE is where programs run, the first host at the start
lab_start() {
	local net=$1

	shift
	lab_stop
	rm -f lab.fifo lab.sock lab.out
	mkfifo lab.fifo
	exec {LAB_FD}<>lab.fifo
	"${hardware[@]}" "$MINISM_LAB_PROGRAM" --socket "$PWD/lab.sock" "$@" \
		"$net" <lab.fifo >lab.out 2>lab.err &
	LAB_PID=$!
	if ! await_of "$LAB_PID" grep -q 'programs run on' lab.out; then
		ok 1 "minism-lab starts on $net"
		note_file lab.err
		return 1
	fi
	export MINISM_LAB=$PWD/lab.sock
	LAB_NODE=$(sed -n 's/.*programs run on \(.*\); help.*/\1/p' lab.out)
}

lab_cmd() {	# a command of its console
	"$MINISM_LAB_PROGRAM" -c "$*"
}

# inside program...: on LAB_NODE
inside() {
	# shellcheck disable=SC2046 # words
	timeout -k 2 "${limit:-$patience}" "$MINISM_LAB_PROGRAM" \
		--on "$LAB_NODE" -- "$1" $(patient "$1") "${@:2}"
}

pid_runs() {	# pid file: -B writes its number a moment after it has returned
	kill -0 "$(cat "$1")" 2>/dev/null
}

# lab_sm LOG program...: a subnet manager on LAB_NODE in the background, its
# process id in SM_PID. A sanitized one wants its runtime before the device;
# a peer must not get it: the runtime looks at what was written once more after
# write(2), and by then opensm has got the answer and freed the request.
lab_sm() {
	local log=$1 first=

	shift
	[ "$sanitized" = no ] || [ "$1" != "$MINISM" ] ||
		first=$(gcc -print-file-name=libasan.so)
	(
		export LD_PRELOAD=$first
		exec "${leash[@]}" "$MINISM_LAB_PROGRAM" --on "$LAB_NODE" \
			-- "$@"
	) >"$log.out" 2>"$log.err" </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

# ---- minism ---------------------------------------------------------------

# The options that keep a run away from the configuration of this machine, and
# from the control sockets of other runs. The cache folder is the fourth word.
sm_defaults=(-F "$SCRATCH/empty.conf" --cache-dir "$SCRATCH/cache"
	--partitions= --control-socket= -t 3000)

# sm_run arguments...: minism in the foreground
sm_run() {
	SIM_HOST=$SIM_HOST timeout -k 2 $patience \
		env LD_PRELOAD="$sm_preload" "$MINISM" "${sm_defaults[@]}" "$@"
}

# simulated arguments...: minism on a simulated fabric, until it ends; ./run.log,
# ./run.out and ./run.err
simulated() {
	rm -f run.log
	timeout -k 2 $patience "$MINISM_SIM" -F "$SCRATCH/empty.conf" -v \
		-f run.log "$@" >run.out 2>run.err </dev/null
}

# ctl words: a command of minismctl, to the manager that has the socket ./ctl
ctl() {
	timeout -k 2 $patience "$MINISMCTL" -s "$SCRATCH/ctl" "$@"
}

# sm_once LOG arguments...: one sweep; dumps go to ./dump
sm_once() {
	local log=$1

	shift
	rm -f "$log" view
	sm_run --once -v -f "$log" --view "$SCRATCH/view" "$@" \
		>once.out 2>once.err </dev/null
	set -- $?
	[ ! -s view ] || dump_view || return
	return "$1"
}

# dump_view: ./view in OpenSM's dump files, in ./dump
dump_view() {
	"$MINISMCTL" --view view dump dump >/dev/null
}

# sm_start LOG arguments...: resident, in the background. The process id is in
# SM_PID, with no `timeout` in between, so that signals arrive.
sm_start() {
	local log=$1

	shift
	rm -f "$log"	# what a test awaits there is of this process
	(
		exec "${leash[@]}" env SIM_HOST="$SIM_HOST" \
			LD_PRELOAD="$sm_preload" "$MINISM" \
			"${sm_defaults[@]}" -v -f "$log" "$@"
	) >"$log.out" 2>"$log.err" </dev/null &
	SM_PID=$!
	SM_PIDS+=("$SM_PID")
}

# sm_wait PID [seconds]: its exit status, 124 if it does not end in time
sm_wait() {
	local pid=$1 end=$((SECONDS + ${2:-$patience}))

	while kill -0 "$pid" 2>/dev/null; do
		[ $SECONDS -le $end ] || return 124
		sleep 0.05
	done
	wait "$pid"
}

sm_end() {	# [signal]: its exit status
	kill -"${1:-TERM}" "$SM_PID"
	sm_wait "$SM_PID"
}

# await_of PID command...: until it succeeds, while that process lives; what the
# last try says. A client that hangs is tried again. What is evaluated sees the
# names here.
await_of() {
	local lives=$1 until=$((SECONDS + patience)) limit=20

	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -gt $until ] ||
			! kill -0 "$lives" 2>/dev/null; then
			"$@"
			return
		fi
		sleep 0.1
	done
}

await() {	# command...: until it succeeds
	await_of $$ "$@"
}

# gives STATUS REGEX command...: it ends with that, and what it says, which stays
# in ./answer, has such a line
gives() {
	local wanted=$1 regex=$2 status

	shift 2
	"$@" >answer 2>&1 </dev/null
	status=$?
	[ $status -eq "$wanted" ] && grep -qE -- "$regex" answer && return
	echo "exit status $status, not $wanted, or no \"$regex\" in:"
	cat answer
	return 1
}

answers() {	# regex command...: it ends well
	gives 0 "$@"
}

refuses() {	# regex command...: it fails, and says so
	local regex=$1

	shift
	! "$@" >answer 2>&1 && grep -E -- "$regex" answer
}

ends_with() {	# status command...: whatever it says
	local wanted=$1 status

	shift
	"$@" >answer 2>&1 </dev/null
	status=$?
	[ $status -eq "$wanted" ] && return
	echo "exit status $status, not $wanted:"
	cat answer
	return 1
}

# tells_of_time FILE: programs that wait for an answer as long as by default say
# that none came
tells_of_time() {
	grep -qiE 'timed out|_do_madrpc failed|(not|no|without an) answer' "$1"
}

# lines FILE REGEX: how many match; log_has FILE REGEX COUNT: at least so many
lines() {
	local n
	n=$(grep -cE -- "$2" "$1" 2>/dev/null)
	echo "${n:-0}"
}

log_has() {
	[ "$(lines "$1" "$2")" -ge "${3:-1}" ]
}

log_has_not() {	# log regex
	[ -s "$1" ] && ! grep -qE -- "$2" "$1"
}

# sets_in LOG: the Sets of the last `sent N MADs: NodeInfo.Get 12, ...` in it,
# "PortInfo.Set 3" a line. Without such a line, or with one that does not tell
# a single Get, nothing is known about Sets either: a failure.
sets_in() {
	local line
	line=$(grep -oE 'sent [0-9]+ MADs.*' "$1" | tail -n 1)
	if ! grep -qE '\.Get [0-9]+' <<<"$line"; then
		echo "the log does not tell what was sent: ${line:-no line}"
		return 1
	fi
	grep -oE '[A-Za-z_]+\.Set [0-9]+' <<<"$line" | grep -v ' 0$'
	return 0
}

# sets_but REGEX LOG: no Set of another attribute in the last sweep, of none at
# all if REGEX is empty
sets_but() {
	sets_in "$2" >sets || {
		cat sets
		return 1
	}
	! grep -vE -- "${1:-^$}" sets
}

no_sets() {	# LOG
	sets_but '' "$1"
}

# LOG: ibsim accepts some fields of PortInfo and forgets them, so those may come
# again
only_port_info_sets() {
	sets_but '^PortInfo\.' "$1"
}

# ---- judges ---------------------------------------------------------------

# net_cables FILE: the cables of a net file (ours, ibsim's, ibnetdiscover's),
# one a line and sorted, "name[port] name[port]", the lesser end first. A node
# goes by its description, or by its id if it has none, as in ibsim.
net_cables() {
	awk '
	/^(Switch|Hca|Ca|Rt)[ \t]/ {
		split($0, q, "\"")
		me = q[2]
		desc[me] = $0 ~ /#[ \t]*"[^"]+"/ ? q[4] : q[2]
		next
	}
	/^\[[0-9]+\]/ {
		split($0, q, "\"")
		mine = $1
		sub(/\].*/, "]", mine)
		theirs = q[3]
		sub(/\].*/, "]", theirs)
		n++
		a[n] = me; ap[n] = mine; b[n] = q[2]; bp[n] = theirs
	}
	END {
		for (i = 1; i <= n; i++) {
			x = desc[a[i]] ap[i]
			y = (b[i] in desc ? desc[b[i]] : b[i]) bp[i]
			print x < y ? x " " y : y " " x
		}
	}' "$1" | sort -u
}

net_nodes() {	# FILE: "Switch name" or "Ca name", sorted
	awk '/^(Switch|Hca|Ca|Rt)[ \t]/ {
		split($0, q, "\"")
		print ($1 == "Hca" ? "Ca" : $1), \
			($0 ~ /#[ \t]*"[^"]+"/ ? q[4] : q[2])
	}' "$1" | sort
}

# judge_same NET: ibnetdiscover finds the nodes and cables of NET, no others;
# leaves its text in ./found
judge_same() {
	client ibnetdiscover >found 2>found.err || {
		cat found.err
		return 1
	}
	[ "$(net_nodes "$1" | wc -l)" -ge 2 ] || return 1
	diff <(net_nodes "$1") <(net_nodes found) &&
		diff <(net_cables "$1") <(net_cables found)
}

# judge_net FILE: a net file of ours tells the cables of ./found
judge_net() {
	[ -s "$1" ] || {
		echo "$1 is missing or empty"
		return 1
	}
	diff <(net_cables found) <(net_cables "$1")
}

# judge_active CABLES: both ends of so many cables are Active, and nothing that
# is linked is not
judge_active() {
	local active linked

	client iblinkinfo -l >links 2>links.err
	linked=$(lines links 'LinkUp\)==>')
	active=$(lines links 'Active/ *LinkUp\)==>')
	echo "$1 cables; $linked ends linked, $active of them active"
	grep 'LinkUp)==>' links | grep -v 'Active/' | head -n 5
	[ "$1" -gt 0 ] && [ "$active" -eq "$linked" ] &&
		[ "$active" -eq $((2 * $1)) ]
}

# end_ports: "guid lid lmc kind name" of each end port in ./found that is cabled:
# the PortGUID, of a switch its id
end_ports() {
	awk '
	/^(Switch|Ca|Rt)[ \t]/ {
		kind = $1
		split($0, q, "\"")
		guid = q[2]
		name = q[4]
	}
	/^Switch[ \t]/ {
		sub(/.* lid /, "")
		print guid, $1 + 0, $3 + 0, kind, name
	}
	kind != "Switch" && /^\[[0-9]+\]\(/ {
		guid = $1
		gsub(/.*\(|\).*/, "", guid)
		sub(/.*# *lid /, "")
		print guid, $1 + 0, $3 + 0, kind, name
	}' found
}

ca_lids() {	# base LIDs of the CA ports in ./found, sorted
	end_ports | awk '$4 != "Switch" { print $2 }' | sort -n
}

guid_lids() {	# who has which LID, sorted
	end_ports | cut -d ' ' -f 1,2 | sort
}

# judge_lids LMC: unicast, aligned, disjoint; CA ports have this LMC
judge_lids() {
	end_ports >ends
	[ -s ends ] && awk -v lmc="$1" '
	function bad(why) { print $0 ": " why; errors++ }
	{
		n = 2 ^ $3
		if ($2 < 1 || $2 + n - 1 > 49151) bad("not unicast")
		if ($2 % n) bad("not aligned")
		if ($3 != 0 && $3 != lmc) bad("wrong LMC")
		if ($3 == lmc) with++
		for (i = 0; i < n; i++)
			if (owner[$2 + i]++) bad("LID " $2 + i " taken")
	}
	END {
		if (!with) { print "no port has LMC " lmc; errors++ }
		exit errors > 0
	}' ends
}

# fts_canon: dump_fts or opensm-lfts.dump on stdin to "guid lid port", sorted
fts_canon() {
	awk '
	/^Unicast lids/ {
		guid = $0
		sub(/.* guid 0x/, "", guid)
		sub(/[^0-9a-f].*/, "", guid)
		sub(/^0*/, "", guid)
	}
	/^0x[0-9a-fA-F]+ [0-9]+ / && $2 != 255 {
		print guid, tolower($1), $2 + 0
	}' | sort
}

# judge_tables DUMP: what the switches hold, read back by dump_fts (it stays in
# ./fts), is what minism wrote to DUMP
judge_tables() {
	client dump_fts >fts 2>fts.err || {
		cat fts.err
		return 1
	}
	[ -s "$1" ] || {
		echo "$1 is missing or empty"
		return 1
	}
	fts_canon <"$1" >fts.ours
	fts_canon <fts >fts.read
	[ -s fts.read ] || return 1
	diff fts.ours fts.read >fts.diff && return
	head -n 10 fts.diff
	return 1
}

# judge_whole NET: all of it is there, Active, and reached by the tables that the
# last sm_once, or dump_view, has dumped
judge_whole() {
	judge_same "$1" && judge_active "$(net_cables "$1" | wc -l)" &&
		judge_tables dump/opensm-lfts.dump && judge_ibdmchk dump
}

# judge_ibdmchk DIR: every path between two CA ports exists, says ibdmchk. It
# reports by text: it exits 0 with paths missing, and (1.5.7) crashes when
# it cleans up after its last check, on opensm's own dumps as well. Its option
# for an LMC takes every 2^LMC-th LID from the lowest for a base LID, which is
# wrong where switches have LMC 0, so only base LIDs are judged.
judge_ibdmchk() {
	local paths want cas

	timeout $patience ibdmchk -s "$1/opensm-subnet.lst" -f "$1/opensm.fdbs" \
		-m /dev/null >ibdmchk.out 2>&1
	paths=$(sed -n 's/^-I- Scanned:\([0-9]*\) CA to CA paths.*/\1/p' \
		ibdmchk.out)
	cas=$(ca_lids | wc -l)
	want=$((cas * (cas - 1)))
	echo "$paths paths scanned, $want wanted"
	grep -E '^-[EF]-' ibdmchk.out | grep -viE 'credit loop' | head -n 5
	[ "${paths:-0}" -eq "$want" ] &&
		! grep -E '^-[EF]-' ibdmchk.out | grep -qviE 'credit loop'
}

# judge_master LID: sminfo finds a MASTER there
judge_master() {
	client sminfo "$1" >sminfo.out 2>&1
	cat sminfo.out
	grep -q 'SMINFO_MASTER' sminfo.out
}

# "node-01 0xGUID LID" a line, of every host
hosts() {
	client ibnetdiscover >found 2>/dev/null
	end_ports | awk '$4 != "Switch" { print $5, "0x" $1, $2 }' | sort
}

guid_of() {	# host
	hosts | awk -v name="$1" '$1 == name { print $2 }'
}

lid_of() {	# host
	hosts | awk -v name="$1" '$1 == name { print $3 }'
}

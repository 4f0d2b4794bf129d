#!/bin/bash
# The command line: what is wrong with it costs one line and exit status 2,
# before anything is touched; what is right does what it says.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

demo=$MINISM_SRC/etc/fabrics/demo.net

# refused WHAT REGEX arguments...: exit 2, nothing on stdout, one line on
# stderr, which says what is accepted
refused() {
	local what=$1 regex=$2 status

	shift 2
	timeout -k 2 10 "$MINISM" "$@" >out 2>err </dev/null
	status=$?
	if [ $status -eq 2 ] && [ ! -s out ] &&
		[ "$(wc -l <err)" -eq 1 ] && grep -qiE -- "$regex" err; then
		ok 0 "$what: one line, exit 2"
	else
		ok 1 "$what: one line, exit 2"
		note "exit $status, stdout $(wc -c <out) bytes, stderr:"
		note_file err
	fi
}

bad_case() {
	wanted_case bad || return 0
	refused "an unknown option" 'nonsense' --nonsense
	refused "an unknown letter" 'Z' -Z
	refused "a stray argument" 'stray' -o stray
	refused "an option without its value" 'lmc' --lmc
	refused "--lmc 8" '7' --lmc 8
	refused "--lmc -1" '7' --lmc -1
	refused "--lmc two" 'two' --lmc two
	refused "--lmc 1x" '1x' --lmc 1x
	refused "--priority 16" '15' --priority 16
	refused "--sweep -1" 'sweep' --sweep -1
	refused "-s often" 'often' -s often
	refused "--timeout 0" 'timeout' --timeout 0
	refused "--retries -1" 'retries' --retries -1
	refused "--maxsmps 0" 'maxsmps' --maxsmps 0
	refused "--maxsmps 99999999999" 'maxsmps' --maxsmps 99999999999
	refused "-p 300" 'port' -p 300
	refused "-g that is no GUID" 'guid' -g mlx5_0
	refused "an engine that does not exist" 'minhop' -R minhops
	refused "--plan=xml" 'json' --plan=xml
	refused "-F of a file that is not there" 'no-such-file' \
		-F "$SCRATCH/no-such-file"
}

file_case() {
	wanted_case file || return 0
	printf '# a file\nsm_priority 5\nlmc 9\n' >bad.conf
	refused "a bad value in the file" 'bad\.conf:3' -F "$SCRATCH/bad.conf"
	printf 'lmc 1\nsweep_intervall 3\n' >odd.conf
	rm -rf cache
	sim_start "$demo" || { ok 1 "file: ibsim starts"; return; }
	check "an unknown key in the file is no error" \
		sm_once odd.log -F "$SCRATCH/odd.conf"
	check "the log names it and the nearest one" \
		log_has odd.log 'sweep_intervall.*sweep_interval'
	client ibnetdiscover >found 2>/dev/null
	check "the file's LMC is taken" judge_lids 1
	check "the command line goes before the file" \
		sm_once odd2.log -F "$SCRATCH/odd.conf" --lmc 0
	client ibnetdiscover >found 2>/dev/null
	check "and its LMC is taken" judge_lids 0
	sim_stop
}

# check_says WHAT STATUS REGEX arguments...: --check-config
check_says() {
	local what=$1 wanted=$2 regex=$3 status

	shift 3
	timeout -k 2 10 "$MINISM" --check-config -F "$SCRATCH/empty.conf" \
		--cache-dir= "$@" >out 2>err </dev/null
	status=$?
	[ $status -eq "$wanted" ] && [ ! -s err ] && grep -qE -- "$regex" out
	ok $? "--check-config: $what" || {
		note "exit $status"
		note_file out
		note_file err
	}
}

config_case() {
	wanted_case config || return 0
	printf 'lmc 9\nlcm 1\nsweep_interval  often\n' >bad.conf
	printf '0x1\n  nobody\n' >bad.guids
	printf '0x1\n' >good.guids
	check_says "nothing is wrong" 0 'good, with 0 warnings'
	check_says "an error has its place" 2 'bad\.conf:1:5: lmc: 9' \
		-F "$SCRATCH/bad.conf"
	check "--check-config: the second error, too" \
		grep -qE 'bad\.conf:3:17: sweep_interval: often' out
	check "--check-config: and the warning" \
		grep -qE 'bad\.conf:2:1: lcm is no key' out
	check_says "a list of GUIDs" 2 'bad\.guids:2:3: ' \
		-a "$SCRATCH/bad.guids" -u "$SCRATCH/good.guids"
	check_says "a list that is not there" 2 'io_guid_file: .*no-such' \
		-G "$SCRATCH/no-such"
	check_says "an engine that does not exist" 2 'minhops.*auto' \
		-R minhops
	printf 'Default=0x7fff, ipoib : ALL=full ;\nStorage=0x10 : 0x1=fill ;\n' \
		>bad.partitions
	printf 'Default=0x7fff, ipoib : ALL=full ;\nStorage=0x10 : 0x1=full ;\n' \
		>good.partitions
	check_says "a partition file" 0 'good' -P "$SCRATCH/good.partitions"
	check_says "a bad one" 2 'bad\.partitions:2:[0-9]+: ' \
		-P "$SCRATCH/bad.partitions" -a "$SCRATCH/bad.guids"
	check "--check-config: all files are looked at" \
		grep -q 'bad\.guids:2' out
	check_says "one that is not there" 2 'no-such: there is no such file' \
		-P "$SCRATCH/no-such"
	echo "partition_config_file $SCRATCH/no-such" >named.conf
	check_says "named by the configuration it is a warning" 0 \
		'no-such: .*\(warning\)' -F "$SCRATCH/named.conf"
	check_says "a member that a fabric lacks" 0 \
		'good\.partitions:2: port 0x0+1 is not on the fabric' \
		-P "$SCRATCH/good.partitions" --simulate "$demo"
	check_says "a fabric that is none" 2 'PGFT' --simulate 'PGFT(4,8)'
	refused "at the start a bad partition file" 'bad\.partitions:2:' \
		-o -P "$SCRATCH/bad.partitions" --simulate='single(2)'
}

# Each key of policy comes out in the plan for a fabric that has the defaults.
policy_case() {
	local key

	wanted_case policy || return 0
	cat >policy.conf <<-'END'
	subnet_timeout 17
	sm_sl 3
	head_of_queue_lifetime 13
	leaf_head_of_queue_lifetime 12
	vl_stall_count 6
	leaf_vl_stall_count 5
	max_op_vls 2
	local_phy_errors_threshold 9
	overrun_errors_threshold 10
	packet_life_time 11
	m_key 0x1234
	m_key_protection_level 1
	m_key_lease_period 60
	END
	"$MINISM" -F "$SCRATCH/policy.conf" --cache-dir= --partitions= \
		--simulate='PGFT(2,2;1,2)' --plan >plan.out 2>err
	for key in 'SubnetTimeOut [0-9]+ -> 17' 'SMSL 0 -> 3' \
		'HOQLife [0-9]+ -> 13' 'HOQLife [0-9]+ -> 12' \
		'VLStallCount [0-9]+ -> 6' 'VLStallCount [0-9]+ -> 5' \
		'OperationalVLs VL0-7 -> VL0-1' \
		'ErrorThresholds 8/8 -> 9/10' \
		'LifeTimeValue [0-9]+ -> 11' 'M_KeyProtectBits 0 -> 1' \
		'M_KeyLeasePeriod 0 -> 60'; do
		check "policy: $key" grep -qE "$key" plan.out
	done
	check "policy: the key itself is not told" \
		log_has_not plan.out '1234|4660'
}

info_case() {
	local option

	wanted_case info || return 0
	timeout -k 2 10 "$MINISM" --help >help 2>err
	check "--help exits 0" [ $? -eq 0 ]
	check "--help says nothing on stderr" [ ! -s err ]
	for option in --port --Ca --guid --once --routing-engine --sweep \
		--timeout --retries --maxsmps --config --log-file \
		--cache-dir --dump-dir --node-name-map --daemon --pidfile \
		--priority --lmc --plan --show \
		--version --help; do
		check "--help tells of $option" grep -q -e "$option" help
	done
	timeout -k 2 10 "$MINISM" --version >version 2>err
	check "--version exits 0" [ $? -eq 0 ]
	check "--version is one line with a version" \
		grep -qxE 'minism [0-9]+(\.[0-9]+)+.*' version
	check "--version is nothing else" [ "$(wc -l <version)" -eq 1 ]
}

# Which port: libibumad's choice, by name and number, by GUID; and one that is
# not there.
port_case() {
	wanted_case port || return 0
	rm -rf cache
	sim_start "$demo" || { ok 1 "port: ibsim starts"; return; }
	check "-C and -p" sm_once port.log -C ibsim0 -p 1
	check "-p alone" sm_once port.log -p 1
	check "-g" sm_once port.log -g 0x10011
	refute "-C of a CA that is not there" sm_once port.log -C mlx9_9
	check "one line says what there is" \
		grep -qE 'ibsim0' once.err port.log
	refute "-g of a port that is not there" sm_once port.log -g 0x99
	refute "-p of a port that is not there" sm_once port.log -p 9
	sim_stop
}

# Without a fabric there is a message and an end, not a hang.
nowhere_case() {
	local status

	wanted_case nowhere || return 0
	if [ -n "$(ls /sys/class/infiniband_mad 2>/dev/null)" ]; then
		skip "nowhere: no CA, a message" "this machine has one"
		return
	fi
	timeout -k 2 10 "$MINISM" "${sm_defaults[@]}" -o >out 2>err </dev/null
	status=$?
	check "nowhere: exit 1 (it was $status)" [ $status -eq 1 ]
	check "nowhere: says why" [ -s err ]
}

# --show: the picture, with every switch and host of the demo, and a route
show_case() {
	local name missing=

	wanted_case show || return 0
	rm -rf cache
	sim_start "$demo" || { ok 1 "show: ibsim starts"; return; }
	check "--show comes up" sm_once show.log --show
	for name in $(net_nodes "$demo" | cut -d' ' -f2); do
		grep -q "$name" once.out || missing="$missing $name"
	done
	check "the picture has every node (missing:$missing)" \
		[ -z "$missing" ]
	check "the picture has states" grep -qi 'active' once.out
	sim_stop
}

bad_case
config_case
policy_case
info_case
file_case
port_case
nowhere_case
show_case

done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Every command of README.md and of the man pages' EXAMPLES that needs no
# hardware does what stands there, as it stands there; those for hardware run
# in a lab.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

# Their folders, as a reader of README has them; nothing of the system's.
PATH=$MINISM_BUILD:$PATH
ln -s "$MINISM_SRC/etc" "$MINISM_SRC/doc" .
cp etc/partitions.conf my-partitions.conf

# What is meant to end with another status than 0: minhop has a credit loop
# there, or old and new tables together have one.
status_of() {	# command
	case $1 in
	*"minhop 'torus(4,4;1)'"* | "minism-route --all "* | *"--before "*)
		echo 5 ;;
	*)	echo 0 ;;
	esac
}

# in_time COMMAND: again, if it fails and says that an answer did not come in time
in_time() {
	local try

	for try in 1 2 3; do
		"$@" && return
		tells_of_time out || return
	done
	return 1
}

# run_there COMMAND: as a reader would type it; one that stays is ended.
run_there() {
	local status want

	want=$(status_of "$1")
	printf '\n\n\ngo\nquit\n' | timeout -k 5 200 bash -c "$1" >out 2>&1
	status=$?
	tail -n 12 out
	[ $status -eq "$want" ] || {
		echo "status $status"
		return 1
	}
}

# What a command needs there: the digest of that lab's plan in place of an
# example's, the observer of the line before.
in_place() {	# command
	case $1 in
	*" --apply "*)
		echo "d=\$(minism --plan -p 1 --cache-dir= 2>/dev/null |"
		echo "sed -n 's/^minism --apply \\([^ ]*\\) .*/\\1/p')"
		sed -E 's/ --apply [0-9a-f]+/ --apply $d/' <<<"$1"
		;;
	*"minismctl doctor")	# 1: it has found something
		echo "minism --observe -p 1 --cache-dir= 2>/dev/null &"
		echo 'until minismctl view >view; do sleep 0.1; done 2>/dev/null'
		echo "$1; [ \$? -lt 2 ]"
		;;
	*)	echo "$1" ;;
	esac
}

# run_in_lab COMMAND: on a host of the demo's fabric. For as long as it takes to
# come up; one that stays is ended by TERM, which is no failure.
run_in_lab() {
	timeout -k 5 $patience minism-lab "$demo" -- timeout 5 bash -c \
		"$(in_place "${1//\/var\/log\/minism/$SCRATCH}")" >out 2>&1
	case $? in
	0 | 124) return 0 ;;
	esac
	tail -n 12 out
	return 1
}

# README's lines about ibsim, in one shell, as they stand there.
on_ibsim() {
	local lines until name=readme-$$-$RANDOM status

	lines=$(sed -n 's/^    //p' "$MINISM_SRC/README.md" |
		grep -A2 '^ibsim ')
	until="until grep -q @$name:ctl /proc/net/unix; do sleep 0.1; done"
	[ "$(wc -l <<<"$lines")" = 3 ] || return
	IBSIM_SOCKNAME=$name timeout -k 5 $patience bash -c \
		"${lines/ &/ & $until}; s=\$?; unset LD_PRELOAD; kill %1; exit \$s" \
		>out 2>&1 </dev/null
	status=$?
	tail -n 12 out
	[ $status -eq 0 ] && grep -q 'SUBNET UP' out
}

# The commands of README's indented blocks, and of the EXAMPLES of a page, as a
# terminal shows them.
commands_of() {	# file
	case $1 in
	*.md)	sed -n 's/^    //p' "$1" | sed 's/ *# .*//; s/ *$//; s/^build.//' ;;
	*)	awk '/^\.SH EXAMPLES/ { on = 1; next } /^\.SH/ { on = 0 }
			on && !/^\./' "$1" | sed 's/\\-/-/g; s/^[ \t]*//' ;;
	esac | grep -E '^(minism|lab>)'
}

# What follows a prompt goes to the lab that the line before it started.
prompt=
lab=
flush_lab() {
	[ -n "$lab" ] || return 0
	check "$1: $lab, and its prompt" lab_tells
	cat out >>lab.out
	lab=
	prompt=
}

# page FILE COMMANDS: it has so many or more, and they do what stands there
page() {
	local line name=${1##*/} n=0

	while read -r line; do
		n=$((n + 1))
		case $line in
		"lab> "*)
			prompt+=${line#lab> }$'\n'
			continue ;;
		esac
		flush_lab "$name"
		case $line in
		*"--lfts tables"*) ;;	# of a fabric that runs
		*"--check-config"* | "minism-sim"*)
			check "$name: $line" in_time run_there \
				"$line --cache-dir=" ;;
		"minism "*)
			check "$name: $line" in_time run_in_lab \
				"$line --cache-dir=" ;;
		"minismctl doctor")
			check "$name: $line" in_time run_in_lab "$line" ;;
		"minism-lab"*" -- "*)
			check "$name: $line" in_time run_there "$line" ;;
		"minism-lab"*)
			lab=$line ;;
		*)	check "$name: $line" in_time run_there "$line" ;;
		esac
	done < <(commands_of "$1")
	flush_lab "$name"
	check "$name has commands" [ $n -ge "$2" ]
}

# A person who sees nothing yet asks again later.
lab_tells() {
	local pace status

	for pace in 2 6 16; do
		lab_takes "$lab" "$prompt" $pace
		status=$?
		[[ $prompt == *unplug*status* ]] || break
		! grep 'missing link' out || break
	done
	return $status
}

# The commands of a lab's prompt, one after the other, as slowly as a person.
lab_takes() {	# command lines seconds
	local line

	{
		while read -r line; do
			[ -z "$line" ] || echo "$line"
			sleep "$3"
		done <<<"$2"
		echo quit
	} | timeout -k 5 200 bash -c "$1" >out 2>&1 || return
	cat out
	! grep -qE '^(minism-lab:|usage)' out
}

page "$MINISM_SRC/README.md" 20
check "its lab names the cable that was pulled" grep -q \
	'missing link leaf-1/6 - spine-2/1' lab.out
check "README's lines about ibsim" in_time on_ibsim
for name in minism.8 minism-explain.8 minism-fabric.1 minism-lab.1 \
	minism-route.1 minism-sim.1; do
	page "$MINISM_SRC/doc/$name" 1
done
done_testing

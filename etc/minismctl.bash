# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Completion of minismctl for bash: its words, and the names of nodes.
#
# Any host writes what it likes into its NodeDescription, and TAB is pressed by
# root: names are compared and quoted, never expanded (compgen -W would run a
# $(command) in them). Lists have one word a line, since names have blanks.
_minismctl_nodes() {
	minismctl nodes 2>/dev/null | sed -E \
		's/^[a-z]+ +[0-9]+\t0x[0-9a-f]+ +//; s/  (at|[0-9]+ of) .*//'
}

_minismctl_ends() {	# all links, or the avoided ones
	minismctl links "$@" 2>/dev/null | sed -nE 's/  .*//; s/ - /\n/p'
}

_minismctl() {
	local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} list known

	case $COMP_CWORD:$verb in
	1:* | 2:help) list=$(minismctl help 2>/dev/null |
			awk '/^  [a-z]/ { print $1 }' | sort -u) ;;
	*:path | 2:who | 2:ports | 2:lft)
		list=$(_minismctl_nodes)
		[ "$verb" != path ] || list+=$'\n'--why ;;
	2:members)
		list=$(minismctl groups 2>/dev/null | awk '{ print $3 }') ;;
	2:nodes) list=$'switch\nhost' ;;
	2:diff | 3:diff | 2:expect) mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	2:whatif) list=$'kill\nunplug\nadd\nengine' ;;
	*:whatif) case ${COMP_WORDS[COMP_CWORD - 1]} in
		kill) list=$(_minismctl_nodes) ;;
		engine) list=$'auto\nftree\nminhop\nupdn\ndor' ;;
		unplug) list=$(_minismctl_ends) ;;
		*) list=$'kill\nunplug\nadd\nengine' ;;
		esac ;;
	2:links) list=$'slow\ninactive\navoided' ;;
	2:avoid)
		list=$(_minismctl_ends) ;;
	2:use)	list=$(_minismctl_ends avoided) ;;
	2:partition) list=$'add\nset\nremove\nreset' ;;
	2:accept)
		list=$(minismctl status 2>/dev/null | sed -nE \
			's/^ *(missing [a-z]*|slow link) ([^,]*).*/\2/p') ;;
	2:sweep) list=--wait ;;
	2:status) list=--all ;;
	2:events) list=--follow ;;
	2:loglevel) list=$'error\nwarning\ninfo\nverbose\ndebug' ;;
	3:partition)
		list=$(minismctl partitions 2>/dev/null |
			sed -nE 's/^(.*) 0x[0-9a-f]+: .*/\1/p') ;;
	4:partition) list=$(_minismctl_nodes) ;;
	esac
	COMPREPLY=()
	word=${word//\\/}	# typed as it was inserted: quoted
	while IFS= read -r known; do
		[ -n "$known" ] && [ "${known:0:${#word}}" = "$word" ] || continue
		printf -v known %q "$known"
		COMPREPLY+=("$known")
	done <<<"$list"
}
complete -F _minismctl minismctl

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Completion of minismctl for bash: its words, and the names of nodes.
_minismctl() {
	local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} list

	case $COMP_CWORD:$verb in
	1:*)	list=$(minismctl help 2>/dev/null |
			awk '/^  [a-z]/ { print $1 }' | sort -u) ;;
	*:path | 2:who | 2:ports)
		list=$(minismctl nodes 2>/dev/null | awk '{ print $4 }')
		[ "$verb" != path ] || list+=" --why" ;;
	2:members)
		list=$(minismctl groups 2>/dev/null | awk '{ print $3 }') ;;
	2:nodes) list="switch host" ;;
	2:links) list="slow inactive avoided" ;;
	2:avoid)
		list=$(minismctl links 2>/dev/null | awk '{ print $1, $3 }') ;;
	2:use)
		list=$(minismctl avoid 2>/dev/null | awk '{ print $3, $5 }') ;;
	2:partition) list="add set remove reset" ;;
	2:accept)
		list=$(minismctl status 2>/dev/null | sed -nE \
			's/^ *(missing [a-z]*|slow link) ([^ ,]*).*/\2/p') ;;
	2:sweep) list=--wait ;;
	2:status) list=--watch ;;
	2:events) list=--follow ;;
	2:loglevel) list="error warning info verbose debug" ;;
	[34]:partition)
		list=$(minismctl "$([ "$COMP_CWORD" = 3 ] && echo partitions ||
			echo nodes)" 2>/dev/null | awk -v at="$COMP_CWORD" '
			at == 3 && /^[^ ]+ 0x/ { print $1 }
			at == 4 { print $4 }') ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}
complete -F _minismctl minismctl

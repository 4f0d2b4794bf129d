#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Who may include whom: each #include "..." of the tree against the floors of
# the house (doc/architecture.md). Linking shows the same for functions; this
# shows it for types, and names the line.
set -u
export LC_ALL=C

src=${MINISM_SRC:-$(cd "$(dirname "$0")/.." && pwd)}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/minism-floors.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 143' INT TERM HUP

# files_of TREE: the C files that stand on a floor
files_of() {
	(cd "$1" && find topology routing sm tools lab -name '*.[ch]' 2>/dev/null |
		sort)
}

# may FILE INCLUDED: does the floor of FILE allow it?
may() {
	case $1:$2 in
	*:topology/each.h | *:topology/text.h | *:topology/report.h | *:topology/state_file.h) ;;
	topology/*:topology/*) ;;
	routing/*:routing/* | routing/*:topology/*) ;;
	# the wire speaks in the host structs of topology
	sm/mad/*:sm/mad/* | sm/mad/*:topology/smp_attr.h | \
		sm/mad/*:topology/port_tables.h | sm/mad/*:topology/member.h) ;;
	sm/plan/*:sm/plan/* | sm/plan/*:topology/* | \
		sm/plan/*:routing/tables.h) ;;
	sm/config/*:sm/config/* | sm/config/*:topology/*) ;;
	# the SA's end on the wire is shell, the rest of it answers values
	sm/sa/sa_server.*:sm/* | sm/sa/sa_queue.*:sm/*) ;;
	sm/sa/*:sm/sa/* | sm/sa/*:topology/* | sm/sa/*:sm/mad/* | \
		sm/sa/*:routing/tables.h) ;;
	sm/io/*:sm/io/* | sm/io/*:sm/mad/* | sm/io/*:topology/smp_attr.h) ;;
	lab/sim/*:lab/sim/* | lab/sim/*:sm/mad/* | lab/sim/*:topology/* | \
		lab/sim/*:sm/io/transport.h | lab/sim/*:tools/device.h) ;;
	tools/*:tools/* | tools/*:topology/* | tools/*:routing/* | \
		tools/*:sm/mad/* | tools/*:sm/plan/* | \
		tools/*:sm/config/*) ;;
	# no LIDs are written beside a manager that runs
	tools/minism_import.c:sm/lockfile.h) ;;
	# minism-sim is a manager whose backend is a laboratory
	lab/minism_sim.c:*) ;;
	# a lab is a simulator with the kernel's part; no manager is in it
	lab/*:lab/* | lab/*:sm/mad/* | lab/*:topology/* | lab/*:routing/* | \
		lab/*:sm/io/transport.h | lab/*:sm/config/* | \
		lab/*:tools/tool_options.h | lab/*:tools/explain.h | \
		lab/*:tools/dump.h | lab/*:tools/net_file_parse.h | \
		lab/*:tools/device.h | lab/*:tools/trace.h) ;;
	topology/* | routing/* | sm/mad/* | sm/plan/* | sm/config/* | sm/sa/* | \
		sm/io/* | lab/sim/* | lab/* | tools/*)
		return 1 ;;
	# the manager never knows who looks at it
	sm/*:topology/* | sm/*:routing/* | sm/*:sm/*) ;;
	*:config.h) ;;
	*)
		return 1 ;;
	esac
}

# crossings TREE: a line for each include that crosses a floor
crossings() {
	local file line header
	files_of "$1" | while read -r file; do
		grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' \
			"$1/$file" |
		while IFS= read -r line; do
			header=${line#*\"}
			header=${header%%\"*}
			[ "$header" = config.h ] || may "$file" "$header" ||
				echo "$file:${line%%:*}: $header"
		done
		# one file of the manager knows the library, the transport is the
		# way to it; another one reads counters
		[ "$file" = sm/io/umad.c ] || [ "$file" = tools/port_counters.c ] ||
			grep -nE 'include[[:space:]]*[<"]infiniband/umad' \
				"$1/$file" |
			sed "s|^\([0-9]*\):.*|$file:\1: infiniband/umad.h|"
		# likewise libibmad
		case $file in
		sm/mad/smp.c | tools/port_counters.c) ;;
		*) grep -nE 'include[[:space:]]*[<"]infiniband/mad\.h' \
			"$1/$file" |
			sed "s|^\([0-9]*\):.*|$file:\1: infiniband/mad.h|" ;;
		esac
		# the same input, the same tables
		case $file in
		routing/*) grep -n getenv "$1/$file" |
			sed "s|^\([0-9]*\):.*|$file:\1: getenv|" ;;
		esac
	done
}

n=0
bad=0
ok() {	# status description
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		bad=$((bad + 1))
	fi
}

# A made-up tree: file, what it may include, and behind a colon what it may not.
bad_tree() {
	local t=$scratch/tree file header n bad

	mkdir -p "$t"/{topology,routing,sm/{mad,plan,sa,config,io,sweep},lab/sim,tools}
	while read -r -a words; do
		file=${words[0]} n=0 bad=
		for header in "${words[@]:1}"; do
			[ "$header" != : ] || { bad=yes; continue; }
			n=$((n + 1))
			case $header in
			infiniband/*) echo "#include <$header>" ;;
			getenv) echo 'g_getenv("A");' ;;
			*) echo " # include \"$header\"" ;;
			esac >>"$t/$file"
			[ -z "$bad" ] || echo "$file:$n: $header"
		done
	done <<-'END' | sort >"$scratch/expected"
	topology/a.c topology/text.h topology/b.h : routing/tables.h sm/log.h
	topology/b.c : infiniband/mad.h
	routing/a.c topology/b.h routing/tables.h : sm/plan/plan.h getenv
	sm/mad/a.c topology/smp_attr.h topology/text.h : topology/snapshot.h
	sm/mad/b.c : infiniband/mad.h
	sm/mad/smp.c infiniband/mad.h
	sm/plan/a.c topology/report.h routing/tables.h topology/b.h : routing/graph.h
	sm/config/a.c topology/b.h : routing/engine.h
	sm/sa/a.c sm/mad/mad.h topology/b.h routing/tables.h : routing/graph.h sm/log.h
	sm/sa/sa_server.c sm/log.h sm/io/mad_client.h
	sm/io/a.c sm/mad/mad.h topology/smp_attr.h : topology/snapshot.h sm/log.h
	sm/io/umad.c infiniband/umad.h
	sm/io/mad_client.c : infiniband/umad.h
	lab/sim/a.c sm/io/transport.h topology/b.h : sm/io/mad_client.h sm/log.h
	lab/a.c lab/sim/sim.h sm/io/transport.h : sm/io/mad_client.h
	tools/a.c sm/plan/plan.h : sm/io/mad_client.h sm/log.h
	sm/sweep/a.c sm/io/mad_client.h sm/log.h config.h : lab/show.h
	sm/daemon.c sm/log.h : lab/show.h lab/sim/sim.h
	END
	crossings "$t" | sort | diff "$scratch/expected" - >"$scratch/diff"
}

bad_tree
ok $? "every crossing in a made-up tree is found, and nothing else"
sed 's/^/# /' "$scratch/diff"

files=$(files_of "$src" | wc -l)
[ "$files" -ge 40 ]
ok $? "the tree has its files ($files)"

crossings "$src" >"$scratch/found"
[ ! -s "$scratch/found" ]
ok $? "no include of the tree crosses a floor"
sed 's/^/# /' "$scratch/found"

(cd "$src" && find topology routing sm tools lab tests -name '*.[ch]' \
	-exec awk 'FNR == 1 && !/SPDX-License-Identifier: / { print FILENAME }' \
	{} +) >"$scratch/found"
[ ! -s "$scratch/found" ]
ok $? "every source file names its licence in its first line"
sed 's/^/# /' "$scratch/found"

# Links of the documentation to what is not there: "FILE: link".
broken_links() {
	local file link

	for file in README.md doc/*.md doc/lab/*.md; do
		grep -oE '\]\([^)#]+' "$file" | sed 's/^](//' |
		while read -r link; do
			case $link in
			*://*) ;;
			*) [ -e "$(dirname "$file")/$link" ] ||
				echo "$file: $link" ;;
			esac
		done
	done
}
(cd "$src" && broken_links) >"$scratch/found"
[ ! -s "$scratch/found" ] && [ -e "$src/README.md" ]
ok $? "every link of the documentation leads somewhere"
sed 's/^/# /' "$scratch/found"

# What the manager's process has of the other two houses: nothing.
build=${MINISM_BUILD:-$src/build}
defined() {
	nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' |
		grep -v '^main$' | sort -u
}
defined "$build"/lib{lab,sim,tools,fabrics}.a >"$scratch/theirs"
defined "$build/minism" | comm -12 - "$scratch/theirs" >"$scratch/found"
[ -x "$build/minism" ] && [ ! -s "$scratch/found" ] &&
	{ [ -s "$scratch/theirs" ] || [ ! -e "$build/minismctl" ]; }
ok $? "minism links nothing of tools and laboratory"
sed 's/^/# /' "$scratch/found"
readelf -d "$build/minism" >"$scratch/needed"
grep -q 'NEEDED.*libglib' "$scratch/needed" &&
	! grep -E 'NEEDED.*lib(microhttpd|edit)' "$scratch/needed"
ok $? "nor a library that only they need"
! readelf -d "$build"/minism{ctl,-web} | grep -E 'NEEDED.*lib(ibmad|ibumad)'
ok $? "minismctl and minism-web need no library of InfiniBand"

echo "1..$n"
[ "$bad" -eq 0 ]

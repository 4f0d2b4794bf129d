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
	(cd "$1" && find topology routing sm -name '*.[ch]' 2>/dev/null |
		sort)
}

# may FILE INCLUDED: does the floor of FILE allow it?
may() {
	case $1:$2 in
	topology/base/*:topology/base/*) ;;
	topology/base/*)
		return 1 ;;
	*:topology/base/*) ;;
	topology/*:topology/*) ;;
	routing/*:routing/* | routing/*:topology/*) ;;
	# the wire speaks in the host structs of topology
	sm/wire/*:sm/wire/* | sm/wire/*:topology/attr.h | \
		sm/wire/*:topology/ids.h | sm/wire/*:topology/porttab.h) ;;
	sm/plan/*:sm/plan/* | sm/plan/*:topology/* | \
		sm/plan/*:routing/tables.h) ;;
	sm/conf/*:sm/conf/* | sm/conf/*:topology/*) ;;
	sm/sa/*:sm/sa/* | sm/sa/*:topology/* | sm/sa/*:sm/wire/* | \
		sm/sa/*:routing/tables.h | sm/sa/*:routing/mft.h) ;;
	sm/io/*:sm/io/* | sm/io/*:sm/wire/* | sm/io/*:topology/attr.h | \
		sm/io/*:topology/ids.h) ;;
	sm/sim/*:sm/sim/* | sm/sim/*:sm/wire/* | sm/sim/*:topology/* | \
		sm/sim/*:sm/io/transport.h) ;;
	sm/cli/*:sm/cli/* | sm/cli/*:topology/* | sm/cli/*:routing/* | \
		sm/cli/*:sm/wire/* | sm/cli/*:sm/plan/* | \
		sm/cli/*:sm/conf/*) ;;
	# a lab is a simulator with the kernel's part; no manager is in it
	sm/lab/*:sm/lab/* | sm/lab/*:sm/sim/* | sm/lab/*:sm/wire/* | \
		sm/lab/*:topology/* | sm/lab/*:sm/io/transport.h | \
		sm/lab/*:sm/cli/options.h | sm/lab/*:config.h) ;;
	topology/* | routing/* | sm/wire/* | sm/plan/* | sm/conf/* | sm/sa/* | \
		sm/io/* | sm/sim/* | sm/lab/* | sm/cli/*)
		return 1 ;;
	# the shell sees everybody; the programs' writers only in the daemon
	sm/daemon.c:sm/cli/*) ;;
	sm/*:sm/cli/*)
		return 1 ;;
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
		# one file knows the library, the transport is the way to it
		[ "$file" = sm/io/umad.c ] ||
			grep -nE 'include[[:space:]]*[<"]infiniband/umad' \
				"$1/$file" |
			sed "s|^\([0-9]*\):.*|$file:\1: infiniband/umad.h|"
		# libibmad encodes fields: the wire's business
		case $file in
		sm/wire/* | sm/io/umad.c) ;;
		*) grep -nE 'include[[:space:]]*[<"]infiniband/mad\.h' \
			"$1/$file" |
			sed "s|^\([0-9]*\):.*|$file:\1: infiniband/mad.h|" ;;
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

# A made-up tree, some of whose includes are crossings: those expected below.
bad_tree() {
	local t=$scratch/tree
	mkdir -p "$t"/{topology/base,routing,sm/{wire,plan,sa,conf,io,sim,lab,cli}}
	put() {
		local file=$1
		shift
		printf '#include "%s"\n' "$@" >>"$t/$file"
	}
	put topology/base/a.c topology/base/b.h topology/b.h config.h
	put topology/a.c topology/base/b.h topology/b.h routing/tables.h sm/log.h
	put routing/a.c topology/b.h routing/tables.h sm/plan/plan.h
	put sm/wire/a.c topology/attr.h topology/ids.h topology/subnet.h
	put sm/plan/a.c topology/base/b.h routing/tables.h topology/b.h routing/graph.h
	put sm/conf/a.c topology/b.h routing/engine.h
	put sm/sa/a.c sm/wire/mad.h topology/b.h routing/tables.h routing/mft.h routing/graph.h sm/log.h
	put sm/io/a.c sm/wire/mad.h topology/ids.h topology/subnet.h sm/log.h
	put sm/sim/a.c sm/io/transport.h topology/b.h sm/io/xact.h sm/log.h
	put sm/lab/a.c sm/sim/sim.h sm/io/transport.h sm/io/xact.h
	put sm/cli/a.c sm/plan/plan.h sm/io/xact.h sm/log.h
	put sm/sweep.c sm/io/xact.h sm/log.h sm/cli/show.h config.h
	put sm/daemon.c sm/cli/show.h
	printf '#include <infiniband/umad.h>\n' | tee "$t/sm/io/umad.c" \
		"$t/sm/io/xact.c" >/dev/null
	printf '#include <infiniband/mad.h>\n' >"$t/topology/b.c"
	printf '  #  include "sm/log.h"\n' >"$t/routing/spaced.h"
	cat >"$scratch/expected" <<-'EOF'
	routing/a.c:3: sm/plan/plan.h
	routing/spaced.h:1: sm/log.h
	sm/cli/a.c:2: sm/io/xact.h
	sm/cli/a.c:3: sm/log.h
	sm/conf/a.c:2: routing/engine.h
	sm/io/a.c:3: topology/subnet.h
	sm/io/a.c:4: sm/log.h
	sm/io/xact.c:1: infiniband/umad.h
	sm/lab/a.c:3: sm/io/xact.h
	sm/plan/a.c:4: routing/graph.h
	sm/sa/a.c:5: routing/graph.h
	sm/sa/a.c:6: sm/log.h
	sm/sim/a.c:3: sm/io/xact.h
	sm/sim/a.c:4: sm/log.h
	sm/sweep.c:3: sm/cli/show.h
	sm/wire/a.c:3: topology/subnet.h
	topology/a.c:3: routing/tables.h
	topology/a.c:4: sm/log.h
	topology/b.c:1: infiniband/mad.h
	topology/base/a.c:2: topology/b.h
	EOF
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

(cd "$src" && find topology routing sm tests -name '*.[ch]' \
	-exec awk 'FNR == 1 && !/SPDX-License-Identifier: / { print FILENAME }' \
	{} +) >"$scratch/found"
[ ! -s "$scratch/found" ]
ok $? "every source file names its licence in its first line"
sed 's/^/# /' "$scratch/found"

echo "1..$n"
[ "$bad" -eq 0 ]

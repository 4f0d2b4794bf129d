#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Pages of documentation that show what commands print: they are run again.
# After a change that is meant to show: doc.sh --write
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3

# What a reader has: the programs on the path, the examples, no configuration.
programs() {
	local name

	mkdir bin
	printf '#!/bin/sh\nexec "%s" -F "%s/empty.conf" "$@"\n' "$MINISM" \
		"$SCRATCH" >bin/minism
	chmod +x bin/minism
	for name in minism-lab minism-route minism-fabric minismctl; do
		ln -s "$MINISM_BUILD/$name" "bin/$name"
	done
	ln -s "$MINISM_SRC/etc" etc
	ln -s "$MINISM_SRC/doc" doc
	PATH=$PWD/bin:$PATH
}

programs
for page in "$MINISM_SRC"/doc/tour.md "$MINISM_SRC"/doc/lab/[0-9]*.md; do
	[ -e "$page" ] || continue
	name=${page#"$MINISM_SRC/"}
	case $(sed -n 's/^<!-- needs \(.*\) -->$/\1/p' "$page") in
	"") ;;
	*) for program in $(sed -n 's/^<!-- needs \(.*\) -->$/\1/p' "$page"); do
		command -v "$program" >/dev/null && continue
		skip "$name" "$program is not installed"
		continue 2
	done ;;
	esac
	rm -rf reader
	mkdir reader
	ln -s ../etc ../doc reader
	(cd reader && exec timeout 300 python3 "$MINISM_SRC/tests/doc_run.py" \
		"${1:---check}" "$page") >doc.out 2>&1
	ok $? "$name is what the commands print" || note_file doc.out 40
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Pages of documentation that show what commands print: they are run again.
# After a change that is meant to show: doc.sh --write
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"
need python3
# a reader has no runtime of a sanitizer to load before the device
[ "$sanitized" = no ] || skip_all "not with sanitizers"

# What a reader has: the programs on the path, the examples, no configuration.
programs() {
	local name

	mkdir bin
	for name in minism minism-sim; do
		printf '#!/bin/sh\nexec "%s" -F "%s/empty.conf" "$@"\n' \
			"$MINISM_BUILD/$name" "$SCRATCH" >bin/$name
		chmod +x bin/$name
	done
	for name in minism-lab minism-route minism-fabric minismctl \
		minism-explain; do
		ln -s "$MINISM_BUILD/$name" "bin/$name"
	done
	ln -s "$MINISM_SRC/etc" etc
	ln -s "$MINISM_SRC/doc" doc
	PATH=$PWD/bin:$PATH
}

# Those of the course run in a lab of their own: <!-- lab NET -->. What a page
# needs besides: <!-- needs PROGRAM .. -->. One in which an answer did not come in
# time, as it should not, is read again.
read_page() {	# option of doc_run.py
	local net

	net=$(sed -n 's/^<!-- lab \(.*\) -->$/\1/p' "$page")
	rm -rf reader
	mkdir reader
	ln -s ../etc ../doc reader
	cd reader || return
	timeout 300 ${net:+minism-lab "$net" --} python3 \
		"$MINISM_SRC/tests/doc_run.py" "$1" "$page"
	set -- $?
	cd ..
	return "$1"
}

programs
for page in "$MINISM_SRC"/doc/tour.md "$MINISM_SRC"/doc/lab/[0-9]*.md; do
	name=${page#"$MINISM_SRC/"}
	for program in $(sed -n 's/^<!-- needs \(.*\) -->$/\1/p' "$page"); do
		command -v "$program" >/dev/null && continue
		skip "$name" "$program is not installed"
		continue 2
	done
	for try in 1 2 3; do
		read_page "${1:---check}" >doc.out 2>&1
		status=$?
		cat reader/*.pid 2>/dev/null | xargs -r kill 2>/dev/null
		[ $status -ne 0 ] && grep '^+' doc.out >printed &&
			tells_of_time printed || break
		note_file doc.out 40
	done
	ok $status "$name is what the commands print" || note_file doc.out 40
done
for n in 2 3 4 5 6 7 8 9 10; do
	refute "check $n: is not done before it is begun" minism-lab \
		etc/fabrics/demo.net -- minism-lab -c "check $n"
done
refute "check 11: there is none" minism-lab etc/fabrics/demo.net -- \
	minism-lab -c 'check 11'
done_testing

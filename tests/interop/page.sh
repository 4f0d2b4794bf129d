#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The fabric as a web page: the file is whole, and in a browser without a screen
# it opens, shows what is not as it should be, and its paths are those that
# minismctl tells of the view, and control.sh compares with ibtracert.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need python3

# page SPEC: page.html and the dumps of a simulated fabric
page() {
	rm -rf page.html dump view
	simulated --cache-dir= --once "$1" --view view && dump_view &&
		"$MINISMCTL" --view view report >page.html
}

# The text of page.html around what was put in, and that is JSON.
whole() {
	diff <(sed '/^<script.*plain/s/>.*</></' page.html) \
		<(sed '/^<script.*plain/s/>.*</></' \
		"$MINISM_SRC/tools/page.html") &&
		sed -n 's/.* id="fabric">\(.*\)<.*/\1/p' page.html | base64 -d |
		gunzip | python3 -m json.tool
}

# shows [HASH]: the page as the browser has it then, in shown.html. The budget is
# of virtual time, which may pass before a slow machine has unpacked the page: if
# that says neither that it is ready nor what failed, it is opened again.
shows() {
	local try

	for try in 1 2 3; do
		opens "${1:-}"
		grep -qE 'data-(ready|failed)=' shown.html && break
	done
	grep -q 'data-ready=' shown.html || {
		grep -o 'data-failed="[^"]*"' shown.html
		tail -n 5 browser.err
		return 1
	}
}

opens() {	# hash
	timeout -k 5 $patience chromium --headless --no-sandbox --disable-gpu \
		--user-data-dir="$SCRATCH/browser" --virtual-time-budget=20000 \
		--dump-dom "file://$SCRATCH/page.html#$1" \
		>shown.html 2>browser.err
}

# What the page says of the path: a node and its port a line.
cat >shown.py <<'END'
import html, re

rows = re.findall(r"<tr data-node.*?</tr>", open("shown.html").read())
for row in rows:
    cells = [html.unescape(re.sub("<.*?>", "", c))
             for c in re.findall(r"<td.*?</td>", row)]
    print(cells[1], cells[2])
END

path_agrees() {	# A B
	shows "$1&$2" || return
	"$MINISMCTL" --view view path "$1" "$2" |
		sed -nE 's/^ +[0-9]+ +([^ ]+) +in.* out +([1-9][0-9]*).*/\1 \2/p' >walked
	python3 shown.py | sed '/^H-\|^node-/d' >seen
	diff walked seen && [ -s walked ]
}

case_page() {	# SPEC A B ..
	local spec=$1 title

	check "$spec: the page is written" page "$spec"
	check "$spec: it is whole" whole
	has chromium || return
	check "$spec: it opens" shows
	title=$(grep -o '<title>[^<]*' shown.html)
	check "$spec: and says how the fabric is" \
		[ "$title" = "<title>minism: Fabric: up" ]
	shift
	while [ $# -gt 0 ]; do
		check "$spec: the path from $1 to $2" path_agrees "$1" "$2"
		shift 2
	done
}

case_page "$demo" node-01 node-16
case_page 'PGFT(6,4,4;1,3,2)' H-0 H-95 S-1-3 S-2-0
case_page 'torus(4,4;2)' H-0 H-31

# A name that a person chose is no part of the page's own text.
sed 's/# "node-05"/# "<b>\&amp;"/' "$demo" >odd.net
check "a strange name: the page is written" page "$SCRATCH/odd.net"
if has chromium; then
	check "a strange name: is text" shows '%3Cb%3E%26amp%3B'
	check "a strange name: as it is" grep -q \
		'<h2>&lt;b&gt;&amp;amp;</h2>' shown.html
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# minism-web: pages and metrics of a manager that runs, by Prometheus' own client;
# and what it makes of a manager that is slow, silent, busy or away.
# shellcheck source=tests/interop/lib.sh
. "$(dirname "$0")/lib.sh"

need python3
export MINISM_WEB=${MINISM_WEB:-$MINISM_BUILD/minism-web}
export MINISMCTL
[ -x "$MINISM_WEB" ] || skip_all "built without libmicrohttpd"

# ---- a manager ---------------------------------------------------------------

# What is served, and the dashboard's queries: each metric that they name is
# there.
served() {	# port
	/usr/bin/python3 -c 'if True:
		import http.client, json, re, sys
		from prometheus_client.openmetrics import parser
		def ask(method, path):
			c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]),
						       timeout=100)
			c.request(method, path)
			return c.getresponse()
		page = ask("GET", "/")
		assert page.status == 200
		assert page.getheader("Content-Type").startswith("text/html")
		assert b"</html>" in page.read()
		answer = ask("GET", "/metrics")
		text = answer.read().decode()
		assert answer.status == 200
		assert answer.getheader("Content-Type").startswith(
			"application/openmetrics-text; version=1.0.0")
		names = set()
		for family in parser.text_string_to_metric_families(text):
			names |= {s.name for s in family.samples}
		assert len(names) > 20
		# the parser takes the first of two
		series = [l.rsplit(" ", 1)[0] for l in text.split("\n")
			  if l and not l.startswith("#")]
		assert len(series) == len(set(series))
		n = {(s.name, *sorted(s.labels.items())): s.value for family in
			parser.text_string_to_metric_families(text)
			for s in family.samples}
		def count(name, **labels):
			return n[(name, *sorted(labels.items()))]
		assert count("minism_requests_total", **{"class": "SMP"},
			attribute="NodeInfo", outcome="answered") > 10
		assert count("minism_verified_tables_total", verdict="safe") > 0
		blocks = count("minism_lft_blocks_written_total")
		assert 0 < blocks < count("minism_lft_entries_changed_total")
		assert count("minism_host_pairs_without_path") == 0
		assert count("minism_other_managers", state="standby") == 0
		assert count("minism_sm_priority") >= 0
		assert count("minism_bad_links", routing="avoided") == 0
		assert page.getheader("X-Content-Type-Options") == "nosniff"
		assert "frame-ancestors" in page.getheader(
			"Content-Security-Policy")
		def call(name):
			c = http.client.HTTPConnection("127.0.0.1",
				int(sys.argv[1]), timeout=100)
			c.request("GET", "/status", headers={"Host": name})
			return c.getresponse().status
		assert call("localhost:9683") == call("[::1]") == 200
		assert call("evil.example") == call("127.0.0.1.evil.example") == 421
		assert json.load(ask("GET", "/status"))["verdict"] == "up"
		assert json.load(ask("GET", "/events"))["events"]
		assert ask("HEAD", "/metrics").status == 200
		assert ask("GET", "/none").status == 404
		assert ask("POST", "/metrics").status == 405
		board = json.load(open(sys.argv[2]))
		exprs = [t["expr"] for p in board["panels"] for t in p["targets"]]
		asked = set(re.findall(r"minism_\w+", " ".join(exprs)))
		# none is of no answer
		missing = asked - names - {"minism_sa_answers_total"}
		print("not there:", missing)
		sys.exit(len(asked) < 10 or bool(missing))' "$1" \
		"$MINISM_SRC/etc/grafana-minism.json"
}

live_case() {
	local sim web port

	"${leash[@]}" "$MINISM_SIM" "$demo" \
		-F /dev/null -f live.log --control-socket "$SCRATCH/live.ctl" \
		>/dev/null 2>&1 &
	sim=$!
	"${leash[@]}" "$MINISM_WEB" -s "$SCRATCH/live.ctl" 127.0.0.1:0 \
		>web.out 2>web.err &
	web=$!
	SM_PIDS+=($sim $web)
	check "live: it says where it listens" await log_has web.out \
		'^listening on 127.0.0.1:0, port [0-9]+$'
	port=$(sed -n 's/.*port //p' web.out)
	await "$MINISMCTL" -s "$SCRATCH/live.ctl" status
	check "live: pages, metrics and their guards" served "$port"
	"$MINISM_WEB" -s "$SCRATCH/live.ctl" "127.0.0.1:$port" >taken 2>&1
	check "live: an address that is taken: exit 1" [ $? -eq 1 ]
	check "live: and the reason" log_has taken "$port: Address already in use"
	kill -TERM $web $sim
	sm_wait $web
	check "live: TERM ends it with exit 0" [ $? -eq 0 ]
	sm_wait $sim
	"$MINISM_WEB" localhost:1 >name 2>&1
	check "live: a name is no address: exit 2" [ $? -eq 2 ]
	check "live: and it says so" log_has name 'localhost:1 is not ADDRESS:PORT'
}

# ---- in the place of a manager -------------------------------------------------

cat >fake.py <<'END_OF_FAKE'
import http.client, os, re, socket, subprocess, sys, threading, time

class Manager(threading.Thread):
    """Answers each request by `answer`; None: never."""
    def __init__(self, answer):
        super().__init__(daemon=True)
        self.answer, self.asked, self.kept = answer, [], []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind("fake.ctl")
        self.socket.listen()
        self.start()

    def run(self):
        while True:
            c = self.socket.accept()[0]
            line = c.makefile().readline().rstrip("\n")
            self.asked.append(line)
            text = self.answer(line)
            if text is None:
                self.kept.append(c)
                continue
            c.sendall(text)
            c.close()

def whole(code, body):
    return b"minism 2 %d %d\n" % (code, len(body)) + body

def get(path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    c.request("GET", path)
    answer = c.getresponse()
    return answer.status, answer.read()

def together(n, path):
    got = [None] * n
    def one(i):
        got[i] = get(path)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads: t.start()
    for t in threads: t.join()
    return got

def shares():
    """However often clients ask for what took long."""
    m = Manager(lambda line: time.sleep(1) or whole(0, b"{}\n"))
    assert together(5, "/events") == 5 * [(200, b"{}\n")]
    for i in range(5):
        assert get("/events") == (200, b"{}\n")
    assert m.asked == ["json events"], m.asked

def young():
    """What takes no time is new soon: after 20 times what it took."""
    m = Manager(lambda line: whole(0, b"{%d}\n" % len(m.asked)))
    took = 1
    while took > 0.5:   # something stood still
        before = len(m.asked)
        began = time.monotonic()
        assert get("/events") == (200, b"{%d}\n" % (before + 1))
        took = time.monotonic() - began
        time.sleep(20 * took + 0.1)
    assert get("/events") == (200, b"{%d}\n" % (before + 2))

def again():
    m = Manager(lambda line: whole(7, b"again 5 view tables\n")
                if line == "view tables" else whole(0, view))
    status, text = get("/")
    assert status == 200 and text.endswith(b"</html>\n"), text
    assert m.asked == ["view tables", "again 5 view tables"], m.asked

def verdict():
    lines = [b"#manager state 3 on here\n#count 1 of partitions\n"]
    Manager(lambda line: whole(0, b"#view 1 gen 5\n#verdict is not up\n%b"
                               b"#end 5\n" % b"".join(lines)))
    status, text = get("/status")
    assert status == 200 and b'"verdict":"not up"' in text, text
    assert b'minism_subnet_state="not up"} 1' in get("/metrics")[1]
    lines.clear()
    ctl = subprocess.run([os.environ["MINISMCTL"], "-s", "fake.ctl", "metrics"],
                         stderr=subprocess.PIPE, text=True)
    assert ctl.returncode == 2 and "the manager's view: it has no counters" in \
        ctl.stderr, ctl.stderr

def reasons():
    Manager(lambda line: whole(1, b"no sweep has read the fabric yet\n")
            if line == "view tables" else
            whole(1, b"only root may ask\n") if line == "json events" else
            whole(0, b"{}")[:-1])
    assert get("/") == (503, b"no sweep has read the fabric yet\n")
    assert get("/events") == (503, b"only root may ask\n")
    status, text = get("/status")
    assert status == 503 and b"cut off, after 14 bytes" in text, text
    for answer, why in (whole(0, b"{}")[:-1], "is cut off"), \
            (b"", "cut off, after 0"), (b"minism 1 0\nUP\n", "is no minism"):
        os.remove("fake.ctl")
        Manager(lambda line: answer)
        ctl = subprocess.run([os.environ["MINISMCTL"], "-s", "fake.ctl", "config"],
                             capture_output=True, text=True)
        assert ctl.returncode == 3 and not ctl.stdout and why in ctl.stderr

def silent():
    """Other pages do not wait for the one that is not answered."""
    m = Manager(lambda line: None if line == "view status" else
                whole(0, b"{}\n"))
    late = True
    while late:         # by the 4 s of the option
        del m.asked[:]
        got = []
        waits = threading.Thread(target=lambda: got.append(get("/metrics")))
        waits.start()
        began = time.monotonic()
        while "view status" not in m.asked:
            time.sleep(0.01)
        assert get("/events") == (200, b"{}\n")
        late = bool(got) and time.monotonic() - began > 3
        assert late or not got
        waits.join()
        assert got[0][0] == 503 and b"does not answer: it is busy" in got[0][1]
        time.sleep(1.2 if late else 0)  # that is the answer for a second

def away():
    status, text = get("/")
    assert status == 503 and b"No such file" in text, text
    Manager(lambda line: whole(0, view))
    time.sleep(1.2)
    assert get("/")[0] == 200

def deaf():
    """Clients that do not read are no trouble for others."""
    Manager(lambda line: whole(0, b"{" + 8000000 * b"x"))
    held = []
    for i in range(3):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        s.connect(("127.0.0.1", port))
        s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        held.append(s)
    time.sleep(0.3)
    assert len(get("/events")[1]) == 8000001
    assert get("/none")[0] == 404

def damaged():
    """A view that is cut off is no page."""
    Manager(lambda line: whole(0, view[:-9]))
    status, text = get("/")
    assert status == 503 and b"the view is cut off" in text, text

view = open("view", "rb").read()
web = subprocess.Popen([os.environ["MINISM_WEB"], "-s", "fake.ctl", "-t", "4",
                        "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
try:
    port = int(web.stdout.readline().split()[-1])
    globals()[sys.argv[1]]()
    web.terminate()
    assert web.wait(100) == 0
finally:
    web.kill()
END_OF_FAKE

fake() {
	rm -f fake.ctl
	timeout -k 2 $patience python3 fake.py "$1"
}

serve() {	# function description
	! wanted_case "$1" || check "$1: $2" fake "$1"
}

"$MINISM_SIM" 'single(2)' --once -F /dev/null --view view >/dev/null 2>&1
serve damaged "a view that is cut off"
serve shares "one question for all who ask"
serve young "a quick answer is soon asked for again"
serve again "an answer that continues is waited for"
serve verdict "a subnet that is not up has a status"
serve reasons "why there is no page"
serve silent "a manager that does not answer"
serve away "a manager that is away, and comes"
serve deaf "clients that do not read"

run_cases

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Random lines at the lab's prompt, and random requests to a manager's socket
and to minism-web beside HUP, USR1 and reloads: shell_soak.py LINES REQUESTS

Programs are those of $MINISM_BUILD, best with sanitizers; $MINISM_TEST_SEED is
the seed. Nothing may end a program, an answer has the length that it
announces, and `status` is told with how long it took at most. Status: 0, or 1
and the last lines before the fault.
"""
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["MINISM_BUILD"]
SEED = int(os.environ.get("MINISM_TEST_SEED", "1"))
FABRIC = "PGFT(18,36;1,18)"
NAMES = ("H-0 H-1 H-647 S-1-0 S-2-3 S-1-0/19 H-3/1 0x5000000000000100 nowhere "
         "0 1 2 7 64 -1 255 65536 99999999999 1.5 3% 100ms 4xEDR 0xffff all "
         "off until $(id) `id` \"a\\\"b\" 'x' ; * ? \\ é \x01 %n %s / .. -h "
         "--json --follow " + "x" * 300).split()
SANITIZER = r"ERROR: \w+Sanitizer|runtime error:"
NOT_AT_THE_PROMPT = {"!", "on", "quit", "script", "step"}  # other programs, end


def fail(what, last):
    print(f"seed {SEED}: {what}; the last:", *last[-20:], sep="\n  ")
    sys.exit(1)


def console(count):
    """Each run draws the commands from the help of the lab itself."""
    rng = random.Random(SEED)
    lab = os.path.join(BUILD, "minism-lab")
    text = subprocess.run([lab, "PGFT(4,4;1,4)"], input="help\n", text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    words = [w for w in re.findall(r"^([a-z-]+)\b", text, re.M)
             if w not in NOT_AT_THE_PROMPT]
    assert len(words) > 25, words
    for first in range(0, count, 2000):
        lines = [" ".join([rng.choice(words)] + [
            rng.choice(NAMES) for _ in range(rng.randrange(5))])
            for _ in range(min(2000, count - first))]
        done = subprocess.run([lab, "PGFT(4,4;1,4)"], text=True, errors="replace",
                              input="\n".join(lines) + "\nlist\n", timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if (done.returncode not in (0, 1) or re.search(SANITIZER, done.stdout)
                or "S-2-3" not in done.stdout[-3000:]):
            fail(f"minism-lab ended with {done.returncode}",
                 lines + done.stdout.splitlines())
    print(f"# {count} lines of {len(words)} commands")


class Manager:
    def __init__(self, folder):
        self.path = os.path.join(folder, "ctl")
        self.log = os.path.join(folder, "log")
        self.child = subprocess.Popen(
            [os.path.join(BUILD, "minism-sim"), FABRIC, "-F",
             "/dev/null", "--cache-dir", folder, "--control-socket", self.path,
             "-f", self.log],
            stdout=subprocess.DEVNULL, stderr=open(self.log + ".err", "w"))
        self.web = subprocess.Popen(
            [os.path.join(BUILD, "minism-web"), "-s", self.path, "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=open(self.log + ".err", "a"))
        self.port = int(self.web.stdout.readline().split()[-1])
        for _ in range(600):
            if os.path.exists(self.path) and b" is up" in self.ask("view status"):
                return
            time.sleep(0.1)
        fail("the manager does not come up", [])

    def ask(self, request):
        """The answer, whole by its head: minism VERSION CODE LENGTH."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(self.path)
            s.sendall(request.encode("utf-8", "surrogateescape") + b"\n")
            answer = b"".join(iter(lambda: s.recv(65536), b""))
        head, _, body = answer.partition(b"\n")
        if not answer or int(head.split()[3]) != len(body):
            fail(f"{request!r}: {head} before {len(body)} bytes", [])
        return answer

    def get(self, path):
        with socket.create_connection(("127.0.0.1", self.port), 20) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                      "Connection: close\r\n\r\n".encode("utf-8", "replace"))
            answer = b"".join(iter(lambda: s.recv(65536), b""))
        head, _, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if length and int(length[1]) != len(body):
            fail(f"GET {path}: {length[1]} and {len(body)} bytes", [])


def requests(count):
    rng, last, worst = random.Random(SEED + 1), [], 0
    with tempfile.TemporaryDirectory(prefix="soak.", dir="/tmp") as folder:
        m = Manager(folder)
        words = re.findall(r"^ *([a-z-]+)\b", m.ask("help").decode(), re.M)
        words = [w for w in words if w not in {"events", "takeover"}]
        assert len(words) > 20, words
        try:
            for i in range(count):
                last.append(" ".join([rng.choice(words)] + [
                    rng.choice(NAMES) for _ in range(rng.randrange(4))]))
                if i % 10 == 0:
                    m.get(rng.choice(["/", "/metrics", "/x", "/" + last[-1]]))
                elif i % 100 == 1:
                    m.child.send_signal(rng.choice([signal.SIGHUP,
                                                    signal.SIGUSR1]))
                elif i % 100 == 2:
                    m.ask("reload")
                else:
                    m.ask(last[-1])
                if i % 20 == 0:
                    began = time.monotonic()
                    m.ask("view status")
                    worst = max(worst, time.monotonic() - began)
                if m.child.poll() is not None or m.web.poll() is not None:
                    raise OSError("it ended")
            m.web.terminate()
            m.child.terminate()
            if m.web.wait(20) or m.child.wait(20):
                raise OSError("status at the end")
        except (OSError, ValueError, IndexError) as error:
            fail(f"{error!r}, status {m.child.poll()}",
                 last + open(m.log + ".err").read().splitlines()[:12])
        finally:
            for child in m.web, m.child:
                child.kill()
                child.wait()
    print(f"# {count} requests of {len(words)} commands; status within "
          f"{1000 * worst:.0f} ms")


if __name__ == "__main__":
    print(f"# seed {SEED}")
    console(int(sys.argv[1]))
    requests(int(sys.argv[2]))

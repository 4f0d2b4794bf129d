#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Trees of many multicast groups, by any subnet manager; see groups.sh.

    groups.py join NET SEED    a group of all hosts and 200 of 8, over libibumad
    groups.py judge NET SEED   what dump_mfts prints, on standard input
"""
import collections
import random
import re
import sys

sys.path.insert(0, sys.path[0] + "/../interop")
import sa_client

node, ends, hosts = None, {}, {}
for line in open(sys.argv[2]):
    if m := re.match(r'(?:Switch|Ca|Hca)\s+\d+ "(.*?)"', line):
        node = m[1]
    elif m := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"(.*?)"\[(\d+)\](?:\((\w+)\))?',
                       line):
        ends[node, int(m[1])] = m[2], int(m[3])
        if m[4] and node[0] == "S":
            hosts[int(m[4], 16)] = node, int(m[1])
draw = random.Random(int(sys.argv[3]))
groups = [sorted(hosts)] + [draw.sample(sorted(hosts), 8) for _ in range(200)]


def join():
    client = sa_client.Client()
    for i, members in enumerate(groups):
        for guid in members:
            status = client.set(*sa_client.join(
                i + 1, bytes(client.port.prefix) + guid.to_bytes(8, "big")))
            assert not any(status), status


def waiting(turns):
    """Channels in loops, or behind them."""
    n_in = collections.Counter(x for out in turns.values() for x in out)
    free = [x for x in turns if not n_in[x]]
    for x in free:
        for y in turns.get(x, ()):
            n_in[y] -= 1
            if not n_in[y]:
                free.append(y)
    return sum(n > 0 for n in n_in.values())


def judge():
    masks, turns = (collections.defaultdict(set) for _ in range(2))
    for line in sys.stdin:
        if m := re.search(r"guid 0x(\w+)", line):
            switch = "S-" + m[1]
        elif line.startswith("0xc"):
            masks[line[:6]] |= {(switch, (i - 12) // 2) for i in range(
                12, len(line)) if line[i] == "x"}
    wanted = [{hosts[guid] for guid in members} for members in groups]
    load, missed = collections.Counter(), 0
    for mask in masks.values():
        ports = {end for end in mask if end[1] and ends[end][0][0] != "S"}
        tree = {end for end in mask if end[1] and ends[end][0][0] == "S"}
        missed += min(len(group - ports) for group in wanted)
        load.update(end for end in tree if end < ends[end] and ends[end] in tree)
        for end in tree:
            turns[ends[end]] |= {x for x in tree if x[0] == end[0] and x != end}
    mean = sum(load.values()) / len(load)
    print("%d groups, %d missed, busiest cable %d, mean %.2f, %d channels wait "
          "in loops" % (len(masks), missed, max(load.values()), mean,
                        waiting(turns)))


globals()[sys.argv[1]]()

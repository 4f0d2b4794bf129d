#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics as people build them, as net files: shapes.py FOLDER [SEED]

FOLDER/trees gets trees with all their exceptions, FOLDER/others what is no
tree. GUIDs and ports are given in random order, as in life.
"""
import itertools
import os
import random
import sys


class Net:
    def __init__(self, rng):
        self.rng = rng
        self.hosts = []    # by switch: how many
        self.cables = []   # pairs of switches

    def switch(self, hosts=0, n=1):
        self.hosts += [hosts] * n
        return list(range(len(self.hosts) - n, len(self.hosts)))

    def join(self, a, b, n=1):
        self.cables += [(a, b)] * n

    def join_all(self, these, those, n=1):
        for a, b in itertools.product(these, those):
            self.join(a, b, n)

    def join_pairs(self, these):
        for a, b in zip(these[::2], these[1::2]):
            self.join(a, b)

    def add_hosts(self, these, n=1):
        for sw in these:
            self.hosts[sw] += n

    def lose(self, percent):
        """Takes so many of the cables away."""
        k = round(len(self.cables) * percent / 100)
        for i in sorted(self.rng.sample(range(len(self.cables)), k))[::-1]:
            del self.cables[i]

    def lose_switch(self, sw):
        self.cables = [c for c in self.cables if sw not in c]

    def write(self, path):
        n = len(self.hosts)
        guid = [0x500000 + i for i in range(n)]
        self.rng.shuffle(guid)
        lines = [[] for _ in range(n)]
        cas, ends = [], []
        number = list(range(sum(self.hosts)))
        self.rng.shuffle(number)
        for a, b in self.cables:
            ends.append([a, b])
        for sw, hosts in enumerate(self.hosts):
            ends += [[sw, None] for _ in range(hosts)]
        self.rng.shuffle(ends)
        for a, b in ends:
            if b is None:
                h = 0x600000 + number.pop() * 16
                lines[a].append(f'"H-{h:016x}"[1]')
                cas.append(f'caguid=0x{h:x}\nCa 1 "H-{h:016x}"\n'
                           f'[1] "S-{guid[a]:016x}"[{len(lines[a])}]\n')
            else:
                p, q = len(lines[a]) + 1, len(lines[b]) + 1
                lines[a].append(f'"S-{guid[b]:016x}"[{q}]')
                lines[b].append(f'"S-{guid[a]:016x}"[{p}]')
        with open(path, "w") as out:
            for sw in range(n):
                rows = [f"[{i}] {t}\n" for i, t in enumerate(lines[sw], 1)]
                print(f'switchguid=0x{guid[sw]:x}\nSwitch '
                      f'{max(len(rows), 1)} "S-{guid[sw]:016x}"\n'
                      + "".join(rows), file=out)
            print("\n".join(cas), file=out)


# ---- trees ----

def two_levels(net, leaves, spines, hosts, cables=1):
    low, high = net.switch(hosts, leaves), net.switch(0, spines)
    net.join_all(low, high, cables)
    return low, high


def pods(net, n_pods, leaves, spines, hosts, groups, per_group, share=1):
    """A core of group i meets the `share` spines that are dealt to it."""
    core = [net.switch(0, per_group) for _ in range(groups)]
    out = []
    for _ in range(n_pods):
        low, high = two_levels(net, leaves, spines, hosts)
        for i, spine in enumerate(high):
            net.join_all([spine], core[i // share % groups])
        out.append((low, high))
    return out, core


def production(net):
    """24 leaves, 12 spines, small storage leaves, service hosts on spines."""
    _, spines = two_levels(net, 24, 12, 24)
    net.join_all(net.switch(10, 4), spines)
    net.add_hosts(spines[:3])


def host_spine3(net):
    tree, core = pods(net, 6, 6, 6, 6, 6, 6)
    net.add_hosts([p[1][0] for p in tree] + core[0])


def three_less(net):
    tree, core = pods(net, 8, 6, 6, 6, 6, 6)
    for sw in (tree[0][1][1], tree[3][1][4], core[2][3], core[5][0]):
        net.lose_switch(sw)


def clos4(net):
    """Four levels."""
    tops = [[net.switch(0, 3) for _ in range(3)] for _ in range(3)]
    for _ in range(6):
        _, core = pods(net, 3, 3, 3, 3, 3, 3)
        for i, group in enumerate(core):
            for k, sw in enumerate(group):
                net.join_all([sw], tops[i][k])


def directors(net):
    lines = [two_levels(net, 6, 6, 0)[0] for _ in range(2)]
    for i in range(24):
        leaf = net.switch(6)[0]
        for k in range(6):
            net.join(leaf, lines[k % 2][(i + k // 2) % 6])


def growth(net):
    """Old pods with two cables to half of the cores, new ones with one."""
    core = [net.switch(0, 4) for _ in range(4)]
    for pod in range(6):
        _, high = two_levels(net, 4, 4, 4)
        for spine, group in zip(high, core):
            if pod < 3:
                net.join_all([spine], group[:2], 2)
            else:
                net.join_all([spine], group)


def uneven_cables(net):
    low, high = net.switch(12, 12), net.switch(0, 6)
    for a, b in itertools.product(low, high):
        net.join(a, b, net.rng.randint(1, 4))


def uneven_leaves(net):
    """Leaves with 4 to 18 hosts and fewer cables where there are fewer."""
    spines = net.switch(0, 12)
    for i in range(24):
        leaf = net.switch(net.rng.randint(4, 18))
        net.join_all(leaf, net.rng.sample(spines, 8 if i % 3 else 12))


def uneven_pods(net):
    core = [net.switch(0, 6) for _ in range(6)]
    for i in range(8):
        _, high = two_levels(net, 3 + i % 4, 6, 6 + i % 3)
        for spine, group in zip(high, core):
            net.join_all([spine], net.rng.sample(group, 4))


def leaf_below(net):
    low, _ = two_levels(net, 16, 8, 8)
    net.join_all(net.switch(6), [low[2], low[7]])


def management_leaf(net):
    """One leaf with two hosts and two cables."""
    _, high = two_levels(net, 16, 8, 12)
    net.join_all(net.switch(2), high[:2])


def two_trees(net, cables, level):
    a, b = (two_levels(net, 12, 8, 10)[level] for _ in range(2))
    for i in range(cables):
        net.join(a[i], b[i])


def hosts_off(net, n_pods, n_leaves):
    """Of so many pods so many leaves have no host that is on."""
    tree, _ = pods(net, 8, 6, 6, 6, 6, 6)
    for low, _ in tree[:n_pods]:
        for sw in low[:n_leaves]:
            net.hosts[sw] = 0


TREES = {
    **{f"service-{i}": lambda n, i=i: n.add_hosts(
        two_levels(n, 24, 12, 12)[1][:i]) for i in range(4)},
    "production": production,
    "host-spine": lambda n: n.add_hosts(two_levels(n, 12, 6, 8)[1], 4),
    "host-spine-3": host_spine3,
    "hosts-everywhere": lambda n: n.add_hosts(two_levels(n, 12, 6, 6)[1], 6),
    "648": lambda n: two_levels(n, 36, 18, 18),
    "damaged": lambda n: two_levels(n, 24, 12, 12),
    "three": lambda n: pods(n, 12, 6, 6, 6, 6, 6),
    "three-switches": three_less,
    # oversubscribed 2:1 at the leaves and 3:1 at the spines
    "over": lambda n: pods(n, 12, 12, 6, 12, 6, 4),
    "clos4": clos4,
    "full-core": lambda n: pods(n, 6, 6, 6, 6, 1, 6, 6),
    "full-core-4": lambda n: pods(n, 6, 6, 4, 6, 1, 6, 4),
    "half-core": lambda n: pods(n, 4, 4, 4, 4, 2, 4, 2),
    "hosts-off": lambda n: hosts_off(n, 8, 3),
    "hosts-off-pod": lambda n: hosts_off(n, 1, 6),
    "rails-2": lambda n: two_levels(n, 32, 16, 16),
    "rails-3": lambda n: pods(n, 8, 8, 8, 12, 2, 8, 4),
    "directors": directors,
    "growth": growth,
    "half": lambda n: two_levels(n, 18, 18, 9),
    "half-3": lambda n: pods(n, 3, 6, 6, 6, 6, 6),
    "uneven-cables": uneven_cables,
    "uneven-leaves": uneven_leaves,
    "uneven-pods": uneven_pods,
    "leaf-peers": lambda n: n.join_pairs(two_levels(n, 16, 8, 8)[0]),
    "spine-peers": lambda n: n.join_pairs(two_levels(n, 16, 8, 8)[1]),
    "leaf-below": leaf_below,
    "management-leaf": management_leaf,
    "two-trees-4": lambda n: two_trees(n, 4, 1),
    "two-trees-8": lambda n: two_trees(n, 8, 1),
    "two-trees-leaves": lambda n: two_trees(n, 6, 0),
}

# Per cent of the cables that are taken away, told by the name; None: as it is.
LOST = {
    "production": (0, 1, 3, 5), "648": (0, 1, 5, 10), "damaged": (20, 30),
    "three": (1, 15), "over": (0, 6), "clos4": (0, 5), "rails-2": (None, 3),
    "rails-3": (None, 2), "uneven-cables": (None, 5),
}


# ---- others ----

def places(net, sides, hosts):
    return {c: net.switch(hosts)[0]
            for c in itertools.product(*map(range, sides))}


def grid(net, sides, hosts, wraps=True):
    at = places(net, sides, hosts)
    for c, sw in at.items():
        for i, side in enumerate(sides):
            if c[i] + 1 < side or (wraps and side > 2):
                to = c[:i] + ((c[i] + 1) % side,) + c[i + 1:]
                net.join(sw, at[to])


def hyperx(net, sides, hosts):
    at = places(net, sides, hosts)
    for (a, x), (b, y) in itertools.combinations(at.items(), 2):
        if sum(i != k for i, k in zip(a, b)) == 1:
            net.join(x, y)


def dragonfly(net, a, p, h):
    """Groups of a switches, each with p hosts and h cables to others."""
    n = a * h + 1
    sw = [net.switch(p, a) for _ in range(n)]
    for group in sw:
        for x, y in itertools.combinations(group, 2):
            net.join(x, y)
    for i in range(n):
        for k in range(i + 1, n):
            net.join(sw[i][(k - i - 1) // h], sw[k][(n - k + i - 1) // h])


def dragonfly_plus(net):
    """Groups that are trees of two levels."""
    group = [two_levels(net, 4, 4, 4)[1] for _ in range(9)]
    used = [0] * 9
    for i, k in itertools.combinations(range(9), 2):
        for _ in range(2):
            net.join(group[i][used[i] % 4], group[k][used[k] % 4])
            used[i] += 1
            used[k] += 1


def regular(net, n, degree, hosts):
    """Jellyfish: a random regular graph."""
    sw = net.switch(hosts, n)
    while True:
        ends = [s for s in sw for _ in range(degree)]
        net.rng.shuffle(ends)
        pairs = [tuple(sorted(p)) for p in zip(ends[::2], ends[1::2])]
        for _ in range(100 * n):
            bad = [i for i, p in enumerate(pairs)
                   if p[0] == p[1] or pairs.count(p) > 1]
            if not bad:
                break
            i, k = bad[0], net.rng.randrange(len(pairs))
            (a, b), (c, d) = pairs[i], pairs[k]
            pairs[i], pairs[k] = tuple(sorted((a, c))), tuple(sorted((b, d)))
        else:
            continue
        net.cables += pairs
        return


def kautz(net, letters, hosts):
    words = [w for w in itertools.product(range(letters), repeat=3)
             if w[0] != w[1] and w[1] != w[2]]
    at = {w: net.switch(hosts)[0] for w in words}
    for w in words:
        for c in range(letters):
            if c != w[2]:
                net.join(at[w], at[w[1:] + (c,)])


def slim_fly(net):
    """McKay, Miller and Siran's graph for q = 5."""
    one, two = net.switch(4, 25), net.switch(4, 25)
    for a, b in itertools.product(range(5), repeat=2):
        net.join(one[a * 5 + b], one[a * 5 + (b + 1) % 5])
        net.join(two[a * 5 + b], two[a * 5 + (b + 2) % 5])
        for c in range(5):
            net.join(one[a * 5 + b], two[c * 5 + (b - c * a) % 5])


def torus_less(net):
    grid(net, (6, 6, 6), 2)
    net.lose_switch(100)
    net.hosts[100] = 0
    del net.cables[5], net.cables[200], net.cables[300]


OTHERS = {
    "dragonfly-6-3-3": lambda n: dragonfly(n, 6, 3, 3),
    "dragonfly-4-2-2": lambda n: dragonfly(n, 4, 2, 2),
    "dragonfly-plus": dragonfly_plus,
    "torus-6-6-6": lambda n: grid(n, (6, 6, 6), 2),
    "torus-6-less": torus_less,
    "torus-5-5-5": lambda n: grid(n, (5, 5, 5), 2),
    "torus-8-8": lambda n: grid(n, (8, 8), 4),
    "mesh-8-8": lambda n: grid(n, (8, 8), 4, False),
    "mesh-4-4-4": lambda n: grid(n, (4, 4, 4), 3, False),
    "ring-12": lambda n: grid(n, (12,), 6),
    "random-64-8": lambda n: regular(n, 64, 8, 6),
    "random-128-12": lambda n: regular(n, 128, 12, 8),
    "slim-fly-5": slim_fly,
    "hyperx-6-6": lambda n: hyperx(n, (6, 6), 6),
    "hypercube-6": lambda n: hyperx(n, (2,) * 6, 4),
    "kautz-4": lambda n: kautz(n, 4, 4),
}


def main():
    folder, seed = sys.argv[1], (sys.argv[2:] + ["1"])[0]
    for kind, shapes in (("trees", TREES), ("others", OTHERS)):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        for name, draw in shapes.items():
            for percent in LOST.get(name, (None,)):
                full = name + (f"-{percent}" if percent is not None else "")
                net = Net(random.Random(f"{seed} {full}"))
                draw(net)
                net.lose(percent or 0)
                net.write(os.path.join(folder, kind, full + ".net"))


if __name__ == "__main__":
    main()

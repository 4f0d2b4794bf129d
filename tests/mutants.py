# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The mutants of tests/mutate: where a C file can get a small fault, and which.

cond: a condition negated or a relational operator changed; const: a number
changed; return: a returned value changed; call: a call dropped whose value is
not used. Only function bodies are mutated. Left alone: texts, lines of the log,
assertions, and calls that free memory (the sanitizers' matter).
"""
import collections, os, random, re, subprocess

SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
         "&&": "||", "||": "&&"}
UNTOUCHED = re.compile(r"g_assert|_Static_assert|\bva_(start|end)|"
                       r"\b(log_\w+|say|tell|note|printf|fprintf)\s*\(")
FREEING = re.compile(r"free$|_unref$|^g_clear|^g_auto|_autoptr|^g_return|"
                     r"^g_unlink|^close$|^(if|for|while|switch|return|sizeof)$")
Mutant = collections.namedtuple("Mutant", "file function start end line kind "
                                "old new entry killer", defaults=(None, None))


def sources(only=None):
    return [n for n in subprocess.check_output(
        ["git", "ls-files", "topology", "routing", "sm", "tools", "lab"],
        text=True).split()
        if n.endswith(".c") and (not only or n.startswith(only + "/"))]


def blank(match):
    """Comments and texts, so that offsets and lines stay what they are."""
    return re.sub(r"[^\n]", "~" if match[0][0] in "\"'" else " ", match[0])


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


def call_sites(code):
    for m in re.finditer(r"^\t+((?:\(void\)\s*)?([a-z]\w*))\(", code, re.M):
        end = closing(code, m.end() - 1) + 1
        before = code[:m.start()].rstrip()
        begins = before[-1:] in ";{}):" or before.endswith(("else", "do"))
        if begins and code[end:end + 1] == ";" and \
           not FREEING.search(m[2]) and not UNTOUCHED.search(m[0]):
            yield m.start(1), end, "call", "(void)0"


def value_sites(code):
    for m in re.finditer(r"\bif (\()", code):
        end = closing(code, m.start(1)) + 1
        yield m.start(1), end, "cond", f"(!{code[m.start(1):end]})"
    for m in re.finditer(r"(?<= )(==|!=|<=?|>=?|&&|\|\|)(?=\s)", code):
        yield m.start(), m.end(), "cond", SWAPS[m[0]]
    for m in re.finditer(r"(?<![\w.\[])(0x[0-9a-f]+|\d+)(u?l*)\b(?!\.)", code,
                         re.I):
        base = 8 if re.match(r"0\d", m[1]) else 0
        new = {"0": "1", "1": "0"}.get(m[1]) or str(int(m[1], base) + 1)
        yield m.start(), m.end(), "const", new + m[2]
    for m in re.finditer(r"\breturn\s+([^;]+);", code):
        new = "true" if m[1] == "false" else "false" if m[1] == "true" else \
            "1" if m[1] == "0" else "0"
        if m[1] != "NULL":
            yield m.start(1), m.end(1), "return", new


def blanked(text):
    """The code alone, at the same offsets."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' +
                  r"'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.M)


def functions(code):
    """Name and span of each body."""
    for m in re.finditer(r"^(?:\w[\w ]* \*?)?(\w+)\([^;{}]*\)\n(\{\n.*?^\})",
                         code, re.M | re.S):
        yield m[1], m.start(2), m.end(2)


def sites(name):
    """All mutants of a file."""
    text = open(name, encoding="utf-8").read()
    code = blanked(text)
    spans = list(functions(code))
    quiet = [(m.start(), closing(code, m.end() - 1) if m[0][-1] == "("
              else code.find(";", m.end())) for m in UNTOUCHED.finditer(code)]
    for start, end, kind, new in list(call_sites(code)) + \
            list(value_sites(code)):
        function = next((f for f, a, b in spans if a <= start and end <= b),
                        None)
        if function and not any(a <= start <= b for a, b in quiet):
            old = text[start:end]
            if kind == "cond" and new[0] == "(":
                new = f"(!{old})"
            yield Mutant(name, function, start, end,
                         text.count("\n", 0, start) + 1, kind, old, new)


def choose(count, seed, only):
    """Folders take turns by their number of lines, kinds evenly in each."""
    pools = collections.defaultdict(lambda: collections.defaultdict(list))
    size = collections.Counter()
    for name in sources(only):
        folder = os.path.dirname(name)
        size[folder] += sum(1 for _ in open(name, encoding="utf-8"))
        for mutant in sites(name):
            pools[folder][mutant.kind].append(mutant)
    dice = random.Random(seed)
    for kinds in pools.values():
        for pool in kinds.values():
            dice.shuffle(pool)
    taken, chosen, total = collections.Counter(), [], sum(size.values())
    while len(chosen) < count and any(pools.values()):
        folder = max(sorted(pools), key=lambda f: (
            size[f] * (len(chosen) + 1) / total - taken[f]))
        taken[folder] += 1
        kinds = pools[folder]
        kind = dice.choice(sorted(kinds))
        chosen.append(kinds[kind].pop())
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            del pools[folder]
    return chosen


def line_of(mutant, verdict=None):
    old, new = (" ".join(text.split()) for text in (mutant.old, mutant.new))
    return (f"{mutant.file}:{mutant.line}: {mutant.kind}: {old[:60]} -> "
            f"{new[:60]}" + (f": {verdict}" if verdict else ""))


def places(text, old):
    """Where a text stands by itself in code, however its lines are broken."""
    words = r"\s+".join(re.escape(word) for word in old.split())
    edges = (r"(?<= )", r"(?=\s)") if old in SWAPS else \
        (r"(?<!\w)" * bool(re.match(r"\w", old)),
         r"(?!\w)" * bool(re.search(r"\w$", old)))
    return [m.span() for m in re.finditer(edges[0] + words + edges[1], text)]


def bodies(name):
    text = open(name, encoding="utf-8").read()
    return text, list(functions(blanked(text)))


def entry_of(mutant):
    """A line of a list."""
    text, spans = bodies(mutant.file)
    name, a, b = next(s for s in spans if s[1] <= mutant.start < s[2])
    old, new = (" ".join(t.split()) for t in (mutant.old, mutant.new))
    which = [a + at[0] for at in places(text[a:b], old)].index(mutant.start)
    return "\t".join([os.path.basename(mutant.file), name, mutant.kind,
                      str(which + 1), old, new])


def columns(line):
    return line.rstrip("\n").split("\t")


def record(name, verdicts):
    """Writes into a list what killed each; nothing for what survived."""
    killers = {tuple(mutant.entry): re.sub("^(killed by|time:) ", "", verdict)
               if verdict.startswith(("killed", "time")) else ""
               for mutant, verdict in verdicts}
    with open(name, encoding="utf-8") as file:
        lines = [columns(line) for line in file]
    with open(name + ".new", "w", encoding="utf-8") as file:
        for line in lines:
            killer = killers.get(tuple(line[:6]))
            if killer is not None:
                line = line[:6] + [killer] * bool(killer)
            print("\t".join(line), file=file)
    os.replace(name + ".new", name)


def read_list(name, only):
    """The mutants of a list, and what it names that is gone. A function may
    have moved, to a file in which no other has its name, too. Where the code
    around it has changed, a text may be found that is no mutant's."""
    where, found, gone = collections.defaultdict(list), [], []
    drawn = collections.defaultdict(set)	# by file
    for file in sources():
        text, spans = bodies(file)
        for function, a, b in spans:
            where[function].append((file, text, a, b))
    for line in open(name, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        base, function, kind, which, old, new, *killer = columns(line)
        same = [f for f in where[function] if os.path.basename(f[0]) == base]
        same = same or where[function]
        at = places(same[0][1][same[0][2]:same[0][3]], old) \
            if len(same) == 1 else []
        if len(at) < int(which):
            gone.append(f"{base}: {function}: {old} -> {new}: gone")
            continue
        file, text, a, _ = same[0]
        start, end = (a + offset for offset in at[int(which) - 1])
        if kind != "hand" and not drawn[file]:
            drawn[file] = {(m.start, m.end, " ".join(m.new.split()))
                           for m in sites(file)}
        if kind != "hand" and (start, end, new) not in drawn[file]:
            gone.append(f"{base}: {function}: {old} -> {new}: moved")
            continue
        if not only or file.startswith(only + "/"):
            line_no = text.count("\n", 0, start) + 1
            found.append(Mutant(file, function, start, end, line_no, kind,
                                text[start:end], new, columns(line)[:6],
                                killer[0] if killer else None))
    return found, gone

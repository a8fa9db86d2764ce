#!/usr/bin/env python3
"""The shape of the code in numbers: contrib/shape.py [TREE] [--long]

Prints, for the Rust files under TREE/crates (this tree unless named): fields per struct, methods per
type, fields assigned in more than one file, circles between files and between rooms of a crate, lines
per function and file, words that doc lines begin with, names defined more than once, long lines, totals.
--long lists all of what is otherwise cut after ten. No gate: numbers to look at.

It reads text, not types, after comments and strings are blanked out. What follows from that:
- Code of tests, benches, examples and macros' output does not count, but in the totals of lines.
- A type is its crate and its name; two types of one name in a crate are one.
- A field counts as assigned where `self.a.b = ...` (or `+=` and the like) stands in an `impl` of a type
  whose fields lead there, or `x.b = ...` where one struct alone of the crate has a field `b`. A change
  by a method (`self.queue.push(..)`) or through `&mut` is not seen.
- A file uses another if it names something defined there through `use`, or through a path that begins
  with crate, super or self, or calls a method on `self` that another file defines for the type at hand.
  Mere re-exports (`pub use`) are followed, not counted. A circle is a strongly connected set of files.
- A room is a module directly below a crate's root, with all below it; the root itself is none.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
MAX_COLUMNS = 110
ASSIGN = r"(?:=(?![=>])|[-+*/%|&^]=|<<=|>>=)"


def blank(text):
    """Code with comments, strings and characters replaced by spaces, line by line the text's length."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\(?:x..|u\{[^}]*\}|.)|[^\\\'\n])\'',
        re.S,
    )
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def closing(code, start, pair="{}"):
    """Index of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(code)):
        if code[i] == pair[0]:
            depth += 1
        elif code[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return i
    return len(code) - 1


def without_tests(code):
    """Code without the items under `#[cfg(test)]`, and the names of the modules among them."""
    outside = set()
    while found := re.search(r"#\[cfg\((?:all\()?(?:any\()?test\b[^\]]*\]", code):
        rest = re.compile(r"[{;]").search(code, found.end())
        end = closing(code, rest.start()) if rest and code[rest.start()] == "{" else (rest or found).start()
        if module := re.search(rf"\bmod\s+({NAME})\s*;", code[found.start() : end + 1]):
            outside.add(module.group(1))
        code = code[: found.start()] + re.sub(r"[^\n]", " ", code[found.start() : end + 1]) + code[end + 1 :]
    return code, outside


def is_test(path):
    parts = path.parts
    below = parts[parts.index("crates") + 2 :]
    return below[0] != "src" or bool(re.search(r"(^|_)tests?(\.rs)?$|^test_", path.name[:-3])) or any(
        re.search(r"(^|_)tests$", part) for part in below[:-1]
    )


def outermost(body, brackets="()[]{}<>"):
    """Body with what stands inside any of the brackets blanked."""
    out, depth = [], 0
    for i, c in enumerate(body):
        if c in brackets[1::2] and not (c == ">" and body[i - 1] in "-="):
            depth -= 1
        out.append(c if depth == 0 or c == "\n" else " ")
        if c in brackets[::2]:
            depth += 1
    return "".join(out)


class File:
    """One source file: where its module stands, what it defines and imports."""

    def __init__(self, path, root):
        self.path, self.name = path, str(path.relative_to(root))
        below = path.relative_to(root / "crates").parts
        self.crate = below[0]
        steps = [*below[2:-1], below[-1][:-3]]
        if steps[-1] in ("mod", "lib", "main"):
            steps.pop()
        self.module = tuple(steps)
        self.text = path.read_text()
        self.code, self.test_modules = without_tests(blank(self.text))
        self.defines = set(
            re.findall(rf"\b(?:struct|enum|trait|type|fn|const|static|union)\s+(?:mut\s+)?({NAME})", self.code)
        ) | set(re.findall(rf"\bmacro_rules!\s+({NAME})", self.code))
        self.uses = []  # (path, name here, re-exported)
        for found in re.finditer(rf"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);", self.code):
            for full, alias in leaves(found.group(2)):
                self.uses.append((full, alias, bool(found.group(1))))
        self.paths = [
            tuple(re.split(r"\s*::\s*", p))
            for p in re.findall(rf"(?<![\w:])((?:crate|super|self)(?:\s*::\s*{NAME})+)", re.sub(r"\buse\s[^;]+;", "", self.code))
        ]

    def impls(self):
        """Type, trait or nothing, and body of every `impl` in the file."""
        for found in re.finditer(r"^[ ]*(?:unsafe\s+)?impl\b", self.code, re.M):
            brace = self.code.find("{", found.end())
            head = re.sub(r"\bwhere\b.*", "", self.code[found.end() : brace], flags=re.S)
            while re.search(r"<[^<>]*>", head.replace("->", "  ")):
                head = re.sub(r"<[^<>]*>", "", head.replace("->", "  "))
            trait, _, kind = head.rpartition(" for ")
            names = re.findall(NAME, kind.replace("dyn ", "").replace("mut ", ""))
            if names:
                yield names[-1], trait.strip(), self.code[brace : closing(self.code, brace) + 1]


def leaves(tree, front=()):
    """Every path of a `use`, with the name that it has here."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, alias = tree.partition(" as ")
        steps = front + tuple(s.strip() for s in path.split("::"))
        if steps[-1] == "self":
            steps = steps[:-1]
        yield steps, alias.strip() or steps[-1]
        return
    head, _, inner = tree.partition("{")
    steps = front + tuple(s.strip() for s in head.split("::") if s.strip())
    inner, depth, start = inner[: inner.rindex("}")], 0, 0
    for i, c in enumerate(inner + ","):
        depth += (c == "{") - (c == "}")
        if c == "," and depth == 0:
            if inner[start:i].strip():
                yield from leaves(inner[start:i], steps)
            start = i + 1


class Crate:
    """The files of a crate, and who defines a name."""

    def __init__(self, files):
        self.files = files
        self.modules = {f.module: f for f in files}
        self.fields = defaultdict(dict)  # type -> field -> names in its type
        self.methods = defaultdict(lambda: defaultdict(set))  # type -> method -> files
        self.count = Counter()  # type -> methods
        for f in files:
            for found in re.finditer(rf"\bstruct\s+({NAME})[^;{{(]*\{{", f.code):
                body = f.code[found.end() : closing(f.code, found.end() - 1)]
                body = re.sub(r"#\[[^\]]*\]", "", body)
                for field in re.finditer(rf"(?:^|,|\n)\s*(?:pub(?:\([^)]*\))?\s+)?({NAME})\s*:(?!:)([^:]*?)(?=,|$)", outermost(body)):
                    whole = re.search(rf"\b{field.group(1)}\s*:(?!:)([^;{{]*?)(?:,\s*\n|$)", body, re.S)
                    self.fields[found.group(1)][field.group(1)] = re.findall(NAME, whole.group(1) if whole else "")
            for kind, _, body in f.impls():
                for method in re.findall(rf"\bfn\s+({NAME})", outermost(body[1:-1], "{}")):
                    self.methods[kind][method].add(f)
                    self.count[kind] += 1

    def definer(self, base, steps, seen=()):
        """The file that defines what `steps`, seen from the module `base`, names."""
        steps = list(steps)
        if steps and steps[0] == "crate":
            base, steps = (), steps[1:]
        elif steps and steps[0] in ("super", "self"):
            while steps and steps[0] in ("super", "self"):
                base, steps = (base[:-1] if steps[0] == "super" else base), steps[1:]
        elif not steps or base + (steps[0],) not in self.modules:
            return None
        while steps and base + (steps[0],) in self.modules:
            base, steps = base + (steps[0],), steps[1:]
        here = self.modules.get(base)
        if here is None or not steps or steps[0] in here.defines or (base, steps[0]) in seen:
            return here
        for full, alias, _ in here.uses:
            if alias == steps[0] and (there := self.definer(base, full, (*seen, (base, steps[0])))):
                return there
        for full, alias, _ in here.uses:
            if alias == "*" and (there := self.definer(base, full[:-1])) and steps[0] in there.defines:
                return there
        return here

    def edges(self):
        """Which file uses which."""
        out = {f: set() for f in self.files}
        for f in self.files:
            paths = [full for full, _, again in f.uses if not again] + f.paths
            out[f] |= {self.definer(f.module, p[:-1] if p[-1] == "*" else p) for p in paths}
            for kind, _, body in f.impls():
                for call in set(re.findall(rf"\bself\s*\.\s*({NAME})\s*\(", body)):
                    where = self.methods[kind].get(call, set())
                    if len(where) == 1:
                        out[f] |= where
            out[f] -= {f, None}
        return out

    def assigned(self):
        """(type, field) -> files that assign it."""
        owners = defaultdict(set)
        for kind, fields in self.fields.items():
            for field in fields:
                owners[field].add(kind)
        out = defaultdict(set)
        for f in self.files:
            for kind, _, body in f.impls():
                for found in re.finditer(rf"\bself((?:\s*\.\s*{NAME})+)\s*{ASSIGN}", body):
                    at = kind
                    steps = re.findall(NAME, found.group(1))
                    for step in steps[:-1]:
                        names = self.fields[at].get(step, []) if at else []
                        at = next((n for n in names if n in self.fields), None)
                    if at and steps[-1] in self.fields[at]:
                        out[at, steps[-1]].add(f)
            for found in re.finditer(rf"(?<![\w.])(?!self\b){NAME}(?:\s*\.\s*{NAME})*\s*\.\s*({NAME})\s*{ASSIGN}", f.code):
                if len(owners[found.group(1)]) == 1:
                    out[next(iter(owners[found.group(1)])), found.group(1)].add(f)
        return out


def circles(edges):
    """Sets of more than one node that all reach each other, the largest first."""

    def reach(node, graph):
        seen, todo = set(), [node]
        while todo:
            for other in graph.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    reached = {node: reach(node, edges) for node in edges}
    found = {frozenset(b for b in reached[a] if a in reached[b]) | {a} for a in edges if a in reached[a]}
    return sorted((c for c in found if len(c) > 1), key=lambda c: (-len(c), sorted(map(str, c))))


def percentiles(values):
    values = sorted(values)
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return f"p50 {at(0.5)}, p99 {at(0.99)}, max {values[-1]}"


def functions(f):
    """Name and lines of every function in a file."""
    for found in re.finditer(rf"\bfn\s+({NAME})", f.code):
        rest = re.compile(r"[{;]").search(re.sub(r"\[[^\[\]\n]*;[^\[\]\n]*\]", lambda m: " " * len(m.group()), f.code), found.end())
        if rest and f.code[rest.start()] == "{":
            yield found.group(1), f.code.count("\n", found.start(), closing(f.code, rest.start())) + 1


def show(title, lines, long):
    print(f"\n{title}")
    for line in lines if long else lines[:10]:
        print(f"  {line}")
    if not long and len(lines) > 10:
        print(f"  ... and {len(lines) - 10} more")


def main():
    long = "--long" in sys.argv
    arguments = [a for a in sys.argv[1:] if a != "--long"]
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    paths = [p for p in sorted(root.glob("crates/*/**/*.rs")) if "target" not in p.relative_to(root).parts]
    files = [File(p, root) for p in paths if not is_test(p)]
    tested = {(f.crate, (*f.module, name)) for f in files for name in f.test_modules}
    inside = lambda f: any((f.crate, f.module[: i + 1]) in tested for i in range(len(f.module)))
    files = [f for f in files if not inside(f)]
    crates = defaultdict(list)
    for f in files:
        crates[f.crate].append(f)
    crates = {name: Crate(members) for name, members in crates.items()}

    every = [p.read_text().splitlines() for p in paths]
    source = sum(len(f.text.splitlines()) for f in files)
    total = sum(map(len, every))
    print(f"Rust lines under crates/: {total} in {len(every)} files; not of tests, benches, examples: {source} in {len(files)}")
    print(f"Lines over {MAX_COLUMNS} columns: {sum(len(line) > MAX_COLUMNS for text in every for line in text)}")
    print(f"Lines per file: {percentiles([len(f.text.splitlines()) for f in files])}")
    lines = [(n, name, f) for f in files for name, n in functions(f)]
    print(f"Lines per function ({len(lines)} functions): {percentiles([n for n, _, _ in lines])}")

    docs = [line.strip()[3:].strip() for f in files for line in f.text.splitlines() if re.match(r"\s*//[/!]( |$)", line)]
    words = Counter(w for line in docs for w in re.findall(r"^(What|Who|Whether|The same|See the module)\b", line))
    share = 100 * sum(words.values()) / max(1, len(docs))
    print(f"Doc lines that begin with {', '.join(f'{w} {n}' for w, n in words.most_common()) or 'such words 0'}: "
          f"{sum(words.values())} of {len(docs)}, {share:.1f} %")

    fields = sorted(((len(v), f"{c}::{k}") for c, crate in crates.items() for k, v in crate.fields.items()), reverse=True)
    show(f"Fields per struct ({percentiles([n for n, _ in fields])}; above 20: {sum(n > 20 for n, _ in fields)})",
         [f"{n:4} {name}" for n, name in fields if n > 10], long)
    methods = sorted(((n, f"{c}::{k} in {len({f for fs in crate.methods[k].values() for f in fs})} files")
                      for c, crate in crates.items() for k, n in crate.count.items()), reverse=True)
    show(f"Methods per type ({percentiles([n for n, _ in methods])}; above 50: {sum(n > 50 for n, _ in methods)})",
         [f"{n:4} {name}" for n, name in methods if n > 15], long)
    many = sorted(((len(fs), f"{c}::{k}.{field}", fs) for c, crate in crates.items()
                   for (k, field), fs in crate.assigned().items() if len(fs) > 1), key=lambda m: (-m[0], m[1]))
    show(f"Fields assigned in more than one file: {len(many)}",
         [f"{n} {name}: {', '.join(sorted('/'.join(f.module) or 'lib' for f in fs))}" for n, name, fs in many], long)

    by_file, by_room = [], []
    for c, crate in crates.items():
        edges = crate.edges()
        for circle in circles(edges):
            by_file.append((len(circle), f"{c}: {', '.join(sorted('/'.join(f.module) or 'lib' for f in circle))}"))
        rooms = defaultdict(set)
        for f, others in edges.items():
            rooms[f.module[:1]] |= {o.module[:1] for o in others} - {f.module[:1], ()}
        rooms.pop((), None)
        by_room += [(len(circle), f"{c}: {', '.join(sorted(r[0] for r in circle))}") for circle in circles(rooms)]
    cut = lambda text: text if long or len(text) < 150 else text[:147] + "..."
    for title, found in (("files", by_file), ("rooms of a crate", by_room)):
        show(f"Circles between {title}: {len(found)}, with {sum(n for n, _ in found)} members",
             [cut(f"{n:3} {name}") for n, name in sorted(found, key=lambda x: (-x[0], x[1]))], long)

    names = defaultdict(list)
    for f in files:
        for name in re.findall(rf"^(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|type|union)\s+({NAME})", f.code, re.M):
            names[name].append(f.crate)
    twice = sorted(((len(cs), name, cs) for name, cs in names.items() if len(cs) > 1), key=lambda t: (-t[0], t[1]))
    show(f"Names of types defined more than once: {len(twice)} of {len(names)}",
         [f"{n} {name}: {', '.join(sorted(cs))}" for n, name, cs in twice], long)
    show("Longest functions", [f"{n:4} {name} in {f.name}" for n, name, f in sorted(lines, key=lambda l: -l[0])[:10]], long)
    widest = sorted(((len(f.text.splitlines()), f.name) for f in files), reverse=True)
    show("Longest files", [f"{n:4} {name}" for n, name in widest[:10]], long)


if __name__ == "__main__":
    main()

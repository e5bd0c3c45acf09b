"""Every verb that writes, with small inputs: what tests/kills and tests/faults put under stress,
and how they tell whole outputs from others.

A verb is run in a folder of its own, where there is nothing yet or, where it may write over older
outputs, over those of another input. Whatever happens to it, every output must afterwards be old,
new or absent; no two outputs may be one old and one new (where one of them is of no use without the
other, as long as it is there); and the same command run again must succeed, or refuse because
everything is there, and leave exactly what an undisturbed run leaves.
"""

import os
import shutil
import subprocess
import tempfile


class Workshop:
    """A folder with two of everything that verbs read, and the program."""

    def __init__(self, dpmf):
        self.dpmf = os.path.abspath(dpmf)
        # In memory where that can be had: flushing tells a disturbed process nothing, and takes
        # most of the time on a disk.
        self.folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK |
                                                                   os.X_OK) else None)
        self.inputs = os.path.join(self.folder, "inputs")
        self.environment = dict(os.environ, LC_ALL="C.UTF-8",
                                XDG_STATE_HOME=os.path.join(self.folder, "state"))
        self.make_inputs()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, arguments, place, **environment):
        return subprocess.Popen([self.dpmf, *arguments], cwd=place,
                                env=dict(self.environment, **environment), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, arguments, place, **environment):
        """@return exit status, standard output, messages"""
        process = self.start(arguments, place, **environment)
        output, messages = process.communicate()
        return process.returncode, output, messages.decode(errors="replace")

    def must(self, arguments, place):
        status, output, messages = self.run(arguments, place)
        if status != 0:
            raise SystemExit(f"{' '.join(arguments)}: {messages}")
        return output

    def make_inputs(self):
        os.mkdir(self.inputs)
        with open(os.path.join(self.inputs, "items.csv"), "w", encoding="ascii") as file:
            file.write("item,title\n" + "".join(f"{i},Title {i}\n" for i in range(1, 61)))
        for n in range(2):
            for command in (
                    f"synth -q --users 90 --items 60 --ratings 1500 --seed {n + 1} -o {n}.dpr",
                    f"export -q {n}.dpr --csv {n}.csv",
                    f"train -q {n}.dpr -k 4 --epochs 1 --deterministic -o {n}.safetensors",
                    f"import -q {n}.csv --format csv --on-error skip -o p{n}.dpr",
                    f"train -q p{n}.dpr --epsilon 2 --rating-range 1:5 --catalogue items.csv "
                    f"--population p{n} "
                    f"-o r{n}.safetensors"):
                self.must(command.split(), self.inputs)


def files(place):
    """What is there under names of its own: relative path to bytes. Empty files count as absent."""
    found = {}
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, place)
            if (not any(part.startswith(".") for part in relative.split("/")) and
                    os.path.getsize(path)):
                with open(path, "rb") as file:
                    found[relative] = file.read()
    return found


def hidden(place):
    return [
        name for folder, folders, names in os.walk(place) for name in folders + names
        if name.startswith(".")
    ]


class Verb:
    """command: of one run, in a folder of its own; {} stands for the number of the input. over:
    whether it may write over older outputs. last: of several outputs the one that makes sense of
    the others: where it is, everything must be. needs: the output that must always be there when an
    older one was."""

    def __init__(self, name, command, over=True, last=None, threads=False, needs=None):
        self.name, self.command, self.over, self.last = name, command, over, last
        self.threads, self.needs = threads, needs

    def prepare(self, shop):
        """Makes the whole outputs of both inputs, to compare with."""
        self.shop, self.whole, self.contents = shop, [], []
        for number in range(2):
            place = os.path.join(shop.folder, f"whole-{number}")
            shutil.rmtree(place, ignore_errors=True)
            os.mkdir(place)
            shop.must([word for word in self.arguments(number) if word != "--replace"], place)
            self.whole.append(place)
            self.contents.append(files(place))

    def arguments(self, number, threads=None):
        words = [word.format(number, inputs=self.shop.inputs) for word in self.command]
        return words + (["-j", str(threads)] if threads and self.threads else [])

    def place(self, over):
        """A folder to run in, which holds the outputs of input 0, or nothing."""
        place = os.path.join(self.shop.folder, "place")
        shutil.rmtree(place, ignore_errors=True)
        if over:
            shutil.copytree(self.whole[0], place)
        else:
            os.mkdir(place)
        return place

    def is_whole(self, place):
        return files(place) == self.contents[1]

    def fault(self, place, over):
        """What is wrong with what a disturbed run left, or None."""
        old, new, there = self.contents[0] if over else {}, self.contents[1], files(place)
        is_old = [
            name for name in there if there[name] == old.get(name) and there[name] != new.get(name)
        ]
        is_new = [
            name for name in there if there[name] == new.get(name) and there[name] != old.get(name)
        ]
        odd = [name for name in there if there[name] not in (old.get(name), new.get(name))]
        if odd:
            return f"{odd[0]} is neither old nor new"
        if over and self.needs and self.needs not in there:
            return f"{self.needs} is gone"
        if is_old and is_new and (self.last is None or self.last in there):
            return f"{is_old[0]} is old, and {is_new[0]} is new"
        if self.last and self.last in there and there != new and there != old:
            return f"{self.last} is there, and not all that belongs to it"
        return None

    def again(self, place):
        """The same command once more. @return what is wrong, or None"""
        was_whole = self.is_whole(place)
        status, _, messages = self.shop.run(self.arguments(1), place)
        if status != 0 and not (was_whole and (status == 4 or "already" in messages)):
            return f"the next run is refused: {messages.strip()}"
        if not self.is_whole(place):
            return "the next run leaves something else"
        if status == 0 and hidden(place):
            return f"the next run leaves {hidden(place)[0]}"
        return None


def verbs(only=None):
    """All of them, or the one of that name."""
    found = [verb for verb in all_verbs() if only in (None, verb.name)]
    if not found:
        raise SystemExit(f"there is no verb called {only!r}")
    return found


def all_verbs():
    model = ["export", "-q", "{inputs}/{}.safetensors", "--not-private", "--users"]
    return [
        Verb("import", ["import", "-q", "{inputs}/{}.csv", "-o", "out.dpr"], threads=True),
        Verb("import --like",
             ["import", "-q", "{inputs}/{}.csv", "--like", "4", "-o", "out.dpr"], threads=True),
        Verb("describe --plot", ["describe", "-q", "{inputs}/{}.dpr", "--plot", "out.svg"]),
        Verb("synth", [
            "synth", "-q", "--users", "90", "--items", "60", "--ratings", "1500", "--seed", "{}",
            "-o", "out.dpr"
        ]),
        Verb("split", ["split", "-q", "{inputs}/{}.dpr", "--train", "a.dpr", "--test", "b.dpr"],
             threads=True),
        Verb("split, the test set first by name",
             ["split", "-q", "{inputs}/{}.dpr", "--train", "z.dpr", "--test", "b.dpr"]),
        Verb("shard", ["shard", "-q", "{inputs}/{}.dpr", "--parts", "5", "-o", "out"], over=False,
             last="out/shards.json"),
        Verb("train", [
            "train", "-q", "{inputs}/{}.dpr", "-k", "4", "--epochs", "3", "--deterministic", "-o",
            "out.safetensors", "--kernels", "ref"
        ]),
        Verb("train --continue", [
            "train", "-q", "{inputs}/{}.dpr", "--continue", "{inputs}/{}.safetensors", "-o",
            "out.safetensors"
        ]),
        Verb("train --solver ials", [
            "train", "-q", "{inputs}/{}.dpr", "--solver", "ials", "-k", "4", "--epochs", "2", "-o",
            "out.safetensors"
        ]),
        Verb("train --solver gibbs", [
            "train", "-q", "{inputs}/{}.dpr", "--solver", "gibbs", "-k", "4", "--epochs", "4", "-o",
            "out.safetensors"
        ]),
        Verb("tune", [
            "tune", "-q", "{inputs}/{}.dpr", "--trials", "1", "--epochs", "1", "-j", "1", "--goal",
            "ranking", "-o", "out.safetensors"
        ]),
        Verb("export --csv FILE",
             ["export", "-q", "{inputs}/{}.dpr", "--csv", "out.csv", "--replace"]),
        Verb("export --npy", model + ["--npy", "out"], over=False),
        Verb("export --csv of vectors", model + ["--csv", "out"], over=False),
        Verb("export --libmf", model + ["--libmf", "out"], over=False, last="out"),
        Verb("export --libmf --replace", model + ["--libmf", "out", "--replace"], last="out"),
        Verb("export --sqlite --replace", model + ["--sqlite", "out.db", "--replace"]),
        Verb("export --web", [
            "export", "-q", "{inputs}/r{}.safetensors", "--web", "out", "--catalogue",
            "{inputs}/items.csv"
        ], over=False, last="out/index.html"),
        # There is always a page, and what stands beside it is its own or absent.
        Verb("export --web --replace", [
            "export", "-q", "{inputs}/r{}.safetensors", "--web", "out", "--catalogue",
            "{inputs}/items.csv", "--replace"
        ], needs="out/index.html"),
    ]

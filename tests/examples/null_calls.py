"""Writes a C program that calls every public function with NULL: for each pointer that may not be
NULL once, the others leading to empty memory, and once for all of them together.

A function that returns a code must return DPMF_ERR_USAGE_NULL, and no function may crash. Which
pointers may be NULL is taken from the comments of the headers, which are thereby tested too.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from apidoc import c_header  # noqa: E402

# may be NULL everywhere, unless the comment says otherwise
ALWAYS = ("error", "options", "run", "report")


def parameter_types(declaration):
    """Pairs of a parameter's name and whether it is a pointer."""
    text = declaration.text[declaration.text.index(declaration.name) + len(declaration.name):]
    text = re.sub(r"\(\*(\w+)\)\((?:[^()]|\([^()]*\))*\)", r"*\1", text)
    text = text.replace("dpmf_setting_writer *", "int *")
    inside = re.sub(r"\)\s*(DPMF_PRINTF\(.*\))?;$", "", text.strip()[1:])
    parts = [each.strip() for each in inside.split(",")]
    return [(re.sub(r"\[.*\]", "", each).split()[-1].lstrip("*"), "*" in each or "[" in each)
            for each in parts if each not in ("void", "...", "")]


def is_optional(name, about, everything):
    """True: may be NULL; None: depends on what the others lead to, so that it is not tried
    alone."""
    if re.search(r"not NULL here|must not be NULL", about):
        return False
    if (name in ALWAYS or (name == "train" and "may be NULL" in about) or
        (name == "release" and "may be NULL" in about)):
        return True
    if re.search(r"NULL when (n|`size`) is 0", about):
        return everything
    if "when there are no ratings" in about:
        return None
    about = re.sub(r"NULL (after a failure|when the id is|when this process)", "", about)
    return "NULL" in about


def main():
    calls, n = [], 0
    for header in ("dpmf_client.h", "dpmf.h", "dpmf_text.h"):
        for section in c_header.read(ROOT / "include" / header).sections:
            for entry in section.entries:
                about = dict((text.split()[0], text)
                             for kind, text in c_header.paragraphs(entry.comment)
                             if kind == "param")
                for declaration in entry.declarations:
                    if declaration.kind != "function" or declaration.name.endswith("_default"):
                        continue
                    parameters = parameter_types(declaration)
                    is_int = bool(re.match(r"DPMF_API (int|int64_t)\s+\w+\(", declaration.text))
                    is_code = is_int and any(
                        "code" in text for kind, text in c_header.paragraphs(entry.comment)
                        if kind == "return")
                    required = [name for name, pointer in parameters
                                if pointer and is_optional(name, about[name], False) is False]
                    for missing in [*required, None]:
                        given = []
                        for name, pointer in parameters:
                            if not pointer:
                                given.append("1" if missing else "0")
                            elif missing is None or name == missing or name == "error":
                                given.append("NULL")
                            elif is_optional(name, about[name], False):
                                given.append("NULL")
                            else:
                                given.append("(void *)memory")
                        call = f"{declaration.name}({', '.join(given)})"
                        needs = [name for name, pointer in parameters
                                 if pointer and is_optional(name, about[name], True) is False]
                        clear = "memset(memory, 0, sizeof memory); "
                        n += 1
                        if is_code and (missing or needs):
                            calls.append(f'{clear}check("{call}", {call} == DPMF_ERR_USAGE_NULL);')
                        else:
                            calls.append(f'{clear}puts("{call}"); (void){call};')
    body = "\n".join(f"    {call}" for call in calls).replace('"(void *)memory', '"memory')
    print(
        "#include <dpmf.h>\n#include <dpmf_text.h>\n#include <stdio.h>\n#include "
        "<stdlib.h>\n#include <string.h>\n\n"
        "static _Alignas(64) char memory[65536];\n\n"
        "static void check(const char *call, int holds) {\n    puts(call);\n    fflush(stdout);\n"
        "    if (!holds) exit(1);\n}\n\n"
        f"int main(void) {{\n    setvbuf(stdout, NULL, _IOLBF, 0);\n{body}\n    puts(\"{n} "
        f"calls\");\n    return 0;\n}}"
    )


if __name__ == "__main__":
    main()

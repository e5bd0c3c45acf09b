"""Builds dpmf._native: the library and a few loops, as a module that Python can import.

The module's declarations are made from include/*.h and python/native_*.h when it is built, so
that the headers are the only place where the interface is written down. Used by setup.py alone.

DPMF_LIBRARY says what the module is linked with:
    (nothing)          libdpmf, built from this tree by CMake and packed into the module
    PATH/libdpmf.a     this one, packed into the module; dpmf.pc beside it says what it needs
    PATH/libdpmf.so    this one, which the dynamic linker must find when the module is imported
    system             the installed one, as pkg-config finds it: for packages of distributions
DPMF_INCLUDE is the folder of its headers, for the second and the third.

With the first two the program goes along, for `python -m dpmf` and the command dpmf: the one that
was built on the way, or the one that lies beside libdpmf.a. DPMF_STATIC=1, for wheels that are
carried elsewhere, packs zlib and zstd into both, from their static libraries.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from cffi import FFI
from setuptools import Extension
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ("dpmf_client.h", "dpmf.h", "dpmf_text.h")
OWN = ("python/native_loops", "python/native_arrow")

# What the library calls back. `self`, where there is one, is a handle of ffi.new_handle.
CALLBACKS = """
extern "Python" int dpmf_py_progress(void *self, const struct dpmf_progress *progress);
extern "Python" void dpmf_py_warn(void *self, const char *message);
extern "Python" int dpmf_py_setting(void *self, const char *name, const char *value, char *text,
                                    size_t size);
extern "Python" int dpmf_py_epoch(void *self, const struct dpmf_epoch *epoch);
extern "Python" int dpmf_py_trial(void *self, const struct dpmf_trial *trial);
extern "Python" int dpmf_py_ledger(void *self, const struct dpmf_ledger_population *population,
                                   const struct dpmf_ledger_entry *entry);
extern "Python" int dpmf_py_arrow_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out);
extern "Python" int dpmf_py_arrow_next(struct ArrowArrayStream *stream, struct ArrowArray *out);
extern "Python" void dpmf_py_arrow_release(struct ArrowArrayStream *stream);
extern "Python" int dpmf_py_before_spending(void *self, const struct dpmf_release_report *report);
"""


# How the linker is told to export nothing of an archive; on macOS, which names alone it exports.
KEEP_INSIDE = ("-Wl,-exported_symbol,_PyInit__native" if sys.platform == "darwin" else
               "-Wl,--exclude-libs,ALL")


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "cc"))


def declarations(headers: list[Path]) -> str:
    """The headers as cffi reads C: without what they include, comments, macros and attributes."""
    text = "".join(header.read_text(encoding="utf-8") for header in headers)
    text = re.sub(r"^\s*#\s*include\b.*$", "", text, flags=re.MULTILINE)
    # A compiler that is not GNU's gets no attributes from dpmf.h, and cffi knows none.
    done = subprocess.run([*compiler(), "-E", "-P", "-U__GNUC__", "-x", "c", "-"],
                          input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the headers could not be preprocessed:\n{done.stderr}")
    # Functions that the headers define are not in the library: cffi calls what they call.
    return re.sub(r"static inline [^{}]*\{[^{}]*\}", "", done.stdout)


def private_libraries(beside: Path) -> list[str]:
    """What a static libdpmf needs, from the dpmf.pc that was made with it."""
    for place in (beside / "dpmf.pc", beside / "pkgconfig" / "dpmf.pc"):
        if place.exists():
            found = re.search(r"^Libs\.private:(.*)$", place.read_text(), flags=re.MULTILINE)
            if found:
                return shlex.split(found.group(1))
    raise SystemExit(f"there is no dpmf.pc beside {beside}, which says what libdpmf.a needs")


def is_static() -> bool:
    return os.environ.get("DPMF_STATIC", "") not in ("", "0")


def static_library(name: str) -> str:
    """The path of lib<name>.a, as the compiler finds it."""
    file = f"lib{name}.a"
    found = subprocess.run([*compiler(), f"-print-file-name={file}"], capture_output=True,
                           text=True, check=True)
    path = Path(found.stdout.strip())
    if not path.is_absolute():
        raise SystemExit(f"DPMF_STATIC=1, but there is no {file}")
    return str(path.resolve())


def packed(flags: list[str]) -> list[str]:
    """What the linker is given for a libdpmf.a: with DPMF_STATIC, archives in the place of -lz and
    -lzstd."""
    if not is_static():
        return flags
    return [static_library(flag[2:]) if flag in ("-lz", "-lzstd") else flag for flag in flags]


def pkg_config(question: str) -> list[str]:
    try:
        done = subprocess.run(["pkg-config", question, "dpmf"],
                              capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        raise SystemExit(f"DPMF_LIBRARY=system, but pkg-config does not find dpmf: {reason}")
    return shlex.split(done.stdout)


def build_library(folder: Path) -> Path:
    """libdpmf.a and the program of this tree, in a folder of their own."""
    archives = [
        f"-D{name}_LIBRARY={static_library(library)}"
        for name, library in (("zlib", "z"), ("zstd", "zstd")) if is_static()
    ]
    jobs = str(os.environ.get("JOBS") or cores())
    for command in (
        ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release", *archives],
        ["cmake", "--build", str(folder), "--target", "dpmf_static", "dpmf", "-j", jobs],
    ):
        try:
            subprocess.run(command, check=True)
        except FileNotFoundError:
            raise SystemExit("cmake is needed to build the library: apt-get install cmake")
        except subprocess.CalledProcessError as reason:
            raise SystemExit(f"the library could not be built: {shlex.join(command)} "
                             f"ended with {reason.returncode}")
    return folder / "libdpmf.a"


class BuildNative(build_ext):
    """build_ext that makes the library, the declarations and the C of the module first."""

    def build_extension(self, ext: Extension) -> None:
        folder = Path(self.build_temp).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        include = Path(os.environ.get("DPMF_INCLUDE") or ROOT / "include")
        library = os.environ.get("DPMF_LIBRARY", "")
        if library == "system":
            ext.extra_link_args += pkg_config("--libs")
            found = [Path(flag[2:]) for flag in pkg_config("--cflags-only-I")]
            found.append(Path("/usr/include"))
            include = next((place for place in found if (place / "dpmf.h").exists()), include)
        elif library.endswith(".so"):
            ext.library_dirs.append(str(Path(library).resolve().parent))
            ext.libraries.append("dpmf")
        else:
            archive = Path(library).resolve() if library else build_library(folder / "library")
            # Its names stay inside, so that another libdpmf in the same process is no trouble.
            ext.extra_link_args += [str(archive), KEEP_INSIDE,
                                    *packed(private_libraries(archive.parent))]
            ext.depends.append(str(archive))
            self.add_program(archive.parent / "dpmf")
        ext.depends += [str(include / header) for header in HEADERS]
        ext.include_dirs += [str(include), str(ROOT / "python")]
        ext.sources.append(self.write_module(ext.name, folder, include))
        super().build_extension(ext)

    def add_program(self, program: Path) -> None:
        """Puts the program into the package, without what only debuggers read."""
        if not program.exists():  # a library that was installed without it
            return
        folder = Path(self.build_lib) / "dpmf" / "bin"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, folder / "dpmf")
        strip = shutil.which(os.environ.get("STRIP", "strip"))
        if strip:
            subprocess.run([strip, str(folder / "dpmf")], check=True)

    def write_module(self, name: str, folder: Path, include: Path) -> str:
        """The C of the module, as cffi makes it from the declarations."""
        source = folder / "native_module.c"
        headers = [include / header for header in HEADERS] + [ROOT / f"{name}.h" for name in OWN]
        builder = FFI()
        builder.cdef(declarations(headers))
        builder.cdef(CALLBACKS)
        builder.set_source(name, '#include "native_loops.h"\n#include "native_arrow.h"')
        builder.emit_c_code(str(source))
        return str(source)


def extension() -> Extension:
    return Extension(
        "dpmf._native",
        sources=[f"{name}.c" for name in OWN],
        depends=[f"{name}.h" for name in OWN],
        define_macros=[("Py_LIMITED_API", "0x03090000")],
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden"],
        py_limited_api=True,
    )

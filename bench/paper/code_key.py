"""Which code a measurement depends on: the function's own, and that of whatever it names, as far as
that is in one of our files. work.py keeps a digest of it with each result.
"""
import hashlib
import inspect
import pathlib
import types

SIMPLE = (bool, int, float, str, bytes, tuple, list, dict, type(None))


def is_ours(thing, folders):
    try:
        path = pathlib.Path(inspect.getsourcefile(thing)).resolve()
    except (OSError, TypeError):
        return False
    return any(folder in path.parents for folder in folders)


def names_in(code):
    """The names that a function's code, and the functions in it, look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_in(constant)
    return names


def functions_of(thing):
    """A function, or the functions of a class."""
    if inspect.isfunction(thing):
        return [thing]
    return [value for _, value in sorted(vars(thing).items()) if inspect.isfunction(value)]


def named_by(function, methods_of):
    """Pairs of a name and what it stands for, of all that a function may use: in its module, in
    modules that it names, and as methods of the classes of its arguments."""
    names = names_in(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    owners = [value for value in found.values() if inspect.ismodule(value)] + list(methods_of)
    for owner in owners:
        found.update({
            f"{owner.__name__}.{name}": vars(owner)[name] for name in names if name in vars(owner)
        })
    return sorted(found.items())


def code_digest(function, methods_of=()):
    """A digest of the function's source and of what it uses in the folders of its file and of this
    one.

    methods_of: classes whose instances it is given; of them, the methods that it calls by name
    count.
    """
    folders = {
        pathlib.Path(__file__).resolve().parent,
        pathlib.Path(inspect.getsourcefile(function)).resolve().parent
    }
    texts, waiting = {}, [function]
    while waiting:
        thing = waiting.pop()
        key = f"{thing.__module__}.{thing.__qualname__}"
        if key in texts:
            continue
        texts[key] = inspect.getsource(thing)
        for inner in functions_of(thing):
            for name, value in named_by(inner, methods_of):
                if ((inspect.isfunction(value) or inspect.isclass(value)) and
                        is_ours(value, folders)):
                    waiting.append(value)
                elif isinstance(value, SIMPLE) and name.rpartition(".")[2].isupper():
                    texts[f"{inner.__module__}.{name}"] = repr(value)
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()

# Made from the C headers when the package is built: what is in it is in include/dpmf.h.
from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, *, error: int = ...) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any

# The libraries of databases are loaded by what needs them, and said to be missing where they are
ldd "$(readlink -f "$(command -v dpmf)")" | grep -cE 'libpq|libsqlite3'
mkdir broken
echo nothing >broken/libpq.so.5
echo nothing >broken/libsqlite3.so.0
touch some.db
LD_LIBRARY_PATH=broken dpmf import 'sqlite:some.db?table=ratings' -o r.dpr 2>&1 |
    sed 's/loaded:.*/loaded: .../'
LD_LIBRARY_PATH=broken dpmf import 'postgres://localhost/shop?table=ratings' -o r.dpr 2>&1 |
    sed 's/loaded:.*/loaded: .../'

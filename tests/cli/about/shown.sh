# shellcheck source=/dev/null
. "$CLI_TESTS/declared_release.sh"
cat >about.txt <<'END'
# A declaration
title: What "readers" liked: \o/
Controller: Example Library Consortium, <b>1 Long Street</b>
intended-use: Recommendations in the catalogues of the member libraries,
  and nowhere else
date: 2026-03-01
spent before: 0.25
erasure: A file that was published cannot be called back. aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
END
declared_release
dpmf privacy show release.safetensors | sed -n '/^Declared/,$p'
dpmf privacy show release.safetensors --json | grep -o '"about":.*'
dpmf privacy verify release.safetensors >/dev/null && echo verified

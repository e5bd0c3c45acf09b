# shellcheck shell=bash
# A release and throw-away keys, for the cases of signature/: curator's has signed it, eve's has
# not.
signed_release() {
    if ! command -v ssh-keygen >/dev/null; then
        echo "there is no ssh-keygen"
        exit 77
    fi
    cp "$CLI_TESTS/fixtures/release.safetensors" . || exit 1
    ssh-keygen -q -t ed25519 -N '' -C '' -f curator &&
        ssh-keygen -q -t ed25519 -N '' -C '' -f eve || exit 1
    dpmf privacy sign -q release.safetensors --key curator || exit 1
}

# Fingerprints differ from run to run.
without_fingerprints() { sed -E 's/SHA256:[A-Za-z0-9+\/]{43}/SHA256:***/'; }

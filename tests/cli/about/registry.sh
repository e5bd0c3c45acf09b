# shellcheck source=/dev/null
. "$CLI_TESTS/declared_release.sh"
python3 -c 'import yaml' 2>/dev/null || { echo "there is no python3-yaml"; exit 77; }
cat >about.txt <<'END'
title: What "readers" liked: \\\\o/ # really
controller: Lib & Co
intended use: To recommend
region: Exampleland
sector: Education
date: 2026-03-01
period: 2019 to 2025
spent before: 0.25
END
declared_release
dpmf privacy show release.safetensors --registry >entry.yaml
python3 "$CLI_TESTS/registry_fields.py" entry.yaml
cp "$CLI_TESTS/fixtures/biases_format_1.safetensors" old.safetensors
dpmf privacy show old.safetensors --registry >entry.yaml
python3 "$CLI_TESTS/registry_fields.py" entry.yaml

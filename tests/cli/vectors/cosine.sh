# Vectors whose cosines order items as predicted ratings do; and what refuses --cosine.
# shellcheck source=/dev/null
. "$CLI_TESTS/exported_vectors.sh"
need_numpy
dpmf synth -q --users 60 --items 40 --ratings 900 -o r.dpr
dpmf train -q r.dpr -k 5 --epochs 3 -o m.safetensors
dpmf export -q m.safetensors --npy v --not-private --users --cosine
/usr/bin/python3 - <<'PYTHON'
import numpy as np
load = lambda name: np.load(f"v/{name}.npy").astype(float)
v, b, u = load("item_vectors"), load("item_biases"), load("user_vectors")
items, users = load("item_cosine_vectors"), load("user_cosine_vectors")
print(items.shape, users.shape, bool(np.abs(np.linalg.norm(items, axis=1) - 1).max() < 1e-6))
print(bool((users[:, 5:] == [1, 0]).all() and (users[:, :5] == u).all()))
scores = u @ v.T + b
longest = np.sqrt(((v * v).sum(axis=1) + b * b).max())
print(bool(np.abs(users @ items.T * longest - scores).max() < 1e-5))
print(bool((np.argmax(users @ items.T, axis=1) == np.argmax(scores, axis=1)).mean() > 0.95))
PYTHON
dpmf export m.safetensors --csv c --not-private --cosine
echo $?

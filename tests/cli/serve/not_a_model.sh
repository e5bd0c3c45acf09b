echo hello >release.safetensors; dpmf serve release.safetensors --port 0

dpmf privacy account release.safetensors

dpmf serve nothing.safetensors --port 0

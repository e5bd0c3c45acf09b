dpmf bench --kernels fast --ratings 20000

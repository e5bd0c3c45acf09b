unset DPMF_CACHES DPMF_CORES DPMF_RAM DPMF_PAGE DPMF_KERNELS # of the one who runs the tests
dpmf doctor | cut -c 1-16 | sort -u

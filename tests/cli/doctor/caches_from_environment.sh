# What the environment says about the machine is used, and doctor says where it is from.
unset DPMF_KERNELS # of the one who runs the tests
show() { dpmf doctor | grep -E '^  (environment|tiles for|cores|memory|page size)|DPMF_'; }
export DPMF_CORES=64 DPMF_RAM=8GiB DPMF_PAGE=64K
DPMF_CACHES=32K,256K,8M show
DPMF_CACHES=64K,1M,none show | grep tiles
DPMF_CACHES=unknown show | grep tiles
DPMF_CACHES=32K,512K,32M dpmf doctor --json | grep -o '"tiles_for":{[^}]*}'
DPMF_CACHES=unknown dpmf doctor --json | grep -o '"environment":{[^}]*}'
env -u DPMF_CORES -u DPMF_RAM -u DPMF_PAGE -u DPMF_CACHES -u DPMF_KERNELS DPMF_RAM= \
    dpmf doctor --json | grep -o '"environment":{[^}]*}'

# What the environment says about the machine is used, and doctor says where it is from.
show() { dpmf doctor | grep -E '^  (tiles for|cores|memory|page size)'; }
export DPMF_CORES=64 DPMF_RAM=8GiB DPMF_PAGE=64K
DPMF_CACHES=32K,256K,8M show
DPMF_CACHES=64K,1M,none show | grep tiles
DPMF_CACHES=unknown show | grep tiles
DPMF_CACHES=32K,512K,32M dpmf doctor --json | grep -o '"tiles_for":{[^}]*}'

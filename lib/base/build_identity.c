/*
 * What this library was built from, as packaging/build_identity.cmake found it: for the statement
 * of a release, so that whoever reads one can build the same again. Neither paths nor dates, which
 * would make builds of one tree differ.
 */
#include <dpmf_build_identity.h>

#include "dpmf.h"

struct dpmf_build dpmf_build_identity(void) {
    return (struct dpmf_build){.commit = DPMF_BUILD_COMMIT,
                               .compiler = DPMF_BUILD_COMPILER,
                               .sources = DPMF_BUILD_SOURCES};
}

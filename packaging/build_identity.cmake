# What a release says of the build that made it: writes the header OUTPUT, only when it would
# change.
#
#     cmake -DSOURCE=TREE -DOUTPUT=FILE -DCOMPILER=TEXT -P packaging/build_identity.cmake
#
# The hash is over what the library is made from, so that two builds of one tree have the same,
# wherever and whenever they are made, and whether the tree has a .git or came in an archive. Anyone
# can compute it:
#
#     find CMakeLists.txt include lib -name '*.[ch]' -o -name CMakeLists.txt | LC_ALL=C sort | xargs sha256sum | sha256sum

file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/include/*.h ${SOURCE}/lib/*.c ${SOURCE}/lib/*.h)
list(APPEND sources CMakeLists.txt)
list(SORT sources COMPARE STRING)
set(sums "")
foreach(source ${sources})
    file(SHA256 ${SOURCE}/${source} sum)
    string(APPEND sums "${sum}  ${source}\n")
endforeach()
string(SHA256 hash "${sums}")

# The commit: git's where the tree is a clone; else what `git archive` wrote into
# packaging/commit.txt; else unknown.
set(commit "unknown")
find_program(GIT git)
if(EXISTS ${SOURCE}/.git AND GIT)
    set(ENV{GIT_OPTIONAL_LOCKS} 0)
    execute_process(COMMAND ${GIT} rev-parse HEAD WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE failed
        OUTPUT_VARIABLE head ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${GIT} status --porcelain -- CMakeLists.txt include lib WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE changes ERROR_QUIET)
    if(failed EQUAL 0)
        set(commit ${head})
        if(changes)
            string(APPEND commit "+changed")
        endif()
    endif()
elseif(EXISTS ${SOURCE}/packaging/commit.txt)
    file(STRINGS ${SOURCE}/packaging/commit.txt head LIMIT_COUNT 1)
    if(head MATCHES "^[0-9a-f]+$")
        set(commit ${head})
    endif()
endif()

set(text "#define DPMF_BUILD_COMMIT \"${commit}\"\n#define DPMF_BUILD_COMPILER \"${COMPILER}\"\n")
string(APPEND text "#define DPMF_BUILD_SOURCES \"${hash}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
    file(WRITE ${OUTPUT} "${text}")
endif()

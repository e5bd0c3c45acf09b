# The page: the client once more, for browsers. clang makes WebAssembly of it, whatever compiles the
# rest, and web/pack_page.c one page of that and of the page's own files. The page becomes part of
# the program, in programs/page/page_asset.c. Included by CMakeLists.txt, which has the client's sources;
# without clang's WebAssembly nothing is made here when DPMF_WEB is AUTO, and the program says that
# it has no page.

set(web ${PROJECT_BINARY_DIR}/web)
set(wasm_link -mexec-model=reactor -nostartfiles -Wl,--no-entry
    -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=262144)

# Asked once: whether there is a clang, its linker and a C library for WebAssembly.
find_program(DPMF_WASM_CLANG NAMES clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19)
mark_as_advanced(DPMF_WASM_CLANG)
if(DPMF_WASM_CLANG AND NOT DPMF_WASM_WORKS)
    file(WRITE ${web}/probe.c "#include <stdlib.h>\nvoid *probe(__int128 x) { return malloc((size_t)(x / 3)); }\n")
    execute_process(OUTPUT_VARIABLE wasm_says ERROR_VARIABLE wasm_says RESULT_VARIABLE wasm_fails
        COMMAND ${DPMF_WASM_CLANG} --target=wasm32-wasi -msimd128 ${web}/probe.c
                -Wl,--export=probe ${wasm_link} -o ${web}/probe.wasm)
    if(wasm_fails EQUAL 0)
        set(DPMF_WASM_WORKS ON CACHE INTERNAL "clang makes WebAssembly here")
    endif()
endif()
if(NOT DPMF_WASM_WORKS)
    set(wasm_packages "apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32")
    if(DPMF_WEB STREQUAL "AUTO")
        message(STATUS "Without the page: it needs WebAssembly (${wasm_packages})")
        return()
    endif()
    message(FATAL_ERROR "the page needs WebAssembly: ${wasm_packages}, or configure with -DDPMF_WEB=OFF\n${wasm_says}")
endif()

# Of the system's own headers only this one, which fits any system, may be seen.
configure_file(${xxhash_INCLUDE}/xxhash.h ${web}/include/xxhash.h COPYONLY)
set(wasm_flags --target=wasm32-wasi -std=gnu11 -O3 -msimd128 -fvisibility=hidden
    -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
    $<$<BOOL:${DPMF_WERROR}>:-Werror> -DNDEBUG -DDPMF_VERSION="${PROJECT_VERSION}"
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/lib -isystem ${web}/include)
set(wasm_objects "")
foreach(source ${dpmf_client_sources} ${PROJECT_SOURCE_DIR}/web/client_module.c)
    get_filename_component(name ${source} NAME_WE)
    set(object ${web}/${name}.o)
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d
        COMMAND ${DPMF_WASM_CLANG} ${wasm_flags} -MD -MF ${object}.d -c ${source} -o ${object}
        COMMENT "Compiling ${name}.c to WebAssembly"
        VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND wasm_objects ${object})
endforeach()
add_custom_command(OUTPUT ${web}/module.wasm DEPENDS ${wasm_objects}
    COMMAND ${DPMF_WASM_CLANG} --target=wasm32-wasi ${wasm_objects} ${wasm_link} -o ${web}/module.wasm
    COMMENT "Linking the WebAssembly module"
    VERBATIM)

add_executable(pack_page web/pack_page.c) # plainly: the build runs it
target_compile_options(pack_page PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
set_target_properties(pack_page PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${web})
# The script's files in reading order. They share one scope, and what runs as they are read may use
# what stands above it; functions may use each other in any order.
set(page_languages en de fr es ja)
list(TRANSFORM page_languages PREPEND ../texts/)
set(page_scripts helpers texts ${page_languages} module look catalogue search_titles state stars search_box lists begin filter
    picks sheet groups map map_ink privacy memory own_file history share keeping start)
list(TRANSFORM page_scripts REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/web/script/\\1.js")
set(page_parts ${PROJECT_SOURCE_DIR}/web/page.html ${PROJECT_SOURCE_DIR}/web/style.css ${web}/module.wasm ${page_scripts})
add_custom_command(OUTPUT ${web}/page.html DEPENDS pack_page ${page_parts}
    COMMAND pack_page ${web}/page.html ${page_parts}
    COMMENT "Packing the page"
    VERBATIM)
set_source_files_properties(programs/page/page_asset.c PROPERTIES
    COMPILE_DEFINITIONS DPMF_PAGE_FILE="${web}/page.html" OBJECT_DEPENDS ${web}/page.html)

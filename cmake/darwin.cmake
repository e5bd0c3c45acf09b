# macOS: every file is compiled with packaging/macos/darwin.h, where what the code takes from glibc is made of what is there.
# Included by CMakeLists.txt. docs/install.md says what of this has been tried, and what has not.

target_compile_options(dpmf_flags INTERFACE -include ${PROJECT_SOURCE_DIR}/packaging/macos/darwin.h)

# dpmf_export_alone(TARGET MAP): the names that a version script lists after `global:`, as Apple's linker reads them.
function(dpmf_export_alone target map)
    file(READ ${map} text)
    string(REGEX MATCH "global:[^:]*" listed "${text}")
    string(REGEX MATCHALL "dpmf_[a-z_*]*" names "${listed}")
    list(TRANSFORM names PREPEND _)
    list(JOIN names "\n" names)
    set(list ${PROJECT_BINARY_DIR}/${target}.exports)
    file(GENERATE OUTPUT ${list} CONTENT "${names}\n")
    target_link_options(${target} PRIVATE -Wl,-exported_symbols_list,${list})
endfunction()

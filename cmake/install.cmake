# What `make install` puts where: libraries and headers, what finds them, the program with its man
# pages and completions, the documents. Included by CMakeLists.txt at its end.

install(FILES include/dpmf.h include/dpmf_client.h include/dpmf_text.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs OPTIONAL
        FILES_MATCHING PATTERN "*.md" PATTERN "*.txt" PATTERN "*.png")
install(TARGETS dpmf_static dpmf_client_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET dpmf_shared)
    # For find_package(dpmf): dpmf::dpmf and dpmf::client.
    set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/dpmf)
    install(TARGETS dpmf_shared dpmf_client_shared EXPORT dpmf LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT dpmf NAMESPACE dpmf:: FILE dpmfConfig.cmake DESTINATION ${cmake_files})
    include(CMakePackageConfigHelpers)
    write_basic_package_version_file(dpmfConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/dpmfConfigVersion.cmake DESTINATION ${cmake_files})
endif()

foreach(package dpmf dpmf-client)
    configure_file(packaging/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET dpmf)
    install(TARGETS dpmf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET dpmf AND NOT checked)
    add_custom_command(
        OUTPUT ${completions}/made
        COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
        COMMAND dpmf completion bash > ${completions}/dpmf.bash
        COMMAND dpmf completion zsh > ${completions}/dpmf.zsh
        COMMAND dpmf completion fish > ${completions}/dpmf.fish
        COMMAND ${CMAKE_COMMAND} -E touch ${completions}/made
        DEPENDS dpmf
        COMMENT "Writing the shell completions"
        VERBATIM)
    add_custom_target(completions ALL DEPENDS ${completions}/made)
    install(FILES ${completions}/dpmf.bash RENAME dpmf
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completions}/dpmf.zsh RENAME _dpmf
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completions}/dpmf.fish
            DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(TARGET manuals)
    install(DIRECTORY ${manuals}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            FILES_MATCHING PATTERN "*.1")
endif()

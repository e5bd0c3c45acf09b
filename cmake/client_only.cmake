# libdpmf-client by itself (-DDPMF_CLIENT_ONLY=ON), static and shared, and the example on top of it. It knows no threads,
# and needs the C library alone; from here come what Windows wants besides. Included by CMakeLists.txt, which has the
# list of its sources.

list(APPEND client_sources ${alone_sources})
add_library(dpmf_client_objects OBJECT ${client_sources})
target_link_libraries(dpmf_client_objects PRIVATE dpmf_flags dpmf_xxhash)
target_include_directories(dpmf_client_objects PRIVATE lib)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_definitions(dpmf_client_objects PRIVATE NDEBUG)
endif()
if(MINGW)
    # Sizes of files have 64 bits, and printf is C's own. isnan and others go through a float there.
    target_compile_definitions(dpmf_client_objects PRIVATE _FILE_OFFSET_BITS=64 __USE_MINGW_ANSI_STDIO=1)
    target_compile_options(dpmf_client_objects PRIVATE -Wno-float-conversion)
endif()

add_library(dpmf_client_static STATIC $<TARGET_OBJECTS:dpmf_client_objects>)
target_include_directories(dpmf_client_static INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(dpmf_client_static PUBLIC m)
set_target_properties(dpmf_client_static PROPERTIES OUTPUT_NAME dpmf-client)

add_library(dpmf_client_shared SHARED $<TARGET_OBJECTS:dpmf_client_objects>)
target_include_directories(dpmf_client_shared INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(dpmf_client_shared PRIVATE m)
set_target_properties(dpmf_client_shared PROPERTIES OUTPUT_NAME dpmf-client VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
if(MINGW)
    # What the library offers is what its header declares, as packaging/dpmf-client.map says elsewhere.
    file(READ include/dpmf_client.h header)
    string(REGEX MATCHALL "DPMF_API[^;]*;" declared "${header}")
    string(REGEX MATCHALL "dpmf_[a-z_]+\\(" names "${declared}")
    list(TRANSFORM names REPLACE "\\($" "")
    list(REMOVE_DUPLICATES names)
    list(JOIN names "\n" names)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/dpmf-client.def CONTENT "EXPORTS\n${names}\n")
    target_sources(dpmf_client_shared PRIVATE ${PROJECT_BINARY_DIR}/dpmf-client.def)
    target_link_options(dpmf_client_shared PRIVATE -static-libgcc)
else()
    dpmf_export_alone(dpmf_client_shared ${PROJECT_SOURCE_DIR}/packaging/dpmf-client.map)
endif()

foreach(kind static shared)
    add_executable(home_client_${kind} examples/home_client.c)
    target_link_libraries(home_client_${kind} PRIVATE dpmf_client_${kind})
endforeach()

install(TARGETS dpmf_client_static dpmf_client_shared)
install(FILES include/dpmf_client.h TYPE INCLUDE)

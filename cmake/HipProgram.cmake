# SPDX-License-Identifier: MIT
# kreplay_hip_program(NAME SOURCE [OUTPUT_DIR dir] [OPTIONS ...] [HEADERS ...]): one HIP program for gfx90a, built by hipcc
# as a user would; built anew when one of the headers changes. A custom command instead of CMake's HIP language, which needs a
# CMake package that Debian 12 does not ship.
find_program(HIPCC hipcc)
# Compiling them takes minutes, and they are the same in every build: no compiler option of the project's goes into them.
set(KREPLAY_HIP_PROGRAMS "" CACHE PATH "Another build folder, whose HIP programs are copied instead of compiled anew")

function(kreplay_hip_program name source)
  cmake_parse_arguments(arg "" "OUTPUT_DIR" "OPTIONS;HEADERS" ${ARGN})
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(output ${arg_OUTPUT_DIR}/${name})
  if(KREPLAY_HIP_PROGRAMS)
    file(RELATIVE_PATH inside ${CMAKE_BINARY_DIR} ${output})
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -E copy ${KREPLAY_HIP_PROGRAMS}/${inside} ${output}
      DEPENDS ${KREPLAY_HIP_PROGRAMS}/${inside} VERBATIM)
    add_custom_target(hip_${name} ALL DEPENDS ${output})
    return()
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_OUTPUT_DIR}
    COMMAND ${HIPCC} --offload-arch=gfx90a -O2 -std=c++17 ${arg_OPTIONS} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${output}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${arg_HEADERS}
    COMMENT "hipcc ${name}" VERBATIM)
  add_custom_target(hip_${name} ALL DEPENDS ${output})
endfunction()

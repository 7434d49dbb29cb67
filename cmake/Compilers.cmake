# What ends a build that lacks something, and the first things that it may lack: compilers.
include(CheckLanguage)

# Ends the build with one line; a space in front keeps CMake from breaking it.
function(cujit_missing what remedy)
  message(FATAL_ERROR " cujit is built with ${what} (on Debian: apt-get install ${remedy})")
endfunction()

foreach(language C CXX)   # enable_language() would say it in ten lines
  if(NOT CMAKE_${language}_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE)
    check_language(${language})
    if(NOT CMAKE_${language}_COMPILER)
      cujit_missing("compilers of C and C++, and there is none of ${language}" "gcc g++, or set CC and CXX")
    endif()
  endif()
endforeach()

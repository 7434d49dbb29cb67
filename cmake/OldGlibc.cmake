# cujit_old_glibc(library): what links this library links against the glibc whose symbols lie in CUJIT_OLD_GLIBC
# (scripts/old_glibc.py makes the folder), and against libstdc++ and libgcc as static libraries, so that it loads where both
# are older.
function(cujit_old_glibc library)
  foreach(name stdc++ gcc_eh gcc)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=lib${name}.a OUTPUT_VARIABLE archive
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND archives "${archive}")
  endforeach()
  target_sources(${library} INTERFACE "${PROJECT_SOURCE_DIR}/tools/old_glibc.c")
  target_link_options(${library} INTERFACE -nodefaultlibs "-L${CUJIT_OLD_GLIBC}")
  target_link_libraries(${library} INTERFACE ${archives} -lm -lpthread -ldl -lc -lld -lc_nonshared)
endfunction()

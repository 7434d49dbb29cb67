# cujit_room(folder [library...] [PRIVATE library...]): a static library of all sources below the folder, linked with those
# libraries and no others. Headers of PRIVATE ones are seen in this folder only.
function(cujit_room folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c"
       "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/elementary/")  # Elementary.cmake compiles those, in several ways
  set(scope PUBLIC)
  if(sources)
    add_library(${folder} STATIC ${sources})
  else()
    add_library(${folder} INTERFACE)
    set(scope INTERFACE)
    list(REMOVE_ITEM ARGN PRIVATE)
  endif()
  target_include_directories(${folder} ${scope} "${PROJECT_SOURCE_DIR}")
  if(ARGN)
    target_link_libraries(${folder} ${scope} ${ARGN})
  endif()
endfunction()

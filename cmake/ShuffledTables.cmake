# Copies of the tables in which the order of rows has no meaning, with their rows shuffled; includes find these first.
set(shuffler "${PROJECT_SOURCE_DIR}/scripts/shuffle_tables.py")
set(shuffled "${PROJECT_BINARY_DIR}/shuffled")
file(GLOB_RECURSE tables CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/*.def" "${PROJECT_SOURCE_DIR}/frontend/*.def"
     "${PROJECT_SOURCE_DIR}/codegen/*.def" "${PROJECT_SOURCE_DIR}/runtime/*.def")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables} "${shuffler}")
execute_process(COMMAND "${Python_EXECUTABLE}" "${shuffler}" "${CUJIT_SHUFFLE}" "${shuffled}" COMMAND_ERROR_IS_FATAL ANY)
include_directories(BEFORE "${shuffled}")

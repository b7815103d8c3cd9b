# Lets rosidl's CMake build against the ROS 2 wheels of PyPI; does nothing where ROS 2 is installed.
#
# The wheels carry the paths of the machine that built them, and do not announce their prefix. colcon.meta includes this
# file after project() of each interface package.
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
execute_process(COMMAND ${Python3_EXECUTABLE} -c
"import os, sys
prefixes = []
for entry in sys.path:
    prefix = os.path.normpath(os.path.join(entry, '..', '..', '..'))
    if entry.endswith('site-packages') and os.path.isdir(os.path.join(prefix, 'share', 'ament_index')) and prefix not in prefixes:
        prefixes.append(prefix)
print(';'.join(prefixes))" OUTPUT_VARIABLE wheel_prefixes OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

if(wheel_prefixes)
  message(STATUS "ROS 2 wheels: ${wheel_prefixes}")
  list(PREPEND CMAKE_PREFIX_PATH ${wheel_prefixes})
  string(REPLACE ";" ":" joined_prefixes "${wheel_prefixes}")
  set(ENV{AMENT_PREFIX_PATH} "${joined_prefixes}:$ENV{AMENT_PREFIX_PATH}")

  function(drop_paths_of_the_build_machine)
    get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories AND directories MATCHES "/opt/python/")
        list(FILTER directories EXCLUDE REGEX "^/opt/python/")
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${directories}")
      endif()
    endforeach()
  endfunction()
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL drop_paths_of_the_build_machine)
endif()

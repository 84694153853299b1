# Installs what another project needs for
#   find_package(vnjit REQUIRED)
#   target_link_libraries(app PRIVATE vnjit::vnjit)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The public headers are those that vnjit.hpp and vnjit.h reach.
set(pending runtime/vnjit.hpp runtime/vnjit.h)
set(public_headers "")
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST public_headers)
    continue()
  endif()
  list(APPEND public_headers ${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} includes REGEX "^#include [<\"]vnjit/")
  list(TRANSFORM includes REPLACE "^#include [<\"]vnjit/([^>\"]+).*" "\\1")
  list(APPEND pending ${includes})
endwhile()
foreach(header IN LISTS public_headers)
  string(REGEX REPLACE "^runtime/vnjit[.]" "vnjit." installed ${header})
  cmake_path(GET installed PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vnjit/${folder})
endforeach()

install(TARGETS vnjit vnjit_codegen EXPORT vnjit
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(VNJIT_BUILD_CLI)
  install(TARGETS vnjit_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vnjit)
install(EXPORT vnjit FILE vnjit-targets.cmake NAMESPACE vnjit:: DESTINATION ${package_dir})
configure_package_config_file(cmake/vnjit-config.cmake.in
  ${PROJECT_BINARY_DIR}/vnjit-config.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vnjit-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vnjit-config.cmake
              ${PROJECT_BINARY_DIR}/vnjit-config-version.cmake
        DESTINATION ${package_dir})

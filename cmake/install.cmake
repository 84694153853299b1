# Installs what another project needs for
#   find_package(vnjit REQUIRED)
#   target_link_libraries(app PRIVATE vnjit::vnjit)
# Public headers are those that vnjit.hpp and vnjit.h reach; they need no other library's headers.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(codegen_headers
  candidates.hpp config.hpp data_type.hpp device_limits.hpp emit.hpp error.hpp noise_spec.hpp
  pipeline_depth.hpp problem.hpp)
set(runtime_headers
  arguments.hpp binary.hpp device.hpp error.hpp operations.hpp options.hpp plan.hpp runtime.hpp)
list(TRANSFORM codegen_headers PREPEND codegen/)
list(TRANSFORM runtime_headers PREPEND runtime/)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/vnjit)
install(FILES ${codegen_headers} DESTINATION ${include_dir}/codegen)
install(FILES ${runtime_headers} DESTINATION ${include_dir}/runtime)
install(FILES runtime/vnjit.hpp runtime/vnjit.h DESTINATION ${include_dir})

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

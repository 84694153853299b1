# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -P run.cmake
# Installs the build into WORK_DIR, builds the consumer against that and runs it.
set(prefix ${WORK_DIR}/prefix)
set(build ${WORK_DIR}/build)
file(REMOVE_RECURSE ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR} -B ${build} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${build})
run(${build}/cpp_consumer)
run(${build}/c_consumer)
run(${prefix}/bin/vnjit --help)

execute_process(COMMAND ninja -C ${build} -t deps
                OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
if(NOT headers MATCHES "${prefix}/include/vnjit/vnjit\\.hpp")
  message(FATAL_ERROR "the consumer did not use the installed headers:\n${headers}")
endif()
if(headers MATCHES "[^ \n]*(/fmt/|/cuda[^ \n/]*\\.h|/nvrtc\\.h|/xxhash\\.h)")
  message(FATAL_ERROR "a public header needs ${CMAKE_MATCH_0}, which the consumer may not have")
endif()

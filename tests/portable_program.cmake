# cmake -DPROGRAM=... -DREADELF=... -P portable_program.cmake
# Fails when the program would not start on another Linux whose C library is as old as glibc 2.34:
# it may be linked with the C library and libgcc_s alone, and may ask for no newer symbol.
set(newest_allowed 2.34)
set(allowed "libc|libm|libgcc_s|ld-linux-x86-64|ld-linux-aarch64")
# Debian has it as a shared library only; it lies beside the program.
string(APPEND allowed "|libbenchmark")

function(elf_lines pattern output)
  execute_process(COMMAND ${READELF} --wide ${ARGN} ${PROGRAM}
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][]" " " text "${text}")
  string(REGEX MATCHALL "${pattern}" lines "${text}")
  if(NOT lines)
    message(FATAL_ERROR "${PROGRAM}: nothing matches ${pattern} in what readelf ${ARGN} says")
  endif()
  set(${output} ${lines} PARENT_SCOPE)
endfunction()

set(faults "")
elf_lines("Shared library: +[^ \n]+" needed --dynamic)
foreach(line IN LISTS needed)
  string(REGEX REPLACE ".* " "" library "${line}")
  if(NOT library MATCHES "^(${allowed})\\.so")
    string(APPEND faults "\n  it is linked with ${library}")
  endif()
endforeach()

elf_lines("[^ \n]+@+GLIBC_[0-9.]+" symbols --dyn-syms)
foreach(symbol IN LISTS symbols)
  string(REGEX REPLACE ".*@GLIBC_" "" version "${symbol}")
  if(version VERSION_GREATER newest_allowed)
    string(APPEND faults "\n  it needs ${symbol}, which glibc ${newest_allowed} lacks")
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "${PROGRAM} does not run on every supported machine:${faults}")
endif()

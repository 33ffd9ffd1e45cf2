# Brings a file of translations up to date with the texts of the sources: what is new is added as unfinished,
# what is gone is dropped.
#
#   cmake -D SOURCE_DIR=... -D WORK_DIR=... -D LUPDATE=... -D TS=... -P extract.cmake
#
# lupdate loses the namespace behind "enum class Kind : std::uint8_t {", so it reads copies without the types
# of enumerations.
file(REMOVE_RECURSE ${WORK_DIR})
file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR}
  ${SOURCE_DIR}/views/*.h ${SOURCE_DIR}/views/*.cpp ${SOURCE_DIR}/app/viewer/*.h ${SOURCE_DIR}/app/viewer/*.cpp)
foreach(source IN LISTS sources)
  file(READ ${SOURCE_DIR}/${source} text)
  string(REGEX REPLACE "(enum( class)? [A-Za-z]+) : std::uint[0-9]+_t" "\\1" text "${text}")
  file(WRITE ${WORK_DIR}/${source} "${text}")
endforeach()
execute_process(COMMAND ${LUPDATE} -silent -I . -locations none -no-obsolete -source-language en views app/viewer -ts ${TS}
  WORKING_DIRECTORY ${WORK_DIR} COMMAND_ERROR_IS_FATAL ANY)

# Everything CTest runs. A file in the right folder is a test; nothing is listed here by name.

set(SCRATCH ${PROJECT_BINARY_DIR}/scratch)
set(IN_SCRATCH bash ${PROJECT_SOURCE_DIR}/tools/in_scratch.sh)

# The plain build does everything. With sanitizers, which are slow, and in the Release build, which differs from the
# plain one only by its asserts, tests do less of the same (tests/scale.h), and the lab's experiments and the other
# builds are left to the plain one.
set(PLAIN ON)
set(QUICK)
if(TWIN_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL Release)
  set(QUICK 1)
  set(PLAIN OFF)
endif()

# checked(NAME COMMAND...): a test with the environment that the sanitizers of this build want. Workers of OpenMP that
# wait for work sleep: spinning takes a processor from the other tests.
function(checked name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT
    "OMP_WAIT_POLICY=passive;ASAN_OPTIONS=detect_leaks=1;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/lsan.supp:print_suppressions=0;TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/tsan.supp;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# Of a test's own code little runs often (tests/scale.h has REFERENCE for what does), so that optimising it takes longer
# than it can save. The library is optimised as ever.
add_library(test_settings INTERFACE)
target_link_libraries(test_settings INTERFACE settings)
target_compile_options(test_settings INTERFACE -O1)

# ---- fuzz targets: for libFuzzer, or over their corpus as part of the suite

# What starts no threads shows nothing to the thread sanitizer: a test that mentions nothing that starts them, a fuzz
# target, damage, and scripts about help, options, messages, limits, the manual, and mail that is judged one by one.
set(THREADS_ONLY OFF)
if(TWIN_SANITIZE MATCHES thread)
  set(THREADS_ONLY ON)
endif()

file(GLOB FUZZERS CONFIGURE_DEPENDS fuzz/fuzz_*.c)
if(THREADS_ONLY AND NOT TWIN_FUZZ)
  set(FUZZERS)
endif()
if(NOT TWIN_MAIL)
  list(FILTER FUZZERS EXCLUDE REGEX "/fuzz_(message|mbox|mail_.*)\\.c$")
endif()
find_path(MILTER_FOLDER libmilter/mfapi.h) # the header alone: the target stands in for the library
if(NOT TWIN_MAIL OR NOT MILTER_FOLDER)
  list(FILTER FUZZERS EXCLUDE REGEX "/fuzz_milter\\.c$")
endif()
if(FUZZERS AND NOT TWIN_FUZZ)
  add_library(fuzz_driver OBJECT fuzz/driver.c)
  target_include_directories(fuzz_driver PRIVATE fuzz)
  target_link_libraries(fuzz_driver PRIVATE test_settings)
endif()
foreach(file ${FUZZERS})
  get_filename_component(target ${file} NAME_WE)
  string(REPLACE fuzz_ "" name ${target})
  add_executable(${target} ${file})
  target_include_directories(${target} PRIVATE src fuzz)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes) # no header has the entry
  target_link_libraries(${target} PRIVATE test_settings static)
  if(name STREQUAL lists) # small files that the program reads itself
    target_link_libraries(${target} PRIVATE support)
  endif()
  if(name STREQUAL json_in)
    target_sources(${target} PRIVATE serve/json_in.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE support)
  endif()
  if(name STREQUAL routes)
    target_sources(${target} PRIVATE serve/exchange.c serve/json_in.c serve/route_compare.c serve/route_plan.c serve/route_pairs.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cli)
    target_link_libraries(${target} PRIVATE support)
  endif()
  if(name STREQUAL spamd)
    target_sources(${target} PRIVATE serve/spamd_request.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE PkgConfig::DEPS) # zlib
  endif()
  if(name STREQUAL milter)
    target_sources(${target} PRIVATE serve/models.c serve/judge.c serve/service.c)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/serve ${MILTER_FOLDER})
    target_link_libraries(${target} PRIVATE support Threads::Threads)
  endif()
  if(TWIN_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:fuzz_driver>)
  endif()
endforeach()
if(TWIN_FUZZ)
  # Loops over all weights of a model show the fuzzer nothing, and would take most of its time.
  set_source_files_properties(src/mail/file_weights.c PROPERTIES COMPILE_OPTIONS
    -fno-sanitize-coverage=trace-cmp,indirect-calls,inline-8bit-counters,pc-table)
  return()
endif()

# Each test contains all of a sanitizer's own code, which lld links in 0.1 s and GNU ld in 0.27 s. It is taken if it is there.
if(TWIN_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL Clang)
  find_program(LLD ld.lld)
  if(LLD)
    target_link_options(test_settings INTERFACE -fuse-ld=lld)
  endif()
endif()

enable_testing()
foreach(file ${FUZZERS})
  get_filename_component(target ${file} NAME_WE)
  string(REPLACE fuzz_ "" name ${target})
  checked(${target} ${target} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
endforeach()

# ---- modules: cmocka programs, which may also see what is private

pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
file(GLOB TESTS CONFIGURE_DEPENDS tests/*/test_*.c)
if(NOT TWIN_MAIL)
  list(FILTER TESTS EXCLUDE REGEX "/tests/mail/")
endif()
if(NOT TARGET serve OR NOT TWIN_MAIL)
  list(FILTER TESTS EXCLUDE REGEX "/tests/serve/")
endif()
foreach(file ${TESTS})
  file(STRINGS ${file} threads REGEX "PTHREADS|pthread_|exec_number|two_threads")
  if(THREADS_ONLY AND NOT threads)
    continue()
  endif()
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_include_directories(${name} PRIVATE src tests)
  target_link_libraries(${name} PRIVATE test_settings support static PkgConfig::CMOCKA)
  if(TWIN_FARMHASH)
    target_compile_definitions(${name} PRIVATE TWIN_FARMHASH)
  endif()
  if(file MATCHES "/tests/mail/") # some hold results against those of GMime
    target_link_libraries(${name} PRIVATE PkgConfig::GMIME)
  endif()
  if(file MATCHES "/tests/serve/")
    target_sources(${name} PRIVATE ${SERVER})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${SERVER_NEEDS})
  endif()
  checked(${name} ${name})
endforeach()

# ---- the index under kills: a few here, as many as wanted by hand

add_executable(crash tests/index/crash.c)
target_include_directories(crash PRIVATE src)
target_link_libraries(crash PRIVATE test_settings static)
checked(crash crash --kills 24)

# ---- the index under damage: likewise

if(NOT THREADS_ONLY)
  add_executable(damage tests/index/damage.c)
  target_include_directories(damage PRIVATE src)
  target_link_libraries(damage PRIVATE test_settings static)
  checked(damage damage --cases 25)
endif()

# ---- examples: whole programs that run without arguments

file(GLOB EXAMPLES CONFIGURE_DEPENDS examples/*.c)
foreach(file ${EXAMPLES})
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_${name} ${file})
  target_link_libraries(example_${name} PRIVATE test_settings static)
  checked(example_${name} example_${name})
endforeach()

# ---- the program: scripts, each in an empty folder of its own

if(TARGET program)
  add_executable(poison tests/poison.c) # documents that attack a public hash
  target_include_directories(poison PRIVATE src)
  target_link_libraries(poison PRIVATE test_settings static)
  add_executable(exact_edit_pairs tests/exact_edit_pairs.c)
  target_link_libraries(exact_edit_pairs PRIVATE tool_settings)
  add_executable(switches tests/join/switches.c) # the join without each of its mechanisms
  target_include_directories(switches PRIVATE src)
  target_link_libraries(switches PRIVATE test_settings static)
  add_executable(peak tests/peak.c) # how much memory a command takes
  target_link_libraries(peak PRIVATE tool_settings)
  add_library(sync_log MODULE tests/sync_log.c) # in which order files go to the disk
  target_link_libraries(sync_log PRIVATE tool_settings ${CMAKE_DL_LIBS})
  set_target_properties(sync_log PROPERTIES C_VISIBILITY_PRESET default) # its functions are to be found
  set(LAB_PROGRAM)
  if(TARGET lab)
    set(LAB_PROGRAM TWINSIFT_LAB=$<TARGET_FILE:lab>)
  endif()
  file(GLOB SCRIPTS CONFIGURE_DEPENDS tests/cli/*.sh)
  if(THREADS_ONLY)
    list(FILTER SCRIPTS EXCLUDE REGEX
      "/(bad_input|bounds|completion|documents|mail|mail_delivery|serve_program|main|manual|many_pairs|plan)\\.sh$")
  endif()
  foreach(file ${SCRIPTS})
    get_filename_component(name ${file} NAME_WE)
    checked(cli_${name} ${IN_SCRATCH} ${SCRATCH}/cli_${name} env
      TWINSIFT=$<TARGET_FILE:program> TWINSIFT_ROOT=${PROJECT_SOURCE_DIR} TWINSIFT_QUICK=${QUICK}
      TWINSIFT_SANITIZED=${TWIN_SANITIZE}
      TWINSIFT_GENERATE=$<TARGET_FILE:generate> TWINSIFT_EXACT_PAIRS=$<TARGET_FILE:exact_pairs>
      TWINSIFT_SYNC_LOG=$<TARGET_FILE:sync_log> TWINSIFT_PEAK=$<TARGET_FILE:peak> TWINSIFT_SWITCHES=$<TARGET_FILE:switches> TWINSIFT_POISON=$<TARGET_FILE:poison>
      TWINSIFT_EXACT_EDIT_PAIRS=$<TARGET_FILE:exact_edit_pairs> ${LAB_PROGRAM} bash ${file})
  endforeach()
endif()

# ---- the server: Python speaks HTTP, and drives the browser and the proxy where they are installed

find_program(PYTHON NAMES python3)
if(TARGET program AND TARGET serve AND TWIN_MAIL AND PYTHON)
  add_library(clock_shift MODULE tests/clock_shift.c) # what time it is
  target_link_libraries(clock_shift PRIVATE tool_settings ${CMAKE_DL_LIBS})
  set_target_properties(clock_shift PROPERTIES C_VISIBILITY_PRESET default)
  file(GLOB SCRIPTS CONFIGURE_DEPENDS tests/serve/test_*.py)
  foreach(file ${SCRIPTS})
    get_filename_component(name ${file} NAME_WE)
    string(REPLACE test_ "" name ${name})
    checked(serve_${name} ${IN_SCRATCH} ${SCRATCH}/serve_${name} env
      TWINSIFT=$<TARGET_FILE:program> TWINSIFT_ROOT=${PROJECT_SOURCE_DIR} TWINSIFT_SANITIZED=${TWIN_SANITIZE}
      TWINSIFT_GENERATE=$<TARGET_FILE:generate> TWINSIFT_BUILD=${PROJECT_BINARY_DIR}
      TWINSIFT_CLOCK_SHIFT=$<TARGET_FILE:clock_shift>
      PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${file})
  endforeach()
endif()

# ---- the lab: its experiments, short; fewer of them when a sanitizer slows them down

if(TARGET lab AND (PLAIN OR TWIN_SANITIZE MATCHES address))
  checked(lab ${IN_SCRATCH} ${SCRATCH}/lab env TWINSIFT_LAB=$<TARGET_FILE:lab> TWIN_SANITIZE=${TWIN_SANITIZE}
    bash ${PROJECT_SOURCE_DIR}/tests/lab.sh)
endif()

# ---- headers: each alone, twice, in strict C and, if there is a compiler for it, C++, without our own settings. How
# the library is built does not matter, so each compiler does it once: in the plain build and with asan.

if(PLAIN OR TWIN_SANITIZE MATCHES address)
  set(HEADER_LANGUAGES c)
  if(CMAKE_CXX_COMPILER_LOADED)
    list(APPEND HEADER_LANGUAGES cc)
  endif()
  foreach(file ${HEADERS})
    get_filename_component(name ${file} NAME)
    set(text "#include <twinsift/${name}>\n#include <twinsift/${name}>\nextern int not_empty;\n")
    foreach(suffix ${HEADER_LANGUAGES})
      file(CONFIGURE OUTPUT headers/${name}.${suffix} CONTENT "${text}" @ONLY)
      list(APPEND HEADER_TESTS ${PROJECT_BINARY_DIR}/headers/${name}.${suffix})
    endforeach()
  endforeach()
  add_library(headers OBJECT ${HEADER_TESTS})
  target_include_directories(headers PRIVATE include)
  target_compile_options(headers PRIVATE -O0 -g0 -Wall -Wextra -Wpedantic -Werror) # there is nothing to optimise
endif()

# ---- what is exported and what is installed

if(TARGET shared)
  checked(exports bash ${PROJECT_SOURCE_DIR}/tests/exports.sh $<TARGET_FILE:shared> ${PROJECT_SOURCE_DIR})
endif()
if(PYTHON AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT TWIN_SANITIZE)
  checked(exports_abi env CC=${CMAKE_C_COMPILER} ${PYTHON} ${PROJECT_SOURCE_DIR}/tests/abi.py ${PROJECT_SOURCE_DIR})
endif()
if(TARGET shared AND NOT TWIN_SANITIZE)
  checked(install ${IN_SCRATCH} ${SCRATCH}/install env CC=${CMAKE_C_COMPILER}
    bash ${PROJECT_SOURCE_DIR}/tests/install/run.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${PROJECT_VERSION})
endif()

# ---- other builds: once, beside the build that developers use

if(TWIN_FARMHASH AND TWIN_MAIL AND PLAIN)
  file(MAKE_DIRECTORY ${SCRATCH}/smallest)
  checked(build_smallest env CC=${CMAKE_C_COMPILER}
    bash ${PROJECT_SOURCE_DIR}/tests/build/smallest.sh ${PROJECT_SOURCE_DIR})
  set_tests_properties(build_smallest PROPERTIES WORKING_DIRECTORY ${SCRATCH}/smallest)
endif()

# ---- the longest first: begun last, one of them would run alone while the other processors wait

set(COST 1000)
foreach(test cli_crash lab build_smallest test_edit_crowds cli_memory cli_completion test_minhash cli_edit test_text
    test_index cli_index test_sort cli_bounds test_families cli_bad_input damage cli_dedup cli_mail
    cli_many_pairs test_between cli_interrupt test_similar test_containment test_crowd cli_steps
    test_edit_join test_bloom_plan install test_edit cli_main cli_manual test_long_text test_index_damage
    test_family cli_truth cli_edit_data cli_random cli_durable cli_dedup_update test_packed_input test_mail_commits
    cli_bloom cli_mail_delivery cli_poison test_index_model test_dedup cli_mail_share test_bands cli_stack
    cli_mail_kill test_progress)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST ${COST})
    math(EXPR COST "${COST} - 10")
  endif()
endforeach()

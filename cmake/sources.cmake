# The libraries that twinsift needs, compiled into it from the folder that tools/sources.sh filled, instead of the
# system's: for files that must run where these are not installed. Warnings of foreign code are not ours.

file(GLOB ZSTD ${TWIN_SOURCES}/libzstd/lib/common/*.c ${TWIN_SOURCES}/libzstd/lib/compress/*.c
  ${TWIN_SOURCES}/libzstd/lib/decompress/*.c)
set(ZLIB adler32 crc32 deflate gzclose gzlib gzread gzwrite inffast inflate inftrees trees zutil)
list(TRANSFORM ZLIB PREPEND ${TWIN_SOURCES}/zlib/)
list(TRANSFORM ZLIB APPEND .c)
set(LMDB ${TWIN_SOURCES}/lmdb/libraries/liblmdb)

add_library(compiled_in STATIC ${ZSTD} ${ZLIB} ${LMDB}/mdb.c ${LMDB}/midl.c
  ${TWIN_SOURCES}/utf8proc/utf8proc.c ${TWIN_SOURCES}/xxhash/xxhash.c)
target_compile_options(compiled_in PRIVATE -w)
target_compile_definitions(compiled_in PRIVATE HAVE_UNISTD_H ZSTD_DISABLE_ASM ZSTDLIB_VISIBILITY= ZDICTLIB_VISIBILITY=
  PUBLIC UTF8PROC_STATIC)
target_include_directories(compiled_in SYSTEM INTERFACE ${TWIN_SOURCES}/libzstd/lib ${TWIN_SOURCES}/zlib ${LMDB}
  ${TWIN_SOURCES}/utf8proc ${TWIN_SOURCES}/xxhash)
target_link_libraries(compiled_in PRIVATE Threads::Threads)

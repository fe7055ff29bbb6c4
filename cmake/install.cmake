# What `make install` puts where. Everything finds its neighbours relative to itself, so the tree may be moved.

set(PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/twinsift)

install(TARGETS ${LIBRARIES} EXPORT twinsift
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/twinsift)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DATADIR}/twinsift) # for twinsift serve --demo
foreach(target program lab)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(TARGET serve_program) # which the program runs, not the user
  install(TARGETS serve_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/twinsift)
endif()
if(LOWDOWN)
  install(FILES ${MANUAL} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(COMPLETION) # where the shells look, under names they know
  set(FOLDER ${PROJECT_BINARY_DIR}/completion)
  install(FILES ${FOLDER}/twinsift.bash RENAME twinsift
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${FOLDER}/twinsift.zsh RENAME _twinsift DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${FOLDER}/twinsift.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# CMake: find_package(twinsift), then twinsift::twinsift (shared) or twinsift::static.
install(EXPORT twinsift NAMESPACE twinsift:: FILE twinsiftTargets.cmake DESTINATION ${PACKAGE_FOLDER})
configure_package_config_file(cmake/twinsiftConfig.cmake.in twinsiftConfig.cmake INSTALL_DESTINATION ${PACKAGE_FOLDER})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(twinsiftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/twinsiftConfig.cmake ${PROJECT_BINARY_DIR}/twinsiftConfigVersion.cmake
  DESTINATION ${PACKAGE_FOLDER})

# pkg-config: `--libs` for the shared library, `--static --libs` for the other.
string(REGEX REPLACE "[^/]+" ".." PC_TO_PREFIX ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
list(JOIN STATIC_NEEDS " " PC_NEEDS)
configure_file(cmake/twinsift.pc.in twinsift.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/twinsift.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

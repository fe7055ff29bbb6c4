# Completion scripts for bash, zsh and fish, printed by the program itself. A program that cannot run here, for it is
# built for another machine, has none.
if(TARGET program AND NOT CMAKE_CROSSCOMPILING)
  foreach(shell bash zsh fish)
    set(script ${PROJECT_BINARY_DIR}/completion/twinsift.${shell})
    add_custom_command(OUTPUT ${script}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completion
      COMMAND program completion ${shell} > ${script}
      DEPENDS program VERBATIM)
    list(APPEND COMPLETION ${script})
  endforeach()
  add_custom_target(completion ALL DEPENDS ${COMPLETION})
endif()

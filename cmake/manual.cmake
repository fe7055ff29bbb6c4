# The manual page is written in Markdown; lowdown makes the page that man shows.
find_program(LOWDOWN lowdown)
if(LOWDOWN)
  set(MANUAL ${PROJECT_BINARY_DIR}/twinsift.1)
  add_custom_command(OUTPUT ${MANUAL}
    COMMAND ${LOWDOWN} -s -tman --out-no-smarty -m "source=twinsift ${PROJECT_VERSION}" -o ${MANUAL} docs/twinsift.1.md
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS docs/twinsift.1.md VERBATIM)
  add_custom_target(manual ALL DEPENDS ${MANUAL})
else()
  message(WARNING "lowdown is not installed: there will be no manual page")
endif()

# The manual pages are written in Markdown; lowdown makes the pages that man shows.
# -T is what old versions call -t, which new ones take too.
find_program(LOWDOWN lowdown)
if(LOWDOWN)
  file(GLOB PAGES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} docs/*.1.md)
  foreach(page ${PAGES})
    get_filename_component(name ${page} NAME_WLE)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/${name}
      COMMAND ${LOWDOWN} -s -Tman --out-no-smarty -m "source=twinsift ${PROJECT_VERSION}" -o ${PROJECT_BINARY_DIR}/${name} ${page}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      DEPENDS ${page} VERBATIM)
    list(APPEND MANUAL ${PROJECT_BINARY_DIR}/${name})
  endforeach()
  add_custom_target(manual ALL DEPENDS ${MANUAL})
else()
  message(WARNING "lowdown is not installed: there will be no manual pages")
endif()

# SPDX-License-Identifier: Apache-2.0
# A tree that can be moved: the program finds share/sm100sim from where it is (kernels/host/data_directory.h).
install(TARGETS sm100sim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(data ${CMAKE_INSTALL_DATADIR}/sm100sim)
install(DIRECTORY models/profiles/ DESTINATION ${data}/profiles FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY scenarios/ DESTINATION ${data}/scenarios)
install(DIRECTORY docs/lessons/ DESTINATION ${data}/lessons FILES_MATCHING PATTERN "*.md")
install(DIRECTORY traces/maps/ DESTINATION ${data}/maps FILES_MATCHING PATTERN "*.toml")
install(FILES README.md CHANGELOG.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # README's links lead there

# The manual and the completions are what the program prints of itself.
set(made ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${made})
add_custom_command(OUTPUT ${made}/sm100sim.1 ${made}/sm100sim.bash ${made}/_sm100sim ${made}/sm100sim.fish
  COMMAND sm100sim manual > ${made}/sm100sim.1
  COMMAND sm100sim completion bash > ${made}/sm100sim.bash
  COMMAND sm100sim completion zsh > ${made}/_sm100sim
  COMMAND sm100sim completion fish > ${made}/sm100sim.fish
  DEPENDS sm100sim)
add_custom_target(sm100_manual ALL DEPENDS ${made}/sm100sim.1 ${made}/sm100sim.bash ${made}/_sm100sim ${made}/sm100sim.fish)
install(FILES ${made}/sm100sim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/sm100sim.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sm100sim)
install(FILES ${made}/_sm100sim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${made}/sm100sim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE -DPROFILES=a.toml:b.toml -P embed_profiles.cmake: device profiles as C++ string literals.
string(REPLACE ":" ";" files "${PROFILES}")
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"sm100profile(${text})sm100profile\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"kernels/host/built_in_profiles.h\"

namespace sm100::host {

std::span<const BuiltInProfile> built_in_profiles() {
  static constexpr BuiltInProfile kProfiles[] = {
${rows}  };
  return kProfiles;
}

}  // namespace sm100::host
")

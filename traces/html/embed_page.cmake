# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=page.html -DOUTPUT=page.cpp [-DHEADER=H -DNAMESPACE=N -DFUNCTION=F] -P embed_page.cmake: a text file as a C++
# string literal, in pieces that every compiler takes; without more words, sm100::traces::html_page() of traces/html/page.h.
if(NOT HEADER)
  set(HEADER traces/html/page.h)
  set(NAMESPACE sm100::traces)
  set(FUNCTION html_page)
endif()
file(READ ${PAGE} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8192 piece)
  string(APPEND pieces "    R\"sm100page(${piece})sm100page\"\n")
  math(EXPR at "${at} + 8192")
endwhile()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ${NAMESPACE} {

std::string_view ${FUNCTION}() {
  using namespace std::string_view_literals;
  return
${pieces}    \"\"sv;
}

}  // namespace ${NAMESPACE}
")

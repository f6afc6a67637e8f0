# SPDX-License-Identifier: Apache-2.0
# cmake -DPAGE=page.html -DOUTPUT=page.cpp -P embed_page.cmake: a text file as a C++ string literal, in pieces that
# every compiler takes.
file(READ ${PAGE} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8192 piece)
  string(APPEND pieces "    R\"sm100page(${piece})sm100page\"\n")
  math(EXPR at "${at} + 8192")
endwhile()
file(WRITE ${OUTPUT} "#include \"traces/html/page.h\"

namespace sm100::traces {

std::string_view html_page() {
  using namespace std::string_view_literals;
  return
${pieces}    \"\"sv;
}

}  // namespace sm100::traces
")

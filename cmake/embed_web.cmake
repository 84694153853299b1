# cmake -DWEB_DIR=... -DOUTPUT=... -P embed_web.cmake
# Writes a C++ source that holds the style and the scripts of pages as text.
set(entries "")
file(GLOB files RELATIVE ${WEB_DIR} ${WEB_DIR}/*.css ${WEB_DIR}/*.js)
list(SORT files)
foreach(file IN LISTS files)
  file(READ ${WEB_DIR}/${file} text)
  string(APPEND entries "  if (name == \"${file}\") return R\"vnjit~(${text})vnjit~\";\n")
endforeach()
file(WRITE ${OUTPUT}
"#include \"html_page.hpp\"

namespace vnjit::cli {

std::string_view web_file(std::string_view name) {
${entries}  return {};
}

}  // namespace vnjit::cli
")

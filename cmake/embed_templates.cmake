# cmake -DTEMPLATES_DIR=... -DOUTPUT=... -P embed_templates.cmake
# Writes a C++ source that holds every file of the template folder as text.
file(GLOB_RECURSE files RELATIVE ${TEMPLATES_DIR} ${TEMPLATES_DIR}/*.cuh)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  file(READ ${TEMPLATES_DIR}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"vnjit~(${text})vnjit~\"},\n")
endforeach()
file(WRITE ${OUTPUT}
"#include \"vnjit/codegen/templates.hpp\"

namespace vnjit {

const TemplateFiles& embedded_templates() {
  static const TemplateFiles templates = {
${entries}  };
  return templates;
}

}  // namespace vnjit
")

# cmake -DINPUT=digits.csv -DOUTPUT=digits_csv.cpp -P embed_csv.cmake
# Writes the data as a C++ source, so that the program finds it wherever it is copied to.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "#include \"digits.hpp\"

namespace es_digits {

std::string_view digits_csv() {
  return R\"csv(${text})csv\";
}

}  // namespace es_digits
")

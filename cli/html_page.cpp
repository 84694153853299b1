#include "html_page.hpp"

#include <fmt/format.h>

namespace vnjit::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '&':
        result += "&amp;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// JSON that ends no script element: in texts, the only place where it can stand, < has an escape.
std::string in_script(std::string_view json) {
  std::string result;
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string html_page(std::string_view title, std::string_view json, std::string_view script) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main></main>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n"
      "<script>\n{}{}</script>\n</body>\n</html>\n",
      escaped(title), web_file("page.css"), in_script(json), web_file("page.js"), web_file(script));
}

}  // namespace vnjit::cli

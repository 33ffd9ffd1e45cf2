#include "loader/values/value_reader.h"

#include <algorithm>
#include <charconv>
#include <format>

namespace traceback::loader {

namespace {

// Of a structure in a structure and so on; through pointers, too.
constexpr unsigned kMostDepth = 3;
constexpr unsigned kMostParts = 64;        // of one value
constexpr unsigned kMostPartsInAll = 200;  // of one variable
// rax to gs: gdb counts them first on x86-64.
constexpr std::size_t kGeneralRegisters = 24;

std::string inFrame(std::uint32_t thread, std::uint32_t frame) {
  return std::format("--thread {} --frame {}", thread, frame);
}

bool isUnknown(std::string_view text) {
  return text.starts_with("<error") || text == "<optimized out>" || text == "<unavailable>" ||
         text == "<not saved>";
}

void setText(model::Value& value, std::string_view text) {
  value.text = text;
  value.known = !isUnknown(text);
}

// gdb puts the members of a class under what they are accessible as.
bool isAccess(const MiValue& child) {
  const auto name = child.textOf("exp");
  return child.find("type") == nullptr && (name == "public" || name == "private" || name == "protected");
}

}  // namespace

model::Result<void> ValueReader::readVariables(std::uint32_t thread, std::uint32_t frame,
                                               model::FrameValues& to) {
  const std::string where = inFrame(thread, frame);
  const auto all = m_gdb.ask("-stack-list-variables " + where + " --all-values");
  if (!all) return m_gdb.isLost() ? model::Result<void>(std::unexpected(all.error())) : model::Result<void>{};
  // The types are told only with the values of what is no structure.
  const auto typed = m_gdb.ask("-stack-list-variables " + where + " --simple-values");
  if (!typed && m_gdb.isLost()) return std::unexpected(typed.error());
  const auto* variables = all->find("variables");
  const auto* types = typed ? typed->find("variables") : nullptr;
  if (variables == nullptr) return {};
  std::vector<std::string_view> seen;
  for (std::size_t i = 0; i < variables->items.size(); ++i) {
    const MiValue& variable = variables->items[i].value;
    model::Value value;
    value.name = variable.textOf("name");
    setText(value, variable.textOf("value"));
    bool isSimple = false;
    if (types != nullptr && i < types->items.size() && types->items[i].value.textOf("name") == value.name) {
      value.type = types->items[i].value.textOf("type");
      isSimple = types->items[i].value.find("value") != nullptr &&
                 (!value.type.ends_with('*') || value.type.ends_with("char *"));
    }
    // Of two with one name an expression means the inner one, which comes first.
    const bool isShadowed = std::ranges::contains(seen, variable.textOf("name"));
    seen.push_back(variable.textOf("name"));
    if (!isSimple && !isShadowed && value.known)
      if (auto done = expand(where, value); !done) return done;
    (variable.find("arg") != nullptr ? to.arguments : to.locals).push_back(std::move(value));
  }
  return {};
}

model::Result<void> ValueReader::expand(const std::string& where, model::Value& value) {
  const auto made = m_gdb.ask("-var-create " + where + " - * " + miQuoted(value.name));
  if (!made)
    return m_gdb.isLost() ? model::Result<void>(std::unexpected(made.error())) : model::Result<void>{};
  const std::string object(made->textOf("name"));
  if (value.type.empty()) value.type = made->textOf("type");
  m_partsLeft = kMostPartsInAll;
  const auto done = addParts(object, 0, value);
  if (m_gdb.isLost()) return done;
  const auto gone = m_gdb.ask("-var-delete " + object);
  if (!gone && m_gdb.isLost()) return std::unexpected(gone.error());
  return {};
}

model::Result<void> ValueReader::addParts(const std::string& object, unsigned depth, model::Value& to) {
  if (depth == kMostDepth) {
    to.more = true;
    return {};
  }
  // One more than is kept tells whether there are more.
  const auto listed =
      m_gdb.ask(std::format("-var-list-children --all-values {} 0 {}", miQuoted(object), kMostParts + 1));
  if (!listed)
    return m_gdb.isLost() ? model::Result<void>(std::unexpected(listed.error())) : model::Result<void>{};
  const auto* children = listed->find("children");
  if (children == nullptr) return {};
  for (const auto& item : children->items) {
    const MiValue& child = item.value;
    const std::string name(child.textOf("name"));
    if (isAccess(child)) {
      if (auto done = addParts(name, depth, to); !done) return done;
      continue;
    }
    if (to.parts.size() == kMostParts || m_partsLeft == 0) {
      to.more = true;
      return {};
    }
    --m_partsLeft;
    model::Value part;
    part.name = child.textOf("exp");
    if (std::ranges::all_of(part.name, [](char c) { return c >= '0' && c <= '9'; }))
      part.name = '[' + part.name + ']';
    part.type = child.textOf("type");
    setText(part, child.textOf("value"));
    // What a pointer leads to, where that is nowhere or was not kept.
    if (part.text.empty()) setText(part, "<error: cannot be read>");
    const auto count = child.textOf("numchild");
    const bool isDynamic = child.textOf("dynamic") == "1";
    if (part.known && ((!count.empty() && count != "0") || isDynamic))
      if (auto done = addParts(name, depth + 1, part); !done) return done;
    to.parts.push_back(std::move(part));
  }
  return {};
}

model::Result<void> ValueReader::readRegisters(std::uint32_t thread, std::uint32_t frame,
                                               model::FrameValues& to) {
  if (m_registerNames.empty()) {
    const auto names = m_gdb.ask("-data-list-register-names");
    if (!names && m_gdb.isLost()) return std::unexpected(names.error());
    const auto* list = names ? names->find("register-names") : nullptr;
    if (list == nullptr) return {};
    for (const auto& item : list->items) m_registerNames.push_back(item.value.text);
    m_registerNames.resize(std::min(m_registerNames.size(), kGeneralRegisters));
  }
  std::string numbers;
  for (std::size_t i = 0; i < m_registerNames.size(); ++i) numbers += std::format(" {}", i);
  const auto values = m_gdb.ask("-data-list-register-values " + inFrame(thread, frame) + " x" + numbers);
  if (!values && m_gdb.isLost()) return std::unexpected(values.error());
  const auto* list = values ? values->find("register-values") : nullptr;
  if (list == nullptr) return {};
  for (const auto& item : list->items) {
    const auto text = item.value.textOf("number");
    std::size_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc() ||
        number >= m_registerNames.size())
      continue;
    model::Value value;
    value.name = m_registerNames[number];
    setText(value, item.value.textOf("value"));
    to.registers.push_back(std::move(value));
  }
  return {};
}

model::Result<model::Value> ValueReader::evaluate(const std::string& expression) {
  model::Value value;
  value.name = expression;
  const auto result = m_gdb.ask("-data-evaluate-expression " + miQuoted(expression));
  if (!result) {
    if (m_gdb.isLost()) return std::unexpected(result.error());
    value.known = false;
    value.text = result.error().message;
    return value;
  }
  setText(value, result->textOf("value"));
  if (value.known)
    if (auto done = expand("", value); !done) return std::unexpected(done.error());
  return value;
}

}  // namespace traceback::loader

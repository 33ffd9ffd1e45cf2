// The instructions of the function around the position.
#include <QStackedWidget>
#include <algorithm>

#include "model/instruction_steps.h"
#include "views/common/formatting.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/find_bar.h"

namespace traceback::views {
namespace {

// Bytes shown around an address that no known function contains, and the most that are shown of one.
constexpr std::uint64_t kAround = 64;
constexpr std::uint64_t kMostCode = 1 << 20;

}  // namespace

bool CodePane::showDisassembly(const Place& place, QString& why) {
  const model::Trace& trace = *m_navigator->trace();
  const model::Module* module = trace.module(place.entry.module);
  if (module == nullptr) {
    why = tr("It is not known which module the code is of.");
    return false;
  }
  const QString name = QString::fromStdString(module->name);
  if (!m_provider || place.entry.address.value == 0) {
    why = tr("The instructions of %1 cannot be shown.").arg(name);
    return false;
  }
  // The function that contains the address: what is inlined has no code of its own.
  const model::VirtAddr at = place.entry.address;
  model::VirtAddr start = at;
  model::VirtAddr end{std::max(at.value, place.entry.last.value) + kAround};
  const model::Function* function = nullptr;
  for (const model::Function& f : trace.functions)
    if (f.module == place.entry.module && at >= f.start && at.value - f.start.value < f.size &&
        (function == nullptr || f.size > function->size))
      function = &f;
  if (function != nullptr) {
    start = function->start;
    end = {function->start.value + std::min(function->size, kMostCode)};
  }
  const bool inShown =
      m_shownModule == place.entry.module && !m_instructions.empty() && at >= m_shownStart && at < m_shownEnd;
  if (!inShown) {
    auto instructions = m_provider->disassemble(*module, start, end);
    if (!instructions || instructions->empty()) {
      why = instructions ? tr("The binary %1 has no instructions there.").arg(name)
                         : tr("The instructions cannot be shown either: %1.")
                               .arg(QString::fromStdString(instructions.error().text()));
      return false;
    }
    m_instructions = std::move(*instructions);
    m_shownModule = place.entry.module;
    m_shownStart = start;
    m_shownEnd = end;
    QStringList lines, labels;
    for (const Instruction& instruction : m_instructions) {
      lines.append(instruction.text);
      labels.append(QString::number(instruction.address.value, 16));
    }
    m_assembly->setLines(lines, labels);
  }
  const QString file = views::place(trace, place.entry);
  setHeader(function != nullptr ? shortFunctionName(QString::fromStdString(function->name)) : name,
            tr("instructions of %1").arg(file.isEmpty() ? name : QStringLiteral("%1, %2").arg(name, file)),
            place);
  m_stack->setCurrentWidget(m_assembly);
  m_find->setView(m_assembly);
  markDisassembly(place);
  return true;
}

void CodePane::markDisassembly(const Place& place) {
  QHash<int, CodeView::Mark> marks;
  // Of the instruction that holds the address.
  const auto lineOf = [this](model::VirtAddr address) {
    const auto after = std::ranges::upper_bound(m_instructions, address, {}, &Instruction::address);
    return after == m_instructions.begin() ? -1 : static_cast<int>(after - m_instructions.begin()) - 1;
  };
  for (const ExecutedLines::Range& range : m_executed.ranges()) {
    if (range.module != m_shownModule || range.last < m_shownStart || range.first >= m_shownEnd) continue;
    for (int line = lineOf(range.first);
         line >= 0 && static_cast<std::size_t>(line) < m_instructions.size() &&
         m_instructions[static_cast<std::size_t>(line)].address <= range.last;
         ++line)
      ++marks[line].hits;
  }
  const model::ThreadTrace& thread = *m_navigator->thread();
  if (const auto fault = thread.info().fault) {
    const model::Entry entry = thread.entry(*fault);
    const model::VirtAddr at = std::max(entry.address, entry.last);
    if (entry.module == m_shownModule && at >= m_shownStart && at < m_shownEnd)
      if (const int line = lineOf(at); line >= 0) marks[line].fault = true;
  }
  m_assembly->setMarks(std::move(marks), !m_executed.complete());
  const auto instruction = m_navigator->instruction();
  m_assembly->setCurrentLine(lineOf(
      place.own && instruction ? *instruction
                               : model::standingInstruction(place.entry).value_or(place.entry.address)));
}

void CodePane::instructionActivated(int line) {
  if (line < 0 || static_cast<std::size_t>(line) >= m_instructions.size()) return;
  const model::VirtAddr address = m_instructions[static_cast<std::size_t>(line)].address;
  std::vector<model::EntryIndex> executions;
  for (const ExecutedLines::Range& range : m_executed.ranges())
    if (range.module == m_shownModule && range.first <= address && address <= range.last)
      executions.push_back(range.entry);
  if (goToNearest(executions, tr("The instruction at %1").arg(hex(address.value))))
    m_navigator->standAt(*m_navigator->entryIndex(), address);
}

}  // namespace traceback::views

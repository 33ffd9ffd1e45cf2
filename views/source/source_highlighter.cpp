#include "views/source/source_highlighter.h"

#include <KSyntaxHighlighting/Definition>
#include <KSyntaxHighlighting/Format>
#include <KSyntaxHighlighting/Repository>
#include <KSyntaxHighlighting/Theme>
#include <QElapsedTimer>
#include <QPalette>
#include <QTextBlock>
#include <QTextDocument>
#include <algorithm>

namespace traceback::views {
namespace {

constexpr int kLinesBefore = 200;    // of what is in sight, for the guess
constexpr int kLinesInSight = 400;
constexpr int kSliceMs = 8;
constexpr int kLongestLine = 4000;   // longer ones are data, not something to read

// Reading the definitions' index takes a while, so it is done once, when the first file is shown.
KSyntaxHighlighting::Repository& repository() {
  static KSyntaxHighlighting::Repository instance;
  return instance;
}

}  // namespace

SourceHighlighter::SourceHighlighter(QTextDocument* document) : QObject(document), m_document(document) {
  m_timer.setInterval(0);
  connect(&m_timer, &QTimer::timeout, this, &SourceHighlighter::continueFromTop);
}

void SourceHighlighter::stop() { m_timer.stop(); }

void SourceHighlighter::start(const QString& fileName, const QPalette& palette, int visibleLine) {
  stop();
  const KSyntaxHighlighting::Definition definition = repository().definitionForFileName(fileName);
  if (!definition.isValid()) return;
  setDefinition(definition);
  setTheme(repository().themeForPalette(palette));
  m_colors = Theme(palette);
  m_readable.clear();
  const int first = std::max(0, visibleLine - kLinesBefore);
  const int end = std::min(m_document->blockCount(), visibleLine + kLinesInSight);
  KSyntaxHighlighting::State state;
  for (int line = first; line < end; ++line) state = colour(line, state);
  m_next = 0;
  m_state = KSyntaxHighlighting::State();
  if (first == 0) {
    m_next = end;
    m_state = state;
  }
  if (m_next < m_document->blockCount()) m_timer.start();
}

void SourceHighlighter::continueFromTop() {
  QElapsedTimer clock;
  clock.start();
  while (m_next < m_document->blockCount() && clock.elapsed() < kSliceMs) m_state = colour(m_next++, m_state);
  if (m_next >= m_document->blockCount()) m_timer.stop();
}

KSyntaxHighlighting::State SourceHighlighter::colour(int line, const KSyntaxHighlighting::State& state) {
  QTextBlock block = m_document->findBlockByNumber(line);
  if (!block.isValid() || block.length() > kLongestLine) return state;
  m_ranges.clear();
  const KSyntaxHighlighting::State after = highlightLine(block.text(), state);
  if (block.layout()->formats() != m_ranges) {
    block.layout()->setFormats(m_ranges);
    m_document->markContentsDirty(block.position(), block.length());
  }
  return after;
}

void SourceHighlighter::applyFormat(int offset, int length, const KSyntaxHighlighting::Format& format) {
  if (length == 0 || format.isDefaultTextStyle(theme())) return;
  QTextCharFormat text;
  if (format.hasTextColor(theme())) {
    const QColor color = format.textColor(theme());
    auto known = m_readable.find(color.rgb());
    if (known == m_readable.end()) known = m_readable.insert(color.rgb(), m_colors.readable(color));
    text.setForeground(*known);
  }
  if (format.isBold(theme())) text.setFontWeight(QFont::Bold);
  if (format.isItalic(theme())) text.setFontItalic(true);
  if (format.isUnderline(theme())) text.setFontUnderline(true);
  m_ranges.append({offset, length, text});
}

}  // namespace traceback::views

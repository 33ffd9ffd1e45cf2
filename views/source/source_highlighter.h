// Colours source text by KSyntaxHighlighting, a slice at a time so that a file of any length opens at once.
// The part in sight is coloured first, from a guess at the state that the text before it leaves behind; the
// exact pass from the top corrects it when it gets there.
#pragma once

#include <KSyntaxHighlighting/AbstractHighlighter>
#include <KSyntaxHighlighting/State>
#include <QColor>
#include <QHash>
#include <QObject>
#include <QPalette>
#include <QTextLayout>
#include <QTimer>

#include "views/common/theme.h"

class QTextDocument;

namespace traceback::views {

class SourceHighlighter : public QObject, public KSyntaxHighlighting::AbstractHighlighter {
  Q_OBJECT
  Q_INTERFACES(KSyntaxHighlighting::AbstractHighlighter)

 public:
  explicit SourceHighlighter(QTextDocument* document);

  // By the file's name; a name that says nothing gets no colours. The line is the one that will be seen.
  void start(const QString& fileName, const QPalette& palette, int visibleLine);
  void stop();
  bool finished() const { return !m_timer.isActive(); }

 protected:
  void applyFormat(int offset, int length, const KSyntaxHighlighting::Format& format) override;

 private:
  void continueFromTop();
  KSyntaxHighlighting::State colour(int line, const KSyntaxHighlighting::State& state);

  QTextDocument* m_document;
  QTimer m_timer;
  int m_next = 0;
  KSyntaxHighlighting::State m_state;
  Theme m_colors{QPalette()};
  QHash<QRgb, QColor> m_readable;  // by what the syntax's own theme has
  QList<QTextLayout::FormatRange> m_ranges;
};

}  // namespace traceback::views

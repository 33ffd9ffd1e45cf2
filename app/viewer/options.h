// The viewer's command line. Reading it needs no display.
#pragma once

#include <QList>
#include <QSize>
#include <QString>
#include <QStringList>
#include <expected>
#include <optional>

#include "app/viewer/layouts.h"
#include "app/viewer/settings.h"

namespace traceback::app {

enum class ColorScheme : std::uint8_t { System, Light, Dark };

struct Options {
  enum class Do : std::uint8_t { Show, Help, Version } what = Do::Show;
  QString help;                              // the text, for Do::Help
  QString file;                              // may be empty
  QString compareWith;                       // the good run; `file` is the bad one
  QString screenshot;                        // a file to draw into; empty to show the window
  std::optional<QSize> size;                 // of the window
  std::optional<std::uint32_t> thread;       // from 1
  std::optional<std::uint64_t> entry;        // to go to
  std::optional<bool> flat;                  // the trace's mode
  bool disassembly = false;
  std::optional<Layouts::Kind> layout;  // instead of the one for the snap's reason
  QList<SourceMapping> sourceMappings;
  ColorScheme colors = ColorScheme::System;
  bool timeToPaint = false;
};

// The arguments with the program's name in front. The error is one line, to be shown as it is.
std::expected<Options, QString> parseOptions(const QStringList& arguments);

}  // namespace traceback::app

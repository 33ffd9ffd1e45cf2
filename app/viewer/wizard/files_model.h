// The files of a program, what would be traced of each, and which of them the user wants.
#pragma once

#include <QSet>

#include "app/viewer/wizard/plan_process.h"
#include "views/common/rows_model.h"

namespace traceback::app {

class FilesModel : public views::RowsModel {
  Q_OBJECT

 public:
  enum Column : int { kFile, kTraced, kUntraced, kCopy, kWhat, kColumnCount };

  explicit FilesModel(QObject* parent = nullptr)
      : views::RowsModel({tr("File"), tr("Functions traced"), tr("Not traced"), tr("Size of the copy"),
                          tr("What becomes of it")},
                         parent) {}

  void setProgram(const PlannedProgram& program);
  void setFile(const PlannedFile& file);
  void clear();
  const QList<PlannedFile>& files() const { return m_files; }
  int waiting() const;

  // As `traceback run --only` and `--exclude` have them.
  void setPatterns(const QStringList& only, const QStringList& exclude);
  // The patterns of files that the user unchecked, each fitting that file alone.
  QStringList uncheckedPatterns() const;

  // Whether it would be traced by the patterns and checks as they are.
  bool isTraced(int row) const;
  qint64 tracedFunctions() const;
  int tracedFiles() const;
  qint64 bytesToMake() const;  // of copies that are not there yet
  // Why functions of the file would not be traced, a line each with its count.
  QStringList reasons(int row) const;

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 signals:
  void choiceChanged();

 protected:
  int rows() const override { return static_cast<int>(m_files.size()); }

 private:
  bool isChosen(const PlannedFile& file) const;
  QString whatText(const PlannedFile& file) const;
  void changed();

  QList<PlannedFile> m_files;
  QSet<QString> m_unchecked;
  QString m_untraced;  // why nothing is
  QByteArray m_only, m_exclude;  // a newline between the patterns
};

// A pattern that fits this text alone.
QString patternFor(const QString& text);

}  // namespace traceback::app

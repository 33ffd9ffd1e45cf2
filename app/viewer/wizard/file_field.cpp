#include "app/viewer/wizard/file_field.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <utility>

namespace traceback::app {

FileField::FileField(Texts texts, QWidget* parent)
    : QWidget(parent), m_texts(std::move(texts)), m_edit(new QLineEdit(this)) {
  m_edit->setObjectName(m_texts.objectName);
  m_edit->setAccessibleName(m_texts.accessibleName);
  m_edit->setPlaceholderText(m_texts.placeholder);
  m_edit->setToolTip(m_texts.toolTip);
  auto* browse = new QPushButton(m_texts.browse, this);
  browse->setAccessibleName(m_texts.browseName);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(m_edit, 1);
  row->addWidget(browse);
  setFocusProxy(m_edit);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, m_texts.title, m_edit->text());
    if (!file.isEmpty()) m_edit->setText(file);
  });
  connect(m_edit, &QLineEdit::textChanged, this, &FileField::changed);
}

QString FileField::file() const { return m_edit->text().trimmed(); }

QString FileField::problem() const {
  const QString path = file();
  if (path.isEmpty()) return {};
  if (!QDir::isAbsolutePath(path)) return m_texts.notAbsolute;
  return QFileInfo(path).isFile() ? QString() : tr("%1 is not a file.").arg(path);
}

}  // namespace traceback::app

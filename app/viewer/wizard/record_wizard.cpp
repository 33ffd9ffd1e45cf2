#include "app/viewer/wizard/record_wizard.h"

#include "app/viewer/wizard/files_page.h"
#include "app/viewer/wizard/finish_page.h"
#include "app/viewer/wizard/libraries_page.h"
#include "app/viewer/wizard/settings_page.h"
#include "app/viewer/wizard/target_page.h"
#include "app/viewer/wizard/try_page.h"

namespace traceback::app {

RecordWizard::RecordWizard(const QString& traceback, ReadSummary read, QWidget* parent)
    : QWizard(parent),
      m_state(std::make_unique<RecordState>(traceback, std::move(read))),
      m_target(new TargetPage(*m_state, this)),
      m_filesPage(new FilesPage(*m_state, this)),
      m_libraries(new LibrariesPage(*m_state, this)),
      m_settings(new SettingsPage(*m_state, this)),
      m_try(new TryPage(*m_state, this)),
      m_finish(new FinishPage(*m_state, this)) {
  setObjectName(QStringLiteral("recordWizard"));
  setWindowTitle(tr("Record a Program"));
  // The one style without colours of its own.
  setWizardStyle(QWizard::ClassicStyle);
  setOption(QWizard::NoBackButtonOnStartPage);
  for (QWizardPage* page :
       std::initializer_list<QWizardPage*>{m_target, m_filesPage, m_libraries, m_settings, m_try, m_finish})
    addPage(page);
  resize(760, 580);
  connect(m_try, &TryPage::openRequested, this, &RecordWizard::openRequested);
}

RecordWizard::~RecordWizard() = default;

}  // namespace traceback::app

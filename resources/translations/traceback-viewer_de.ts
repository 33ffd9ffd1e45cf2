<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>traceback::app::CompareWindow</name>
    <message>
        <source>Comparison — TraceBack</source>
        <translation>Vergleich — TraceBack</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>&amp;Schließen</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>&amp;Gehen</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Keyboard Shortcuts…</source>
        <translation>&amp;Tastenkürzel…</translation>
    </message>
    <message>
        <source>Thread of the left side</source>
        <translation>Thread der linken Seite</translation>
    </message>
    <message>
        <source>Thread of the right side</source>
        <translation>Thread der rechten Seite</translation>
    </message>
    <message>
        <source>The thread that is compared. Choosing one on the left chooses the one that answers it on the right.</source>
        <translation>Der Thread, der verglichen wird. Die Wahl links wählt rechts den Thread, der ihm entspricht.</translation>
    </message>
    <message>
        <source>Reading the traces…</source>
        <translation>Die Aufzeichnungen werden gelesen…</translation>
    </message>
    <message>
        <source>%1 and %2 — TraceBack</source>
        <translation>%1 und %2 — TraceBack</translation>
    </message>
    <message>
        <source>No thread on the right is known to answer this one: choose one there.</source>
        <translation>Rechts ist kein Thread bekannt, der diesem entspricht: Wählen Sie dort einen.</translation>
    </message>
    <message>
        <source>%1 holds no threads.</source>
        <translation>%1 enthält keine Threads.</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>Es wird verglichen…</translation>
    </message>
</context>
<context>
    <name>traceback::app::Editor</name>
    <message>
        <source>There is no command for the editor.</source>
        <translation>Für den Editor ist kein Befehl festgelegt.</translation>
    </message>
    <message>
        <source>%1 could not be started.</source>
        <translation>%1 konnte nicht gestartet werden.</translation>
    </message>
</context>
<context>
    <name>traceback::app::ErrorPage</name>
    <message>
        <source>%1 could not be opened</source>
        <translation>%1 konnte nicht geöffnet werden</translation>
    </message>
</context>
<context>
    <name>traceback::app::ExportDialog</name>
    <message>
        <source>Web page</source>
        <translation>Webseite</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>JSON, an object a line</source>
        <translation>JSON, ein Objekt je Zeile</translation>
    </message>
    <message>
        <source>Perfetto trace</source>
        <translation>Perfetto-Aufzeichnung</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>What to export</source>
        <translation>Was exportiert wird</translation>
    </message>
    <message>
        <source>&amp;What:</source>
        <translation>&amp;Was:</translation>
    </message>
    <message>
        <source>&amp;As:</source>
        <translation>&amp;Als:</translation>
    </message>
    <message>
        <source>For ui.perfetto.dev. Times between two readings of the clock are interpolated; the order is as recorded.</source>
        <translation>Für ui.perfetto.dev. Zeiten zwischen zwei Ablesungen der Uhr sind interpoliert; die Reihenfolge ist wie aufgezeichnet.</translation>
    </message>
</context>
<context>
    <name>traceback::app::FileField</name>
    <message>
        <source>%1 is not a file.</source>
        <translation>%1 ist keine Datei.</translation>
    </message>
</context>
<context>
    <name>traceback::app::FileSources</name>
    <message>
        <source>changed after %1 was built</source>
        <translation>geändert, nachdem %1 gebaut wurde</translation>
    </message>
</context>
<context>
    <name>traceback::app::FilesModel</name>
    <message>
        <source>%1 not traced: %2</source>
        <translation>%1 nicht aufgezeichnet: %2</translation>
    </message>
    <message>
        <source>%1 traced only where they are called directly: %2</source>
        <translation>%1 nur aufgezeichnet, wo sie unmittelbar aufgerufen werden: %2</translation>
    </message>
    <message>
        <source>not looked at yet</source>
        <translation>noch nicht untersucht</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>ausgelassen</translation>
    </message>
    <message>
        <source>left out by a pattern</source>
        <translation>durch ein Muster ausgelassen</translation>
    </message>
    <message>
        <source>traced; its copy is there</source>
        <translation>wird aufgezeichnet; die Kopie ist da</translation>
    </message>
    <message>
        <source>traced</source>
        <translation>wird aufgezeichnet</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Functions traced</source>
        <translation>Aufgezeichnete Funktionen</translation>
    </message>
    <message>
        <source>Not traced</source>
        <translation>Nicht aufgezeichnet</translation>
    </message>
    <message>
        <source>Size of the copy</source>
        <translation>Größe der Kopie</translation>
    </message>
    <message>
        <source>What becomes of it</source>
        <translation>Was daraus wird</translation>
    </message>
</context>
<context>
    <name>traceback::app::FilesPage</name>
    <message>
        <source>Files of the program</source>
        <translation>Dateien des Programms</translation>
    </message>
    <message>
        <source>%1 of %2 files and %3 functions are traced</source>
        <translation>%1 von %2 Dateien und %3 Funktionen werden aufgezeichnet</translation>
    </message>
    <message>
        <source>%1; the first start makes copies of %2.</source>
        <translation>%1; der erste Start legt Kopien von %2 an.</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>&amp;Anhalten</translation>
    </message>
    <message>
        <source>What Will Be Traced</source>
        <translation>Was aufgezeichnet wird</translation>
    </message>
    <message>
        <source>What cannot be rewritten safely stays as it is, and runs untraced. Uncheck what you do not want.</source>
        <translation>Was sich nicht sicher umschreiben lässt, bleibt, wie es ist, und läuft ohne Aufzeichnung. Wählen Sie ab, was Sie nicht wollen.</translation>
    </message>
    <message>
        <source>How many files were looked at</source>
        <translation>Wie viele Dateien untersucht sind</translation>
    </message>
    <message>
        <source>Nothing is traced: %1.</source>
        <translation>Nichts wird aufgezeichnet: %1.</translation>
    </message>
    <message>
        <source>Its libraries are not listed: %1.</source>
        <translation>Seine Bibliotheken sind nicht aufgeführt: %1.</translation>
    </message>
    <message>
        <source>Looking for the files that it loads…</source>
        <translation>Die Dateien, die es lädt, werden gesucht…</translation>
    </message>
    <message>
        <source>Looking at file %1 of %2…</source>
        <translation>Datei %1 von %2 wird untersucht…</translation>
    </message>
    <message>
        <source>Some files were not looked at.</source>
        <translation>Manche Dateien wurden nicht untersucht.</translation>
    </message>
</context>
<context>
    <name>traceback::app::FinishPage</name>
    <message>
        <source>Take It Along</source>
        <translation>Zum Mitnehmen</translation>
    </message>
    <message>
        <source>The command records wherever TraceBack is installed; the drop-in does so for a service of systemd.</source>
        <translation>Der Befehl zeichnet auf, wo immer TraceBack installiert ist; die Zusatzdatei tut es für einen Dienst von systemd.</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>&amp;Copy Command</source>
        <translation>&amp;Befehl kopieren</translation>
    </message>
    <message>
        <source>Co&amp;py Drop-in</source>
        <translation>&amp;Zusatzdatei kopieren</translation>
    </message>
    <message>
        <source>&amp;Save Drop-in…</source>
        <translation>Zusatzdatei &amp;speichern…</translation>
    </message>
    <message>
        <source>Command &amp;line:</source>
        <translation>Befe&amp;hlszeile:</translation>
    </message>
    <message>
        <source>Service o&amp;f systemd:</source>
        <translation>&amp;Dienst von systemd:</translation>
    </message>
    <message>
        <source>Drop-in of the service</source>
        <translation>Zusatzdatei des Dienstes</translation>
    </message>
    <message>
        <source>Saved to %1.</source>
        <translation>Gespeichert in %1.</translation>
    </message>
    <message>
        <source>%1: cannot be written: %2</source>
        <translation>%1: kann nicht geschrieben werden: %2</translation>
    </message>
    <message>
        <source>Save Drop-in</source>
        <translation>Zusatzdatei speichern</translation>
    </message>
    <message>
        <source>Configuration of systemd (*.conf)</source>
        <translation>Einstellungen von systemd (*.conf)</translation>
    </message>
</context>
<context>
    <name>traceback::app::IncomingPanel</name>
    <message>
        <source>No snaps yet. One appears here as soon as it is made.</source>
        <translation>Noch keine Snaps. Sobald einer gemacht ist, erscheint er hier.</translation>
    </message>
    <message>
        <source>Incoming snaps</source>
        <translation>Eingehende Snaps</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>Move to &amp;Trash…</source>
        <translation>In den &amp;Papierkorb…</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>Ordner…</translation>
    </message>
    <message>
        <source>Watch another folder for snaps</source>
        <translation>Einen anderen Ordner auf Snaps beobachten</translation>
    </message>
    <message>
        <source>No folder is watched</source>
        <translation>Kein Ordner wird beobachtet</translation>
    </message>
    <message>
        <source>Move to Trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>Move %1 to the trash?</source>
        <translation>%1 in den Papierkorb verschieben?</translation>
    </message>
    <message>
        <source>What the program did is kept in this file alone.</source>
        <translation>Was das Programm tat, steht allein in dieser Datei.</translation>
    </message>
    <message>
        <source>Move to &amp;Trash</source>
        <translation>In den &amp;Papierkorb</translation>
    </message>
    <message>
        <source>%1 is in the trash.</source>
        <translation>%1 ist im Papierkorb.</translation>
    </message>
    <message>
        <source>%1 could not be moved to the trash: its folder may have none.</source>
        <translation>%1 konnte nicht in den Papierkorb verschoben werden: Sein Ordner hat womöglich keinen.</translation>
    </message>
</context>
<context>
    <name>traceback::app::IncomingSnaps</name>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Anlass</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Cannot be read: %1</source>
        <translation>Kann nicht gelesen werden: %1</translation>
    </message>
</context>
<context>
    <name>traceback::app::Layouts</name>
    <message>
        <source>Layout for a &amp;Fault</source>
        <translation>Anordnung für einen &amp;Absturz</translation>
    </message>
    <message>
        <source>Layout for a &amp;Hang</source>
        <translation>Anordnung für einen &amp;Hänger</translation>
    </message>
    <message>
        <source>Layout for a Snap on Re&amp;quest</source>
        <translation>Anordnung für einen Snap auf &amp;Wunsch</translation>
    </message>
    <message>
        <source>Layout for a &amp;Killed Process</source>
        <translation>Anordnung für einen be&amp;endeten Prozess</translation>
    </message>
</context>
<context>
    <name>traceback::app::LibrariesPage</name>
    <message>
        <source>Libraries</source>
        <translation>Bibliotheken</translation>
    </message>
    <message>
        <source>Patterns of paths or names, one a line: * is any text, ? any character. They hold for libraries that are loaded later and for programs that are started, too.</source>
        <translation>Muster für Pfade oder Namen, eines je Zeile: * ist beliebiger Text, ? ein beliebiges Zeichen. Sie gelten auch für Bibliotheken, die später geladen, und für Programme, die gestartet werden.</translation>
    </message>
    <message>
        <source>all files</source>
        <translation>alle Dateien</translation>
    </message>
    <message>
        <source>for example: libcrypto*</source>
        <translation>zum Beispiel: libcrypto*</translation>
    </message>
    <message>
        <source>Trace &amp;only these:</source>
        <translation>&amp;Nur diese aufzeichnen:</translation>
    </message>
    <message>
        <source>But &amp;not these:</source>
        <translation>Aber diese ni&amp;cht:</translation>
    </message>
</context>
<context>
    <name>traceback::app::LoadingNote</name>
    <message>
        <source>Progress of reading older records</source>
        <translation>Fortschritt beim Lesen älterer Datensätze</translation>
    </message>
    <message>
        <source>Stop reading: only what is shown by now stays</source>
        <translation>Lesen anhalten: Nur was bis jetzt zu sehen ist, bleibt</translation>
    </message>
    <message>
        <source>Stop reading older records</source>
        <translation>Lesen älterer Datensätze anhalten</translation>
    </message>
    <message>
        <source>Reading older records…</source>
        <translation>Ältere Datensätze werden gelesen…</translation>
    </message>
</context>
<context>
    <name>traceback::app::LoadingPage</name>
    <message>
        <source>Progress of loading</source>
        <translation>Fortschritt beim Laden</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Opening %1</source>
        <translation>%1 wird geöffnet</translation>
    </message>
</context>
<context>
    <name>traceback::app::MainWindow</name>
    <message>
        <source>%1 — TraceBack</source>
        <translation>%1 — TraceBack</translation>
    </message>
    <message>
        <source>Loading was cancelled.</source>
        <translation>Das Laden wurde abgebrochen.</translation>
    </message>
    <message>
        <source>There is no thread %1.</source>
        <translation>Es gibt keinen Thread %1.</translation>
    </message>
    <message>
        <source>The thread has no entry %1.</source>
        <translation>Der Thread hat keinen Eintrag %1.</translation>
    </message>
    <message>
        <source>%4Entry %1 of %2, depth %3</source>
        <translation>%4Eintrag %1 von %2, Tiefe %3</translation>
    </message>
    <message>
        <source>Instruction %1, </source>
        <translation>Befehl %1, </translation>
    </message>
    <message>
        <source>Open Snap</source>
        <translation>Snap öffnen</translation>
    </message>
    <message>
        <source>TraceBack snaps (*.tbsnap);;All files (*)</source>
        <translation>TraceBack-Snaps (*.tbsnap);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Open the snap of the bad run first.</source>
        <translation>Öffnen Sie zuerst den Snap des schlechten Laufs.</translation>
    </message>
    <message>
        <source>Compare With the Snap of a Good Run</source>
        <translation>Mit dem Snap eines guten Laufs vergleichen</translation>
    </message>
    <message>
        <source>There is no trace to export.</source>
        <translation>Es ist keine Aufzeichnung da, die exportiert werden könnte.</translation>
    </message>
    <message>
        <source>This thread</source>
        <translation>Dieser Thread</translation>
    </message>
    <message>
        <source>All threads</source>
        <translation>Alle Threads</translation>
    </message>
    <message>
        <source>From the first to the last selected row (%1 entries)</source>
        <translation>Von der ersten bis zur letzten gewählten Zeile (%1 Einträge)</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>Es wird exportiert…</translation>
    </message>
    <message>
        <source>Exported to %1</source>
        <translation>Exportiert nach %1</translation>
    </message>
    <message>
        <source>%1: cannot be written: %2</source>
        <translation>%1: kann nicht geschrieben werden: %2</translation>
    </message>
    <message>
        <source>A snap has come in: %1, %2</source>
        <translation>Ein Snap ist eingegangen: %1, %2</translation>
    </message>
    <message>
        <source>Watch This Folder for Snaps</source>
        <translation>Diesen Ordner auf Snaps beobachten</translation>
    </message>
    <message>
        <source>There is no snap in %1.</source>
        <translation>In %1 ist kein Snap.</translation>
    </message>
    <message>
        <source>The program traceback, which records, is neither beside this one nor in PATH.</source>
        <translation>Das Programm traceback, das aufzeichnet, liegt weder neben diesem noch in PATH.</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>Ö&amp;ffnen…</translation>
    </message>
    <message>
        <source>Open Re&amp;cent</source>
        <translation>&amp;Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>Open &amp;Newest Snap</source>
        <translation>&amp;Neuesten Snap öffnen</translation>
    </message>
    <message>
        <source>&amp;Record a Program…</source>
        <translation>&amp;Programm aufzeichnen…</translation>
    </message>
    <message>
        <source>Co&amp;mpare With…</source>
        <translation>&amp;Vergleichen mit…</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>&amp;Exportieren…</translation>
    </message>
    <message>
        <source>Open Source in &amp;Editor</source>
        <translation>Quelltext im E&amp;ditor öffnen</translation>
    </message>
    <message>
        <source>Choose E&amp;ditor…</source>
        <translation>Edi&amp;tor wählen…</translation>
    </message>
    <message>
        <source>Source &amp;Folders…</source>
        <translation>&amp;Quelltextordner…</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Bookmark</source>
        <translation>&amp;Lesezeichen</translation>
    </message>
    <message>
        <source>&amp;Note…</source>
        <translation>&amp;Notiz…</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>&amp;Gehen</translation>
    </message>
    <message>
        <source>List E&amp;xecutions of the Line</source>
        <translation>Ausführun&amp;gen der Zeile auflisten</translation>
    </message>
    <message>
        <source>F&amp;ind</source>
        <translation>&amp;Suchen</translation>
    </message>
    <message>
        <source>&amp;Go to or Ask</source>
        <translation>&amp;Gehe zu oder frage</translation>
    </message>
    <message>
        <source>&amp;Find in This File</source>
        <translation>In dieser &amp;Datei suchen</translation>
    </message>
    <message>
        <source>Find &amp;Next</source>
        <translation>&amp;Weitersuchen</translation>
    </message>
    <message>
        <source>Find &amp;Previous</source>
        <translation>&amp;Rückwärts suchen</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>Fold &amp;Other Calls</source>
        <translation>Andere A&amp;ufrufe falten</translation>
    </message>
    <message>
        <source>La&amp;yout</source>
        <translation>A&amp;nordnung</translation>
    </message>
    <message>
        <source>&amp;Reset This Layout</source>
        <translation>Diese Anordnung zu&amp;rücksetzen</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Keyboard Shortcuts…</source>
        <translation>&amp;Tastenkürzel…</translation>
    </message>
    <message>
        <source>&amp;About TraceBack</source>
        <translation>Ü&amp;ber TraceBack</translation>
    </message>
    <message>
        <source>No snap is open.</source>
        <translation>Kein Snap ist geöffnet.</translation>
    </message>
    <message>
        <source>%1 is not possible here.</source>
        <translation>%1 ist hier nicht möglich.</translation>
    </message>
    <message>
        <source>&amp;Clear List</source>
        <translation>Liste &amp;leeren</translation>
    </message>
    <message>
        <source>About TraceBack</source>
        <translation>Über TraceBack</translation>
    </message>
    <message>
        <source>Shows how a program got where it is: line by line, backwards from its fault.</source>
        <translation>Zeigt, wie ein Programm dahin kam, wo es ist: Zeile für Zeile, vom Absturz an rückwärts.</translation>
    </message>
    <message>
        <source>Where you were last. The way back leads to where the snap opens.</source>
        <translation>Wo Sie zuletzt waren. Der Weg zurück führt dahin, wo der Snap sich öffnet.</translation>
    </message>
    <message>
        <source>Where is %1?</source>
        <translation>Wo ist %1?</translation>
    </message>
    <message>
        <source>%1 (%1);;All files (*)</source>
        <translation>%1 (%1);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>%1 is not called %2.</source>
        <translation>%1 heißt nicht %2.</translation>
    </message>
    <message>
        <source>No source is shown.</source>
        <translation>Kein Quelltext ist zu sehen.</translation>
    </message>
    <message>
        <source>Opened in the editor: %1</source>
        <translation>Im Editor geöffnet: %1</translation>
    </message>
    <message>
        <source>Editor</source>
        <translation>Editor</translation>
    </message>
    <message>
        <source>Command that opens a file. %f stands for the file, %l for the line.
Empty for the default: %1</source>
        <translation>Befehl, der eine Datei öffnet. %f steht für die Datei, %l für die Zeile.
Leer für den Standard: %1</translation>
    </message>
    <message>
        <source>The trace was not read to its end: open it again to make notes.</source>
        <translation>Die Aufzeichnung wurde nicht zu Ende gelesen: Öffnen Sie sie noch einmal, um Notizen zu machen.</translation>
    </message>
    <message>
        <source>Loading was cancelled. The notes that were made meanwhile are not kept.</source>
        <translation>Das Laden wurde abgebrochen. Die Notizen, die inzwischen gemacht wurden, werden nicht aufbewahrt.</translation>
    </message>
    <message>
        <source>List &amp;Exceptions</source>
        <translation>Ausnahmen a&amp;uflisten</translation>
    </message>
    <message>
        <source>Exceptions</source>
        <translation>Ausnahmen</translation>
    </message>
</context>
<context>
    <name>traceback::app::Options</name>
    <message>
        <source>Shows how a program got where it is: opens a snap and steps back from its fault.</source>
        <translation>Zeigt, wie ein Programm dahin kam, wo es ist: öffnet einen Snap und geht vom Absturz an zurück.</translation>
    </message>
    <message>
        <source>Show this help.</source>
        <translation>Diese Hilfe zeigen.</translation>
    </message>
    <message>
        <source>Show the version.</source>
        <translation>Die Version zeigen.</translation>
    </message>
    <message>
        <source>Open at thread N, counted from 1 as in the list.</source>
        <translation>Bei Thread N öffnen, von 1 an gezählt wie in der Liste.</translation>
    </message>
    <message>
        <source>Go to entry N of the thread, as &apos;traceback print --format json&apos; counts them.</source>
        <translation>Zu Eintrag N des Threads gehen, wie &apos;traceback print --format json&apos; sie zählt.</translation>
    </message>
    <message>
        <source>Show SNAP, of a bad run, beside GOOD, of a good one, where their paths part.</source>
        <translation>SNAP, von einem schlechten Lauf, neben GOOD zeigen, von einem guten, wo sich ihre Wege trennen.</translation>
    </message>
    <message>
        <source>Look in TO for source that was compiled in FROM. May be given more than once.</source>
        <translation>In TO nach Quelltext suchen, der in FROM übersetzt wurde. Kann mehrmals angegeben werden.</translation>
    </message>
    <message>
        <source>Show the trace line by line.</source>
        <translation>Die Aufzeichnung Zeile für Zeile zeigen.</translation>
    </message>
    <message>
        <source>Show the trace as a tree of calls.</source>
        <translation>Die Aufzeichnung als Baum von Aufrufen zeigen.</translation>
    </message>
    <message>
        <source>Show instructions instead of source.</source>
        <translation>Maschinenbefehle statt Quelltext zeigen.</translation>
    </message>
    <message>
        <source>Arrange the panels as for: fault, hang, request or killed. Otherwise as the snap is of.</source>
        <translation>Die Felder anordnen wie für: fault, hang, request oder killed. Sonst nach dem Anlass des Snaps.</translation>
    </message>
    <message>
        <source>Size of the window in pixels.</source>
        <translation>Größe des Fensters in Bildpunkten.</translation>
    </message>
    <message>
        <source>Colours: system, light or dark.</source>
        <translation>Farben: system, light oder dark.</translation>
    </message>
    <message>
        <source>Draw the window into FILE, without a display, and end.</source>
        <translation>Das Fenster ohne Bildschirm in FILE zeichnen und enden.</translation>
    </message>
    <message>
        <source>Print how many milliseconds passed from the start of the program until the trace was painted.</source>
        <translation>Ausgeben, wie viele Millisekunden vom Start des Programms vergingen, bis die Aufzeichnung gezeichnet war.</translation>
    </message>
    <message>
        <source>The file to open (.tbsnap).</source>
        <translation>Die Datei, die geöffnet wird (.tbsnap).</translation>
    </message>
    <message>
        <source>Exit status: 0 done, 1 the file could not be opened or written, 2 the call is wrong.</source>
        <translation>Rückgabewert: 0 fertig, 1 die Datei konnte nicht geöffnet oder geschrieben werden, 2 der Aufruf ist falsch.</translation>
    </message>
    <message>
        <source>more than one file is given: %1</source>
        <translation>mehr als eine Datei ist angegeben: %1</translation>
    </message>
    <message>
        <source>needs a file</source>
        <translation>braucht eine Datei</translation>
    </message>
    <message>
        <source>needs a snap to show</source>
        <translation>braucht einen Snap, der gezeigt wird</translation>
    </message>
    <message>
        <source>needs two snaps: --compare GOOD BAD</source>
        <translation>braucht zwei Snaps: --compare GOOD BAD</translation>
    </message>
    <message>
        <source>contradicts --tree</source>
        <translation>widerspricht --tree</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a number from 1 on</source>
        <translation>&apos;%1&apos; ist keine Zahl von 1 an</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a number</source>
        <translation>&apos;%1&apos; ist keine Zahl</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is none of fault, hang, request and killed</source>
        <translation>&apos;%1&apos; ist nichts von fault, hang, request und killed</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not like 1200x800</source>
        <translation>&apos;%1&apos; ist nicht wie 1200x800</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not like FROM=TO</source>
        <translation>&apos;%1&apos; ist nicht wie FROM=TO</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is none of system, light and dark</source>
        <translation>&apos;%1&apos; ist nichts von system, light und dark</translation>
    </message>
</context>
<context>
    <name>traceback::app::Panels</name>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Active calls</source>
        <translation>Aktive Aufrufe</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>Werte</translation>
    </message>
    <message>
        <source>Where the threads stand</source>
        <translation>Wo die Threads stehen</translation>
    </message>
    <message>
        <source>Threads over time</source>
        <translation>Threads im Lauf der Zeit</translation>
    </message>
    <message>
        <source>Threads side by side</source>
        <translation>Threads nebeneinander</translation>
    </message>
    <message>
        <source>Trace of all threads</source>
        <translation>Alle Threads in einer Folge</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Bookmarks</source>
        <translation>Lesezeichen</translation>
    </message>
    <message>
        <source>Notes about this snap</source>
        <translation>Hinweise zu diesem Snap</translation>
    </message>
    <message>
        <source>Incoming snaps</source>
        <translation>Eingehende Snaps</translation>
    </message>
    <message>
        <source>Close %1</source>
        <translation>%1 schließen</translation>
    </message>
    <message>
        <source>Before the trace</source>
        <translation>Vor der Aufzeichnung</translation>
    </message>
</context>
<context>
    <name>traceback::app::PlanProcess</name>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>%1 konnte nicht gestartet werden: %2</translation>
    </message>
    <message>
        <source>%1 ended by a signal.</source>
        <translation>%1 endete durch ein Signal.</translation>
    </message>
</context>
<context>
    <name>traceback::app::PolicyField</name>
    <message>
        <source>Policy file</source>
        <translation>Regeldatei</translation>
    </message>
    <message>
        <source>~/.config/traceback/policy or /etc/traceback/policy, if there is one</source>
        <translation>~/.config/traceback/policy oder /etc/traceback/policy, falls vorhanden</translation>
    </message>
    <message>
        <source>What is snapped besides crashes, how often, and how much is kept: see traceback-policy(5)</source>
        <translation>Was außer Abstürzen noch einen Snap auslöst, wie oft, und wie viel aufbewahrt wird: siehe traceback-policy(5)</translation>
    </message>
    <message>
        <source>Bro&amp;wse…</source>
        <translation>Durchs&amp;uchen…</translation>
    </message>
    <message>
        <source>Choose a policy file</source>
        <translation>Eine Regeldatei wählen</translation>
    </message>
    <message>
        <source>Policy File</source>
        <translation>Regeldatei</translation>
    </message>
    <message>
        <source>The policy file&apos;s path begins with a slash.</source>
        <translation>Der Pfad der Regeldatei beginnt mit einem Schrägstrich.</translation>
    </message>
</context>
<context>
    <name>traceback::app::ProcessesModel</name>
    <message>
        <source>PID</source>
        <translation>PID</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Service</source>
        <translation>Dienst</translation>
    </message>
    <message>
        <source>User</source>
        <translation>Benutzer</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
</context>
<context>
    <name>traceback::app::ProfileField</name>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>what traceback profile has kept</source>
        <translation>was traceback profile aufbewahrt hat</translation>
    </message>
    <message>
        <source>Which ways branches went in runs before: recording costs less by that, and records the same</source>
        <translation>Welche Wege Verzweigungen in früheren Läufen gingen: die Aufzeichnung kostet damit weniger und zeichnet dasselbe auf</translation>
    </message>
    <message>
        <source>Brow&amp;se…</source>
        <translation>Durch&amp;suchen…</translation>
    </message>
    <message>
        <source>Choose a profile</source>
        <translation>Ein Profil wählen</translation>
    </message>
    <message>
        <source>The profile&apos;s path begins with a slash.</source>
        <translation>Der Pfad des Profils beginnt mit einem Schrägstrich.</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2</source>
        <translation>%1 ist nicht lesbar: %2</translation>
    </message>
    <message>
        <source>%1 is no profile, as `traceback profile` makes it.</source>
        <translation>%1 ist kein Profil, wie es `traceback profile` erstellt.</translation>
    </message>
</context>
<context>
    <name>traceback::app::RecordWizard</name>
    <message>
        <source>Record a Program</source>
        <translation>Programm aufzeichnen</translation>
    </message>
</context>
<context>
    <name>traceback::app::Recording</name>
    <message>
        <source>Records %1 with TraceBack. Belongs into %2; then: systemctl %3daemon-reload, and restart the service. Without this file all is as before.</source>
        <translation>Zeichnet %1 mit TraceBack auf. Gehört in %2; danach: systemctl %3daemon-reload, und den Dienst neu starten. Ohne diese Datei ist alles wie zuvor.</translation>
    </message>
    <message>
        <source>The first start makes the copies of its files.</source>
        <translation>Der erste Start legt die Kopien seiner Dateien an.</translation>
    </message>
</context>
<context>
    <name>traceback::app::SeekActions</name>
    <message>
        <source>Previous Execution of This &amp;Line</source>
        <translation>Vorige Ausführung dieser Zei&amp;le</translation>
    </message>
    <message>
        <source>Back to the last time before that this line ran</source>
        <translation>Zurück zum letzten Mal davor, dass diese Zeile lief</translation>
    </message>
    <message>
        <source>Next Execution of This L&amp;ine</source>
        <translation>Nächste Ausführung d&amp;ieser Zeile</translation>
    </message>
    <message>
        <source>Forward to the next time that this line ran</source>
        <translation>Vor zum nächsten Mal, dass diese Zeile lief</translation>
    </message>
    <message>
        <source>Previous &amp;Call of This Function</source>
        <translation>Voriger Aufruf &amp;dieser Funktion</translation>
    </message>
    <message>
        <source>Back to the call before of this function</source>
        <translation>Zurück zum Aufruf dieser Funktion davor</translation>
    </message>
    <message>
        <source>Next C&amp;all of This Function</source>
        <translation>Nächster Aufruf dieser Funk&amp;tion</translation>
    </message>
    <message>
        <source>Forward to the next call of this function</source>
        <translation>Vor zum nächsten Aufruf dieser Funktion</translation>
    </message>
    <message>
        <source>Previous &amp;Event</source>
        <translation>Voriges &amp;Ereignis</translation>
    </message>
    <message>
        <source>Back to the event before of the kind that one stands at; on a line, of any kind</source>
        <translation>Zurück zum Ereignis davor von der Art dessen, auf dem man steht; auf einer Zeile: von jeder Art</translation>
    </message>
    <message>
        <source>&amp;Next Event</source>
        <translation>Nä&amp;chstes Ereignis</translation>
    </message>
    <message>
        <source>Forward to the next event of the kind that one stands at; on a line, of any kind</source>
        <translation>Vor zum nächsten Ereignis von der Art dessen, auf dem man steht; auf einer Zeile: von jeder Art</translation>
    </message>
    <message>
        <source>Run Bac&amp;k to Cursor</source>
        <translation>Zurück bis zum Curs&amp;or</translation>
    </message>
    <message>
        <source>Back to the last time before that the line with the text cursor ran</source>
        <translation>Zurück zum letzten Mal davor, dass die Zeile mit der Schreibmarke lief</translation>
    </message>
    <message>
        <source>&amp;Run to Cursor</source>
        <translation>&amp;Weiter bis zum Cursor</translation>
    </message>
    <message>
        <source>Forward to the next time that the line with the text cursor ran</source>
        <translation>Vor zum nächsten Mal, dass die Zeile mit der Schreibmarke lief</translation>
    </message>
    <message>
        <source>Looking for %1…</source>
        <translation>%1 wird gesucht…</translation>
    </message>
    <message>
        <source>the instruction at %1</source>
        <translation>der Befehl bei %1</translation>
    </message>
    <message>
        <source>a signal</source>
        <translation>ein Signal</translation>
    </message>
    <message>
        <source>an exception</source>
        <translation>eine Ausnahme</translation>
    </message>
    <message>
        <source>a gap</source>
        <translation>eine Lücke</translation>
    </message>
    <message>
        <source>an event</source>
        <translation>ein Ereignis</translation>
    </message>
</context>
<context>
    <name>traceback::app::SettingsPage</name>
    <message>
        <source>How to Record</source>
        <translation>Wie aufgezeichnet wird</translation>
    </message>
    <message>
        <source>Each thread keeps the newest of what it executed. A crash, or what a policy says, writes that to a file, a snap.</source>
        <translation>Jeder Thread behält das Neueste von dem, was er ausgeführt hat. Ein Absturz, oder was eine Regel sagt, schreibt es in eine Datei, einen Snap.</translation>
    </message>
    <message>
        <source>as it is by default</source>
        <translation>wie voreingestellt</translation>
    </message>
    <message>
        <source>Buffer of each thread</source>
        <translation>Puffer jedes Threads</translation>
    </message>
    <message>
        <source>B&amp;rowse…</source>
        <translation>&amp;Durchsuchen…</translation>
    </message>
    <message>
        <source>NAME=VALUE, one a line</source>
        <translation>NAME=WERT, eines je Zeile</translation>
    </message>
    <message>
        <source>B&amp;uffer of each thread:</source>
        <translation>&amp;Puffer jedes Threads:</translation>
    </message>
    <message>
        <source>&amp;Environment:</source>
        <translation>&amp;Umgebung:</translation>
    </message>
    <message>
        <source>&amp;Policy file:</source>
        <translation>&amp;Regeldatei:</translation>
    </message>
    <message>
        <source>Profi&amp;le:</source>
        <translation>Profi&amp;l:</translation>
    </message>
    <message>
        <source>&amp;Folder for snaps:</source>
        <translation>&amp;Ordner für Snaps:</translation>
    </message>
    <message>
        <source>Kept of the &amp;memory:</source>
        <translation>Vom &amp;Speicher behalten:</translation>
    </message>
    <message>
        <source>Folder for Snaps</source>
        <translation>Ordner für Snaps</translation>
    </message>
    <message>
        <source>A buffer has from 16K to 1G, not %1.</source>
        <translation>Ein Puffer hat von 16K bis 1G, nicht %1.</translation>
    </message>
    <message>
        <source>The folder&apos;s path begins with a slash.</source>
        <translation>Der Pfad des Ordners beginnt mit einem Schrägstrich.</translation>
    </message>
    <message>
        <source>%1 is not a folder.</source>
        <translation>%1 ist kein Ordner.</translation>
    </message>
    <message>
        <source>“%1” is not like NAME=VALUE.</source>
        <translation>„%1“ ist nicht wie NAME=WERT.</translation>
    </message>
</context>
<context>
    <name>traceback::app::Shortcuts</name>
    <message>
        <source>%1 is one of the keys that desktops keep for themselves.</source>
        <translation>%1 gehört zu den Tasten, die Arbeitsumgebungen für sich behalten.</translation>
    </message>
    <message>
        <source>%1 moves within lists and text.</source>
        <translation>%1 bewegt die Schreibmarke in Listen und Text.</translation>
    </message>
</context>
<context>
    <name>traceback::app::ShortcutsDialog</name>
    <message>
        <source>Use It &amp;Here Instead</source>
        <translation>&amp;Stattdessen hier verwenden</translation>
    </message>
    <message>
        <source>Reset &amp;This</source>
        <translation>Diese &amp;zurücksetzen</translation>
    </message>
    <message>
        <source>Reset &amp;All</source>
        <translation>&amp;Alle zurücksetzen</translation>
    </message>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Commands and their keys</source>
        <translation>Befehle und ihre Tasten</translation>
    </message>
    <message>
        <source>Single letters work wherever no text is typed. In the call tree the arrow keys move and fold, and Enter folds or brings more.</source>
        <translation>Einzelne Buchstaben wirken überall, wo kein Text eingegeben wird. Im Aufrufbaum bewegen und falten die Pfeiltasten, und die Eingabetaste faltet oder bringt mehr.</translation>
    </message>
    <message>
        <source>&amp;Key:</source>
        <translation>&amp;Taste:</translation>
    </message>
    <message>
        <source>&amp;Second key:</source>
        <translation>&amp;Zweite Taste:</translation>
    </message>
    <message>
        <source>Key of the command</source>
        <translation>Taste des Befehls</translation>
    </message>
    <message>
        <source>Second key of the command</source>
        <translation>Zweite Taste des Befehls</translation>
    </message>
    <message>
        <source>%1 is the key of “%2”.</source>
        <translation>%1 ist die Taste von „%2“.</translation>
    </message>
</context>
<context>
    <name>traceback::app::SnapContents</name>
    <message>
        <source>the stacks of its threads (by default)</source>
        <translation>die Stapel seiner Threads (voreingestellt)</translation>
    </message>
    <message>
        <source>all that it may write: stacks, heap, variables</source>
        <translation>alles, was es beschreiben darf: Stapel, Heap, Variablen</translation>
    </message>
    <message>
        <source>all that it may read</source>
        <translation>alles, was es lesen darf</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>A snap holds the lines that ran, the program&apos;s command line and the names of its files, but no values of variables.</source>
        <translation>Ein Snap enthält die Zeilen, die liefen, die Befehlszeile des Programms und die Namen seiner Dateien, aber keine Werte von Variablen.</translation>
    </message>
    <message>
        <source>A snap holds all that the program was working on: its variables and its heap, up to 1 GiB, with its command line, its environment, and whatever passwords and keys it had in memory.</source>
        <translation>Ein Snap enthält alles, woran das Programm arbeitete: seine Variablen und seinen Heap, bis zu 1 GiB, mit seiner Befehlszeile, seiner Umgebung, und was an Passwörtern und Schlüsseln in seinem Speicher war.</translation>
    </message>
    <message>
        <source>A snap holds all that the program could read in its memory, up to 1 GiB, with its command line, its environment, and whatever passwords and keys it had there.</source>
        <translation>Ein Snap enthält alles, was das Programm in seinem Speicher lesen konnte, bis zu 1 GiB, mit seiner Befehlszeile, seiner Umgebung, und was an Passwörtern und Schlüsseln darin war.</translation>
    </message>
    <message>
        <source>A snap holds data of the program: its command line, what its exceptions said, and of each thread up to 256 KiB of stack, with arguments and variables of functions, and in most cases the environment.</source>
        <translation>Ein Snap enthält Daten des Programms: seine Befehlszeile, was seine Ausnahmen sagten, und von jedem Thread bis zu 256 KiB des Stapels, mit Argumenten und Variablen von Funktionen, und meistens die Umgebung.</translation>
    </message>
    <message>
        <source>Only the user that it runs as may read the file, and root.</source>
        <translation>Nur der Benutzer, unter dem es läuft, darf die Datei lesen, und root.</translation>
    </message>
</context>
<context>
    <name>traceback::app::SourceFoldersDialog</name>
    <message>
        <source>no such folder</source>
        <translation>kein solcher Ordner</translation>
    </message>
    <message>
        <source>no file of this trace was compiled there</source>
        <translation>keine Datei dieser Aufzeichnung wurde dort übersetzt</translation>
    </message>
    <message>
        <source>the one file is not there</source>
        <translation>die eine Datei ist nicht da</translation>
    </message>
    <message>
        <source>none of %1 files is there</source>
        <translation>keine von %1 Dateien ist da</translation>
    </message>
    <message>
        <source>%1 of %2 files</source>
        <translation>%1 von %2 Dateien</translation>
    </message>
    <message>
        <source>%1, %2 of them also by a row above</source>
        <translation>%1, davon %2 auch durch eine Zeile darüber</translation>
    </message>
    <message>
        <source>&amp;Browse…</source>
        <translation>&amp;Durchsuchen…</translation>
    </message>
    <message>
        <source>&amp;Add</source>
        <translation>&amp;Hinzufügen</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>Move &amp;Up</source>
        <translation>Nach &amp;oben</translation>
    </message>
    <message>
        <source>Move &amp;Down</source>
        <translation>Nach &amp;unten</translation>
    </message>
    <message>
        <source>Source Folders</source>
        <translation>Quelltextordner</translation>
    </message>
    <message>
        <source>Sources that were compiled in one folder and are in another now. The first row that leads to a file counts; where checksums are known, the first that leads to the file that was compiled.</source>
        <translation>Quelltexte, die in einem Ordner übersetzt wurden und jetzt in einem anderen sind. Es gilt die erste Zeile, die zu einer Datei führt; wo Prüfsummen bekannt sind, die erste, die zu der übersetzten Datei führt.</translation>
    </message>
    <message>
        <source>Compiled in</source>
        <translation>Übersetzt in</translation>
    </message>
    <message>
        <source>Is in</source>
        <translation>Ist in</translation>
    </message>
    <message>
        <source>Leads to now</source>
        <translation>Führt jetzt zu</translation>
    </message>
    <message>
        <source>Source folders</source>
        <translation>Quelltextordner</translation>
    </message>
    <message>
        <source>Folder that sources were compiled in</source>
        <translation>Ordner, in dem die Quelltexte übersetzt wurden</translation>
    </message>
    <message>
        <source>Folder that they are in</source>
        <translation>Ordner, in dem sie jetzt sind</translation>
    </message>
    <message>
        <source>as the debug information has it, such as /build/project</source>
        <translation>wie es die Debug-Information nennt, etwa /build/project</translation>
    </message>
    <message>
        <source>Choose the folder that they are in</source>
        <translation>Den Ordner wählen, in dem sie sind</translation>
    </message>
    <message>
        <source>&amp;Compiled in:</source>
        <translation>Ü&amp;bersetzt in:</translation>
    </message>
    <message>
        <source>&amp;Is in:</source>
        <translation>&amp;Ist in:</translation>
    </message>
    <message>
        <source>%1
from the command line</source>
        <translation>%1
von der Befehlszeile</translation>
    </message>
    <message>
        <source>Where are they?</source>
        <translation>Wo sind sie?</translation>
    </message>
    <message>
        <source>No trace is open that they could lead to sources of.</source>
        <translation>Keine Aufzeichnung ist geöffnet, zu deren Quelltexten sie führen könnten.</translation>
    </message>
    <message>
        <source>not filled in yet</source>
        <translation>noch nicht ausgefüllt</translation>
    </message>
    <message>
        <source>Not there, for example:
%1</source>
        <translation>Nicht da, zum Beispiel:
%1</translation>
    </message>
    <message>
        <source>%1 of the %2 source files of this trace are found.</source>
        <translation>%1 der %2 Quelltexte dieser Aufzeichnung sind gefunden.</translation>
    </message>
</context>
<context>
    <name>traceback::app::StepActions</name>
    <message>
        <source>&amp;Step</source>
        <translation>&amp;Schritt</translation>
    </message>
    <message>
        <source>Forward to the next line that ran, into calls</source>
        <translation>Vor zur nächsten Zeile, die lief, in Aufrufe hinein</translation>
    </message>
    <message>
        <source>&amp;Over</source>
        <translation>Schritt ü&amp;ber</translation>
    </message>
    <message>
        <source>Forward to the next line of this function, over calls</source>
        <translation>Vor zur nächsten Zeile dieser Funktion, über Aufrufe hinweg</translation>
    </message>
    <message>
        <source>O&amp;ut</source>
        <translation>Schritt &amp;hinaus</translation>
    </message>
    <message>
        <source>Forward to where the caller goes on</source>
        <translation>Vor dahin, wo der Aufrufer weitermacht</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>Back to the line that ran before, into calls</source>
        <translation>Zurück zur Zeile, die davor lief, in Aufrufe hinein</translation>
    </message>
    <message>
        <source>Back O&amp;ver</source>
        <translation>Zurück übe&amp;r</translation>
    </message>
    <message>
        <source>Back to the line of this function that ran before, over calls</source>
        <translation>Zurück zur Zeile dieser Funktion, die davor lief, über Aufrufe hinweg</translation>
    </message>
    <message>
        <source>Back Ou&amp;t</source>
        <translation>Zurück hina&amp;us</translation>
    </message>
    <message>
        <source>Back to the line that called this function</source>
        <translation>Zurück zur Zeile, die diese Funktion aufrief</translation>
    </message>
    <message>
        <source>Previous Position</source>
        <translation>Vorige Position</translation>
    </message>
    <message>
        <source>Where you were before you jumped here</source>
        <translation>Wo Sie waren, bevor Sie hierher sprangen</translation>
    </message>
    <message>
        <source>Next Position</source>
        <translation>Nächste Position</translation>
    </message>
    <message>
        <source>Where you were before you went back</source>
        <translation>Wo Sie waren, bevor Sie zurückgingen</translation>
    </message>
    <message>
        <source>Go to &amp;Fault</source>
        <translation>Zum &amp;Absturz</translation>
    </message>
    <message>
        <source>To where the program faulted</source>
        <translation>Dahin, wo das Programm abstürzte</translation>
    </message>
</context>
<context>
    <name>traceback::app::TargetPage</name>
    <message>
        <source>A &amp;program, started by a command</source>
        <translation>Ein &amp;Programm, durch einen Befehl gestartet</translation>
    </message>
    <message>
        <source>A process or &amp;service that runs now</source>
        <translation>Ein Prozess oder &amp;Dienst, der jetzt läuft</translation>
    </message>
    <message>
        <source>What to Record</source>
        <translation>Was aufgezeichnet wird</translation>
    </message>
    <message>
        <source>Nothing is changed: the program runs as a copy that records the lines it executes.</source>
        <translation>Nichts wird verändert: Das Programm läuft als Kopie, die die ausgeführten Zeilen aufzeichnet.</translation>
    </message>
    <message>
        <source>Filter by name, service, user or command</source>
        <translation>Nach Name, Dienst, Benutzer oder Befehl filtern</translation>
    </message>
    <message>
        <source>Filter of the processes</source>
        <translation>Filter der Prozesse</translation>
    </message>
    <message>
        <source>Processes</source>
        <translation>Prozesse</translation>
    </message>
    <message>
        <source>&amp;Browse…</source>
        <translation>&amp;Durchsuchen…</translation>
    </message>
    <message>
        <source>List &amp;Again</source>
        <translation>Neu &amp;auflisten</translation>
    </message>
    <message>
        <source>for example: ./server --port 8080</source>
        <translation>zum Beispiel: ./server --port 8080</translation>
    </message>
    <message>
        <source>&amp;Command:</source>
        <translation>&amp;Befehl:</translation>
    </message>
    <message>
        <source>Choose a Program</source>
        <translation>Ein Programm wählen</translation>
    </message>
</context>
<context>
    <name>traceback::app::TryPage</name>
    <message>
        <source>&amp;Start</source>
        <translation>&amp;Starten</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>An&amp;halten</translation>
    </message>
    <message>
        <source>Snap &amp;Now</source>
        <translation>Snap &amp;jetzt</translation>
    </message>
    <message>
        <source>&amp;Open It</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>Try It</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>Starts the program so that it records. This step may be left out.</source>
        <translation>Startet das Programm so, dass es aufzeichnet. Dieser Schritt kann ausgelassen werden.</translation>
    </message>
    <message>
        <source>What the program prints</source>
        <translation>Was das Programm ausgibt</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Runs as process %1. The first start makes copies.</source>
        <translation>Läuft als Prozess %1. Der erste Start legt Kopien an.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Es wird gestartet…</translation>
    </message>
    <message>
        <source>No snap could be made: %1</source>
        <translation>Es konnte kein Snap gemacht werden: %1</translation>
    </message>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>%1 konnte nicht gestartet werden: %2</translation>
    </message>
    <message>
        <source>Ended by %1.</source>
        <translation>Beendet durch %1.</translation>
    </message>
    <message>
        <source>Ended with status %1.</source>
        <translation>Beendet mit Rückgabewert %1.</translation>
    </message>
</context>
<context>
    <name>traceback::app::WelcomePage</name>
    <message>
        <source>Incoming snaps</source>
        <translation>Eingehende Snaps</translation>
    </message>
    <message>
        <source>Open Snap…</source>
        <translation>Snap öffnen…</translation>
    </message>
    <message>
        <source>How did it get there?</source>
        <translation>Wie kam es dahin?</translation>
    </message>
    <message>
        <source>Open a snap, or drop it on this window, to see the lines that led to its fault and to step back from there.</source>
        <translation>Öffnen Sie einen Snap, oder lassen Sie ihn auf dieses Fenster fallen, um die Zeilen zu sehen, die zum Absturz führten, und von dort zurückzugehen.</translation>
    </message>
    <message>
        <source>Record a Program…</source>
        <translation>Programm aufzeichnen…</translation>
    </message>
    <message>
        <source>Recent snaps</source>
        <translation>Zuletzt geöffnete Snaps</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
</context>
<context>
    <name>traceback::views::AllThreadsModel</name>
    <message>
        <source>goes on here</source>
        <translation>geht hier weiter</translation>
    </message>
    <message>
        <source>from %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <source>Thread %1, %2</source>
        <translation>Thread %1, %2</translation>
    </message>
    <message>
        <source>%1 earlier rows</source>
        <translation>%1 frühere Zeilen</translation>
    </message>
    <message>
        <source>%1 later rows</source>
        <translation>%1 spätere Zeilen</translation>
    </message>
    <message>
        <source>To the current entry: %1</source>
        <translation>Zum aktuellen Eintrag: %1</translation>
    </message>
    <message>
        <source>the current entry</source>
        <translation>der aktuelle Eintrag</translation>
    </message>
    <message>
        <source>call %1</source>
        <translation>Aufruf %1</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <source>not known to %1</source>
        <translation>nicht bekannt zu %1</translation>
    </message>
    <message>
        <source>%1; order %2</source>
        <translation>%1; Reihenfolge %2</translation>
    </message>
</context>
<context>
    <name>traceback::views::AllThreadsPanel</name>
    <message>
        <source>Trace of all threads</source>
        <translation>Alle Threads in einer Folge</translation>
    </message>
</context>
<context>
    <name>traceback::views::Annotations</name>
    <message>
        <source>%1: the notes cannot be read: %2</source>
        <translation>%1: Die Notizen können nicht gelesen werden: %2</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>%1: these are no notes of TraceBack: they are left as they are</source>
        <translation>%1: Das sind keine Notizen von TraceBack: Sie bleiben, wie sie sind</translation>
    </message>
    <message>
        <source>%1: written by a newer version: notes are shown, but none are added</source>
        <translation>%1: von einer neueren Version geschrieben: Notizen werden gezeigt, aber keine hinzugefügt</translation>
    </message>
    <message>
        <source>%1: these are the notes of another snap</source>
        <translation>%1: Das sind die Notizen eines anderen Snaps</translation>
    </message>
    <message>
        <source>%1: the notes cannot be kept: %2</source>
        <translation>%1: Die Notizen können nicht aufbewahrt werden: %2</translation>
    </message>
</context>
<context>
    <name>traceback::views::AnnotationsModel</name>
    <message>
        <source>Place</source>
        <translation>Stelle</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>By</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>By %1, %2</source>
        <translation>Von %1, %2</translation>
    </message>
    <message>
        <source>somebody</source>
        <translation>jemand</translation>
    </message>
    <message>
        <source>What stands there now is something else: it cannot be gone to.</source>
        <translation>Was jetzt dort steht, ist etwas anderes: Man kann nicht dahin gehen.</translation>
    </message>
    <message>
        <source>%1 (moved)</source>
        <translation>%1 (verschoben)</translation>
    </message>
    <message>
        <source>unknown thread</source>
        <translation>unbekannter Thread</translation>
    </message>
</context>
<context>
    <name>traceback::views::AnnotationsPanel</name>
    <message>
        <source>Bookmarks</source>
        <translation>Lesezeichen</translation>
    </message>
    <message>
        <source>What stands there now is something else: the note has lost its place.</source>
        <translation>Was jetzt dort steht, ist etwas anderes: Die Notiz hat ihre Stelle verloren.</translation>
    </message>
    <message>
        <source>A note is written here. In the list of bookmarks Delete takes it away.</source>
        <translation>Hier steht eine Notiz. In der Liste der Lesezeichen nimmt Entf sie weg.</translation>
    </message>
</context>
<context>
    <name>traceback::views::AnswersModel</name>
    <message>
        <source>%1 entries</source>
        <translation>%1 Einträge</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Stelle</translation>
    </message>
    <message>
        <source>Calls</source>
        <translation>Aufrufe</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>call %1</source>
        <translation>Aufruf %1</translation>
    </message>
</context>
<context>
    <name>traceback::views::AnswersPanel</name>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Looking for %1…</source>
        <translation>%1 wird gesucht…</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1: here.</source>
        <translation>%1: hier.</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>the first %1 answers</source>
        <translation>die ersten %1 Antworten</translation>
    </message>
    <message>
        <source>1 answer</source>
        <translation>1 Antwort</translation>
    </message>
    <message>
        <source>%1 answers</source>
        <translation>%1 Antworten</translation>
    </message>
    <message>
        <source>The question was given up.</source>
        <translation>Die Frage wurde aufgegeben.</translation>
    </message>
</context>
<context>
    <name>traceback::views::CallsModel</name>
    <message>
        <source>Function</source>
        <translation>Funktion</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>Zeile</translation>
    </message>
</context>
<context>
    <name>traceback::views::CallsPanel</name>
    <message>
        <source>Active calls</source>
        <translation>Aktive Aufrufe</translation>
    </message>
</context>
<context>
    <name>traceback::views::CodePane</name>
    <message>
        <source>&amp;Disassembly</source>
        <translation>&amp;Disassembler</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelltext</translation>
    </message>
    <message>
        <source>Disassembly</source>
        <translation>Disassembler</translation>
    </message>
    <message>
        <source>Show instructions instead of source, and step by instruction</source>
        <translation>Maschinenbefehle statt Quelltext zeigen, und nach Befehlen schreiten</translation>
    </message>
    <message>
        <source>Locate Source…</source>
        <translation>Quelltext suchen…</translation>
    </message>
    <message>
        <source>Say where the source of this function is</source>
        <translation>Sagen, wo der Quelltext dieser Funktion ist</translation>
    </message>
    <message>
        <source>The source was not fetched: %1</source>
        <translation>Der Quelltext wurde nicht geholt: %1</translation>
    </message>
    <message>
        <source>A gap in the trace</source>
        <translation>Eine Lücke in der Aufzeichnung</translation>
    </message>
    <message>
        <source>Here %1.</source>
        <translation>Hier: %1.</translation>
    </message>
    <message>
        <source>No code to show</source>
        <translation>Kein Code zu zeigen</translation>
    </message>
    <message>
        <source>What the trace shows here does not say which code ran.</source>
        <translation>Was die Aufzeichnung hier zeigt, sagt nicht, welcher Code lief.</translation>
    </message>
    <message>
        <source>This thread recorded nothing.</source>
        <translation>Dieser Thread hat nichts aufgezeichnet.</translation>
    </message>
    <message>
        <source>The instructions cannot be shown</source>
        <translation>Die Befehle können nicht gezeigt werden</translation>
    </message>
    <message>
        <source>The source was not found</source>
        <translation>Der Quelltext wurde nicht gefunden</translation>
    </message>
    <message>
        <source>There is no source for this code</source>
        <translation>Zu diesem Code gibt es keinen Quelltext</translation>
    </message>
    <message>
        <source>The trace below goes on to work.</source>
        <translation>Mit dem Ablauf darunter kann weitergearbeitet werden.</translation>
    </message>
    <message>
        <source>the instruction at %1</source>
        <translation>der Befehl bei %1</translation>
    </message>
    <message>
        <source>It is not known which module the code is of.</source>
        <translation>Es ist nicht bekannt, zu welchem Modul der Code gehört.</translation>
    </message>
    <message>
        <source>The instructions of %1 cannot be shown.</source>
        <translation>Die Befehle von %1 können nicht gezeigt werden.</translation>
    </message>
    <message>
        <source>The binary %1 has no instructions there.</source>
        <translation>Die Binärdatei %1 hat dort keine Befehle.</translation>
    </message>
    <message>
        <source>The instructions cannot be shown either: %1.</source>
        <translation>Auch die Befehle können nicht gezeigt werden: %1.</translation>
    </message>
    <message>
        <source>instructions of %1</source>
        <translation>Befehle von %1</translation>
    </message>
    <message>
        <source>The instruction at %1</source>
        <translation>Der Befehl bei %1</translation>
    </message>
    <message>
        <source>%1, from debuginfod</source>
        <translation>%1, von debuginfod</translation>
    </message>
    <message>
        <source>Line %1 is beyond the end of this file: it is not the one that was compiled.</source>
        <translation>Zeile %1 liegt hinter dem Ende dieser Datei: Sie ist nicht die übersetzte.</translation>
    </message>
    <message>
        <source>✓ as compiled</source>
        <translation>✓ wie übersetzt</translation>
    </message>
    <message>
        <source>This is the source that was compiled: %1</source>
        <translation>Das ist der Quelltext, der übersetzt wurde: %1</translation>
    </message>
    <message>
        <source>Lines may not be where the trace says that they ran.</source>
        <translation>Zeilen stehen womöglich nicht da, wo sie laut Aufzeichnung liefen.</translation>
    </message>
    <message>
        <source>This may not be the source that was compiled: %1</source>
        <translation>Das ist womöglich nicht der Quelltext, der übersetzt wurde: %1</translation>
    </message>
    <message>
        <source>This is not the source that was compiled.</source>
        <translation>Das ist nicht der Quelltext, der übersetzt wurde.</translation>
    </message>
    <message>
        <source>%1 Lines may not be where the trace says that they ran.</source>
        <translation>%1 Zeilen stehen womöglich nicht da, wo sie laut Aufzeichnung liefen.</translation>
    </message>
    <message>
        <source>Fetching this source from debuginfod.</source>
        <translation>Dieser Quelltext wird von debuginfod geholt.</translation>
    </message>
    <message>
        <source>Line %1</source>
        <translation>Zeile %1</translation>
    </message>
    <message>
        <source>In all the trace: once.</source>
        <translation>In der ganzen Aufzeichnung: einmal.</translation>
    </message>
    <message>
        <source>In all the trace: %1 times.</source>
        <translation>In der ganzen Aufzeichnung: %1-mal.</translation>
    </message>
    <message>
        <source>%1 did not run in this call.</source>
        <translation>%1 lief in diesem Aufruf nicht.</translation>
    </message>
    <message>
        <source>Execution %1 of %2 in this call.</source>
        <translation>Ausführung %1 von %2 in diesem Aufruf.</translation>
    </message>
</context>
<context>
    <name>traceback::views::CodeView</name>
    <message>
        <source>Line numbers and hit counts</source>
        <translation>Zeilennummern und Trefferzahlen</translation>
    </message>
    <message>
        <source>The thread faulted here.</source>
        <translation>Hier stürzte der Thread ab.</translation>
    </message>
    <message>
        <source>Bookmark.</source>
        <translation>Lesezeichen.</translation>
    </message>
    <message>
        <source>Note: %1</source>
        <translation>Notiz: %1</translation>
    </message>
    <message>
        <source>Ran once in this call.</source>
        <translation>Lief in diesem Aufruf einmal.</translation>
    </message>
    <message>
        <source>Ran at least %1 times in this call.</source>
        <translation>Lief in diesem Aufruf mindestens %1-mal.</translation>
    </message>
    <message>
        <source>Ran %1 times in this call.</source>
        <translation>Lief in diesem Aufruf %1-mal.</translation>
    </message>
    <message>
        <source>Not in this round of the loop.</source>
        <translation>Nicht in diesem Durchlauf der Schleife.</translation>
    </message>
    <message>
        <source>It has code, but no execution of it is in what the trace holds.</source>
        <translation>Hat Code, aber soweit die Aufzeichnung reicht, lief er nicht.</translation>
    </message>
</context>
<context>
    <name>traceback::views::CompareModel</name>
    <message>
        <source>the same on both sides</source>
        <translation>auf beiden Seiten gleich</translation>
    </message>
    <message>
        <source>one of %1 more rounds of the loop on this side</source>
        <translation>einer von %1 weiteren Durchläufen der Schleife auf dieser Seite</translation>
    </message>
    <message>
        <source>only on this side</source>
        <translation>nur auf dieser Seite</translation>
    </message>
    <message>
        <source>no alignment is known here</source>
        <translation>hier ist keine Zuordnung bekannt</translation>
    </message>
    <message>
        <source>older than what the other trace holds</source>
        <translation>älter als das, was die andere Aufzeichnung enthält</translation>
    </message>
    <message>
        <source>%1 rows that are the same</source>
        <translation>%1 gleiche Zeilen</translation>
    </message>
    <message>
        <source>%1 more rows</source>
        <translation>%1 weitere Zeilen</translation>
    </message>
    <message>
        <source>nothing on this side</source>
        <translation>nichts auf dieser Seite</translation>
    </message>
    <message>
        <source>one more round</source>
        <translation>ein weiterer Durchlauf</translation>
    </message>
    <message>
        <source>%1 more rounds</source>
        <translation>%1 weitere Durchläufe</translation>
    </message>
    <message>
        <source>call %1</source>
        <translation>Aufruf %1</translation>
    </message>
</context>
<context>
    <name>traceback::views::ComparePane</name>
    <message>
        <source>First &amp;Parting</source>
        <translation>Erste &amp;Trennung</translation>
    </message>
    <message>
        <source>&amp;Next Difference</source>
        <translation>&amp;Nächster Unterschied</translation>
    </message>
    <message>
        <source>P&amp;revious Difference</source>
        <translation>&amp;Voriger Unterschied</translation>
    </message>
    <message>
        <source>Calls answer each other by function; lines by address where both are of one build, else by function and line.</source>
        <translation>Aufrufe entsprechen einander nach der Funktion; Zeilen nach der Adresse, wo beide vom selben Bau sind, sonst nach Funktion und Zeile.</translation>
    </message>
    <message>
        <source>What is aligned by what</source>
        <translation>Was wonach zugeordnet wird</translation>
    </message>
    <message>
        <source>Trace of the left side</source>
        <translation>Ablauf der linken Seite</translation>
    </message>
    <message>
        <source>Trace of the right side</source>
        <translation>Ablauf der rechten Seite</translation>
    </message>
    <message>
        <source>How each row compares</source>
        <translation>Wie sich die Zeilen entsprechen</translation>
    </message>
    <message>
        <source>Nothing is compared</source>
        <translation>Nichts wird verglichen</translation>
    </message>
    <message>
        <source>The same path: %1 entries</source>
        <translation>Derselbe Weg: %1 Einträge</translation>
    </message>
    <message>
        <source>Difference %1 of %2</source>
        <translation>Unterschied %1 von %2</translation>
    </message>
    <message>
        <source>One difference, %1 entries the same</source>
        <translation>Ein Unterschied, %1 Einträge gleich</translation>
    </message>
    <message>
        <source>%1 differences, %2 entries the same</source>
        <translation>%1 Unterschiede, %2 Einträge gleich</translation>
    </message>
</context>
<context>
    <name>traceback::views::EndValues</name>
    <message>
        <source>The snap has no registers of this thread.</source>
        <translation>Der Snap hat keine Register dieses Threads.</translation>
    </message>
</context>
<context>
    <name>traceback::views::EntryText</name>
    <message>
        <source>The line ends in a call into another file, which left no records: that file is not traced.</source>
        <translation>Die Zeile endet mit einem Aufruf in eine andere Datei, der keine Datensätze hinterließ: Diese Datei wird nicht aufgezeichnet.</translation>
    </message>
    <message>
        <source>The line ends in a call whose callee left no records.</source>
        <translation>Die Zeile endet mit einem Aufruf, dessen Ziel keine Datensätze hinterließ.</translation>
    </message>
    <message>
        <source>The line ends in a call of %1, which left no records.</source>
        <translation>Die Zeile endet mit einem Aufruf von %1, der keine Datensätze hinterließ.</translation>
    </message>
    <message>
        <source>The line ends in a call of %1, which is not traced, for %2.</source>
        <translation>Die Zeile endet mit einem Aufruf von %1; die Funktion wird nicht aufgezeichnet, Grund: %2.</translation>
    </message>
    <message>
        <source>untraced call: another file</source>
        <translation>Aufruf ohne Aufzeichnung: andere Datei</translation>
    </message>
    <message>
        <source>untraced call</source>
        <translation>Aufruf ohne Aufzeichnung</translation>
    </message>
    <message>
        <source>untraced call: %1</source>
        <translation>Aufruf ohne Aufzeichnung: %1</translation>
    </message>
    <message>
        <source>untraced: %1 (%2)</source>
        <translation>ohne Aufzeichnung: %1 (%2)</translation>
    </message>
    <message>
        <source>no return seen</source>
        <translation>keine Rückkehr zu sehen</translation>
    </message>
    <message>
        <source>The trace does not show this call return.</source>
        <translation>Die Aufzeichnung zeigt keine Rückkehr dieses Aufrufs.</translation>
    </message>
    <message>
        <source>line %1</source>
        <translation>Zeile %1</translation>
    </message>
    <message>
        <source>%1 was left early</source>
        <translation>%1 wurde vorzeitig verlassen</translation>
    </message>
    <message>
        <source>%1 returned</source>
        <translation>%1 kehrte zurück</translation>
    </message>
    <message>
        <source>%1 arrived</source>
        <translation>%1 traf ein</translation>
    </message>
    <message>
        <source>%1 arrived: %2</source>
        <translation>%1 traf ein: %2</translation>
    </message>
    <message>
        <source>1 entry</source>
        <translation>1 Eintrag</translation>
    </message>
    <message>
        <source>%1 entries</source>
        <translation>%1 Einträge</translation>
    </message>
    <message>
        <source>1 entry hidden by the filter</source>
        <translation>1 Eintrag durch den Filter ausgeblendet</translation>
    </message>
    <message>
        <source>%1 entries hidden by the filter</source>
        <translation>%1 Einträge durch den Filter ausgeblendet</translation>
    </message>
    <message>
        <source>at least %1</source>
        <translation>mindestens %1</translation>
    </message>
    <message>
        <source>%1 calls in a row</source>
        <translation>%1 Aufrufe hintereinander</translation>
    </message>
    <message>
        <source>%1 times in a row</source>
        <translation>%1-mal hintereinander</translation>
    </message>
    <message>
        <source>loop, %1 times</source>
        <translation>Schleife, %1-mal</translation>
    </message>
    <message>
        <source>%1 rows: %2</source>
        <translation>%1 Zeilen: %2</translation>
    </message>
    <message>
        <source>began earlier</source>
        <translation>begann früher</translation>
    </message>
    <message>
        <source>How this function was called is not in the trace.</source>
        <translation>Wie diese Funktion aufgerufen wurde, steht nicht in der Aufzeichnung.</translation>
    </message>
    <message>
        <source>fault</source>
        <translation>Absturz</translation>
    </message>
    <message>
        <source>The thread faulted at this line.</source>
        <translation>In dieser Zeile stürzte der Thread ab.</translation>
    </message>
    <message>
        <source>signal</source>
        <translation>Signal</translation>
    </message>
    <message>
        <source>A signal interrupted the thread here.</source>
        <translation>Hier unterbrach ein Signal den Thread.</translation>
    </message>
    <message>
        <source>exception</source>
        <translation>Ausnahme</translation>
    </message>
    <message>
        <source>A C++ exception was thrown here.</source>
        <translation>Hier wurde eine C++-Ausnahme geworfen.</translation>
    </message>
    <message>
        <source>thrown again</source>
        <translation>wieder geworfen</translation>
    </message>
    <message>
        <source>An exception that was kept was thrown again here, by std::rethrow_exception or a future.</source>
        <translation>Hier wurde eine aufbewahrte Ausnahme wieder geworfen, von std::rethrow_exception oder einem Future.</translation>
    </message>
    <message>
        <source>gap</source>
        <translation>Lücke</translation>
    </message>
    <message>
        <source>Nothing is known of what ran here: %1.</source>
        <translation>Nichts ist bekannt von dem, was hier lief: %1.</translation>
    </message>
    <message>
        <source>inlined</source>
        <translation>eingebettet</translation>
    </message>
    <message>
        <source>The compiler inlined this call.</source>
        <translation>Der Compiler hat diesen Aufruf eingebettet.</translation>
    </message>
    <message>
        <source>goes on</source>
        <translation>geht weiter</translation>
    </message>
    <message>
        <source>The compiler mixed this call with the code around it: it began further up.</source>
        <translation>Der Compiler hat diesen Aufruf mit dem Code ringsum vermischt: Er begann weiter oben.</translation>
    </message>
    <message>
        <source>tail call</source>
        <translation>Endaufruf</translation>
    </message>
    <message>
        <source>Reached by a jump: the caller&apos;s frame was gone already.</source>
        <translation>Durch einen Sprung erreicht: Der Rahmen des Aufrufers war schon fort.</translation>
    </message>
    <message>
        <source>left early</source>
        <translation>vorzeitig verlassen</translation>
    </message>
    <message>
        <source>Not left by a return, but unwound, jumped over or never seen to end.</source>
        <translation>Nicht durch Rückkehr verlassen, sondern abgewickelt, übersprungen, oder das Ende war nie zu sehen.</translation>
    </message>
    <message>
        <source>not caught</source>
        <translation>nicht gefangen</translation>
    </message>
    <message>
        <source>Nobody caught this exception, so the program was aborted.</source>
        <translation>Niemand hat diese Ausnahme gefangen, also wurde das Programm abgebrochen.</translation>
    </message>
    <message>
        <source>landing pad</source>
        <translation>Landeplatz</translation>
    </message>
    <message>
        <source>An exception was caught or cleaned up after here.</source>
        <translation>Ab hier wurde eine Ausnahme gefangen oder nach ihr aufgeräumt.</translation>
    </message>
    <message>
        <source>at the fault</source>
        <translation>beim Absturz</translation>
    </message>
    <message>
        <source>The thread was about here when another one faulted, and ran on until all were stopped.</source>
        <translation>Etwa hier war der Thread, als ein anderer abstürzte; er lief weiter, bis alle angehalten waren.</translation>
    </message>
    <message>
        <source>cut short</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>A signal or an exception interrupted this line.</source>
        <translation>Ein Signal oder eine Ausnahme unterbrach diese Zeile.</translation>
    </message>
    <message>
        <source>in handler</source>
        <translation>in Signalbehandlung</translation>
    </message>
    <message>
        <source>Ran within a signal handler.</source>
        <translation>Lief innerhalb einer Signalbehandlung.</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1 in %2</translation>
    </message>
    <message>
        <source>call of %1</source>
        <translation>Aufruf von %1</translation>
    </message>
    <message>
        <source>%1; Before the trace has samples of them</source>
        <translation>%1; „Vor der Aufzeichnung“ hat Stichproben davon</translation>
    </message>
</context>
<context>
    <name>traceback::views::ExecutionsPopup</name>
    <message>
        <source>Executions of the line</source>
        <translation>Ausführungen der Zeile</translation>
    </message>
    <message>
        <source>… and earlier ones</source>
        <translation>… und frühere</translation>
    </message>
    <message>
        <source>1 entry</source>
        <translation>1 Eintrag</translation>
    </message>
    <message>
        <source>%1 entries</source>
        <translation>%1 Einträge</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>▲ %1 before</source>
        <translation>▲ %1 davor</translation>
    </message>
    <message>
        <source>▼ %1 after</source>
        <translation>▼ %1 danach</translation>
    </message>
    <message>
        <source>… and later ones</source>
        <translation>… und spätere</translation>
    </message>
    <message>
        <source>Not in what the trace holds of this thread.</source>
        <translation>Nicht in dem, was die Aufzeichnung von diesem Thread enthält.</translation>
    </message>
</context>
<context>
    <name>traceback::views::FilterBar</name>
    <message>
        <source>Thread to show</source>
        <translation>Gezeigter Thread</translation>
    </message>
    <message>
        <source>Module to show</source>
        <translation>Gezeigtes Modul</translation>
    </message>
    <message>
        <source>Functions to show</source>
        <translation>Gezeigte Funktionen</translation>
    </message>
    <message>
        <source>Files to show</source>
        <translation>Gezeigte Dateien</translation>
    </message>
    <message>
        <source>Function</source>
        <translation>Funktion</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Show everything again (Esc)</source>
        <translation>Wieder alles zeigen (Esc)</translation>
    </message>
    <message>
        <source>Show everything again</source>
        <translation>Wieder alles zeigen</translation>
    </message>
    <message>
        <source>All modules</source>
        <translation>Alle Module</translation>
    </message>
</context>
<context>
    <name>traceback::views::FindBar</name>
    <message>
        <source>Find in this file</source>
        <translation>In dieser Datei suchen</translation>
    </message>
    <message>
        <source>Previous (Shift+F3)</source>
        <translation>Voriges (Umschalt+F3)</translation>
    </message>
    <message>
        <source>Next (F3)</source>
        <translation>Nächstes (F3)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>Schließen (Esc)</translation>
    </message>
    <message>
        <source>Went on from the end</source>
        <translation>Vom Ende her fortgesetzt</translation>
    </message>
    <message>
        <source>Went on from the start</source>
        <translation>Vom Anfang her fortgesetzt</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
</context>
<context>
    <name>traceback::views::Finder</name>
    <message>
        <source>The last time before that: %1.</source>
        <translation>Das letzte Mal davor: %1.</translation>
    </message>
    <message>
        <source>The next time: %1.</source>
        <translation>Das nächste Mal: %1.</translation>
    </message>
    <message>
        <source>Not before this in what the trace holds of this thread: %1.</source>
        <translation>Davor nicht in dem, was die Aufzeichnung von diesem Thread enthält: %1.</translation>
    </message>
    <message>
        <source>Not after this in what the trace holds of this thread: %1.</source>
        <translation>Danach nicht in dem, was die Aufzeichnung von diesem Thread enthält: %1.</translation>
    </message>
</context>
<context>
    <name>traceback::views::FlatModel</name>
    <message>
        <source>Source</source>
        <translation>Quelltext</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>Zeile</translation>
    </message>
    <message>
        <source>Function</source>
        <translation>Funktion</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Hinweise</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>Modul</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>Tiefe</translation>
    </message>
    <message>
        <source>%1 earlier entries</source>
        <translation>%1 frühere Einträge</translation>
    </message>
    <message>
        <source>%1 later entries</source>
        <translation>%1 spätere Einträge</translation>
    </message>
    <message>
        <source>To the current entry: %1</source>
        <translation>Zum aktuellen Eintrag: %1</translation>
    </message>
    <message>
        <source>call %1</source>
        <translation>Aufruf %1</translation>
    </message>
</context>
<context>
    <name>traceback::views::Formatting</name>
    <message>
        <source>a C++ exception was thrown</source>
        <translation>eine C++-Ausnahme wurde geworfen</translation>
    </message>
    <message>
        <source>%1 was thrown</source>
        <translation>%1 wurde geworfen</translation>
    </message>
    <message>
        <source>%1: a C++ exception was thrown and not caught</source>
        <translation>%1: eine C++-Ausnahme wurde geworfen und nicht gefangen</translation>
    </message>
    <message>
        <source>%1: %2 was thrown and not caught</source>
        <translation>%1: %2 wurde geworfen und nicht gefangen</translation>
    </message>
    <message>
        <source>hang-up</source>
        <translation>Verbindung beendet</translation>
    </message>
    <message>
        <source>interrupted from the keyboard</source>
        <translation>von der Tastatur unterbrochen</translation>
    </message>
    <message>
        <source>quit from the keyboard</source>
        <translation>von der Tastatur beendet</translation>
    </message>
    <message>
        <source>illegal instruction</source>
        <translation>ungültiger Maschinenbefehl</translation>
    </message>
    <message>
        <source>trace or breakpoint trap</source>
        <translation>Haltepunkt</translation>
    </message>
    <message>
        <source>the program aborted itself</source>
        <translation>das Programm brach sich selbst ab</translation>
    </message>
    <message>
        <source>bad memory access</source>
        <translation>fehlerhafter Speicherzugriff</translation>
    </message>
    <message>
        <source>arithmetic error</source>
        <translation>Rechenfehler</translation>
    </message>
    <message>
        <source>killed</source>
        <translation>getötet</translation>
    </message>
    <message>
        <source>invalid memory reference</source>
        <translation>ungültiger Speicherzugriff</translation>
    </message>
    <message>
        <source>wrote to a closed pipe</source>
        <translation>schrieb in eine geschlossene Pipe</translation>
    </message>
    <message>
        <source>alarm clock</source>
        <translation>Wecker</translation>
    </message>
    <message>
        <source>asked to end</source>
        <translation>zum Beenden aufgefordert</translation>
    </message>
    <message>
        <source>a child process changed</source>
        <translation>ein Kindprozess änderte sich</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>processor time limit reached</source>
        <translation>Grenze der Prozessorzeit erreicht</translation>
    </message>
    <message>
        <source>file size limit reached</source>
        <translation>Grenze der Dateigröße erreicht</translation>
    </message>
    <message>
        <source>forbidden system call</source>
        <translation>verbotener Systemaufruf</translation>
    </message>
    <message>
        <source>signal %1</source>
        <translation>Signal %1</translation>
    </message>
    <message>
        <source>%1; its handler ended the process</source>
        <translation>%1; die Signalbehandlung beendete den Prozess</translation>
    </message>
    <message>
        <source>%1; thread %2 was in its handler of %3</source>
        <translation>%1; Thread %2 war in seiner Signalbehandlung: %3</translation>
    </message>
    <message>
        <source>%1; its handler raised it again</source>
        <translation>%1; die Signalbehandlung löste es erneut aus</translation>
    </message>
    <message>
        <source>%1; its handler raised %2</source>
        <translation>%1; die Signalbehandlung löste %2 aus</translation>
    </message>
    <message>
        <source>sent by a program, not caused by this code</source>
        <translation>von einem Programm gesendet, nicht von diesem Code verursacht</translation>
    </message>
    <message>
        <source>nothing is mapped there</source>
        <translation>dort ist nichts eingeblendet</translation>
    </message>
    <message>
        <source>the processor does not say at which address</source>
        <translation>der Prozessor sagt nicht, bei welcher Adresse</translation>
    </message>
    <message>
        <source>access is not permitted there</source>
        <translation>der Zugriff ist dort nicht erlaubt</translation>
    </message>
    <message>
        <source>the address is not aligned</source>
        <translation>die Adresse ist nicht ausgerichtet</translation>
    </message>
    <message>
        <source>there is no memory behind the address</source>
        <translation>hinter der Adresse ist kein Speicher</translation>
    </message>
    <message>
        <source>integer division by zero</source>
        <translation>Ganzzahldivision durch null</translation>
    </message>
    <message>
        <source>integer overflow</source>
        <translation>Ganzzahlüberlauf</translation>
    </message>
    <message>
        <source>floating-point division by zero</source>
        <translation>Gleitkommadivision durch null</translation>
    </message>
    <message>
        <source>older records were overwritten</source>
        <translation>ältere Datensätze wurden überschrieben</translation>
    </message>
    <message>
        <source>records are damaged</source>
        <translation>Datensätze sind beschädigt</translation>
    </message>
    <message>
        <source>the module&apos;s map is missing, so its records cannot be read</source>
        <translation>die Karte des Moduls fehlt, daher sind seine Datensätze nicht lesbar</translation>
    </message>
    <message>
        <source>signal handlers were nested too deep to record</source>
        <translation>Signalbehandlungen waren zu tief geschachtelt zum Aufzeichnen</translation>
    </message>
    <message>
        <source>a signal handler ran that was not recorded</source>
        <translation>eine Signalbehandlung lief, die nicht aufgezeichnet wurde</translation>
    </message>
    <message>
        <source>the path may go on beyond what is shown</source>
        <translation>der Weg geht womöglich weiter, als hier zu sehen ist</translation>
    </message>
    <message>
        <source>older records have not been read yet</source>
        <translation>ältere Datensätze sind noch nicht gelesen</translation>
    </message>
    <message>
        <source>the process was forked in a signal handler: up to here its parent recorded this</source>
        <translation>der Prozess wurde in einer Signalbehandlung abgespalten: Bis hier zeichnete sein Elternprozess auf</translation>
    </message>
    <message>
        <source>the thread ran before, but there was no memory to record it in</source>
        <translation>der Thread lief schon vorher, aber es war kein Speicher zum Aufzeichnen da</translation>
    </message>
    <message>
        <source>another thread had the same thread-local storage, so neither was recorded</source>
        <translation>ein anderer Thread hatte denselben threadlokalen Speicher, daher wurde keiner von beiden aufgezeichnet</translation>
    </message>
    <message>
        <source>it is not known what ran here</source>
        <translation>es ist nicht bekannt, was hier lief</translation>
    </message>
    <message>
        <source>the thread began</source>
        <translation>der Thread begann</translation>
    </message>
    <message>
        <source>the thread ended</source>
        <translation>der Thread endete</translation>
    </message>
    <message>
        <source>a module was loaded</source>
        <translation>ein Modul wurde geladen</translation>
    </message>
    <message>
        <source>a module was unloaded</source>
        <translation>ein Modul wurde entladen</translation>
    </message>
    <message>
        <source>the process forked</source>
        <translation>der Prozess spaltete einen anderen ab</translation>
    </message>
    <message>
        <source>a thread was made</source>
        <translation>ein Thread wurde gemacht</translation>
    </message>
    <message>
        <source>waits for the end of a thread</source>
        <translation>wartet auf das Ende eines Threads</translation>
    </message>
    <message>
        <source>the snap was made</source>
        <translation>der Snap wurde gemacht</translation>
    </message>
    <message>
        <source>waits for a condition</source>
        <translation>wartet auf eine Bedingung</translation>
    </message>
    <message>
        <source>waits at a barrier</source>
        <translation>wartet an einer Barriere</translation>
    </message>
    <message>
        <source>sleeps</source>
        <translation>schläft</translation>
    </message>
    <message>
        <source>waits for files or connections</source>
        <translation>wartet auf Dateien oder Verbindungen</translation>
    </message>
    <message>
        <source>waits for a child process</source>
        <translation>wartet auf einen Kindprozess</translation>
    </message>
    <message>
        <source>point of time</source>
        <translation>Zeitpunkt</translation>
    </message>
    <message>
        <source>unknown function</source>
        <translation>unbekannte Funktion</translation>
    </message>
    <message>
        <source>The program aborted itself</source>
        <translation>Das Programm brach sich selbst ab</translation>
    </message>
    <message>
        <source> at %1</source>
        <translation> bei %1</translation>
    </message>
    <message>
        <source>Snap taken by hand</source>
        <translation>Snap von Hand</translation>
    </message>
    <message>
        <source>Recovered after the process was gone</source>
        <translation>Wiederhergestellt, nachdem der Prozess fort war</translation>
    </message>
    <message>
        <source>Snap asked for by the program</source>
        <translation>Snap, den das Programm verlangte</translation>
    </message>
    <message>
        <source>The program %1</source>
        <translation>Das Programm: %1</translation>
    </message>
    <message>
        <source>The program hung</source>
        <translation>Das Programm hing</translation>
    </message>
    <message>
        <source>Snap taken by a policy rule</source>
        <translation>Snap durch eine Regel</translation>
    </message>
    <message>
        <source>The program %1: the policy wanted a snap</source>
        <translation>Das Programm: %1; eine Regel verlangte einen Snap</translation>
    </message>
    <message>
        <source>Snap</source>
        <translation>Snap</translation>
    </message>
    <message>
        <source>before</source>
        <translation>davor</translation>
    </message>
    <message>
        <source>after</source>
        <translation>danach</translation>
    </message>
    <message>
        <source>order not known</source>
        <translation>Reihenfolge nicht bekannt</translation>
    </message>
    <message>
        <source>%1 thread %2</source>
        <translation>%1 Thread %2</translation>
    </message>
</context>
<context>
    <name>traceback::views::HistoryModel</name>
    <message>
        <source>%1 records were read, in %2 of the %3 parts of the ring that were filled in that time. What was not read is not known.</source>
        <translation>%1 Einträge wurden gelesen, in %2 der %3 Teile des Rings, die in dieser Zeit gefüllt wurden. Was nicht gelesen wurde, ist nicht bekannt.</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>%1 weitere</translation>
    </message>
    <message>
        <source>code that is not known</source>
        <translation>Code, der nicht bekannt ist</translation>
    </message>
    <message>
        <source>%1 of %2 parts</source>
        <translation>%1 von %2 Teilen</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Before the end</source>
        <translation>Vor dem Ende</translation>
    </message>
    <message>
        <source>Busiest</source>
        <translation>Am meisten</translation>
    </message>
    <message>
        <source>Read</source>
        <translation>Gelesen</translation>
    </message>
</context>
<context>
    <name>traceback::views::HistoryPanel</name>
    <message>
        <source>Before the trace</source>
        <translation>Vor der Aufzeichnung</translation>
    </message>
    <message>
        <source>What ran then</source>
        <translation>Was da lief</translation>
    </message>
    <message>
        <source>Nothing is known of the time before this thread’s trace.</source>
        <translation>Von der Zeit vor der Aufzeichnung dieses Threads ist nichts bekannt.</translation>
    </message>
    <message>
        <source>Samples of what this thread did before its trace begins. Counts are of what was read, not of all that ran.</source>
        <translation>Stichproben dessen, was dieser Thread tat, bevor seine Aufzeichnung beginnt. Gezählt ist, was gelesen wurde, nicht alles, was lief.</translation>
    </message>
</context>
<context>
    <name>traceback::views::HistoryPlacesModel</name>
    <message>
        <source>other code</source>
        <translation>anderer Code</translation>
    </message>
    <message>
        <source>called</source>
        <translation>aufgerufen</translation>
    </message>
    <message>
        <source>loop</source>
        <translation>Schleife</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Function</source>
        <translation>Funktion</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Stelle</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>Anzahl</translation>
    </message>
</context>
<context>
    <name>traceback::views::LanesHeader</name>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
</context>
<context>
    <name>traceback::views::LanesModel</name>
    <message>
        <source>no times were recorded</source>
        <translation>es wurden keine Zeiten aufgezeichnet</translation>
    </message>
    <message>
        <source>entry %1</source>
        <translation>Eintrag %1</translation>
    </message>
    <message>
        <source>one of the entries %1 to %2</source>
        <translation>einer der Einträge %1 bis %2</translation>
    </message>
    <message>
        <source>had not begun then</source>
        <translation>hatte da noch nicht begonnen</translation>
    </message>
    <message>
        <source>had ended by then</source>
        <translation>war da schon beendet</translation>
    </message>
    <message>
        <source>recorded nothing</source>
        <translation>hat nichts aufgezeichnet</translation>
    </message>
    <message>
        <source>what it did then has not been read yet</source>
        <translation>was er da tat, ist noch nicht gelesen</translation>
    </message>
    <message>
        <source>what it did then has been overwritten</source>
        <translation>was er da tat, ist überschrieben</translation>
    </message>
    <message>
        <source>was at %1 then</source>
        <translation>war da bei %1</translation>
    </message>
    <message>
        <source>was at %1 then; at which is not known</source>
        <translation>war da bei %1; bei welchem, ist nicht bekannt</translation>
    </message>
    <message>
        <source>the current entry is in it</source>
        <translation>der aktuelle Eintrag ist darin</translation>
    </message>
    <message>
        <source>Thread %1</source>
        <translation>Thread %1</translation>
    </message>
    <message>
        <source>%1: the clock was not read between them</source>
        <translation>%1: Die Uhr wurde dazwischen nicht abgelesen</translation>
    </message>
    <message>
        <source>To the current entry: %1</source>
        <translation>Zum aktuellen Eintrag: %1</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>Some of it is around the current entry</source>
        <translation>Ein Teil davon liegt um den aktuellen Eintrag</translation>
    </message>
    <message>
        <source>fault</source>
        <translation>Absturz</translation>
    </message>
    <message>
        <source>Thread %1, entry %2: %3</source>
        <translation>Thread %1, Eintrag %2: %3</translation>
    </message>
    <message>
        <source>, not before %1</source>
        <translation>, nicht vor %1</translation>
    </message>
    <message>
        <source>began at %1</source>
        <translation>begann bei %1</translation>
    </message>
    <message>
        <source>ended at %1</source>
        <translation>endete bei %1</translation>
    </message>
    <message>
        <source>recorded until %1</source>
        <translation>aufgezeichnet bis %1</translation>
    </message>
    <message>
        <source>faulted</source>
        <translation>abgestürzt</translation>
    </message>
    <message>
        <source>its clock ran backwards</source>
        <translation>seine Uhr lief rückwärts</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>Time before the end</source>
        <translation>Zeit vor dem Ende</translation>
    </message>
    <message>
        <source>Before its trace, by %1 samples: %2</source>
        <translation>Vor seiner Aufzeichnung, nach %1 Stichproben: %2</translation>
    </message>
    <message>
        <source>samples of before its trace from %1 on</source>
        <translation>Stichproben von vor seiner Aufzeichnung ab %1</translation>
    </message>
</context>
<context>
    <name>traceback::views::LanesView</name>
    <message>
        <source>Threads over time</source>
        <translation>Threads im Lauf der Zeit</translation>
    </message>
    <message>
        <source>Thread %1 %2.</source>
        <translation>Thread %1 %2.</translation>
    </message>
    <message>
        <source>It was at %1.</source>
        <translation>Er war bei %1.</translation>
    </message>
    <message>
        <source>It was at %1; at which is a guess.</source>
        <translation>Er war bei %1; bei welchem, ist geraten.</translation>
    </message>
    <message>
        <source>No event follows in this thread.</source>
        <translation>In diesem Thread folgt kein Ereignis.</translation>
    </message>
    <message>
        <source>No event is before that in this thread.</source>
        <translation>In diesem Thread ist davor kein Ereignis.</translation>
    </message>
</context>
<context>
    <name>traceback::views::NotesModel</name>
    <message>
        <source>Note</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Data lost</source>
        <translation>Daten verloren</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>%1 times</source>
        <translation>%1-mal</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>Was gefunden wurde</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>Anzahl</translation>
    </message>
</context>
<context>
    <name>traceback::views::NotesPanel</name>
    <message>
        <source>Notes about this snap</source>
        <translation>Hinweise zu diesem Snap</translation>
    </message>
</context>
<context>
    <name>traceback::views::OrderLegend</name>
    <message>
        <source>Filled: before the current entry. Hatched: order not known. Outlined: after it.</source>
        <translation>Gefüllt: vor dem aktuellen Eintrag. Schraffiert: Reihenfolge nicht bekannt. Umrandet: danach.</translation>
    </message>
    <message>
        <source>samples from before the trace</source>
        <translation>Stichproben aus der Zeit vor der Aufzeichnung</translation>
    </message>
    <message>
        <source>Thin: samples from before the trace, of which the trace itself is lost.</source>
        <translation>Schmal: Stichproben aus der Zeit davor, deren Aufzeichnung überschrieben ist.</translation>
    </message>
</context>
<context>
    <name>traceback::views::SearchBox</name>
    <message>
        <source>Function, file:line, text, command (Ctrl+P)</source>
        <translation>Funktion, Datei:Zeile, Text, Befehl (Strg+P)</translation>
    </message>
    <message>
        <source>Go to, find, ask or do</source>
        <translation>Gehen, finden, fragen oder tun</translation>
    </message>
    <message>
        <source>Enter goes to the last time it ran before now, Shift+Enter to the next time.
Views and commands are found by their names, other texts, and &quot;what is in quotes&quot;,
in the sources.

Questions: calls(FUNCTION), lines(FILE:N), between(PLACE, PLACE), never(PLACE),
next or previous func_enter, func_exit, block_entry, exception or signal,
with: where stack=&lt;*,outer,inner&gt; and src=&lt;file,line&gt;</source>
        <translation>Die Eingabetaste geht zur letzten Ausführung vor jetzt, mit Umschalt zur nächsten.
Ansichten und Befehle werden nach ihren Namen gefunden, andere Texte, und &quot;was in Anführungszeichen steht&quot;,
in den Quelltexten.

Fragen: calls(FUNKTION), lines(DATEI:N), between(STELLE, STELLE), never(STELLE),
next oder previous func_enter, func_exit, block_entry, exception oder signal,
mit: where stack=&lt;*,außen,innen&gt; and src=&lt;datei,zeile&gt;</translation>
    </message>
    <message>
        <source>What the text may mean</source>
        <translation>Was der Text bedeuten kann</translation>
    </message>
    <message>
        <source>Looking for %1…</source>
        <translation>%1 wird gesucht…</translation>
    </message>
    <message>
        <source>No snap is open.</source>
        <translation>Kein Snap ist geöffnet.</translation>
    </message>
</context>
<context>
    <name>traceback::views::SearchModel</name>
    <message>
        <source>function</source>
        <translation>Funktion</translation>
    </message>
    <message>
        <source>file</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>view</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>view, %1</source>
        <translation>Ansicht, %1</translation>
    </message>
    <message>
        <source>command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>command, %1</source>
        <translation>Befehl, %1</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
</context>
<context>
    <name>traceback::views::SideBySidePanel</name>
    <message>
        <source>Add a Thread</source>
        <translation>Thread hinzufügen</translation>
    </message>
</context>
<context>
    <name>traceback::views::SourceCache</name>
    <message>
        <source>Its checksum is the one in the debug information of %1.</source>
        <translation>Die Prüfsumme ist die aus der Debug-Information von %1.</translation>
    </message>
    <message>
        <source>Its checksum is not the one in the debug information of %1.</source>
        <translation>Die Prüfsumme ist nicht die aus der Debug-Information von %1.</translation>
    </message>
    <message>
        <source>one of several versions that %1 was built from</source>
        <translation>eine von mehreren Fassungen, aus denen %1 gebaut wurde</translation>
    </message>
</context>
<context>
    <name>traceback::views::SourceFetcher</name>
    <message>
        <source>%1 of %2 KB</source>
        <translation>%1 von %2 KB</translation>
    </message>
</context>
<context>
    <name>traceback::views::SourceNote</name>
    <message>
        <source>Locate Source…</source>
        <translation>Quelltext suchen…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Say where the source that was compiled is</source>
        <translation>Sagen, wo der Quelltext ist, der übersetzt wurde</translation>
    </message>
    <message>
        <source>Do without this source</source>
        <translation>Auf diesen Quelltext verzichten</translation>
    </message>
</context>
<context>
    <name>traceback::views::SummaryStrip</name>
    <message>
        <source>unknown program</source>
        <translation>unbekanntes Programm</translation>
    </message>
    <message>
        <source>abort</source>
        <translation>Abbruch</translation>
    </message>
    <message>
        <source>%1: %2 in %3</source>
        <translation>%1: %2 in %3</translation>
    </message>
    <message>
        <source>Go to where this exception was thrown first</source>
        <translation>Dorthin gehen, wo diese Ausnahme zuerst geworfen wurde</translation>
    </message>
    <message>
        <source>Thrown in thread %1, %2</source>
        <translation>Geworfen in Thread %1, %2</translation>
    </message>
    <message>
        <source>Show what was wrong with this snap</source>
        <translation>Zeigen, was an diesem Snap nicht stimmt</translation>
    </message>
    <message>
        <source> — in %1</source>
        <translation> — in %1</translation>
    </message>
    <message>
        <source> — in %1, %2</source>
        <translation> — in %1, %2</translation>
    </message>
    <message>
        <source>PID %1</source>
        <translation>PID %1</translation>
    </message>
    <message>
        <source>1 thread</source>
        <translation>1 Thread</translation>
    </message>
    <message>
        <source>%1 threads</source>
        <translation>%1 Threads</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>1 note</source>
        <translation>1 Hinweis</translation>
    </message>
    <message>
        <source>%1 notes</source>
        <translation>%1 Hinweise</translation>
    </message>
    <message>
        <source>%1, data lost</source>
        <translation>%1, Daten verloren</translation>
    </message>
    <message>
        <source>one of %1 snapped together, group %2</source>
        <translation>eine von %1 zusammen aufgenommenen, Gruppe %2</translation>
    </message>
</context>
<context>
    <name>traceback::views::TextSearch</name>
    <message>
        <source>none of the %1 lines that hold that text ran, in what the trace holds</source>
        <translation>keine der %1 Zeilen mit diesem Text lief, soweit die Aufzeichnung reicht</translation>
    </message>
    <message>
        <source>; %1 sources were not found</source>
        <translation>; %1 Quelltexte wurden nicht gefunden</translation>
    </message>
    <message>
        <source>no line of the sources that were found, and no exception, holds that text</source>
        <translation>keine Zeile der gefundenen Quelltexte und keine Ausnahme enthält diesen Text</translation>
    </message>
</context>
<context>
    <name>traceback::views::ThreadColumn</name>
    <message>
        <source>Thread of this column</source>
        <translation>Thread dieser Spalte</translation>
    </message>
    <message>
        <source>Remove this column</source>
        <translation>Diese Spalte entfernen</translation>
    </message>
    <message>
        <source>Trace of thread %1</source>
        <translation>Ablauf von Thread %1</translation>
    </message>
    <message>
        <source>you are here</source>
        <translation>Sie sind hier</translation>
    </message>
</context>
<context>
    <name>traceback::views::ThreadsModel</name>
    <message>
        <source>at fault</source>
        <translation>mit Absturz</translation>
    </message>
    <message>
        <source>faulted</source>
        <translation>abgestürzt</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>recorded nothing</source>
        <translation>hat nichts aufgezeichnet</translation>
    </message>
    <message>
        <source>Thread %1, tid %2, %3 entries, last in %4</source>
        <translation>Thread %1, tid %2, %3 Einträge, zuletzt in %4</translation>
    </message>
    <message>
        <source>%1, at fault: %2</source>
        <translation>%1, mit Absturz: %2</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Last in</source>
        <translation>Zuletzt in</translation>
    </message>
</context>
<context>
    <name>traceback::views::ThreadsPanel</name>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
</context>
<context>
    <name>traceback::views::TimeAxis</name>
    <message>
        <source>time before the end of the trace</source>
        <translation>Zeit vor dem Ende der Aufzeichnung</translation>
    </message>
    <message>
        <source>events before the end; times are not known</source>
        <translation>Ereignisse vor dem Ende; Zeiten sind nicht bekannt</translation>
    </message>
    <message>
        <source>clock ticks before the end; times are not known</source>
        <translation>Takte der Uhr vor dem Ende; Zeiten sind nicht bekannt</translation>
    </message>
</context>
<context>
    <name>traceback::views::TracePane</name>
    <message>
        <source>This thread recorded nothing.</source>
        <translation>Dieser Thread hat nichts aufgezeichnet.</translation>
    </message>
    <message>
        <source>Call &amp;Tree</source>
        <translation>Aufruf&amp;baum</translation>
    </message>
    <message>
        <source>&amp;Flat</source>
        <translation>&amp;Flach</translation>
    </message>
    <message>
        <source>Fold &amp;Repeats</source>
        <translation>&amp;Wiederholungen falten</translation>
    </message>
    <message>
        <source>Fi&amp;lter</source>
        <translation>Fi&amp;lter</translation>
    </message>
    <message>
        <source>&amp;Copy Rows</source>
        <translation>Zeilen &amp;kopieren</translation>
    </message>
    <message>
        <source>Copy C&amp;all with Everything in It</source>
        <translation>&amp;Aufruf mit allem darin kopieren</translation>
    </message>
    <message>
        <source>Trace as a call tree</source>
        <translation>Ablauf als Aufrufbaum</translation>
    </message>
    <message>
        <source>Trace, line by line</source>
        <translation>Ablauf, Zeile für Zeile</translation>
    </message>
    <message>
        <source>Trace</source>
        <translation>Ablauf</translation>
    </message>
    <message>
        <source>Trace of thread %1</source>
        <translation>Ablauf von Thread %1</translation>
    </message>
    <message>
        <source>Show the trace as a tree of calls</source>
        <translation>Den Ablauf als Baum von Aufrufen zeigen</translation>
    </message>
    <message>
        <source>Show the trace line by line</source>
        <translation>Den Ablauf Zeile für Zeile zeigen</translation>
    </message>
    <message>
        <source>Show lines and loops that repeat as one row with a count</source>
        <translation>Zeilen und Schleifen, die sich wiederholen, als eine Zeile mit Anzahl zeigen</translation>
    </message>
    <message>
        <source>Show one module, function or file only</source>
        <translation>Nur ein Modul, eine Funktion oder eine Datei zeigen</translation>
    </message>
    <message>
        <source>Copy the selected rows of the trace as text</source>
        <translation>Die gewählten Zeilen des Ablaufs als Text kopieren</translation>
    </message>
    <message>
        <source>Copy the call where one stands, with all that it called, as text</source>
        <translation>Den Aufruf, in dem man steht, mit allem, was er aufrief, als Text kopieren</translation>
    </message>
    <message>
        <source>%1 more entries</source>
        <translation>%1 weitere Einträge</translation>
    </message>
</context>
<context>
    <name>traceback::views::TreeModel</name>
    <message>
        <source>earlier in this call</source>
        <translation>früher in diesem Aufruf</translation>
    </message>
    <message>
        <source>later in this call</source>
        <translation>später in diesem Aufruf</translation>
    </message>
    <message>
        <source>%1 outer calls</source>
        <translation>%1 äußere Aufrufe</translation>
    </message>
    <message>
        <source>Calls and lines</source>
        <translation>Aufrufe und Zeilen</translation>
    </message>
</context>
<context>
    <name>traceback::views::ValuesModel</name>
    <message>
        <source>further parts are not shown</source>
        <translation>weitere Teile werden nicht gezeigt</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Local variables</source>
        <translation>Lokale Variablen</translation>
    </message>
    <message>
        <source>Registers</source>
        <translation>Register</translation>
    </message>
    <message>
        <source>%1 = %2</source>
        <translation>%1 = %2</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>Typ</translation>
    </message>
</context>
<context>
    <name>traceback::views::ValuesPanel</name>
    <message>
        <source>%1  [inlined]</source>
        <translation>%1  [eingebettet]</translation>
    </message>
    <message>
        <source>%1 = %2  (at the end)</source>
        <translation>%1 = %2  (am Ende)</translation>
    </message>
    <message>
        <source>Go to the &amp;End</source>
        <translation>Zum &amp;Ende gehen</translation>
    </message>
    <message>
        <source>Values at the end</source>
        <translation>Werte am Ende</translation>
    </message>
    <message>
        <source>Frame</source>
        <translation>Rahmen</translation>
    </message>
    <message>
        <source>The frame whose variables are shown; 0 is the innermost</source>
        <translation>Der Rahmen, dessen Variablen gezeigt werden; 0 ist der innerste</translation>
    </message>
    <message>
        <source>Variables and registers</source>
        <translation>Variablen und Register</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>This trace has no values.</source>
        <translation>Diese Aufzeichnung hat keine Werte.</translation>
    </message>
    <message>
        <source>The thread had ended when the snap was made.</source>
        <translation>Der Thread war schon beendet, als der Snap gemacht wurde.</translation>
    </message>
    <message>
        <source>A trace holds no values. They are known only where the thread stood when the snap was made.</source>
        <translation>Ein Ablauf enthält keine Werte. Bekannt sind sie nur da, wo der Thread stand, als der Snap gemacht wurde.</translation>
    </message>
    <message>
        <source>Reading the values…</source>
        <translation>Die Werte werden gelesen…</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>Further frames are not shown.</source>
        <translation>Weitere Rahmen werden nicht gezeigt.</translation>
    </message>
    <message>
        <source>Reading was cancelled.</source>
        <translation>Das Lesen wurde abgebrochen.</translation>
    </message>
    <message>
        <source>&amp;Read the Values</source>
        <translation>Die Werte &amp;lesen</translation>
    </message>
</context>
<context>
    <name>traceback::views::WaitsModel</name>
    <message>
        <source>faulted</source>
        <translation>abgestürzt</translation>
    </message>
    <message>
        <source>had ended</source>
        <translation>war schon beendet</translation>
    </message>
    <message>
        <source>system call %1</source>
        <translation>Systemaufruf %1</translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>in %1</translation>
    </message>
    <message>
        <source>the end of thread %1</source>
        <translation>das Ende von Thread %1</translation>
    </message>
    <message>
        <source>a lock that thread %1 holds</source>
        <translation>eine Sperre, die Thread %1 hält</translation>
    </message>
    <message>
        <source>%1: deadlock</source>
        <translation>%1: Verklemmung</translation>
    </message>
    <message>
        <source>recorded nothing</source>
        <translation>hat nichts aufgezeichnet</translation>
    </message>
    <message>
        <source>at most %1</source>
        <translation>höchstens %1</translation>
    </message>
    <message>
        <source>The last time that the clock was read is that long ago; the thread recorded this since.</source>
        <translation>So lange ist es her, dass die Uhr zuletzt abgelesen wurde; seither hat der Thread dies aufgezeichnet.</translation>
    </message>
    <message>
        <source>Thread</source>
        <translation>Thread</translation>
    </message>
    <message>
        <source>Stands in</source>
        <translation>Steht in</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>Quelltext</translation>
    </message>
    <message>
        <source>Doing</source>
        <translation>Tut</translation>
    </message>
    <message>
        <source>For</source>
        <translation>Seit</translation>
    </message>
    <message>
        <source>Waits for</source>
        <translation>Wartet auf</translation>
    </message>
</context>
<context>
    <name>traceback::views::WaitsPanel</name>
    <message>
        <source>Where the threads stand</source>
        <translation>Wo die Threads stehen</translation>
    </message>
</context>
</TS>

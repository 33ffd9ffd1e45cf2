#include "sample.h"

#include <chrono>
#include <thread>

#include "tests/builders/trace_text.h"

namespace traceback::tests {
namespace {

constexpr const char* kMain = R"(/* Reads a shelf of nested lists and counts its books. */
#include <stdio.h>
#include <stdlib.h>
#include "parser.h"

static struct node *shelf;

static void complain(const char *what, int line)
{
    fprintf(stderr, "shelf: line %d: %s\n", line, what);
}

static int load(const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in) {
        complain("cannot be opened", 0);
        return -1;
    }
    shelf = parse(in);
    fclose(in);
    return shelf ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: shelf FILE\n");
        return 2;
    }
    if (load(argv[1]) != 0)
        return 1;
    printf("%d books\n", visit(shelf));
    return 0;
}
)";

constexpr const char* kParser = R"(/* The shelf's little language: (a b (c d)) */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "parser.h"

enum { DEEPEST = 64 };

static struct node *make(enum kind kind)
{
    struct node *made = calloc(1, sizeof *made);
    made->kind = kind;
    return made;
}

static int skip_blanks(FILE *in)
{
    int c = fgetc(in);
    while (isspace(c))
        c = fgetc(in);
    return c;
}

/* Where the next element goes. */
static inline struct node **tail(struct node *list)
{
    struct node **end = &list->first;
    while (*end)
        end = &(*end)->next;
    return end;
}

struct node *parse(FILE *in)
{
    struct node *open[DEEPEST];
    int depth = 0;
    open[0] = make(LIST);
    for (;;) {
        int c = skip_blanks(in);
        if (c == EOF)
            break;
        if (c == '(') {
            struct node *list = make(LIST);
            *tail(open[depth]) = list;
            open[++depth] = list;      /* who checks DEEPEST? */
        } else if (c == ')') {
            depth--;                   /* and who checks this? */
        } else {
            struct node *book = make(BOOK);
            book->name = c;
            *tail(open[depth]) = book;
        }
    }
    return open[depth];
}

/* How many books there are in a list, and in the lists within. */
int visit(const struct node *node)
{
    int books = 0;
    for (const struct node *n = node->first; n; n = n->next) {
        if (n->kind == LIST)
            books += visit(n);
        else
            books++;
    }
    return books;
}
)";

constexpr const char* kTrace = R"(
thread 4711 main
gap overwritten
call main main.c
  27
  31
  call load main.c
    15 untraced
    16
    20
    call parse parser.c
      36
      37
      call make parser.c
        11 untraced
        12
        13
      38
      39
      call skip_blanks parser.c
        18 untraced
        19
        21
      40
      42
      call make parser.c
        11 untraced
        12
        13
      43
      call tail parser.c inlined
        27
        28
        30
      44
      45
      39
      call skip_blanks parser.c
        18 untraced
        19
        20 untraced
        19
        21
      40
      42
      46
      49
      call make parser.c
        11 untraced
        12
        13
      50
      51
      call tail parser.c inlined
        27
        28
        30
      39
      call skip_blanks parser.c
        18 untraced
        19
        21
      40
      42
      46
      47
      39
      call skip_blanks parser.c
        18 untraced
        19
        21
      40
      42
      46
      47
      39
      call skip_blanks parser.c
        18 untraced
        21
      40
      54
    21 untraced
    22
  33
  call visit parser.c
    60
    61
    62
    63
    call visit parser.c
      60
      61
      62
      65
      61
      66
    61
    62
    65
    61 fault partial
    signal 11 in_handler
thread 4712 writer
call writer_loop main.c
  14
  15 untraced
thread 4713 timer
in tick main.c
  9 untraced
)";

}  // namespace

std::optional<views::SourceText> MemorySources::source(const model::SourceFile& file) {
  ++m_asked;
  const auto found = m_files.constFind(QString::fromStdString(file.path));
  if (found == m_files.constEnd()) return std::nullopt;
  QStringList lines = found->split(u'\n');
  if (lines.last().isEmpty()) lines.removeLast();
  return views::SourceText{found.key(), lines};
}

model::Result<std::vector<views::Instruction>> MemoryDisassembly::disassemble(const model::Module& module,
                                                                              model::VirtAddr start,
                                                                              model::VirtAddr end) {
  if (!m_works) return model::fail("no such file", module.path);
  static const char* const kTexts[] = {"push   rbp",
                                       "mov    rbp, rsp",
                                       "mov    rax, qword ptr [rdi + 8]",
                                       "test   rax, rax",
                                       "je     0x2048",
                                       "call   0x1040 <calloc@plt>",
                                       "lea    rdx, [rip + 0x2f01]",
                                       "add    eax, 1",
                                       "pop    rbp",
                                       "ret"};
  std::vector<views::Instruction> result;
  for (std::uint64_t at = start.value; at < end.value && result.size() < 4096; at += 2)
    result.push_back({{at}, 2, QString::fromLatin1(kTexts[(at / 2) % std::size(kTexts)])});
  return result;
}

std::optional<std::vector<std::uint32_t>> MemoryCodeLines::linesWithCode(const model::Module&,
                                                                         const model::SourceFile& file,
                                                                         std::stop_token) {
  const auto sources = sampleSources();
  const auto found = sources.constFind(QString::fromStdString(file.path));
  if (found == sources.constEnd()) return std::nullopt;
  std::vector<std::uint32_t> lines;
  std::uint32_t number = 0;
  for (const QString& line : found->split(u'\n')) {
    ++number;
    if (line.startsWith(QStringLiteral("    ")) &&
        (line.contains(u';') || line.contains(QStringLiteral("if ("))))
      lines.push_back(number);
  }
  return lines;
}

model::Result<model::Values> MemoryValues::values(std::uint32_t tid, std::stop_token stop) {
  ++m_asked;
  while (!m_mayAnswer) {
    if (stop.stop_requested()) {
      ++m_stopped;
      return model::fail("cancelled");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto value = [](const char* name, const char* type, const char* text) {
    model::Value made;
    made.name = name, made.type = type, made.text = text;
    return made;
  };
  if (tid != 4711) return model::fail("the snap has no memory of the program, and so no values");
  model::FrameValues visit;
  visit.function = "visit";
  visit.file = "/src/parser.c";
  visit.line = 61;
  model::Value node = value("node", "struct node *", "0x0");
  model::Value gone = value("total", "int", "<optimized out>");
  gone.known = false;
  visit.arguments = {node};
  visit.locals = {gone};
  visit.registers = {value("rax", "", "0x0"), value("rip", "", "0x401136")};
  model::FrameValues parse;
  parse.level = 1;
  parse.function = "parse";
  parse.file = "/src/parser.c";
  parse.line = 80;
  model::Value list = value("list", "struct list", "{head = 0x4052a0, count = 3}");
  list.parts = {value("head", "struct node *", "0x4052a0"), value("count", "int", "3")};
  list.more = true;
  parse.locals = {list};
  model::Values values;
  values.threads.push_back({.tid = tid, .frames = {visit, parse}, .more = false, .notes = {}});
  return values;
}

QHash<QString, QString> sampleSources() {
  return {{QStringLiteral("/src/main.c"), QString::fromLatin1(kMain)},
          {QStringLiteral("/src/parser.c"), QString::fromLatin1(kParser)}};
}

std::shared_ptr<model::Trace> sampleTrace() {
  std::string text = kTrace;
  text.replace(text.find(" in_handler"), 11, "");
  auto trace = traceOf(text, 16);
  trace->summary = {.reason = model::TraceReason::Fault,
                    .signal = 11,
                    .signalCode = 1,
                    .faultAddress = {0x18},
                    .program = "/usr/bin/shelf",
                    .pid = 4711,
                    .host = "atlas",
                    .when = {1'763'712'000'000'000'000},
                    .commandLine = "shelf books.txt"};
  trace->report.add(model::Severity::Info, "libc.so.6: not instrumented; its calls are shown as untraced");
  trace->report.add(model::Severity::DataLoss, "thread 4711: older records were overwritten", 12);
  return trace;
}

app::Services sampleServices(std::shared_ptr<const model::Trace> trace, Code code) {
  app::Services services;
  services.load = [trace](const std::filesystem::path&, const app::LoadProgress& progress,
                          const std::stop_token&) {
    progress(0.5, "Reading records");
    return model::Result<app::SharedTrace>(trace);
  };
  services.sources = [code](const QList<app::SourceMapping>&) {
    return std::make_shared<MemorySources>(code == Code::Source ? sampleSources()
                                                                : QHash<QString, QString>());
  };
  services.codeLines = [] { return std::make_shared<MemoryCodeLines>(); };
  services.disassembly = [code] { return std::make_shared<MemoryDisassembly>(code != Code::Nothing); };
  return services;
}

std::unique_ptr<app::MainWindow> sampleWindow(const std::shared_ptr<const model::Trace>& trace, Code code) {
  auto window = std::make_unique<app::MainWindow>(sampleServices(trace, code), app::Options(), false);
  window->show();
  window->setTrace(trace);
  return window;
}

}  // namespace traceback::tests

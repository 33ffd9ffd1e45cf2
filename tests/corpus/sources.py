"""Small programs and documents that jobs work on."""

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int key; struct node *left, *right; };
static struct node *insert(struct node *n, int key) {
  if (!n) { n = calloc(1, sizeof *n); n->key = key; return n; }
  if (key < n->key) n->left = insert(n->left, key); else n->right = insert(n->right, key);
  return n;
}
static int depth(const struct node *n) {
  if (!n) return 0;
  int l = depth(n->left), r = depth(n->right);
  return 1 + (l > r ? l : r);
}
static const char *name(int i) {
  switch (i % 7) {
    case 0: return "zero"; case 1: return "one"; case 2: return "two"; case 3: return "three";
    case 4: return "four"; case 5: return "five"; default: return "many";
  }
}
int main(void) {
  struct node *root = NULL;
  unsigned x = 12345;
  for (int i = 0; i < 1000; ++i) { x = x * 1103515245u + 12345u; root = insert(root, (int)(x >> 16)); }
  double sum = 0;
  for (int i = 1; i < 100; ++i) sum += 1.0 / i;
  printf("%d %s %.6f %zu\n", depth(root), name((int)x), sum, strlen(name(6)));
  return 0;
}
"""

CPP = r"""
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double a; explicit Square(double x) : a(x) {} double area() const override { return a * a; } };
struct Disc : Shape { double r; explicit Disc(double x) : r(x) {} double area() const override { return 3.14159 * r * r; } };
struct Guard { ~Guard() { std::cout << "left\n"; } };
template <class T> T power(T base, unsigned n) { return n == 0 ? T(1) : base * power(base, n - 1); }
static void deep(int n) { Guard guard; if (n == 0) throw std::runtime_error("deep"); deep(n - 1); }
int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 1; i < 9; ++i) { if (i % 2) shapes.push_back(std::make_unique<Square>(i)); else shapes.push_back(std::make_unique<Disc>(i)); }
  std::sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a->area() > b->area(); });
  for (const auto& s : shapes) std::cout << s->area() << ' ';
  std::map<std::string, int> counts;
  for (const char* w : {"a", "b", "a", "c"}) ++counts[w];
  for (const auto& [k, v] : counts) std::cout << k << v << ' ';
  std::cout << power(3L, 13) << '\n';
  try { deep(3); } catch (const std::exception& e) { std::cout << e.what() << '\n'; }
  try { std::vector<int>(3).at(5); } catch (...) { std::cout << "range\n"; }
  return 3;
}
"""

FORTRAN = """program p
  implicit none
  integer :: i, j
  real(8) :: a(20, 20), b(20, 20), c(20, 20)
  character(len=10) :: word
  do i = 1, 20
    do j = 1, 20
      a(i, j) = i + j * 0.5d0
      b(i, j) = merge(1d0, 0d0, i == j)
    end do
  end do
  c = matmul(a, b)
  print '(f12.4)', sum(c), maxval(c), dot_product(c(1, :), c(2, :))
  write (word, '(i5)') 42
  print *, trim(adjustl(word)), fact(10)
contains
  recursive function fact(n) result(r)
    integer, intent(in) :: n
    integer :: r
    if (n < 2) then
      r = 1
    else
      r = n * fact(n - 1)
    end if
  end function
end program
"""

TCL = """
set text [read [open text]]
foreach w [regexp -all -inline {[a-z]+} $text] { incr n($w) }
foreach w [lrange [lsort [array names n]] 0 9] { puts "$w $n($w)" }
namespace eval a { proc f {x} { return [expr {$x * 2}] } }
puts [a::f 21]
puts [string map {a 1 b 2} abcab]
for {set i 0; set s 0} {$i < 30000} {incr i} { set s [expr {($s * 3 + $i) % 1000003}] }
puts $s
oo::class create C { method m {} { return [self class] } }
puts [[C new] m]
try { throw {A B} msg } trap {A} {m} { puts "trapped $m" } finally { puts done }
after 1 { set done 1 }; vwait done
puts [encoding convertto utf-8 \\u00e4] ; puts [lmap x {1 2 3} {expr {$x ** 2}}]
"""

JS = r"""
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log(fib(20));
class A { #x = 3; get x() { return this.#x; } static s() { return "s"; } }
console.log(new A().x, A.s(), [3, 1, 2].sort().map(x => x * 2).join());
console.log(JSON.stringify({ a: [1, null, { b: "c" }] }), "abcabc".replace(/(b)(c)/g, "$2$1"));
function* g() { for (let i = 0; i < 3; ++i) yield i; }
console.log([...g()], 2n ** 100n, new Map([[1, 2]]).get(1), Math.hypot(3, 4));
try { null.x; } catch (e) { console.log(e instanceof TypeError); }
(async () => { await null; console.log("later"); })();
let t = new Float64Array(1000); for (let i = 0; i < 1000; ++i) t[i] = Math.sin(i); console.log(t.reduce((a, b) => a + b).toFixed(6));
"""

PHP = r"""<?php
interface S { function area(): float; }
abstract class B implements S { function __toString(): string { return static::class . " " . round($this->area(), 2); } }
final class Q extends B { function __construct(private float $a) {} function area(): float { return $this->a ** 2; } }
echo new Q(3), "\n";
preg_match_all('/\w+/', file_get_contents('text'), $m);
$c = array_count_values($m[0]); arsort($c); ksort($c); echo implode(",", array_slice(array_keys($c), 0, 9)), "\n";
$f = fn($x) => match(true) { $x < 0 => "neg", $x === 0 => "zero", default => "pos" };
echo $f(-1), $f(0), $f(5), "\n";
try { throw new DomainException("d"); } catch (LogicException $e) { echo $e->getMessage(), "\n"; } finally { echo "fin\n"; }
usort($a = [[2, 'b'], [1, 'a']], fn($x, $y) => $x[0] <=> $y[0]); echo json_encode(str_split("abcdef", 4)), hash('sha256', 'x'), "\n";
$s = 0; for ($i = 0; $i < 100000; ++$i) { $s = ($s * 3 + $i) % 1000003; } echo $s, "\n";
"""

SH = """
f() { i=0; while [ $i -lt 200 ]; do i=$((i + 1)); case $i in *7) printf '%s ' $i;; [1-3]*) ;; esac; done; echo; }
f; trap 'echo trapped' USR1; kill -USR1 $$; (exit 3); echo $?; echo "$(f | wc -c)"; set -- a b c; echo "$#" "${1#a}x" "${4:-none}"
for w in $(head -n 20 text); do echo "$w"; done | sort | uniq -c | sort -rn | head -n 5
cat << EOT
here $((3 * 4)) ${HOME:+set}
EOT
eval 'x=1; echo $x'; unset x; IFS=:; set -- $(echo 1:2:3); echo "$2"; read a b << EOT
p:q
EOT
echo "$b"; test -f text && echo yes; exit 9
"""

MAN = """.TH TRACE 1 2024-01-01 x "Manual"
.SH NAME
trace \\- look back
.SH SYNOPSIS
.B trace
.RI [ file ]
.SH DESCRIPTION
Words that are set in lines of
.I even
length, with \\fBbold\\fR parts.
.TP
.B \\-a
An option.
.TS
l l.
a	b
.TE
"""

XML = '<?xml version="1.0"?>\n<!DOCTYPE list [<!ELEMENT list (item*)><!ELEMENT item (#PCDATA)><!ATTLIST item n CDATA #REQUIRED>]>\n<list>' + "".join(
    f'<item n="{i}">word {i * i} &amp; more</item>' for i in range(40)) + "</list>\n"

XSL = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>
<xsl:template match="/list"><xsl:for-each select="item[@n mod 3 = 0]"><xsl:sort select="@n" data-type="number" order="descending"/>
<xsl:value-of select="concat(@n, ':', substring-after(., ' '), '&#10;')"/></xsl:for-each><xsl:call-template name="f"><xsl:with-param name="n" select="10"/></xsl:call-template></xsl:template>
<xsl:template name="f"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><xsl:value-of select="$n"/><xsl:call-template name="f"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template></xsl:stylesheet>
"""

HTML = "<html><head><title>Trace</title></head><body><h1>Head</h1><p>Some <b>bold <i>text</b></i> &amp; <a href='x'>link</a><ul><li>one<li>two</ul>" \
    "<table border=1><tr><td>a<td>b</tr><tr><td colspan=2>c</table><pre>  x\n  y</pre><form><input name=q></form></body>\n"

MARKDOWN = "# Trace\n\nSome *words*, a [link](http://example.org), `code`.\n\n1. one\n2. two\n   - nested\n\n> quoted\n\n```c\nint x;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

FILES = {
    "program.c": C, "program.cpp": CPP, "program.f90": FORTRAN, "work.tcl": TCL, "work.js": JS, "work.php": PHP, "work.sh": SH, "page.1": MAN,
    "page.xml": XML, "style.xsl": XSL, "page.html": HTML, "page.md": MARKDOWN,
}

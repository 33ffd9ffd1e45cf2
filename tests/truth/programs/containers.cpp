// The standard library's templates, compiled into the program: strings, maps, vectors, streams of text.
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Node {
  std::string word;
  std::unique_ptr<Node> left, right;
  int count = 1;
};

void insert(std::unique_ptr<Node>& node, const std::string& word) {
  if (!node) {
    node = std::make_unique<Node>();
    node->word = word;
  } else if (word < node->word) {
    insert(node->left, word);
  } else if (node->word < word) {
    insert(node->right, word);
  } else {
    ++node->count;
  }
}

void print(const std::unique_ptr<Node>& node) {
  if (!node) return;
  print(node->left);
  std::printf("%s:%d ", node->word.c_str(), node->count);
  print(node->right);
}

}  // namespace

int main() {
  std::istringstream text("one fish two fish red fish blue fish");
  std::map<std::string, int> ordered;
  std::unordered_map<std::size_t, int> lengths;
  std::unique_ptr<Node> tree;
  for (std::string word; text >> word;) {
    ++ordered[word];
    ++lengths[word.size()];
    insert(tree, word);
  }
  print(tree);
  std::string joined;
  for (const auto& [word, count] : ordered)
    joined += word + std::string(static_cast<std::size_t>(count), '!');
  std::printf("\n%s %d\n", joined.c_str(), lengths[3]);
  std::vector<std::vector<int>> triangle;
  for (int row = 0; row < 8; ++row) {
    std::vector<int> values(static_cast<std::size_t>(row) + 1, 1);
    for (std::size_t i = 1; i + 1 < values.size(); ++i)
      values[i] = triangle.back()[i - 1] + triangle.back()[i];
    triangle.push_back(std::move(values));
  }
  std::printf("%d %d\n", triangle[7][3], triangle[6].at(3));
  return 0;
}

// The program `caldera`.
#include <cstdio>

int main() {
  std::fputs("caldera: nothing is built in yet\n", stderr);
  return 2;
}

/* Does not free what it received. Several times, as the last pointer may stay in a register. */

#include <transect.h>

int main(void) {
    int round, failed = 0;
    for (round = 0; round < 10; round++) {
        failed += transect_options_new() == 0;
    }
    return failed;
}

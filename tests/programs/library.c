/* A shared library: a function and a variable that the program has no symbols of, and a line that both have. */

#include "shared.h"

int lent = 5;

int lend(int amount)
{
    lent += common(amount);
    return lent;
}

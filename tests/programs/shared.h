/* Compiled into the program and into the library, so that one line has code in both. */

static int common(int value)
{
    int more = value + 1;
    return more;
}

/* One small program for every architecture: `_start` calls `work`, which calls `step`, again and again. */

int counter = 5;                /* collected */
long long big = -2;             /* never collected */
const int limit = 1000;         /* read-only: it can be read from the program itself */

int step (int amount)
{
  int before = counter;
  counter = before + amount;
  return before;
}

int work (int turn)
{
  int result = step (turn * 3);
  return result + turn;
}

void _start (void)
{
  int turn = 0;
  while (counter < limit)
    turn += work (turn + 1) & 1;
  for (;;);
}

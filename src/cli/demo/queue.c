/* A job queue with a bug. Jobs wait in a ring of four slots until run_all()
   runs them; a job that finds the ring full is to be turned away. In the end
   every counter agrees: 11 jobs submitted, 11 run. Yet one job never ran. */

#define CAPACITY 4

struct job {
    int id;
    int size;                       /* units of work */
};

struct queue {
    struct job ring[CAPACITY];
    unsigned taken, put;            /* jobs ever taken out, ever put in */
} queue;

int submitted, rejected, finished;
long work_done;

static int is_full(const struct queue *q)
{
    return q->put - q->taken > CAPACITY;
}

static void submit(int id, int size)
{
    submitted++;
    if (is_full(&queue)) {
        rejected++;
        return;
    }
    struct job *slot = &queue.ring[queue.put % CAPACITY];
    slot->id = id;
    slot->size = size;
    queue.put++;
}

/* One unit of work a call, the deepest call being the last unit. */
static long work(const struct job *job, int unit)
{
    if (unit == job->size) {
        finished++;
        return job->id;
    }
    return job->id + work(job, unit + 1);
}

static void run_all(void)
{
    while (queue.taken != queue.put) {
        struct job job = queue.ring[queue.taken % CAPACITY];
        queue.taken++;
        work_done += work(&job, 1);
    }
}

/* The system call exit_group: there is no C library here. */
static void stop(long status)
{
    __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory");
}

int main(void)
{
    int id = 1;

    for (int burst = 1; burst <= 4; burst++) {
        for (int i = 0; i < burst; i++, id++)
            submit(id, id % 4 + 1);
        if (burst == 4)
            submit(id, 3);          /* one more at the last moment */
        run_all();
    }
    return submitted != finished + rejected;
}

void _start(void)
{
    stop(main());
}

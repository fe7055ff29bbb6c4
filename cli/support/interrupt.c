/* interrupt.c — what happens when someone wants the program to end. */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>

enum { PATIENCE = 700000 }; /* microseconds until what does not stop is ended */

static atomic_int arrived; /* the number of the signal; any thread may look */
static void (*volatile clean_at_once)(void);

/* With its default action, which is to end the program. */
static void die_of(int number)
{
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL); /* it is blocked while its own handler runs */
}

static void end_at_once(int number)
{
    (void)number;
    if (clean_at_once)
        clean_at_once();
    die_of(arrived);
}

static void begin_to_end(int number)
{
    if (arrived)
        end_at_once(number);
    arrived = number;
    static const struct itimerval patience = { .it_value = { .tv_usec = PATIENCE } };
    setitimer(ITIMER_REAL, &patience, NULL); /* in Linux a system call and nothing else, so a handler may */
}

void interrupt_watch(void)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = begin_to_end }, before;
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
    action.sa_handler = end_at_once;
    sigaction(SIGALRM, &action, NULL);
}

bool interrupted(void)
{
    return arrived != 0;
}

void interrupt_at_once(void (*clean)(void))
{
    clean_at_once = clean;
}

int interrupt_end(int status)
{
    if (arrived)
        die_of(arrived);
    return status;
}

/* progress.c — one line on the terminal, redrawn at most ten times a second.
 *
 * Workers call show() all the time, so most calls return after two atomic loads and a look at the clock. What a
 * stage counts is part of the stage: this file knows no stage by name. */
#include "progress.h"

#include "interrupt.h"
#include "terminal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 1000, PAUSE = 100 }; /* milliseconds before the first line, and between two */

static struct {
    atomic_int_least64_t due;         /* when the next line may be drawn */
    _Atomic(const char *) last_stage; /* the stage last reported, so that a new one is noticed at once */
    pthread_mutex_t lock;             /* for all that follows */
    bool running, visible;
    twin_stage stage;
    int64_t stage_start;
    uint64_t stage_first, most; /* done when the stage was first reported, and at most since */
} line = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void put(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text)); /* a lost line of progress is no loss */
}

static void hide(void)
{
    if (line.visible)
        put("\r\033[K");
    line.visible = false;
}

/* "1.2 MB/s", "46 K pairs/s" */
static void write_rate(char *out, size_t room, double rate, const char *unit)
{
    bool bytes = strcmp(unit, "B") == 0;
    static const char *const suffixes[] = { "", "K", "M", "G" };
    size_t power = 0;
    for (; rate >= 1000 && power < 3; power++)
        rate /= 1000;
    snprintf(out, room, "%.*f%s%s%s%s/s", rate < 10 ? 1 : 0, rate, bytes || power > 0 ? " " : "", suffixes[power],
             bytes ? "" : " ", unit);
}

/* "0:07 left", "1:02:03 left" */
static void write_left(char *out, size_t room, double seconds)
{
    uint64_t s = seconds < 1e6 ? (uint64_t)(seconds + 0.5) : 1000000;
    if (s < 3600)
        snprintf(out, room, "%" PRIu64 ":%02" PRIu64 " left", s / 60, s % 60);
    else
        snprintf(out, room, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", s / 3600, s / 60 % 60, s % 60);
}

static void draw(uint64_t done, uint64_t total, int64_t time)
{
    char text[256], part[32];
    double seconds = (double)(time - line.stage_start) / 1000;
    double rate = seconds > 0 ? (double)(done - line.stage_first) / seconds : 0;
    int used = snprintf(text, 128, "%s", line.stage.name);
    used = used < 128 ? used : 127;
    if (total > 0)
        used += snprintf(text + used, 32, "  %3.0f %%", 100 * (double)(done < total ? done : total) / (double)total);
    if (rate > 0 && line.stage.unit) {
        write_rate(part, sizeof part, rate, line.stage.unit);
        used += snprintf(text + used, 40, "  %s", part);
    }
    if (rate > 0 && total > done) {
        write_left(part, sizeof part, (double)(total - done) / rate);
        snprintf(text + used, 40, "  %s", part);
    }
    char whole[sizeof text + 8];
    size_t room = terminal_columns(STDERR_FILENO) - 1; /* the last column would wrap */
    snprintf(whole, sizeof whole, "\r%.*s\033[K", room < sizeof text ? (int)room : (int)sizeof text, text);
    put(whole);
    line.visible = true;
}

static void show(const twin_stage *stage, uint64_t done, uint64_t total)
{
    int64_t time = now();
    bool same = atomic_load_explicit(&line.last_stage, memory_order_relaxed) == stage->name;
    if (same && time < atomic_load_explicit(&line.due, memory_order_relaxed))
        return;
    if (pthread_mutex_trylock(&line.lock) != 0)
        return; /* another thread is drawing */
    if (line.stage.name != stage->name) {
        line.stage = *stage;
        line.stage_start = time;
        line.stage_first = line.most = done;
    }
    atomic_store_explicit(&line.last_stage, stage->name, memory_order_relaxed);
    if (done > line.most)
        line.most = done; /* workers may overtake each other; the line only goes forward */
    if (line.running && time >= atomic_load_explicit(&line.due, memory_order_relaxed)) {
        atomic_store_explicit(&line.due, time + PAUSE, memory_order_relaxed);
        draw(line.most, total, time);
    }
    pthread_mutex_unlock(&line.lock);
}

static bool report(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)context;
    show(stage, done, total);
    return !interrupted();
}

static bool go_on(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)context, (void)stage, (void)done, (void)total;
    return !interrupted();
}

twin_progress progress_begin(bool quiet)
{
    const char *terminal = getenv("TERM");
    if (quiet || !isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
        return (twin_progress){ go_on, NULL };
    pthread_mutex_lock(&line.lock);
    line.running = true;
    line.stage = (twin_stage){ NULL, NULL };
    atomic_store(&line.last_stage, NULL);
    atomic_store(&line.due, now() + PATIENCE);
    pthread_mutex_unlock(&line.lock);
    return (twin_progress){ report, NULL };
}

void progress_clear(void)
{
    pthread_mutex_lock(&line.lock);
    hide();
    pthread_mutex_unlock(&line.lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&line.lock);
    hide();
    line.running = false;
    pthread_mutex_unlock(&line.lock);
}

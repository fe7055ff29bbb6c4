/* spamd.c — connections of SpamAssassin's protocol, one request each.
 *
 * All threads wait for all sockets by one epoll. A socket is armed for one event, so that a connection is worked on by
 * one thread at a time, which reads what has come and waits for more, or judges and writes. TELL is answered later, by
 * the thread that commits. A client that is slow costs a small structure and what it has sent; it has a time for its
 * request, after which its socket is shut down, which is an event like any other, so that whoever takes it closes it. */
#include "spamd.h"

#include "judge.h"
#include "listen.h"
#include "spamd_answer.h"
#include "support/messages.h"
#include "support/verdict_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 1000,
    MESSAGE_BYTES = 10000000,
    ALL_BYTES = 256000000,
    SECONDS = 30,
    DRAINING_MS = 5000, /* at the end, and for what a client sends behind an error */
    SWEEP_MS = 250,
    STEP = 65536, /* bytes that are read at a time */
};

enum state { READING, JUDGING, TEACHING, WRITING, DRAINING };

struct client {
    struct client *next, *before;
    struct spamd *spamd;
    int fd;
    _Atomic enum state state;
    atomic_bool is_late;
    _Atomic int64_t deadline; /* in milliseconds */
    int64_t begun;
    twin_buffer in, out;
    size_t written;
    bool has_head, has_ended, is_broken; /* the client sends nothing more; the connection is lost */
    struct spamd_request request;
};

struct spamd {
    struct spamd_options options;
    struct listening listening;
    int epoll, wake; /* wake: there is something to read when all threads shall end */
    pthread_t *threads;
    size_t started;
    pthread_mutex_t lock; /* of the list */
    struct client *first, *last;
    size_t count;
    atomic_bool is_ending;
    _Atomic int64_t swept;
    atomic_size_t bytes; /* of all requests */
    atomic_uint_least64_t requests, spam, told, faults, timeouts;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the list of clients */

static void wake_all(struct spamd *spamd)
{
    (void)!write(spamd->wake, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static void link_client(struct client *client)
{
    struct spamd *spamd = client->spamd;
    pthread_mutex_lock(&spamd->lock);
    client->before = spamd->last;
    *(spamd->last ? &spamd->last->next : &spamd->first) = client;
    spamd->last = client;
    spamd->count++;
    pthread_mutex_unlock(&spamd->lock);
}

/* Closes under the lock: another thread that shuts sockets down must not meet a number that is in use again. */
static void close_client(struct client *client)
{
    struct spamd *spamd = client->spamd;
    spamd->timeouts += client->is_late;
    pthread_mutex_lock(&spamd->lock);
    *(client->before ? &client->before->next : &spamd->first) = client->next;
    *(client->next ? &client->next->before : &spamd->last) = client->before;
    spamd->count--;
    close(client->fd);
    bool was_last = spamd->is_ending && spamd->count == 0;
    pthread_mutex_unlock(&spamd->lock);
    atomic_fetch_sub(&spamd->bytes, client->in.length);
    twin_buffer_clear(&client->in);
    twin_buffer_clear(&client->out);
    free(client);
    if (was_last)
        wake_all(spamd);
}

/* The lock is held. */
static void shut_down(struct client *client)
{
    client->is_late = true;
    shutdown(client->fd, SHUT_RDWR);
}

/* Shuts down those whose time is over; at most every SWEEP_MS, by whichever thread comes first. */
static void sweep(struct spamd *spamd)
{
    int64_t now = now_ms(), swept = spamd->swept;
    if (now - swept < SWEEP_MS || !atomic_compare_exchange_strong(&spamd->swept, &swept, now))
        return;
    pthread_mutex_lock(&spamd->lock);
    for (struct client *client = spamd->first; client; client = client->next)
        if (client->state != JUDGING && client->state != TEACHING && client->deadline < now && !client->is_late)
            shut_down(client);
    pthread_mutex_unlock(&spamd->lock);
}

/* Makes room for a new client: the one that has kept its request waiting longest has to go. */
static void shut_down_oldest(struct spamd *spamd)
{
    pthread_mutex_lock(&spamd->lock);
    struct client *client = spamd->first;
    while (client && (client->state != READING || client->is_late))
        client = client->next;
    if (client)
        shut_down(client);
    pthread_mutex_unlock(&spamd->lock);
}

/* Hands the client over to whichever thread takes the event, which waits for the lock before it looks at the client:
 * the kernel orders the two, but nothing in C says so. */
static void arm(struct client *client, uint32_t events)
{
    struct spamd *spamd = client->spamd;
    struct epoll_event event = { .events = events | EPOLLONESHOT, .data.ptr = client };
    pthread_mutex_lock(&spamd->lock);
    epoll_ctl(spamd->epoll, EPOLL_CTL_MOD, client->fd, &event);
    pthread_mutex_unlock(&spamd->lock);
}

static void take_over(struct spamd *spamd)
{
    pthread_mutex_lock(&spamd->lock);
    pthread_mutex_unlock(&spamd->lock);
}

/* ---- answers */

/* `status` is what HTTP would say, by which metrics are counted. */
static void begin_writing(struct client *client, unsigned status)
{
    struct metrics *metrics = client->spamd->options.metrics;
    int64_t now = now_ms();
    if (metrics)
        metrics_request(metrics, "spamd", status, (double)(now - client->begun) / 1000);
    client->deadline = now + (int64_t)client->spamd->options.seconds * 1000;
    client->state = WRITING;
}

static void log_failure(struct spamd *spamd, const char *what, const char *why)
{
    char sentence[768];
    snprintf(sentence, sizeof sentence, "spamd: %s: %s", what, why);
    if (spamd->options.log)
        spamd->options.log(sentence);
}

static void answer_error(struct client *client, enum spamd_status status, const char *sentence)
{
    client->spamd->faults++;
    client->out.length = 0;
    spamd_answer_error(&client->out, status, sentence);
    begin_writing(client, status == SPAMD_TEMPFAIL ? 503 : 400);
}

/* By the thread that commits. */
static void told(void *context, const struct model_outcome *outcome)
{
    struct client *client = context;
    if (outcome->status == TWIN_OK) {
        client->spamd->told++;
        spamd_answer_tell(&client->out, &client->request, outcome->effect);
        begin_writing(client, 200);
    } else {
        log_failure(client->spamd, "nothing was learnt", outcome->sentence);
        answer_error(client, SPAMD_TEMPFAIL, "the model could not be written");
    }
    arm(client, EPOLLOUT);
}

/* Whether the answer comes later. */
static bool tell(struct client *client, twin_text message)
{
    twin_error error = { 0 };
    const struct spamd_request *request = &client->request;
    bool learns = request->set != 0;
    if (!request->has_length) { /* nobody could know whether it is whole */
        answer_error(client, SPAMD_PROTOCOL, "(TELL without Content-length)");
        return false;
    }
    if (!client->spamd->options.may_tell) {
        answer_error(client, SPAMD_UNAVAILABLE, "TELL is not enabled: --spamd-tell does that");
        return false;
    }
    if (!learns && !(request->remove & SPAMD_LOCAL)) { /* there is nothing else to take a message back from */
        spamd_answer_tell(&client->out, request, TWIN_MAIL_UNKNOWN);
        begin_writing(client, 200);
        return false;
    }
    struct model_order order = { .user = request->user,
                                 .change = learns ? MODEL_LEARN : MODEL_FORGET,
                                 .label = learns ? request->label : NULL,
                                 .message = message };
    client->state = TEACHING; /* before told() can be called */
    twin_status status = models_submit(client->spamd->options.models, order, told, client, &error);
    if (status == TWIN_OK)
        return true;
    if (status == TWIN_EINVAL)
        answer_error(client, SPAMD_NOUSER, "not a name of a user");
    else
        answer_error(client, SPAMD_TEMPFAIL, "too much is waiting to be learnt");
    return false;
}

static void judge(struct client *client, twin_text message)
{
    struct judged judged;
    twin_error error = { 0 };
    struct models *models = client->spamd->options.models;
    twin_status status = judge_begin(&judged, models, client->request.user, message, NULL, &error);
    if (status == TWIN_OK) {
        client->spamd->spam += verdict_is_spam(&judged.verdict);
        if (client->spamd->options.metrics)
            metrics_verdict(client->spamd->options.metrics, judged.verdict.label);
        status = spamd_answer(&client->out, &client->request, &judged, message);
    }
    judge_end(&judged, models);
    if (status == TWIN_OK) {
        begin_writing(client, 200);
    } else {
        log_failure(client->spamd, "not judged", error.message[0] ? error.message : twin_status_text(status));
        answer_error(client, SPAMD_TEMPFAIL, "the model cannot be used");
    }
}

/* Whether the answer comes later. */
static bool answer(struct client *client)
{
    struct spamd_request *request = &client->request;
    twin_buffer unpacked = { 0 };
    twin_text message = { client->in.bytes + request->head, client->in.length - request->head };
    bool later = false;
    client->spamd->requests++;
    if (request->has_length)
        message.length = request->length;
    twin_status status = TWIN_OK;
    if (request->is_compressed) {
        status = spamd_unpack(&unpacked, message, client->spamd->options.message_bytes);
        message = (twin_text){ unpacked.bytes, unpacked.length };
    }
    client->state = JUDGING;
    if (request->command == SPAMD_PING || request->command == SPAMD_SKIP) {
        if (request->command == SPAMD_PING)
            spamd_answer_ping(&client->out);
        begin_writing(client, 200);
    } else if (status == TWIN_ELIMIT) {
        answer_error(client, SPAMD_DATAERR, "the message is too long");
    } else if (status == TWIN_ENOMEM) {
        answer_error(client, SPAMD_TEMPFAIL, "out of memory");
    } else if (status != TWIN_OK) {
        answer_error(client, SPAMD_DATAERR, "the message cannot be unpacked");
    } else if (request->command == SPAMD_TELL) {
        later = tell(client, message);
    } else {
        judge(client, message);
    }
    twin_buffer_clear(&unpacked);
    return later;
}

/* ---- reading */

/* Reads what is there; false: out of memory, or over a limit. */
static bool receive(struct client *client)
{
    struct spamd *spamd = client->spamd;
    char step[STEP];
    ssize_t got = STEP;
    while (got == STEP && client->in.length <= spamd->options.message_bytes + SPAMD_HEAD_BYTES) {
        do
            got = recv(client->fd, step, sizeof step, 0);
        while (got < 0 && errno == EINTR);
        client->has_ended = got == 0;
        client->is_broken = got < 0 && errno != EAGAIN;
        if (got <= 0)
            return true;
        if (atomic_fetch_add(&spamd->bytes, (size_t)got) + (size_t)got > spamd->options.all_bytes) {
            atomic_fetch_sub(&spamd->bytes, (size_t)got);
            return false;
        }
        if (twin_buffer_append(&client->in, step, (size_t)got) != TWIN_OK) {
            atomic_fetch_sub(&spamd->bytes, (size_t)got);
            return false;
        }
    }
    return true;
}

/* Whether the request is there as a whole, or it is known what is wrong with it. */
static bool is_complete(struct client *client)
{
    struct spamd_request *request = &client->request;
    size_t most = client->spamd->options.message_bytes;
    if (!client->has_head) {
        enum spamd_progress progress = spamd_read(request, (twin_text){ client->in.bytes, client->in.length });
        client->has_head = progress == SPAMD_HEAD;
        if (progress == SPAMD_BAD || (progress == SPAMD_MORE && client->has_ended)) {
            answer_error(client, SPAMD_PROTOCOL, request->fault ? request->fault : "(EOF during headers)");
            return true;
        }
        if (progress == SPAMD_MORE)
            return false;
    }
    size_t body = client->in.length - request->head;
    if (request->command == SPAMD_PING || request->command == SPAMD_SKIP)
        return true;
    if (request->has_length ? request->length > most : body > most) {
        answer_error(client, SPAMD_DATAERR, "the message is too long");
        return true;
    }
    if (!request->has_length || body >= request->length)
        return request->has_length || client->has_ended;
    if (client->has_ended)
        answer_error(client, SPAMD_PROTOCOL, "(Content-Length mismatch: the message ends early)");
    return client->has_ended;
}

/* ---- events */

/* True: done with it. */
static bool write_answer(struct client *client)
{
    while (client->written < client->out.length) {
        ssize_t sent =
            send(client->fd, client->out.bytes + client->written, client->out.length - client->written, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN) {
            arm(client, EPOLLOUT);
            return false;
        }
        if (sent < 0)
            return true;
        client->written += (size_t)sent;
    }
    /* With bytes unread, closing would take the answer away from the client. */
    char excess[STEP];
    shutdown(client->fd, SHUT_WR);
    ssize_t got = recv(client->fd, excess, sizeof excess, 0);
    if (got <= 0)
        return true;
    client->state = DRAINING;
    client->deadline = now_ms() + DRAINING_MS;
    arm(client, EPOLLIN);
    return false;
}

static bool drain(struct client *client)
{
    char excess[STEP];
    ssize_t got = recv(client->fd, excess, sizeof excess, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        return true;
    arm(client, EPOLLIN);
    return false;
}

/* What becomes of a client; when it is to wait, another thread may have it already. */
enum next { CLOSE, WAIT, WRITE };

static enum next take_request(struct client *client)
{
    bool is_welcome = receive(client);
    if (client->is_late || client->is_broken || (client->in.length == 0 && client->has_ended))
        return CLOSE; /* a message that was cut off is none */
    if (!is_welcome) {
        answer_error(client, SPAMD_TEMPFAIL, "too many requests at once");
        return WRITE;
    }
    if (!is_complete(client)) {
        arm(client, EPOLLIN);
        return WAIT;
    }
    if (client->state != READING) /* there is an answer: what is wrong with it */
        return WRITE;
    return answer(client) ? WAIT : WRITE;
}

/* Goes on with a client; true: done with it. */
static bool go_on(struct client *client)
{
    if (client->is_late)
        return true;
    if (client->state == DRAINING)
        return drain(client);
    enum next next = client->state == READING ? take_request(client) : WRITE;
    return next == WRITE ? write_answer(client) : next == CLOSE;
}

static void accept_client(struct spamd *spamd)
{
    int fd = accept4(spamd->listening.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            shut_down_oldest(spamd); /* and the new one waits until that is closed */
            nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        }
        return;
    }
    pthread_mutex_lock(&spamd->lock);
    bool is_full = spamd->count >= spamd->options.connections;
    bool is_over =
        spamd->count >= spamd->options.connections + 64; /* those that were shut down, but not closed yet */
    pthread_mutex_unlock(&spamd->lock);
    if (is_full)
        shut_down_oldest(spamd);
    struct client *client = is_over ? NULL : calloc(1, sizeof *client);
    if (!client) {
        close(fd);
        return;
    }
    client->spamd = spamd;
    client->fd = fd;
    client->begun = now_ms();
    client->deadline = client->begun + (int64_t)spamd->options.seconds * 1000;
    link_client(client);
    struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = client };
    if (epoll_ctl(spamd->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        close_client(client);
}

/* What epoll gives for the two sockets that are no clients: addresses in the structure. */
static void *work(void *context)
{
    struct spamd *spamd = context;
    for (;;) {
        struct epoll_event event;
        int count = epoll_wait(spamd->epoll, &event, 1, 2 * SWEEP_MS);
        sweep(spamd);
        if (count < 0 && errno != EINTR)
            return NULL;
        if (count <= 0)
            continue;
        if (event.data.ptr == &spamd->wake)
            return NULL;
        if (event.data.ptr == &spamd->listening) {
            accept_client(spamd);
            continue;
        }
        take_over(spamd);
        if (go_on(event.data.ptr))
            close_client(event.data.ptr);
    }
}

/* ---- the service */

static void free_spamd(struct spamd *spamd)
{
    spamd->is_ending = false;
    struct client *next;
    for (struct client *client = spamd->first; client; client = next) { /* accepted while the threads ended */
        next = client->next;
        close_client(client);
    }
    listen_end(&spamd->listening);
    if (spamd->epoll >= 0)
        close(spamd->epoll);
    if (spamd->wake >= 0)
        close(spamd->wake);
    pthread_mutex_destroy(&spamd->lock);
    free(spamd->threads);
    free(spamd);
}

static struct spamd_options complete(struct spamd_options options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (options.threads == 0)
        options.threads = processors > 2 ? 2 * (size_t)processors : 4;
    if (options.connections == 0)
        options.connections = CONNECTIONS;
    if (options.message_bytes == 0)
        options.message_bytes = MESSAGE_BYTES;
    if (options.all_bytes == 0)
        options.all_bytes = ALL_BYTES;
    if (options.seconds == 0)
        options.seconds = SECONDS;
    return options;
}

static bool start_threads(struct spamd *spamd)
{
    struct epoll_event incoming = { .events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = &spamd->listening };
    struct epoll_event wake = { .events = EPOLLIN, .data.ptr = &spamd->wake };
    spamd->epoll = epoll_create1(EPOLL_CLOEXEC);
    spamd->wake = eventfd(0, EFD_CLOEXEC);
    spamd->threads = calloc(spamd->options.threads, sizeof *spamd->threads);
    if (spamd->epoll < 0 || spamd->wake < 0 || !spamd->threads ||
        epoll_ctl(spamd->epoll, EPOLL_CTL_ADD, spamd->wake, &wake) != 0 ||
        epoll_ctl(spamd->epoll, EPOLL_CTL_ADD, spamd->listening.fd, &incoming) != 0)
        return false;
    while (spamd->started < spamd->options.threads &&
           pthread_create(&spamd->threads[spamd->started], NULL, work, spamd) == 0)
        spamd->started++;
    return spamd->started > 0;
}

struct spamd *spamd_start(struct spamd_options options)
{
    struct spamd *spamd = calloc(1, sizeof *spamd);
    if (!spamd) {
        fail_status("spamd", TWIN_ENOMEM, NULL);
        return NULL;
    }
    spamd->options = complete(options);
    spamd->epoll = spamd->wake = spamd->listening.fd = -1;
    pthread_mutex_init(&spamd->lock, NULL);
    bool good = listen_at(&spamd->listening, options.where, "spamd");
    if (good && !spamd->listening.is_local)
        good = refuse("%s: the protocol of spamd has no password, so it is spoken on loopback and on unix:PATH only",
                      options.where);
    if (good && !start_threads(spamd))
        good = refuse("spamd: %s", strerror(errno));
    if (good)
        return spamd;
    free_spamd(spamd);
    return NULL;
}

void spamd_stop(struct spamd *spamd)
{
    if (!spamd)
        return;
    epoll_ctl(spamd->epoll, EPOLL_CTL_DEL, spamd->listening.fd, NULL);
    int64_t last = now_ms() + DRAINING_MS;
    pthread_mutex_lock(&spamd->lock);
    spamd->is_ending = true;
    for (struct client *client = spamd->first; client; client = client->next)
        if (client->deadline > last)
            client->deadline = last;
    bool is_empty = spamd->count == 0;
    pthread_mutex_unlock(&spamd->lock);
    if (is_empty)
        wake_all(spamd);
    for (size_t i = 0; i < spamd->started; i++)
        pthread_join(spamd->threads[i], NULL);
    free_spamd(spamd);
}

const char *spamd_name(const struct spamd *spamd)
{
    return spamd->listening.name;
}

struct spamd_counts spamd_count(struct spamd *spamd)
{
    pthread_mutex_lock(&spamd->lock);
    size_t connections = spamd->count;
    pthread_mutex_unlock(&spamd->lock);
    return (struct spamd_counts){ .requests = spamd->requests,
                                  .spam = spamd->spam,
                                  .told = spamd->told,
                                  .faults = spamd->faults,
                                  .timeouts = spamd->timeouts,
                                  .connections = connections };
}

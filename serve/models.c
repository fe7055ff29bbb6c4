/* models.c — snapshots of mail models, and the one thread that changes them.
 *
 * A snapshot owns a model that was opened for reading, and handles that were borrowed from it: those that are out and a
 * list of those that are back. Who takes a handle pops one from the list, so that threads keep no state of their own.
 * A snapshot that was replaced is closed with its last handle. One lock guards all lists; models are loaded without
 * it, by the thread of the service or, the first time, by the thread that wants the model.
 *
 * The thread of the service waits for changes, MODELS_WATCH_MS at most, and looks in between whether the files have
 * changed. The handle it writes with stays open as long as it is the same file; after a failure it is closed, which
 * discards what could not be written, so that what was refused is not learnt later. */
#include "models.h"
#include "writable.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { WATCH_MS = 250, MOST_OPEN = 32, QUEUE = 1024, QUEUE_BYTES = 64 << 20 };

/* Which state of a file was loaded: every commit writes the file. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed;
};

struct model_handle {
    twin_mail *mail;
    struct model_handle *next;
};

struct model_snapshot {
    twin_mail *owner;
    struct model_handle *back;
    size_t out;
    bool exists, replaced;
    int64_t loaded;
    uint64_t bytes;
};

struct model {
    struct model *next;
    char user[MODELS_USER_BYTES + 1];
    char *path;
    struct model_snapshot *now;
    struct stamp stamp; /* of the last attempt to load it */
    uint64_t used;      /* by the clock of the service: the least recent is closed first */
    bool loading, failed;
    bool
        doubtful; /* it was written within a tick before that: what is written in the same tick leaves the same stamp */
};

struct order {
    struct order *next;
    char user[MODELS_USER_BYTES + 1], label[TWIN_MAIL_LABEL_BYTES + 1];
    enum model_change change;
    model_done *done;
    void *context;
    struct model_outcome outcome;
    size_t length;
    char message[];
};

struct models {
    struct models_options options;
    char *path;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ordered, loaded;
    bool stopping;
    struct model *list;
    uint64_t clock;
    struct order *first, **last;
    size_t waiting, waiting_bytes;
    struct models_counts counts;

    /* of the thread of the service */
    twin_mail *writer;
    struct stamp writer_stamp;
    char writer_user[MODELS_USER_BYTES + 1];
    twin_message_reader *reader;
};

/* ---- names and files */

static bool is_user(const char *user)
{
    size_t length = strlen(user);
    return length > 0 && length <= MODELS_USER_BYTES && user[0] != '.' &&
           strspn(user, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@+") == length;
}

static twin_status fail_with(twin_error *error, twin_status status, const char *sentence)
{
    if (error) {
        *error = (twin_error){ .status = status };
        snprintf(error->message, sizeof error->message, "%s", sentence);
    }
    return status;
}

static twin_status choose_user(const char **out, const struct models *models, const char *user, twin_error *error)
{
    *out = "";
    if (!models->options.per_user)
        return TWIN_OK;
    *out = user && *user ? user : "default";
    if (is_user(*out))
        return TWIN_OK;
    return fail_with(error, TWIN_EINVAL,
                     "a model's name is 1 to 64 letters, digits and -_.@+, and begins with no dot");
}

static bool is_label(const char *label)
{
    size_t length = label ? strlen(label) : 0;
    return length > 0 && length <= TWIN_MAIL_LABEL_BYTES &&
           strspn(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == length;
}

/* All zeros: there is no file. */
static struct stamp stamp_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return (struct stamp){ 0 };
    return (struct stamp){ s.st_dev, s.st_ino, s.st_size, s.st_mtim };
}

static bool same_file(struct stamp a, struct stamp b)
{
    return a.device == b.device && a.inode == b.inode;
}

static bool same_state(struct stamp a, struct stamp b)
{
    return same_file(a, b) && a.bytes == b.bytes && a.changed.tv_sec == b.changed.tv_sec &&
           a.changed.tv_nsec == b.changed.tv_nsec;
}

static void log_sentence(const struct models *models, const char *sentence)
{
    if (models->options.log)
        models->options.log(sentence);
}

/* ---- snapshots */

static void close_snapshot(struct model_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (struct model_handle *handle = snapshot->back, *next; handle; handle = next) {
        next = handle->next;
        twin_mail_close(handle->mail);
        free(handle);
    }
    twin_mail_close(snapshot->owner);
    free(snapshot);
}

static twin_status open_snapshot(struct model_snapshot **out, const char *path, bool exists, twin_error *error)
{
    struct model_snapshot *snapshot = calloc(1, sizeof *snapshot);
    *out = NULL;
    if (!snapshot)
        return fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
    twin_status status = exists ? twin_mail_open(&snapshot->owner, path, TWIN_MAIL_READ, error)
                                : twin_mail_create_in_memory(&snapshot->owner, (twin_mail_options){ 0 });
    twin_mail *first = NULL; /* makes the owner load what checks need, outside the lock */
    if (status == TWIN_OK)
        status = twin_mail_borrow(&first, snapshot->owner, error);
    struct model_handle *handle = status == TWIN_OK ? calloc(1, sizeof *handle) : NULL;
    if (!handle) {
        twin_mail_close(first);
        close_snapshot(snapshot);
        return status == TWIN_OK ? fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM)) : status;
    }
    handle->mail = first;
    snapshot->back = handle;
    snapshot->exists = exists;
    snapshot->loaded = (int64_t)time(NULL);
    *out = snapshot;
    return TWIN_OK;
}

/* Under the lock. Returns what the caller closes without it. */
static struct model_snapshot *replace_snapshot(struct model *model, struct model_snapshot *snapshot)
{
    struct model_snapshot *old = model->now;
    model->now = snapshot;
    if (!old || old->out == 0)
        return old;
    old->replaced = true;
    return NULL;
}

/* Loads the file as it is now. On failure the old snapshot stays, if there is one. Not under the lock; `loading` keeps
 * others from doing the same. */
static twin_status load(struct models *models, struct model *model, twin_error *error)
{
    struct model_snapshot *snapshot, *old = NULL;
    struct stamp stamp = stamp_of(model->path);
    twin_error own = { 0 };
    twin_status status = open_snapshot(&snapshot, model->path, stamp.inode != 0, &own);
    pthread_mutex_lock(&models->lock);
    bool is_news = status != TWIN_OK && !model->failed;
    model->stamp = stamp;
    model->failed = status != TWIN_OK;
    models->counts.loads++;
    models->counts.failures += status != TWIN_OK;
    if (snapshot) {
        snapshot->bytes = (uint64_t)stamp.bytes;
        old = replace_snapshot(model, snapshot);
    }
    model->loading = false;
    pthread_cond_broadcast(&models->loaded);
    pthread_mutex_unlock(&models->lock);
    close_snapshot(old);
    if (is_news)
        log_sentence(models, own.message[0] ? own.message : twin_status_text(status));
    if (error)
        *error = own;
    return status;
}

/* ---- models; all under the lock */

static struct model *find_model(struct models *models, const char *user)
{
    for (struct model *model = models->list; model; model = model->next)
        if (strcmp(model->user, user) == 0)
            return model;
    return NULL;
}

static void free_model(struct model *model)
{
    if (!model)
        return;
    close_snapshot(model->now);
    free(model->path);
    free(model);
}

/* Takes the least recently used one that is idle out of the list. */
static struct model *remove_idle(struct models *models)
{
    struct model **oldest = NULL;
    for (struct model **at = &models->list; *at; at = &(*at)->next)
        if (!(*at)->loading && !((*at)->now && (*at)->now->out) && (!oldest || (*at)->used < (*oldest)->used))
            oldest = at;
    if (!oldest)
        return NULL;
    struct model *model = *oldest;
    *oldest = model->next;
    models->counts.open--;
    return model;
}

static struct model *add_model(struct models *models, const char *user)
{
    struct model *model = calloc(1, sizeof *model);
    int length = !model                     ? -1
                 : models->options.per_user ? asprintf(&model->path, "%s/%s.twin", models->path, user)
                                            : asprintf(&model->path, "%s", models->path);
    if (length < 0) {
        free(model);
        return NULL;
    }
    if (models->counts.open >= models->options.most_open)
        free_model(remove_idle(models));
    snprintf(model->user, sizeof model->user, "%s", user);
    model->next = models->list;
    models->list = model;
    models->counts.open++;
    return model;
}

/* The model with a snapshot, which is loaded if it is not yet. NULL: the error says why. */
static struct model *reach_model(twin_status *status, struct models *models, const char *user, twin_error *error)
{
    *status = TWIN_OK;
    struct model *model;
    while ((model = find_model(models, user)) && !model->now && model->loading)
        pthread_cond_wait(&models->loaded, &models->lock);
    if (!model)
        model = add_model(models, user);
    if (!model) {
        *status = fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
        return NULL;
    }
    model->used = ++models->clock;
    if (model->now)
        return model;
    model->loading = true;
    pthread_mutex_unlock(&models->lock);
    *status = load(models, model, error);
    pthread_mutex_lock(&models->lock);
    return *status == TWIN_OK ? find_model(models, user) : NULL;
}

static twin_status take_handle(struct model_use *out, struct model_snapshot *snapshot, twin_error *error)
{
    struct model_handle *handle = snapshot->back;
    if (handle) {
        snapshot->back = handle->next;
    } else {
        handle = calloc(1, sizeof *handle);
        twin_status status = handle ? twin_mail_borrow(&handle->mail, snapshot->owner, error) : TWIN_ENOMEM;
        if (status != TWIN_OK) {
            free(handle);
            return status;
        }
    }
    snapshot->out++;
    *out = (struct model_use){ .mail = handle->mail,
                               .exists = snapshot->exists,
                               .loaded = snapshot->loaded,
                               .bytes = snapshot->bytes,
                               .snapshot = snapshot,
                               .handle = handle };
    return TWIN_OK;
}

twin_status models_take(struct model_use *out, struct models *models, const char *user, twin_error *error)
{
    const char *name;
    *out = (struct model_use){ 0 };
    twin_status status = choose_user(&name, models, user, error);
    if (status != TWIN_OK)
        return status;
    pthread_mutex_lock(&models->lock);
    struct model *model = reach_model(&status, models, name, error);
    if (model && model->now)
        status = take_handle(out, model->now, error);
    else if (status == TWIN_OK) /* it was closed again at once, for others */
        status = fail_with(error, TWIN_EBUSY, "too many models are in use; try again later");
    pthread_mutex_unlock(&models->lock);
    return status;
}

void models_give_back(struct models *models, struct model_use *use)
{
    struct model_snapshot *snapshot = use->snapshot;
    if (!snapshot)
        return;
    pthread_mutex_lock(&models->lock);
    use->handle->next = snapshot->back;
    snapshot->back = use->handle;
    bool last = --snapshot->out == 0 && snapshot->replaced;
    if (snapshot->out == 0)
        pthread_cond_broadcast(&models->loaded); /* let_go() may wait for it */
    pthread_mutex_unlock(&models->lock);
    if (last)
        close_snapshot(snapshot);
    *use = (struct model_use){ 0 };
}

/* The owner has the file, which its handles lack; under the lock only one thread uses it. */
twin_status models_text(twin_buffer *out, struct models *models, const struct model_use *use, uint64_t number)
{
    pthread_mutex_lock(&models->lock);
    twin_status status = twin_mail_text(out, use->snapshot->owner, number, NULL);
    pthread_mutex_unlock(&models->lock);
    return status;
}

/* ---- the writing thread */

static void close_writer(struct models *models)
{
    twin_mail_close(models->writer);
    models->writer = NULL;
}

static twin_status open_writer(struct models *models, const char *user, const char *path, twin_error *error)
{
    struct stamp stamp = stamp_of(path);
    if (models->writer && strcmp(models->writer_user, user) == 0 && same_file(models->writer_stamp, stamp))
        return TWIN_OK;
    close_writer(models);
    twin_status status = may_be_written(path, error);
    if (stamp.inode == 0) {
        if (!models->options.create)
            return fail_with(error, TWIN_EINVAL, "there is no model yet; 'twinsift mail learn' creates it");
        status = twin_mail_create(path, (twin_mail_options){ 0 }, false, error);
    }
    if (status == TWIN_OK)
        status = twin_mail_open(&models->writer, path, TWIN_MAIL_WRITE, error);
    models->writer_stamp = stamp_of(path);
    snprintf(models->writer_user, sizeof models->writer_user, "%s", user);
    return status;
}

static void set_outcome(struct order *order, twin_status status, const twin_error *error)
{
    const char *sentence = status == TWIN_OK ? "" : error->message[0] ? error->message : twin_status_text(status);
    order->outcome.status = status;
    snprintf(order->outcome.sentence, sizeof order->outcome.sentence, "%s", sentence);
}

static void apply(struct models *models, struct order *order)
{
    twin_error error = { 0 };
    twin_mail_effect *effect = &order->outcome.effect;
    const twin_message *message;
    int64_t now = (int64_t)time(NULL);
    twin_status status = twin_message_read(&message, models->reader, (twin_text){ order->message, order->length });
    if (status == TWIN_OK && order->change == MODEL_LEARN)
        status = twin_mail_learn(effect, models->writer, message, order->label, now, &error);
    else if (status == TWIN_OK && order->change == MODEL_CORRECT)
        status = twin_mail_correct(effect, models->writer, message, order->label, now, &error);
    else if (status == TWIN_OK)
        status = twin_mail_forget(effect, models->writer, message, &error);
    set_outcome(order, status, &error);
}

/* Loads what was just written, so that who is answered finds it. */
static void show_commit(struct models *models, const char *user)
{
    pthread_mutex_lock(&models->lock);
    struct model *model = find_model(models, user);
    bool wanted = model && model->now && !model->loading;
    if (wanted)
        model->loading = true;
    pthread_mutex_unlock(&models->lock);
    if (wanted)
        (void)load(models, model, NULL);
}

/* Learns all orders of the list, which are for one model, and commits them together. */
static void write_group(struct models *models, struct order *group)
{
    twin_error error = { 0 };
    char *path = NULL;
    int length = models->options.per_user ? asprintf(&path, "%s/%s.twin", models->path, group->user)
                                          : asprintf(&path, "%s", models->path);
    twin_status status = length < 0 ? TWIN_ENOMEM : open_writer(models, group->user, path, &error);
    for (struct order *order = group; order && status == TWIN_OK; order = order->next)
        apply(models, order);
    if (status == TWIN_OK)
        status = twin_mail_commit(models->writer, &error);
    for (struct order *order = group; order && status != TWIN_OK; order = order->next)
        set_outcome(order, status, &error);
    if (status == TWIN_OK) {
        show_commit(models, group->user);
    } else {
        close_writer(models);
        log_sentence(models, group->outcome.sentence);
    }
    pthread_mutex_lock(&models->lock);
    models->counts.commits += status == TWIN_OK;
    models->counts.failures += status != TWIN_OK;
    pthread_mutex_unlock(&models->lock);
    free(length < 0 ? NULL : path);
}

static void answer_group(struct models *models, struct order *group)
{
    for (struct order *order = group, *next; order; order = next) {
        next = order->next;
        order->done(order->context, &order->outcome);
        pthread_mutex_lock(&models->lock);
        models->counts.changes++;
        pthread_mutex_unlock(&models->lock);
        free(order);
    }
}

/* Under the lock: takes the first order and those behind it for the same model out of the queue. */
static struct order *take_group(struct models *models)
{
    struct order *group = NULL, **end = &group, **at = &models->first;
    for (size_t count = 0; *at && count < MODELS_GROUP;) {
        struct order *order = *at;
        if (group && strcmp(order->user, group->user) != 0) {
            at = &order->next;
            continue;
        }
        *at = order->next;
        order->next = NULL;
        *end = order;
        end = &order->next;
        models->waiting--;
        models->waiting_bytes -= order->length;
        count++;
    }
    for (at = &models->first; *at;)
        at = &(*at)->next;
    models->last = at;
    return group;
}

/* Whether a file cannot be opened only because another that had its name is open. */
static bool is_in_the_way(const char *path)
{
    twin_mail *mail;
    twin_status status = twin_mail_open(&mail, path, TWIN_MAIL_READ, NULL);
    twin_mail_close(mail);
    return status == TWIN_EBUSY;
}

/* Another file has taken the name of the one that is open, as when a model is compacted or restored. Both cannot be open
 * at once, since they share a lock file. So the snapshot is closed when its handles are back, and the writer; who wants a
 * handle meanwhile waits. `loading` is set. */
static void let_go(struct models *models, struct model *model)
{
    pthread_mutex_lock(&models->lock);
    struct model_snapshot *old = model->now;
    model->now = NULL;
    while (old && old->out > 0)
        pthread_cond_wait(&models->loaded, &models->lock);
    pthread_mutex_unlock(&models->lock);
    close_snapshot(old);
    if (strcmp(models->writer_user, model->user) == 0)
        close_writer(models);
}

/* Loads a model whose file has changed; false: it could not be loaded. */
static bool load_again(struct models *models, struct model *model)
{
    if (!same_file(model->stamp, stamp_of(model->path)) && is_in_the_way(model->path))
        let_go(models, model);
    return load(models, model, NULL) == TWIN_OK;
}

/* Two writes within a tick of the clock that file systems take times from leave the same stamp; the file itself knows. */
static bool has_newer(const struct model *model)
{
    bool newer = false;
    return !model->failed && twin_mail_has_newer(&newer, model->now->owner, NULL) == TWIN_OK && newer;
}

/* Loads the models whose files have changed. */
static void watch(struct models *models)
{
    bool again = true;
    while (again) {
        struct model *changed = NULL;
        pthread_mutex_lock(&models->lock);
        for (struct model *model = models->list; model && !changed; model = model->next)
            if (model->now && !model->loading) {
                struct stamp stamp = stamp_of(model->path);
                bool differs = !same_state(stamp, model->stamp) || has_newer(model);
                changed = stamp.inode != 0 && differs ? model : NULL;
            }
        if (changed)
            changed->loading = true;
        pthread_mutex_unlock(&models->lock);
        again = changed && load_again(models, changed);
    }
}

static struct timespec after_ms(int milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += milliseconds % 1000 * 1000000L;
    at.tv_sec += milliseconds / 1000 + at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

/* Waits until there is a group, or until it is time to look at the files. */
static struct order *next_group(struct models *models, bool *stopped)
{
    struct timespec until = after_ms(WATCH_MS);
    pthread_mutex_lock(&models->lock);
    while (!models->first && !models->stopping &&
           pthread_cond_timedwait(&models->ordered, &models->lock, &until) == 0)
        continue;
    if (models->first) {
        until = after_ms(MODELS_GATHER_MS);
        while (models->waiting < MODELS_GROUP && !models->stopping &&
               pthread_cond_timedwait(&models->ordered, &models->lock, &until) == 0)
            continue;
    }
    struct order *group = take_group(models);
    *stopped = models->stopping && !group;
    pthread_mutex_unlock(&models->lock);
    return group;
}

static void *serve_models(void *context)
{
    struct models *models = context;
    bool stopped = false;
    struct timespec looked = { 0 }, now;
    while (!stopped) {
        struct order *group = next_group(models, &stopped);
        if (group) {
            watch(models); /* the file may have been replaced just now */
            write_group(models, group);
            answer_group(models, group);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - looked.tv_sec) * 1000 + (now.tv_nsec - looked.tv_nsec) / 1000000 >= WATCH_MS && !stopped) {
            watch(models);
            looked = now;
        }
    }
    return NULL;
}

/* ---- orders */

static struct order *copy_order(const char *user, struct model_order order, model_done *done, void *context)
{
    struct order *copy = calloc(1, sizeof *copy + order.message.length);
    if (!copy)
        return NULL;
    snprintf(copy->user, sizeof copy->user, "%s", user);
    snprintf(copy->label, sizeof copy->label, "%s", order.label ? order.label : "");
    copy->change = order.change;
    copy->done = done;
    copy->context = context;
    copy->length = order.message.length;
    if (order.message.length)
        memcpy(copy->message, order.message.bytes, order.message.length);
    return copy;
}

static bool enqueue(struct models *models, struct order *order)
{
    pthread_mutex_lock(&models->lock);
    bool room = !models->stopping && models->waiting < models->options.queue &&
                models->waiting_bytes + order->length <= models->options.queue_bytes;
    if (room) {
        *models->last = order;
        models->last = &order->next;
        models->waiting++;
        models->waiting_bytes += order->length;
        pthread_cond_signal(&models->ordered);
    } else {
        models->counts.refused++;
    }
    pthread_mutex_unlock(&models->lock);
    return room;
}

twin_status models_submit(struct models *models, struct model_order order, model_done *done, void *context,
                          twin_error *error)
{
    const char *user;
    twin_status status = choose_user(&user, models, order.user, error);
    if (status != TWIN_OK)
        return status;
    if (order.change != MODEL_FORGET && !is_label(order.label))
        return fail_with(error, TWIN_EINVAL, "a label is 1 to 63 letters, digits and -_.");
    struct order *copy = copy_order(user, order, done, context);
    if (!copy)
        return fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
    if (enqueue(models, copy))
        return TWIN_OK;
    free(copy);
    return fail_with(error, TWIN_EBUSY, "too much waits to be learnt; try again later");
}

struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    struct model_outcome outcome;
};

static void wake(void *context, const struct model_outcome *outcome)
{
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->lock);
    waiting->outcome = *outcome;
    waiting->is_done = true;
    pthread_cond_signal(&waiting->done);
    pthread_mutex_unlock(&waiting->lock);
}

twin_status models_change(twin_mail_effect *out, struct models *models, struct model_order order, twin_error *error)
{
    struct waiting waiting = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };
    twin_status status = models_submit(models, order, wake, &waiting, error);
    if (status == TWIN_OK) {
        pthread_mutex_lock(&waiting.lock);
        while (!waiting.is_done)
            pthread_cond_wait(&waiting.done, &waiting.lock);
        pthread_mutex_unlock(&waiting.lock);
        *out = waiting.outcome.effect;
        status = waiting.outcome.status;
        if (status != TWIN_OK)
            fail_with(error, status, waiting.outcome.sentence);
    }
    pthread_mutex_destroy(&waiting.lock);
    pthread_cond_destroy(&waiting.done);
    return status;
}

/* ---- the service */

static void free_models(struct models *models)
{
    close_writer(models);
    twin_message_reader_free(models->reader);
    for (struct model *model = models->list, *next; model; model = next) {
        next = model->next;
        free_model(model);
    }
    pthread_cond_destroy(&models->ordered);
    pthread_cond_destroy(&models->loaded);
    pthread_mutex_destroy(&models->lock);
    free(models->path);
    free(models);
}

static void fill_defaults(struct models_options *options)
{
    options->most_open = options->most_open ? options->most_open : MOST_OPEN;
    options->queue = options->queue ? options->queue : QUEUE;
    options->queue_bytes = options->queue_bytes ? options->queue_bytes : QUEUE_BYTES;
}

twin_status models_start(struct models **out, struct models_options options, twin_error *error)
{
    pthread_condattr_t monotonic;
    *out = NULL;
    struct models *models = calloc(1, sizeof *models);
    if (!models)
        return fail_with(error, TWIN_ENOMEM, twin_status_text(TWIN_ENOMEM));
    fill_defaults(&options);
    models->options = options;
    models->last = &models->first;
    models->path = strdup(options.path);
    pthread_mutex_init(&models->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&models->ordered, &monotonic);
    pthread_cond_init(&models->loaded, NULL);
    pthread_condattr_destroy(&monotonic);
    twin_status status =
        models->path ? twin_message_reader_create(&models->reader, (twin_message_options){ 0 }) : TWIN_ENOMEM;
    if (status != TWIN_OK)
        fail_with(error, status, twin_error_last(status));
    struct model_use use = { 0 };
    if (status == TWIN_OK && !options.per_user)
        status = models_take(&use, models, NULL, error);
    models_give_back(models, &use);
    if (status == TWIN_OK && pthread_create(&models->thread, NULL, serve_models, models) != 0)
        status = fail_with(error, TWIN_EIO, "a thread could not be started");
    if (status == TWIN_OK)
        *out = models;
    else
        free_models(models);
    return status;
}

void models_stop(struct models *models)
{
    if (!models)
        return;
    pthread_mutex_lock(&models->lock);
    models->stopping = true;
    pthread_cond_signal(&models->ordered);
    pthread_mutex_unlock(&models->lock);
    pthread_join(models->thread, NULL);
    free_models(models);
}

struct models_counts models_count(struct models *models)
{
    pthread_mutex_lock(&models->lock);
    struct models_counts counts = models->counts;
    counts.waiting = models->waiting;
    pthread_mutex_unlock(&models->lock);
    return counts;
}

bool models_ready(struct models *models)
{
    bool good = !models->options.per_user || stamp_of(models->path).inode != 0;
    pthread_mutex_lock(&models->lock);
    for (struct model *model = models->list; model; model = model->next)
        good = good && (model->now || !model->failed);
    pthread_mutex_unlock(&models->lock);
    return good;
}

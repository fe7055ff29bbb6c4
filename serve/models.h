/* models.h — mail models that many threads check with while one thread learns.
 *
 * The service has one model, a file, or one for each user, FOLDER/USER.twin. Threads that check take a handle on a
 * snapshot, the model as it was at some commit, and give it back; many may have one at once, and nothing that happens
 * meanwhile changes what they see. A newer commit, of this process or another, is loaded beside the snapshot and takes
 * its place; the old one is closed when its last handle comes back. Commits of others are noticed within a second.
 *
 * All changes go through one thread. It takes them from a bounded queue, learns what has gathered in MODELS_GATHER_MS,
 * MODELS_GROUP changes at most, commits once, and only then reports to those who asked: what was acknowledged is on
 * the disk, and the next handle that is taken knows it. */
#ifndef TWIN_SERVE_MODELS_H
#define TWIN_SERVE_MODELS_H

#include <twinsift/twinsift.h>

enum {
    MODELS_GATHER_MS = 50,
    MODELS_GROUP = 64,
    MODELS_USER_BYTES = 64, /* of the name of a user */
};

struct models;

struct models_options {
    const char *path; /* the model; or, with `per_user`, the folder of USER.twin */
    bool per_user;
    bool create;        /* something is learnt, and there is no model: create it, readable by its owner only */
    size_t most_open;   /* models in memory at once, of users; 0: 32. One that is in use is never closed */
    size_t queue;       /* the most changes that wait; 0: 1,024 */
    size_t queue_bytes; /* of their messages; 0: 64 MiB */
    /* Called, by any thread, when a model could not be loaded or written: a sentence for the log. May be NULL. */
    void (*log)(const char *sentence);
};

/* Starts the service. A single model is loaded at once, and TWIN_EIO and others say why it cannot be; one that does not
 * exist yet is no error. End it with models_stop(). */
twin_status models_start(struct models **out, struct models_options options, twin_error *error);

/* Writes what waits in the queue, and ends the thread. No handle may be out. NULL is accepted. */
void models_stop(struct models *models);

/* A handle, for one thread until it is given back. */
struct model_use {
    twin_mail *mail; /* to check with; where there is no model yet, an empty one: its verdicts are unsure */
    bool exists;     /* there is a model */
    int64_t loaded;  /* when the snapshot was, in seconds since 1970 */
    uint64_t bytes;  /* of the file, then */
    struct model_snapshot *snapshot; /* private */
    struct model_handle *handle;     /* private */
};

/* Takes a handle. `user` is ignored unless models are per user; there, NULL or "" is "default", and a name that is not
 * 1 to MODELS_USER_BYTES letters, digits and -_.@+, or begins with a dot, is TWIN_EINVAL. A model that cannot be
 * loaded is the error of twin_mail_open(); one that could be before is used on, and the log says so. */
twin_status models_take(struct model_use *out, struct models *models, const char *user, twin_error *error);
void models_give_back(struct models *models, struct model_use *use);

/* Appends the beginning of a message that the snapshot remembers, as twin_mail_text() does. */
twin_status models_text(twin_buffer *out, struct models *models, const struct model_use *use, uint64_t number);

enum model_change { MODEL_LEARN, MODEL_CORRECT, MODEL_FORGET };

struct model_order {
    const char *user; /* as above; copied */
    enum model_change change;
    const char *label; /* copied; NULL to forget */
    twin_text message; /* as received; copied */
};

struct model_outcome {
    twin_status status; /* TWIN_OK: it is on the disk */
    twin_mail_effect effect;
    char sentence[512]; /* why not */
};

/* Queues a change; `done` is called once, by the writing thread, which it must not hold up. TWIN_EBUSY: the queue is
 * full; TWIN_EINVAL: not a label or a user. Then `done` is not called. */
typedef void model_done(void *context, const struct model_outcome *outcome);
twin_status models_submit(struct models *models, struct model_order order, model_done *done, void *context,
                          twin_error *error);

/* The same for a thread that can wait for the outcome. The status is that of the outcome. */
twin_status models_change(twin_mail_effect *out, struct models *models, struct model_order order, twin_error *error);

/* Counts since the start, for metrics. */
struct models_counts {
    size_t waiting, open;
    uint64_t commits, changes, refused, loads, failures;
};
struct models_counts models_count(struct models *models);

/* Whether the model of a user (or the only one) can be used: it was loaded, or does not exist yet. */
bool models_ready(struct models *models);

#endif

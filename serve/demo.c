/* demo.c — a model that has learnt samples/mail, and an index of samples/articles. */
#include "demo.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twinsift/twinsift.h>
#include <unistd.h>

#include "support/messages.h"

/* The samples are beside the program, as in an archive of a release, beside the sources that it was built of, or where
 * they are installed. */
static bool find_samples(char out[PATH_MAX])
{
    static const char *const further[] = { "samples", "../../samples", "../share/twinsift/samples",
                                           "../../share/twinsift/samples", "../../../share/twinsift/samples" };
    char own[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; slash && i < sizeof further / sizeof further[0]; i++) {
        snprintf(path, sizeof path, "%s%s", own, further[i]);
        if (realpath(path, out))
            return true;
    }
    return realpath("samples", out) ||
           refuse("--demo: the samples are not installed; put the folder 'samples' of twinsift beside the program");
}

/* ---- mail */

struct school {
    twin_mail *mail;
    twin_message_reader *reader;
    const char *label;
    twin_status status;
};

static bool learn(void *context, const twin_document *document)
{
    struct school *school = context;
    const twin_message *message;
    school->status = twin_message_read(&message, school->reader, document->text);
    if (school->status == TWIN_OK)
        school->status = twin_mail_learn(NULL, school->mail, message, school->label, (int64_t)time(NULL), NULL);
    return school->status == TWIN_OK;
}

static bool pass_over(void *context, const twin_problem *problem)
{
    (void)context, (void)problem;
    return true;
}

static twin_status learn_folder(struct school *school, const char *samples, const char *label, twin_error *error)
{
    char path[PATH_MAX + 16];
    const char *paths[] = { path };
    twin_input *input = NULL;
    twin_scratch *buffers = NULL;
    snprintf(path, sizeof path, "%s/mail/%s", samples, label);
    school->label = label;
    twin_status status = twin_input_open(&input, paths, 1, (twin_input_options){ .format = TWIN_INPUT_MAIL }, error);
    for (size_t i = 0; status == TWIN_OK && i < twin_input_chunks(input); i++)
        status = twin_input_read(NULL, input, &buffers, i, (twin_visitor){ learn, pass_over, school }, error);
    twin_scratch_free(buffers);
    twin_input_free(input);
    return status == TWIN_ESTOPPED ? school->status : status;
}

static twin_status make_model(const char *path, const char *samples, twin_error *error)
{
    struct school school = { 0 };
    twin_status status = twin_message_reader_create(&school.reader, (twin_message_options){ 0 });
    if (status != TWIN_OK)
        return status;
    status = twin_mail_create(path, (twin_mail_options){ 0 }, false, error);
    if (status == TWIN_OK)
        status = twin_mail_open(&school.mail, path, TWIN_MAIL_WRITE, error);
    if (status == TWIN_OK)
        status = learn_folder(&school, samples, TWIN_MAIL_GOOD, error);
    if (status == TWIN_OK)
        status = learn_folder(&school, samples, TWIN_MAIL_SPAM, error);
    if (status == TWIN_OK)
        status = twin_mail_commit(school.mail, error);
    twin_mail_close(school.mail);
    twin_message_reader_free(school.reader);
    return status;
}

/* ---- articles */

static twin_status make_index(const char *path, const char *samples, twin_error *error)
{
    char folder[PATH_MAX + 16];
    const char *paths[] = { folder };
    twin_input *input = NULL;
    twin_index *index = NULL;
    twin_index_options options = { .scheme = twin_scheme_default(), .keep = TWIN_KEEP_TEXT };
    options.scheme.threshold = 0.6; /* so that there is something to see below 0.8, too */
    options.scheme.plan = (twin_plan){ 0 };
    snprintf(folder, sizeof folder, "%s/articles", samples);
    twin_status status = twin_scheme_complete(&options.scheme, error);
    if (status == TWIN_OK)
        status = twin_index_create(path, options, false, error);
    if (status == TWIN_OK)
        status = twin_index_open(&index, path, TWIN_INDEX_WRITE, error);
    if (status == TWIN_OK)
        status = twin_input_open(&input, paths, 1, (twin_input_options){ 0 }, error);
    if (status == TWIN_OK)
        status =
            twin_index_add_input(NULL, index, input, (twin_index_add_options){ .time = (uint64_t)time(NULL) }, error);
    twin_input_free(input);
    twin_index_close(index);
    return status;
}

bool demo_make(struct demo *out)
{
    char samples[PATH_MAX];
    twin_error error = { 0 };
    const char *temp = getenv("TMPDIR");
    if (!find_samples(samples))
        return false;
    snprintf(out->folder, sizeof out->folder, "%s/twinsift-demo.XXXXXX", temp && strlen(temp) < 40 ? temp : "/tmp");
    if (!mkdtemp(out->folder))
        return refuse("--demo: a folder could not be made in %s", temp ? temp : "/tmp");
    snprintf(out->model, sizeof out->model, "%s/mail.twin", out->folder);
    snprintf(out->index, sizeof out->index, "%s/articles.twin", out->folder);
    twin_status status = make_index(out->index, samples, &error);
    if (status == TWIN_OK && twin_message_available() == TWIN_OK)
        status = make_model(out->model, samples, &error);
    if (status == TWIN_OK)
        return true;
    demo_remove(out);
    return refuse_status("--demo", status, &error);
}

void demo_remove(const struct demo *demo)
{
    static const char *const endings[] = { "", "-lock" };
    char path[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", i / 2 ? demo->model : demo->index, endings[i % 2]);
        (void)unlink(path);
    }
    (void)rmdir(demo->folder);
}

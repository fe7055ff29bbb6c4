/* fuzz_milter.c — a mail server may call the steps of a milter in any order, with any bytes, and cut any of them off.
 *
 * The steps are functions of milter.c, which is compiled in here; libmilter is replaced by functions that check what a
 * milter may do when: headers are changed at the end of a message only, and a message that is accepted has all forged
 * headers removed. Each byte of the input is a step, followed by what it takes. */
#include "serve/milter.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- what libmilter would be */

static struct {
    void *connection;
    bool at_end;
    int forged, deleted, inserted;
} server;

void *smfi_getpriv(SMFICTX *context)
{
    (void)context;
    return server.connection;
}

int smfi_setpriv(SMFICTX *context, void *connection)
{
    (void)context;
    server.connection = connection;
    return MI_SUCCESS;
}

char *smfi_getsymval(SMFICTX *context, char *name)
{
    (void)context;
    return *name == 'i' ? "QUEUE1" : NULL;
}

int smfi_chgheader(SMFICTX *context, char *name, int number, char *value)
{
    (void)context;
    require(server.at_end && number > 0 && name && !value);
    server.deleted++;
    return MI_SUCCESS;
}

int smfi_insheader(SMFICTX *context, int place, char *name, char *value)
{
    (void)context;
    require(server.at_end && place == 0 && name && value && !strpbrk(value, "\r\n"));
    server.inserted++;
    return MI_SUCCESS;
}

int smfi_setreply(SMFICTX *context, char *code, char *extended, char *text)
{
    (void)context;
    require(server.at_end && code && extended && !strpbrk(text, "\r\n%"));
    return MI_SUCCESS;
}

int smfi_quarantine(SMFICTX *context, char *reason)
{
    (void)context;
    require(server.at_end && reason);
    return MI_SUCCESS;
}

int smfi_setconn(char *name)
{
    return name ? MI_SUCCESS : MI_FAILURE;
}

int smfi_register(struct smfiDesc filter)
{
    return filter.xxfi_eom ? MI_SUCCESS : MI_FAILURE;
}

int smfi_opensocket(bool replace)
{
    return replace ? MI_SUCCESS : MI_FAILURE;
}

int smfi_main(void)
{
    return MI_SUCCESS;
}

/* ---- a model, once */

static char folder[] = "/tmp/fuzz-milter.XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = { "model", "model-lock" };
    char path[64];
    models_stop(models);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void teach(const char *text, const char *label)
{
    twin_mail_effect effect;
    struct model_order order = { NULL, MODEL_LEARN, label, { text, strlen(text) } };
    require(models_change(&effect, models, order, NULL) == TWIN_OK);
}

static void make_model(void)
{
    static struct milter_options fixed;
    char path[64];
    twin_error error = { 0 };
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/model", folder);
    require(models_start(&models, (struct models_options){ .path = path, .create = true }, &error) == TWIN_OK);
    teach("Subject: watches\n\nbuy replica watches now, win a casino prize\n", "spam");
    teach("Subject: minutes\n\nthe rowing club meets on thursday\n", "ham");
    fixed = (struct milter_options){ .quiet = true,
                                     .seal = { .host = "mx.example.org", .key = { 1, 2 }, .is_keyed = true } };
    options = &fixed;
    atexit(remove_folder);
}

/* ---- the steps */

struct input {
    const uint8_t *at, *end;
};

/* A string without zero bytes, at most as long as the next byte says. */
static void take_string(char out[256], struct input *input)
{
    size_t length = input->at < input->end ? *input->at++ : 0, kept = 0;
    for (; length > 0 && input->at < input->end; length--, input->at++)
        if (*input->at && kept < 255)
            out[kept++] = (char)*input->at;
    out[kept] = '\0';
}

static void take_a_header(struct input *input)
{
    static char *const names[] = { "Subject", "X-Spam-Flag", "x-twinsift", "Message-ID" };
    char name[256], value[256];
    unsigned choice = input->at < input->end ? *input->at++ : 0;
    take_string(value, input);
    if (choice < 4)
        snprintf(name, sizeof name, "%s", names[choice]);
    else
        take_string(name, input);
    for (size_t i = 0; i < VERDICT_HEADERS; i++)
        server.forged += strcasecmp(name, own_names[i]) == 0;
    take_header(NULL, name, value);
}

static void end_a_message(void)
{
    server.at_end = true;
    server.deleted = server.inserted = 0;
    sfsistat answer = end_message(NULL);
    require(answer == SMFIS_ACCEPT || answer == SMFIS_TEMPFAIL || answer == SMFIS_REJECT);
    require(answer != SMFIS_ACCEPT || server.deleted == server.forged);
    require(server.inserted == 0 || server.inserted == VERDICT_HEADERS);
    server.at_end = false;
    server.forged = 0;
}

static void take_step(struct input *input)
{
    static struct sockaddr_in address = { .sin_family = AF_INET };
    char text[256], *sender[] = { text, NULL };
    switch (*input->at++ % 8) {
    case 0:
        take_string(text, input);
        take_hello(NULL, text);
        break;
    case 1:
        take_string(text, input);
        take_sender(NULL, sender);
        server.forged = 0;
        break;
    case 2: take_a_header(input); break;
    case 3: end_headers(NULL); break;
    case 4:
        take_string(text, input);
        take_body(NULL, (unsigned char *)text, strlen(text));
        break;
    case 5: end_a_message(); break;
    case 6:
        abort_message(NULL);
        server.forged = 0;
        break;
    default: begin_connection(NULL, "client.example", (_SOCK_ADDR *)&address);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned long actions, steps, third, fourth;
    if (!models)
        make_model();
    if (size < 2)
        return 0;
    memset(&server, 0, sizeof server);
    struct milter_options *wanted = (struct milter_options *)options;
    wanted->action = (enum milter_action)(data[0] % 3);
    wanted->failure = (enum milter_failure)(data[0] / 3 % 2);
    negotiate(NULL, ~0UL, data[1] % 2 ? ~0UL : 0, 0, 0, &actions, &steps, &third, &fourth);
    struct input input = { data + 2, data + size };
    while (input.at < input.end)
        take_step(&input);
    end_connection(NULL);
    abort_message(NULL); /* libmilter may still say so when there is nothing left */
    require(!server.connection);
    return 0;
}

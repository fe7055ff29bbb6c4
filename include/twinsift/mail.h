/* mail.h — a mail filter that learns: is this message spam, good, or like something else I was shown?
 *
 * A model learns messages with labels and says which label a new message would get. Any labels work; TWIN_MAIL_SPAM
 * and TWIN_MAIL_GOOD are the two that mean something: good is what none of the other labels fits. A verdict rests on
 * three kinds of evidence, each with a number of its own:
 *
 *     content     online learners over the words and bytes of the message, and over what a person sees
 *     sender      how often mail from this address and domain was learnt under each label
 *     lookalike   the nearest message that was learnt under each label
 *
 * A message is called spam only above a threshold that the model keeps so high that about one good message in a
 * thousand is lost, good only when it is clearly so, and unsure otherwise.
 *
 * A model is a file, readable by its owner only, or lives in memory. Everything in it is derived from mail by a hash
 * under a random key, which is in the file; except the beginnings of texts, which explanations show, and which can be
 * left out. Any number of processes may check while one learns. What is learnt takes
 * effect in this handle at once, and in the file with twin_mail_commit(), as a whole or not at all. A handle is
 * used by one thread at a time. */
#ifndef TWINSIFT_MAIL_H
#define TWINSIFT_MAIL_H

#include <twinsift/bloom.h>
#include <twinsift/message.h>
#include <twinsift/names.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TWIN_MAIL_SPAM "spam"
#define TWIN_MAIL_GOOD "ham"

enum {
    TWIN_MAIL_MAX_LABELS = 32,
    TWIN_MAIL_LABEL_BYTES = 63, /* of a label: letters, digits and -_. */
};

typedef struct twin_mail twin_mail;

typedef struct twin_mail_options {
    uint64_t keep_messages; /* the most messages remembered; 0: 100,000 */
    uint64_t keep_days;     /* older ones are forgotten when others are learnt; 0: none are */
    bool without_texts;  /* keep no beginnings of texts, which twin_mail_text() returns; in memory there are none */
    const uint64_t *key; /* two numbers: the secret; NULL: drawn at random */
    uint64_t without;    /* in memory, for experiments: bit n leaves out step n of twin_mail_step */
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_options;

/* Creates a file with an empty model. One that exists is TWIN_EINVAL, unless `replace`. */
TWIN_API twin_status twin_mail_create(const char *path, twin_mail_options options, bool replace, twin_error *error);

typedef enum twin_mail_access {
    TWIN_MAIL_READ,
    TWIN_MAIL_WRITE,
} twin_mail_access;

/* Opens a model; release it with twin_mail_close(), which discards what was not committed. */
TWIN_API twin_status twin_mail_open(twin_mail **out, const char *path, twin_mail_access access, twin_error *error);

/* Creates a model in memory. */
TWIN_API twin_status twin_mail_create_in_memory(twin_mail **out, twin_mail_options options);
TWIN_API void twin_mail_close(twin_mail *mail);

/* ---- learning */

typedef enum twin_mail_effect {
    TWIN_MAIL_LEARNT, /* it was new */
    TWIN_MAIL_KNOWN,  /* it had been learnt under this label: nothing changed */
    TWIN_MAIL_CORRECTED, /* it had been learnt under another label, or the verdict was wrong: it was learnt until it is right */
    TWIN_MAIL_FORGOTTEN, /* it is no longer remembered */
    TWIN_MAIL_UNKNOWN,   /* it was not remembered: nothing changed */
} twin_mail_effect;

/* Learns that a message has a label. One that was learnt before under another is corrected. `time` is now, in seconds
 * since 1970. The effect may be NULL. Not a label, or a model opened for reading: TWIN_EINVAL; one label too many:
 * TWIN_ELIMIT. */
TWIN_API twin_status twin_mail_learn(twin_mail_effect *out, twin_mail *mail, const twin_message *message,
                                     const char *label, int64_t time, twin_error *error);

/* The same for a message that was judged wrongly: it is learnt, as often as is needed, until the verdict is the
 * label, which also turns near-copies of it. */
TWIN_API twin_status twin_mail_correct(twin_mail_effect *out, twin_mail *mail, const twin_message *message,
                                       const char *label, int64_t time, twin_error *error);

/* Forgets a message: its sender no longer counts and it is no longer a lookalike. What the content classifiers
 * learnt from it cannot be undone; only learning other mail changes that. */
TWIN_API twin_status twin_mail_forget(twin_mail_effect *out, twin_mail *mail, const twin_message *message,
                                      twin_error *error);

/* Writes what has changed to the file, to the disk. Another process that learnt meanwhile is no problem: what it learnt
 * comes first. On failure the file is as it was; the changes are kept, and may be committed again. */
TWIN_API twin_status twin_mail_commit(twin_mail *mail, twin_error *error);

/* ---- checking */

/* Which evidence decides. */
typedef enum twin_mail_method {
    TWIN_MAIL_ALL, /* content, with lookalikes and senders where they are sure */
    TWIN_MAIL_CONTENT,
    TWIN_MAIL_SENDER,    /* sender seen at least twice in spam, and more often than in good mail */
    TWIN_MAIL_LOOKALIKE, /* nearest spam against nearest good message */
} twin_mail_method;

typedef struct twin_mail_check_options {
    twin_mail_method method;
    const twin_bloom *trusted; /* addresses and domains whose mail is good; NULL: none */
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_check_options;

/* How often mail of an address and of its domain was learnt: under the label in question, and under others. */
typedef struct twin_mail_sender {
    uint32_t address, address_others, domain, domain_others;
    bool trusted;
} twin_mail_sender;

/* The nearest known message of a label. */
typedef struct twin_mail_lookalike {
    double similarity; /* 0 .. 1; 0: there is none */
    uint64_t number;   /* of the message, in the order in which they were learnt */
    uint32_t copies;   /* known messages that are almost equal to the one checked */
    uint32_t alike;    /* that have almost the same structure of HTML */
} twin_mail_lookalike;

/* The steps by which the filter learns and judges, in their order. */
typedef enum twin_mail_step {
    /* when a message is learnt */
    TWIN_MAIL_REHEARSAL,
    TWIN_MAIL_INTRODUCTION,
    TWIN_MAIL_DOUBT,
    /* what makes up the score of a label */
    TWIN_MAIL_BOUND,
    TWIN_MAIL_SKEW,
    TWIN_MAIL_SENDERS,
    TWIN_MAIL_COPIES,
    TWIN_MAIL_ONE_REPORT,
    TWIN_MAIL_STRUCTURE,
    /* what the scores lead to: the first that applies; but for the last two and LEARNT_ITSELF the message is unsure */
    TWIN_MAIL_NOTHING,
    TWIN_MAIL_LEARNT_ITSELF,
    TWIN_MAIL_BETWEEN,
    TWIN_MAIL_RIVAL,
    TWIN_MAIL_GROUNDS,
    TWIN_MAIL_UNKNOWN_WORDS,
    TWIN_MAIL_OPENING,
    TWIN_MAIL_ABOVE,
    TWIN_MAIL_BELOW,
    TWIN_MAIL_STEPS
} twin_mail_step;

typedef struct twin_mail_step_info {
    const char *name;     /* "grounds" */
    const char *sentence; /* what it does */
    double figure;        /* the number in it; 0: none */
} twin_mail_step_info;
TWIN_API const twin_mail_step_info *twin_mail_step_about(twin_mail_step step); /* NULL: there is no such step */

/* What a label has for it. All scores are log odds, positive for the label; with all evidence the score is the sum of
 * content, sender and lookalike. */
typedef struct twin_mail_evidence {
    const char *label;
    uint64_t messages; /* learnt under it and remembered */
    double content, sender, lookalike;
    double score;        /* all together, by the method */
    double above, below; /* the label is given above, and is not below; between it is unsure */
    double grounds; /* what a person would accept: what is seen, less what all messages have; sender, lookalike */
    twin_mail_sender senders;
    twin_mail_lookalike nearest, nearest_other; /* of the label; of any other */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_mail_evidence;

typedef enum twin_mail_reason {
    TWIN_MAIL_BY_NOTHING, /* nothing was learnt yet */
    TWIN_MAIL_BY_CONTENT,
    TWIN_MAIL_BY_SENDER,
    TWIN_MAIL_BY_LOOKALIKE,
} twin_mail_reason;

/* A verdict. Strings live as long as the model is not changed. */
typedef struct twin_mail_verdict {
    const char *label; /* NULL: unsure */
    const char *best;  /* the label with the greatest score, also if it is not given; NULL: there is none */
    double score; /* 0 .. 1: the probability of the best label, which is spam if there are only spam and good mail */
    double log_odds;         /* what the evidence says for spam; for the best label in a model without spam */
    double threshold;        /* log odds above which that label is given */
    twin_mail_step step;     /* that decided: from TWIN_MAIL_NOTHING on */
    double known;            /* 0 .. 1: the share that is known of what is seen, or of how it came: the lesser */
    twin_mail_reason reason; /* the evidence that counted most */
    twin_mail_evidence evidence[TWIN_MAIL_MAX_LABELS]; /* spam first; good has none where there are others */
    size_t count;
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_verdict;

TWIN_API twin_status twin_mail_check(twin_mail_verdict *out, twin_mail *mail, const twin_message *message,
                                     twin_mail_check_options options, twin_error *error);

/* A handle for another thread, that checks and explains with what `mail` knows now; release it with twin_mail_close().
 * Until all of these are closed, `mail` is used for nothing but to make another. */
TWIN_API twin_status twin_mail_borrow(twin_mail **out, twin_mail *mail, twin_error *error);

/* Whether the file has a commit that this handle has not loaded, be it borrowed or not. Nothing is loaded: a server asks
 * this to know when to open the file again. */
TWIN_API twin_status twin_mail_has_newer(bool *out, twin_mail *mail, twin_error *error);

/* A word, header or link of a message, and what it adds to the content score of a label. */
typedef struct twin_mail_word {
    char kind[32]; /* "body", "link", "from domain", the name of a header */
    char word[64]; /* cut if longer */
    double weight;
    bool is_seen; /* by a person who reads the message; otherwise it is of how it came */
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_mail_word;

/* The words that count most: first those that are seen, then the others, each the strongest first. *count is the room in
 * `out`, and becomes how many there are. */
TWIN_API twin_status twin_mail_explain(twin_mail_word *out, size_t *count, twin_mail *mail, const char *label,
                                       const twin_message *message, twin_error *error);

/* A remembered message. TWIN_EINVAL: there is none of this number. */
typedef struct twin_mail_known {
    const char *label;
    int64_t time;
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_mail_known;
TWIN_API twin_status twin_mail_known_at(twin_mail_known *out, twin_mail *mail, uint64_t number, twin_error *error);

/* Whether a message is remembered, and as what. One that was imported from elsewhere is not. */
TWIN_API twin_status twin_mail_find(twin_mail_known *out, bool *found, twin_mail *mail, const twin_message *message,
                                    twin_error *error);

/* ---- sharing: between sites whose models have the same key */

typedef struct twin_mail_export_options {
    bool weights; /* also what the learners of content know: 4 MB per label */
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_export_options;

/* Appends sketches of what was learnt here: labels, times, keyed hashes of messages and senders, and signatures; no
 * text. Who has the key can test whether an address or a message is among them. */
TWIN_API twin_status twin_mail_export(twin_buffer *out, twin_mail *mail, twin_mail_export_options options,
                                      twin_error *error);

typedef struct twin_mail_imported {
    uint64_t messages; /* that were not known */
    uint64_t known;
    uint64_t left_out; /* the oldest, since the model remembers no more */
    bool weights;      /* were taken */
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_imported;

/* Remembers the messages of sketches: their senders count, and they are lookalikes, but the learners of content have
 * not seen them. What is known here stays as it is. Weights are taken by a model that has learnt nothing itself. The
 * counts may be NULL. Made with another key: TWIN_EINVAL; damaged: TWIN_EFORMAT; both leave the model as it was. More
 * labels than a model has: TWIN_ELIMIT, and what came before it is taken; to undo that, close the model without a
 * commit. */
TWIN_API twin_status twin_mail_import(twin_mail_imported *out, twin_mail *mail, twin_text sketches,
                                      twin_error *error);

/* Appends the beginning of a remembered message: its subject, a line end, and its text, 2,000 bytes at most. Nothing
 * if the model keeps none, or did not see the message itself but imported it. */
TWIN_API twin_status twin_mail_text(twin_buffer *out, twin_mail *mail, uint64_t number, twin_error *error);

/* The same of any message, to compare with. */
TWIN_API twin_status twin_mail_text_of(twin_buffer *out, const twin_message *message);

/* ---- the model */

typedef struct twin_mail_label_info {
    const char *name;
    uint64_t messages;
    double threshold; /* log odds; NaN: it has no classifier */
    int64_t oldest, newest;
    uint64_t reserved[TWIN_RESERVED / 2];
} twin_mail_label_info;

typedef struct twin_mail_info {
    uint64_t messages, learnt; /* remembered; learnt since the model was created */
    uint64_t imported;         /* of those remembered */
    uint64_t keep_messages, keep_days;
    bool keeps_texts;
    uint64_t bytes;                                        /* of the file; 0 in memory */
    uint64_t message_bytes, signature_bytes, weight_bytes; /* of its parts: records, lookalikes, learners */
    uint64_t text_bytes;                                   /* and the texts of lookalikes, for showing them */
    twin_mail_label_info labels[TWIN_MAIL_MAX_LABELS];
    size_t count;
    /* of the last thousand messages learnt: judged before they were learnt */
    uint64_t judged, right, wrong, unsure;
    uint64_t reserved[TWIN_RESERVED];
} twin_mail_info;

/* What the model knows now; names live as long as it is not changed. */
TWIN_API twin_status twin_mail_describe(twin_mail_info *out, twin_mail *mail, twin_error *error);

/* Replaces the file by a copy without the room that earlier transactions left. Who reads the old one keeps it until
 * the next change; being written: TWIN_EBUSY. */
TWIN_API twin_status twin_mail_compact(const char *path, twin_progress progress, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* notebook.c — text, claims and errors, on standard output and in the report. */
#include "lab.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Prints a line on standard output, and a paragraph of a class on the page. */
static void put(struct lab *lab, const char *mark, const char *class, const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    progress_clear();
    printf("  %s%s%s\n", mark, *mark ? "  " : "", text);
    if (!lab->page)
        return;
    fprintf(lab->page, "<p class=\"%s\">", class);
    if (*mark)
        fprintf(lab->page, "<b>%s</b> ", mark);
    report_text(lab->page, text);
    fputs("</p>\n", lab->page);
}

void say(struct lab *lab, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(lab, "", "says", format, arguments);
    va_end(arguments);
}

bool claim(struct lab *lab, bool holds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(lab, holds ? "ok    " : "FAILED", holds ? "ok" : "failed", format, arguments);
    va_end(arguments);
    lab->claims++;
    lab->broken += !holds;
    return holds;
}

bool claim_chance(struct lab *lab, double *p_values, size_t count, const char *what)
{
    double smallest = correct(p_values, count);
    return claim(lab, smallest >= CLAIM_LEVEL, "%s: smallest of %zu p-values, corrected for their number, %.3g", what,
                 count, smallest);
}

void skip(struct lab *lab, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put(lab, "skip  ", "skipped", format, arguments);
    va_end(arguments);
}

void progress(const struct lab *lab, size_t done, size_t total)
{
    twin_stage stage = { lab->now->name, NULL };
    if (lab->progress.report)
        lab->progress.report(lab->progress.context, &stage, done, total);
}

void die(const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    exit(fail("%s", sentence));
}

void expect(twin_status status, const char *what, const twin_error *error)
{
    if (status == TWIN_OK)
        return;
    if (error && error->message[0])
        die("%s: %s", what, error->message);
    die("%s: %s", what, twin_status_text(status));
}

void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        die("out of memory (%zu times %zu bytes)", count, size);
    return memory;
}

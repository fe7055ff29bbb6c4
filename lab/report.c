/* report.c — one self-contained HTML page with all tables and plots.
 *
 * The body and the table of contents are collected in temporary files while the experiments run, because the summary
 * that precedes them is known only at the end. */
#include "lab.h"
#include "support/escape.h"

#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>twinsift-lab</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    "body { font: 16px/1.5 Georgia, serif; color: #222; max-width: 56em; margin: 2em auto; padding: 0 1em }\n"
    "h2 { border-top: 1px solid #ccc; padding-top: 1em; margin-top: 2em }\n"
    "table { border-collapse: collapse; font: 13px/1.4 ui-monospace, monospace; display: block; overflow-x: auto }\n"
    "th, td { padding: .15em .7em; text-align: left; white-space: nowrap }\n"
    "th { border-bottom: 1px solid #888; vertical-align: bottom } td.number { text-align: right }\n"
    "tr:nth-child(even) td { background: #f6f6f4 }\n"
    "img { max-width: 100%; height: auto; margin: 1em 0 0 } figcaption { color: #555; font-size: 14px }\n"
    "figure { margin: 1em 0 } p.ok b { color: #27713f } p.failed { background: #fdecea } p.failed b { color: #b00020 "
    "}\n"
    "p.skipped { color: #777 } p.ok, p.failed, p.skipped { margin: .2em 0; font-size: 15px }\n"
    "</style></head><body>\n"
    "<h1>twinsift-lab</h1>\n";

void report_begin(struct lab *lab)
{
    lab->page = file_temporary();
    lab->contents = file_temporary();
}

void report_section(struct lab *lab, const struct experiment *experiment)
{
    fprintf(lab->page, "<h2 id=\"%s\">%s: %s</h2>\n", experiment->name, experiment->name, experiment->title);
    fprintf(lab->contents, "<li><a href=\"#%s\">%s</a>: %s</li>\n", experiment->name, experiment->name,
            experiment->title);
}

void report_text(FILE *page, const char *text)
{
    escape_html(page, text, strlen(text));
}

/* The bytes of a file in base 64. */
static void write_base64(FILE *page, FILE *file)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char b[3];
    for (size_t n; (n = fread(b, 1, 3, file)) > 0;) {
        unsigned bits = (unsigned)b[0] << 16 | (n > 1 ? b[1] : 0u) << 8 | (n > 2 ? b[2] : 0u);
        for (size_t i = 0; i < 4; i++)
            fputc(i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=', page);
    }
}

/* As a separate image, since plots drawn by one gnuplot share the ids of their elements. */
void report_picture(FILE *page, const char *path, const char *caption)
{
    FILE *file = file_open(path);
    fputs("<figure><img alt=\"", page);
    report_text(page, caption);
    fputs("\" src=\"data:image/svg+xml;base64,", page);
    write_base64(page, file);
    fputs("\"><figcaption>", page);
    report_text(page, caption);
    fputs("</figcaption></figure>\n", page);
    fclose(file);
}

/* Appends a temporary file to `file` and closes it. */
static void append(FILE *file, FILE *part)
{
    char buffer[8192];
    rewind(part);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, part)) > 0;)
        fwrite(buffer, 1, n, file);
    file_close(part, "the report");
}

void report_end(struct lab *lab, const char *summary)
{
    char path[PATH_ROOM];
    FILE *file = file_create(path, lab, "report", ".html");
    fprintf(file, "%s<p>twinsift %s, seed %llu%s: <b>%s</b>.</p>\n", head, twin_version(),
            (unsigned long long)lab->seed, lab->quick ? ", quick run" : "", summary);
    fputs("<p>Each experiment compares theory, a published result (reference) and observation. Intervals are 95 %\n"
          "confidence intervals. A statistical claim fails only on a deviation that chance produces once in 100,000\n"
          "runs.</p>\n<ul>\n",
          file);
    append(file, lab->contents);
    fputs("</ul>\n", file);
    append(file, lab->page);
    fputs("</body></html>\n", file);
    file_close(file, path);
    lab->page = lab->contents = NULL;
}

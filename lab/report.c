/* report.c — one page with all tables and plots, which needs no other file. */
#include "lab.h"

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
}

void report_text(FILE *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", page); break;
        case '>': fputs("&gt;", page); break;
        case '&': fputs("&amp;", page); break;
        case '"': fputs("&quot;", page); break;
        default: fputc(*text, page);
        }
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

/* As an image of its own, since pictures drawn by one program share the names of their parts. */
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

void report_end(struct lab *lab, const char *summary)
{
    char path[PATH_ROOM], buffer[8192];
    FILE *file = file_create(path, lab, "report", ".html");
    fprintf(file, "%s<p>twinsift %s, seed %llu%s: <b>%s</b>.</p>\n", head, twin_version(),
            (unsigned long long)lab->seed, lab->quick ? ", a quick run" : "", summary);
    fputs("<p>Each experiment puts theory, reference and observation side by side. Intervals are of 95 %; a claim\n"
          "fails only at what chance brings once in 100,000 runs.</p>\n",
          file);
    rewind(lab->page);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, lab->page)) > 0;)
        fwrite(buffer, 1, n, file);
    fputs("</body></html>\n", file);
    file_close(file, path);
    file_close(lab->page, "the report's text");
    lab->page = NULL;
}

/* table.c — tables: aligned on standard output, tab-separated in files. */
#include "lab.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void add_cell(struct table *table, const char *text, size_t length)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->cells = realloc(table->cells, table->capacity * sizeof *table->cells);
        if (!table->cells)
            die("out of memory for a table of %zu cells", table->capacity);
    }
    char *cell = need(length + 1, 1);
    memcpy(cell, text, length);
    table->cells[table->count++] = cell;
}

static size_t add_row(struct table *table, const char *row)
{
    size_t columns = 0;
    for (const char *end; columns++, end = strchr(row, '\t'); row = end + 1)
        add_cell(table, row, (size_t)(end - row));
    add_cell(table, row, strlen(row));
    return columns;
}

void table_begin(struct table *out, const char *name, const char *columns)
{
    *out = (struct table){ 0 };
    snprintf(out->name, sizeof out->name, "%s", name);
    out->columns = add_row(out, columns);
}

void table_row(struct table *table, const char *format, ...)
{
    char row[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row, sizeof row, format, arguments);
    va_end(arguments);
    if (add_row(table, row) != table->columns)
        die("a row of %s has the wrong number of columns: %s", table->name, row);
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

/* Numbers are aligned right, names left. */
static bool is_number(const char *cell)
{
    return isdigit((unsigned char)cell[strspn(cell, "-+<")]) || strcmp(cell, "–") == 0;
}

static size_t column_width(bool *right, const struct table *table, size_t column)
{
    size_t width = 0;
    *right = true;
    for (size_t i = column; i < table->count; i += table->columns) {
        size_t here = width_of(table->cells[i]);
        width = here > width ? here : width;
        *right = *right && (i == column || is_number(table->cells[i]));
    }
    return width;
}

static void print(const struct table *table)
{
    assert(table->columns > 0);
    size_t *widths = need(table->columns, sizeof *widths);
    bool *right = need(table->columns, sizeof *right);
    for (size_t c = 0; c < table->columns; c++)
        widths[c] = column_width(&right[c], table, c);
    progress_clear();
    putchar('\n');
    for (size_t i = 0; i < table->count; i++) {
        size_t c = i % table->columns;
        bool last = c + 1 == table->columns;
        int blanks = (int)(widths[c] - width_of(table->cells[i]));
        printf("  %*s%s", right[c] ? blanks : 0, "", table->cells[i]);
        if (last)
            putchar('\n');
        else
            printf("%*s", right[c] ? 0 : blanks, "");
    }
    putchar('\n');
    free(widths);
    free(right);
}

static void write_page(FILE *page, const struct table *table)
{
    assert(table->columns > 0);
    fputs("<table>\n", page);
    for (size_t i = 0; i < table->count; i++) {
        const char *tag = i < table->columns ? "th" : "td";
        if (i % table->columns == 0)
            fputs("<tr>", page);
        fprintf(page, "<%s%s>", tag, is_number(table->cells[i]) ? " class=\"number\"" : "");
        report_text(page, table->cells[i]);
        fprintf(page, "</%s>%s", tag, (i + 1) % table->columns ? "" : "</tr>\n");
    }
    fputs("</table>\n", page);
}

static void write_file(const struct lab *lab, const struct table *table)
{
    char path[PATH_ROOM];
    FILE *file = file_create(path, lab, table->name, ".tsv");
    for (size_t i = 0; i < table->count; i++)
        fprintf(file, "%s%c", table->cells[i], (i + 1) % table->columns ? '\t' : '\n');
    file_close(file, path);
}

void table_write_only(struct lab *lab, struct table *table)
{
    write_file(lab, table);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){ 0 };
}

void table_end(struct lab *lab, struct table *table)
{
    print(table);
    if (lab->page)
        write_page(lab->page, table);
    table_write_only(lab, table);
}

/* plot.c — the style of the plots, and where they go. */
#include "support/plot.h"

#include "lab.h"

#include <unistd.h>

static const char style[] =
    "set terminal svg size 760,460 font 'Helvetica,Arial,sans-serif,14' background '#ffffff' dashlength 1.2\n"
    "set encoding utf8\n"
    "set datafile separator \"\\t\"\n"
    "set datafile missing '–'\n"
    "set border 3 lc '#555555'\n"
    "set tics nomirror textcolor '#333333'\n"
    "set grid lc '#e4e4e4' lt 1 lw 1\n"
    "set key top right samplen 2 spacing 1.2 Left reverse noautotitle\n"
    "set lmargin 11\n"
    "set rmargin 3\n"
    "set bmargin 4\n"
    "set style line 1 lc '#444444' lw 1.6 dt solid\n"
    "set style line 2 lc '#c8401e' lw 1.4 pt 7 ps 0.6\n"
    "set style line 3 lc '#1f6fb2' lw 1.4 pt 5 ps 0.6\n"
    "set style line 4 lc '#2e8b57' lw 1.4 pt 9 ps 0.7\n"
    "set style line 5 lc '#8a5fb5' lw 1.4 pt 13 ps 0.8\n"
    "set style line 9 lc '#d9a400' lw 1.6 pt 2 ps 0.9 dt '-'\n"
    "set bars 0.6\n";

static const char upper[] = "set terminal svg size 760,600\n"
                            "set multiplot\n"
                            "set lmargin at screen 0.13\n"
                            "set tmargin at screen 0.93\n"
                            "set bmargin at screen 0.46\n";

/* Two panels of the same kind, of equal height. */
static const char upper_half[] = "set bmargin at screen 0.57\n";
static const char lower_half[] = "set tmargin at screen 0.48\n";

static const char lower[] = "unset key\n"
                            "unset title\n"
                            "unset logscale y\n"
                            "set format y '%g'\n"
                            "set yrange [*:*]\n"
                            "set ylabel 'observed / theory'\n"
                            "set tmargin at screen 0.36\n"
                            "set bmargin at screen 0.11\n";

FILE *plot_begin(const struct lab *lab)
{
    FILE *script = file_temporary();
    fputs(style, script);
    fprintf(script, "set title \"%s: %s\" noenhanced textcolor '#333333'\n", lab->now->name, lab->now->title);
    return script;
}

FILE *plot_begin_pair(const struct lab *lab)
{
    FILE *script = plot_begin(lab);
    fputs(upper, script);
    return script;
}

void plot_lower(FILE *script)
{
    fputs(lower, script);
}

FILE *plot_begin_halves(const struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs(upper_half, script);
    return script;
}

void plot_lower_half(FILE *script)
{
    plot_lower(script);
    fputs(lower_half, script);
}

/* Whether there is a picture. A missing gnuplot is reported once. */
static bool draw_picture(const struct lab *lab, FILE *script, FILE *picture, const char *name)
{
    static bool warned;
    char reason[PLOT_REASON_ROOM];
    enum plot_result result = plot_run(reason, picture, script, lab->out);
    if (result == PLOT_FAILED)
        die("%s.svg: %s", name, reason);
    if (result == PLOT_NO_GNUPLOT && !warned)
        warn("nothing is drawn: %s", reason);
    warned = warned || result == PLOT_NO_GNUPLOT;
    return result == PLOT_DRAWN;
}

void plot_end(struct lab *lab, FILE *script, const char *name, const char *caption)
{
    char path[PATH_ROOM];
    FILE *picture = file_create(path, lab, name, ".svg");
    bool drawn = draw_picture(lab, script, picture, name);
    fclose(script);
    file_close(picture, path);
    if (!drawn)
        unlink(path);
    else if (lab->page)
        report_picture(lab->page, path, caption);
}

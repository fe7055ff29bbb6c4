/* matches.h — lists of matches, and more matches than are to be in memory.
 *
 * Where most documents of a large group are similar to each other, the matches are far more than the documents. A list
 * of matches with runs holds a limited number of them: when it is full, it is sorted and written to a temporary
 * file as a run. In the end a cursor merges the runs and what is left in memory, in order. */
#ifndef TWIN_JOIN_MATCHES_H
#define TWIN_JOIN_MATCHES_H

#include <stdbool.h>
#include <twinsift/similar.h>

/* Those that we hold ourselves begin with {0} and end with twin__matches_clear(). */
typedef struct twin_matches twin_matches;
struct twin_matches {
    twin_match *items;
    size_t count, capacity;
    struct twin__match_runs *runs; /* those that are not in memory */
    uint64_t candidates, verified; /* as in twin_similar_counts, where they are known; else 0 */
};
void twin__matches_clear(twin_matches *matches);

twin_status twin__matches_add(twin_matches *matches, twin_match match);

/* Moves all matches of `from` to the end of `out`. False when out of memory: then nothing was moved. */
bool twin__matches_move(twin_matches *out, twin_matches *from);

/* Sorts by a, then b; not to the end if the call is to stop. */
void twin__matches_sort(twin_matches *matches);

struct twin__match_runs {
    size_t most; /* matches in memory */
    char *folder;
    int fd; /* -1: there are no runs yet */
    uint64_t *starts;
    size_t count, capacity; /* runs; starts[count] is the number of all matches in the file */
    twin_error failure; /* of the first that could not be written: later matches are dropped, and nothing is found */
};

/* Gives an empty list runs; twin__matches_clear() releases them. The folder is "/tmp" if NULL;
 * "" is none, and more matches are TWIN_ELIMIT. */
twin_status twin__match_runs_create(twin_matches *matches, size_t most, const char *folder);

/* Writes the matches of a list that is full to its runs: then there is room. Failures are kept until the end. */
void twin__match_runs_write(twin_matches *matches);

/* The failure that was kept, as if it happened now; TWIN_OK when there was none, or `runs` is NULL. */
twin_status twin__match_runs_failure(twin_error *error, const struct twin__match_runs *runs);

/* The number of all matches of a list, in memory or not. */
static inline uint64_t twin__matches_total(const twin_matches *matches)
{
    const struct twin__match_runs *runs = matches->runs;
    return matches->count + (runs && runs->count ? runs->starts[runs->count] : 0);
}

/* Whether some of them are in the file. */
static inline bool twin__matches_on_disk(const twin_matches *matches)
{
    return matches->runs && matches->runs->count > 0;
}

/* Sorts a list with runs, once all are in it, and visits all matches in order; TWIN_ESTOPPED if the visit returned
 * false. */
twin_status twin__matches_visit_sorted(twin_matches *matches, twin_match_visit *visit, void *context);

/* The number of different matches of a sorted list. */
twin_status twin__matches_count_sorted(uint64_t *out, const twin_matches *matches);

/* Matches of a sorted list, with or without runs, in order. Begin with twin__match_cursor_init(), also if that fails
 * end with twin__match_cursor_clear(). */
struct twin__match_cursor {
    const twin_matches *matches;
    struct twin__run_reader *readers; /* a heap, the one with the next match first */
    size_t count;
};
twin_status twin__match_cursor_init(struct twin__match_cursor *out, const twin_matches *matches);
void twin__match_cursor_clear(struct twin__match_cursor *cursor);

/* The next match, of several that are equal one; *found becomes false at the end. TWIN_EIO when the file cannot be
 * read. */
twin_status twin__match_cursor_next(twin_match *out, bool *found, struct twin__match_cursor *cursor);

/* Leaves the matches that are among the `top` best of either of their documents; of equal ones, that with the lower
 * number. */
twin_status twin__matches_keep_top(twin_matches *matches, size_t top);

/* Adds the match and unites its two components, a union-find of documents (base/union_find.h), unless they are one: so all
 * matches added are a spanning forest. */
twin_status twin__components_add(twin_matches *out, uint32_t *components, twin_match match);

#endif

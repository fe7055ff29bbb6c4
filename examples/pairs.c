/* pairs.c — all similar pairs of a collection: the program in the README, with a collection of its own to try. */
#include <stdio.h>
#include <twinsift/twinsift.h>

static bool print(void *collection, twin_match match)
{
    twin_text a = twin_collection_entry_of(collection, match.a).id;
    twin_text b = twin_collection_entry_of(collection, match.b).id;
    return printf("%.*s %.*s %.4f\n", (int)a.length, a.bytes, (int)b.length, b.bytes, match.similarity) > 0;
}

static twin_status print_pairs(const char *path, twin_error *error)
{
    twin_input *input = NULL;
    twin_collection *collection = NULL;
    twin_similar *similar = NULL;
    twin_collection_options options = { .scheme = twin_scheme_default() };
    twin_status status = twin_exec_make(&options.exec, TWIN_EXEC_PTHREADS, 0);
    if (status == TWIN_OK)
        status = twin_input_open(&input, &path, 1, (twin_input_options){ 0 }, error);
    if (status == TWIN_OK)
        status = twin_collection_read(&collection, input, options, error);
    if (status == TWIN_OK)
        status = twin_similar_find(&similar, collection, (twin_similar_options){ .exec = options.exec }, error);
    if (status == TWIN_OK)
        status = twin_similar_each(similar, TWIN_COPIES_FIRST, print, collection);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
    return status;
}

/* A file of three documents, two of them alike. */
static bool write_sample(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs("{\"id\":\"one\",\"text\":\"The lighthouse at Ormsey Point will be lit again before June.\"}\n"
          "{\"id\":\"two\",\"text\":\"A bakery rises where the bank used to be, and keeps the vault.\"}\n"
          "{\"id\":\"three\",\"text\":\"The Lighthouse at Ormsey Point will be lit again before July!\"}\n",
          file);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    static const char sample[] = "example-pairs.jsonl";
    twin_error error = { 0 };
    if (argc < 2 && !write_sample(sample)) {
        perror(sample);
        return 1;
    }
    twin_status status = print_pairs(argc < 2 ? sample : argv[1], &error);
    if (status != TWIN_OK)
        fprintf(stderr, "pairs: %s\n", error.message);
    if (argc < 2)
        remove(sample);
    return status == TWIN_OK ? 0 : 1;
}

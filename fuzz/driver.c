/* driver.c — a plain main for fuzz targets: runs each file named by its arguments, or contained in a folder named by
 * them, through the target, so that a corpus is part of the ordinary suite. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t inputs;

/* The block is exactly as long as the file, so that the address sanitizer sees a read past its end. */
static int run_file(const char *path, size_t length)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(length > 0 ? length : 1);
    int failed = !file || !bytes || fread(bytes, 1, length, file) != length;
    if (failed)
        perror(path);
    else {
        LLVMFuzzerTestOneInput(bytes, length);
        inputs++;
    }
    free(bytes);
    if (file)
        fclose(file);
    return failed;
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    return kind == FTW_F ? run_file(path, (size_t)status->st_size) : 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], visit, 16, 0) != 0) {
            fprintf(stderr, "%s: cannot run all of %s\n", argv[0], argv[i]);
            return 2;
        }
    printf("%zu inputs\n", inputs);
    return inputs == 0; /* an empty corpus checks nothing, and must not look like success */
}

/* hash.c — one text under two members of each family of hash functions. */
#include <stdio.h>
#include <string.h>
#include <twinsift/twinsift.h>

int main(void)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog";
    static const twin_hash_family families[] = { TWIN_HASH_XXH3, TWIN_HASH_FARM, TWIN_HASH_JENKINS, TWIN_HASH_SIP };

    printf("twinsift %s\n", twin_version());
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (twin_hash_available(families[i]) != TWIN_OK)
            continue;
        uint64_t one = twin_hash_bytes(twin_hash_member(families[i], 1), text, strlen(text));
        uint64_t two = twin_hash_bytes(twin_hash_member(families[i], 2), text, strlen(text));
        printf("%-8s %016llx %016llx\n", twin_name_of(TWIN_NAMES_HASH_FAMILY, families[i]), (unsigned long long)one,
               (unsigned long long)two);
        if (one == two)
            return 1;
    }
    return 0;
}

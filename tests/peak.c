/* peak.c — runs a command and prints the most memory it had at once, in bytes, to a file.
 *
 *     peak FILE COMMAND [ARGUMENT]...
 *
 * Exits as the command does. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct rusage usage;
    int state;
    if (count < 3)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[2], arguments + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) != child)
        return 2;
    FILE *file = fopen(arguments[1], "w");
    if (!file)
        return 2;
    fprintf(file, "%ld\n", usage.ru_maxrss * 1024);
    fclose(file);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 2;
}

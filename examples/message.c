/* message.c — what is in a mail message: sender, text as it is seen and as it is compared, hidden text, links. */
#include <stdio.h>
#include <string.h>
#include <twinsift/twinsift.h>

static const char raw[] = "From: =?utf-8?q?P=D0=B0yments?= <billing@pay.example.com>\n"
                          "Subject: Your account\n"
                          "Content-Type: text/html; charset=utf-8\n"
                          "\n"
                          "<p>Your p\u0430y\u200bment f<b></b>ailed.</p>\n"
                          "<p style='display:none'>Lovely weather in the harbour today.</p>\n"
                          "<a href='http://login.example.net/now'>Sign in</a>\n";

static void print(const char *name, twin_text text)
{
    printf("%-8s %.*s\n", name, (int)text.length, text.length ? text.bytes : "");
}

int main(void)
{
    twin_message_reader *reader;
    const twin_message *message;
    twin_status status = twin_message_reader_create(&reader, (twin_message_options){ 0 });
    if (status == TWIN_EUNSUPPORTED) { /* a build without mail */
        puts(twin_error_last(status));
        return 0;
    }
    if (status == TWIN_OK)
        status = twin_message_read(&message, reader, (twin_text){ raw, strlen(raw) });
    if (status == TWIN_OK) {
        for (size_t i = 0; i < message->address_count; i++)
            print("sender", message->addresses[i].address);
        print("text", message->text);
        print("folded", message->folded);
        print("hidden", message->hidden);
        for (size_t i = 0; i < message->link_count; i++)
            print("link", message->links[i].registered);
    }
    twin_message_reader_free(reader);
    return status != TWIN_OK;
}

/* Two sessions in one poll(2) loop: neither ever blocks the other.
 *
 *   eventloop [--cli PATH] [--model NAME] PROMPT PROMPT */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <towline.h>

struct line {
    towline_session *session;
    int number;
    bool open;
};

/* Takes what is ready from one session. */
static void drain(struct line *line) {
    towline_event *event;
    towline_error *error = NULL;
    towline_status status;
    while ((status = towline_session_poll(line->session, 0, &event, &error)) == TOWLINE_OK) {
        int kind = towline_event_kind(event);
        if (kind == TOWLINE_MESSAGE) {
            size_t n;
            const char *text = towline_event_text(event, &n);
            if (n > 0) printf("%d: %.*s\n", line->number, (int)n, text);
        } else if (kind == TOWLINE_TURN_ENDED) {
            towline_session_end_input(line->session, NULL);
        } else if (kind == TOWLINE_CLOSED) {
            line->open = false;
        }
        towline_event_free(event);
        if (!line->open) return;
    }
    if (status != TOWLINE_TIMEOUT) {
        fprintf(stderr, "%d: %s\n", line->number, error ? towline_error_message(error) : "failed");
        towline_error_free(error);
        line->open = false;
    }
}

int main(int argc, char **argv) {
    towline_options *options = towline_options_new();
    const char *prompts[2] = {NULL, NULL};
    int given = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cli") == 0 && i + 1 < argc)
            towline_options_set_string(options, "cliPath", argv[++i], TOWLINE_NUL, NULL);
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc)
            towline_options_set_string(options, "model", argv[++i], TOWLINE_NUL, NULL);
        else if (given < 2 && argv[i][0] != '-') prompts[given++] = argv[i];
    }
    if (given != 2) {
        fprintf(stderr, "usage: eventloop [--cli PATH] [--model NAME] PROMPT PROMPT\n");
        return 2;
    }

    struct line lines[2];
    towline_error *error = NULL;
    bool failed = false;
    for (int i = 0; i < 2; i++) {
        lines[i] = (struct line){NULL, i + 1, false};
        if (towline_session_create(options, &lines[i].session, &error) != TOWLINE_OK
            || towline_session_send(lines[i].session, prompts[i], TOWLINE_NUL, NULL, &error) != TOWLINE_OK) {
            fprintf(stderr, "%d: %s\n", i + 1, error ? towline_error_message(error) : "failed");
            towline_error_free(error);
            error = NULL;
            failed = true;
        } else lines[i].open = true;
    }
    while (lines[0].open || lines[1].open) {
        struct pollfd watched[2];
        int64_t timeout = -1;
        for (int i = 0; i < 2; i++) {
            watched[i] = (struct pollfd){-1, POLLIN, 0};
            if (!lines[i].open) continue;
            towline_session_fd(lines[i].session, &watched[i].fd, NULL);
            int64_t own = -1;
            towline_session_next_timeout(lines[i].session, &own, NULL);
            if (own >= 0 && (timeout < 0 || own < timeout)) timeout = own;
        }
        poll(watched, 2, (int)timeout);
        /* Both: a deadline may have passed without anything to read. */
        for (int i = 0; i < 2; i++)
            if (lines[i].open) drain(&lines[i]);
    }
    for (int i = 0; i < 2; i++) towline_session_free(lines[i].session);
    towline_options_free(options);
    return failed;
}

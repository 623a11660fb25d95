/* Does the host's part of a case through the C ABI; the case is the last argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

/* How long the last close may take. */
#define LAST_CLOSE 25000
/* How long cancelled callbacks, and steps beside, have to notice. */
#define NOTICE 2000

static const char *variable(const char *name) {
    const char *value = getenv(name);
    if (value == NULL) {
        fprintf(stderr, "%s is not set\n", name);
        exit(2);
    }
    return value;
}

static text read_file(const char *path) {
    text contents = {NULL, 0, 0};
    char piece[65536];
    size_t len;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while ((len = fread(piece, 1, sizeof piece, file)) > 0) {
        text_add(&contents, piece, len);
    }
    fclose(file);
    return contents;
}

static void start(host *self) {
    pthread_condattr_t clock;
    memset(self, 0, sizeof *self);
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &clock);
    pthread_condattr_destroy(&clock);
    self->fake_cli = variable("CASE_FAKE_CLI");
    self->work = variable("CASE_WORK");
    self->options = towline_options_new();
    if (towline_options_set_string(self->options, "cliPath", self->fake_cli, TOWLINE_NUL, NULL) !=
            TOWLINE_OK ||
        towline_options_set_string(self->options, "cwd", self->work, TOWLINE_NUL, NULL) !=
            TOWLINE_OK) {
        fputs("the options do not take a path\n", stderr);
        exit(2);
    }
}

/* Whether nothing runs any more that uses the host. */
static bool settle(host *self) {
    int64_t deadline = now() + NOTICE;
    bool settled;
    host_lock(self);
    while (self->running > 0 && left(deadline) > 0) {
        host_wait(self, deadline);
    }
    settled = self->running == 0;
    pthread_mutex_unlock(&self->lock);
    end_tasks(self, deadline);
    return settled && self->tasks == NULL;
}

static void finish(host *self) {
    while (self->barriers != NULL) {
        barrier *first = self->barriers;
        self->barriers = first->next;
        free(first->name);
        free(first);
    }
    text_free(&self->messages);
    text_free(&self->stderr_lines);
    text_free(&self->steps);
    text_free(&self->values);
    text_free(&self->fail);
    text_free(&self->loop_errors);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

int main(int count, char **arguments) {
    text contents = read_file(arguments[count - 1]);
    json *document = json_parse(contents.bytes, contents.len);
    const json *steps = json_get(document, "host");
    const json *step;
    const char *out = variable("CASE_OUT");
    bool closed = false, written, settled;
    host self;
    int n;
    if (steps == NULL) {
        fprintf(stderr, "%s is no case\n", arguments[count - 1]);
        return 2;
    }
    start(&self);
    for (n = 1; n < count; n++) {
        self.event_loop = self.event_loop || strcmp(arguments[n], "--event-loop") == 0;
    }
    for (step = steps->first; step != NULL; step = step->next) {
        failure error;
        if (set_up(&self, step, &error)) {
            if (error.kind != NULL) {
                note_step(&self, step, 0, &error);
                failure_free(&error);
            }
            continue;
        }
        if (json_get(step, "exit_without_close") != NULL) {
            /* Nothing of the session is ended by this program. */
            _exit(write_record(&self, out) ? 0 : 1);
        }
        closed = closed || json_get(step, "close") != NULL;
        do_timed(&self, step);
    }
    if (!closed) {
        failure error = close_session(&self, now() + LAST_CLOSE);
        if (error.kind != NULL) {
            note_text(&self, &self.fail, error.message, strlen(error.message));
            failure_free(&error);
        }
    }
    settled = settle(&self);
    if (settled) {
        end_session(&self);
    }
    written = write_record(&self, out);
    if (settled) {
        towline_options_free(self.options);
        finish(&self);
        json_free(document);
        text_free(&contents);
    }
    return written ? 0 : 1;
}

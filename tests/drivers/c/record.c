/* What the host saw, in the shape that the verdict is made from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host.h"

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t left(int64_t deadline) {
    int64_t rest = deadline - now();
    return rest < 0 ? 0 : rest;
}

void pass_time(int64_t ms) {
    struct timespec time;
    time.tv_sec = (time_t)(ms / 1000);
    time.tv_nsec = (long)(ms % 1000 * 1000000);
    nanosleep(&time, NULL);
}

void host_lock(host *self) { pthread_mutex_lock(&self->lock); }

void host_changed(host *self) {
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void host_wait(host *self, int64_t deadline) {
    struct timespec until;
    until.tv_sec = (time_t)(deadline / 1000);
    until.tv_nsec = (long)(deadline % 1000 * 1000000);
    pthread_cond_timedwait(&self->changed, &self->lock, &until);
}

void note(host *self, text *list, const char *json, size_t len) {
    host_lock(self);
    text_item(list);
    text_add(list, json, len);
    host_changed(self);
}

void note_text(host *self, text *list, const char *words, size_t len) {
    host_lock(self);
    text_item(list);
    text_quote(list, words, len);
    host_changed(self);
}

/* How many characters UTF-8 has. */
static size_t characters(const char *words, size_t len) {
    size_t count = 0, i;
    for (i = 0; i < len; i++) {
        count += ((unsigned char)words[i] & 0xc0) != 0x80;
    }
    return count;
}

void note_message(host *self, const towline_event *event) {
    size_t len, visible;
    const char *line = towline_event_json(event, &len);
    const char *words = towline_event_text(event, &visible);
    const char *type = towline_event_type(event);
    text entry = {NULL, 0, 0};
    while (len > 0 && line[len - 1] != '}') {
        len--;
    }
    if (type != NULL && strcmp(type, "assistant") == 0 && len > 0) {
        text_add(&entry, line, len - 1);
        text_print(&entry, ",\"text\":");
        text_quote(&entry, words, visible);
        text_print(&entry, ",\"text_len\":%lu}", (unsigned long)characters(words, visible));
    } else {
        text_add(&entry, line, len);
    }
    note(self, &self->messages, entry.bytes, entry.len);
    text_free(&entry);
}

/* One thing that is wrong with a step. */
static void wrong(host *self, const char *name, const char *what, const failure *error) {
    text line = {NULL, 0, 0};
    text_print(&line, "%s: %s", name, what);
    if (error != NULL) {
        text_print(&line, ": %s: %.300s", error->kind, error->message);
    }
    note_text(self, &self->fail, line.bytes, line.len);
    text_free(&line);
}

/* Every text of the list has to be in the message, or must not be. */
static void judge_parts(host *self, const char *name, const json *parts, bool wanted,
                        const failure *error) {
    const json *part = parts == NULL ? NULL : parts->first;
    for (; part != NULL; part = part->next) {
        if ((strstr(error->message, json_string(part, "")) != NULL) != wanted) {
            text what = {NULL, 0, 0};
            text_print(&what, "the error %s %s", wanted ? "lacks" : "has", json_string(part, ""));
            wrong(self, name, what.bytes, error);
            text_free(&what);
        }
    }
}

static void judge(host *self, const json *step, const char *name, const failure *error) {
    const json *wanted = json_get(step, "error");
    const json *code;
    bool optional = json_is(wanted, "optional");
    if (wanted != NULL && wanted->kind == JSON_NULL) {
        wanted = NULL;
    }
    if (error->kind == NULL) {
        if (wanted != NULL && !optional) {
            wrong(self, name, "no error", NULL);
        }
        return;
    }
    if (wanted == NULL) {
        wrong(self, name, "unexpected", error);
        return;
    }
    if (strcmp(error->kind, "Timeout") == 0 && !optional) {
        wrong(self, name, "hung instead of an error", NULL);
    }
    judge_parts(self, name, json_get(wanted, "contains"), true, error);
    judge_parts(self, name, json_get(wanted, "lacks"), false, error);
    code = json_get(wanted, "exit_code");
    if (code != NULL && !(error->has_exit_code && error->exit_code == json_int(code, 0))) {
        wrong(self, name, "another exit code", error);
    }
}

void note_step(host *self, const json *step, int64_t ms, const failure *error) {
    char *name = copy_of(step->start, step->size < 100 ? step->size : 100);
    const json *most = json_get(step, "max_ms");
    text entry = {NULL, 0, 0};
    text_print(&entry, "{\"step\":");
    text_quote(&entry, name, strlen(name));
    text_print(&entry, ",\"ms\":%lld,\"error\":", (long long)ms);
    if (error->kind == NULL) {
        text_print(&entry, "null}");
    } else {
        text_print(&entry, "{\"type\":\"%s\",\"text\":", error->kind);
        text_quote(&entry, error->message, strlen(error->message));
        text_print(&entry, ",\"exit_code\":");
        if (error->has_exit_code) {
            text_print(&entry, "%lld}}", (long long)error->exit_code);
        } else {
            text_print(&entry, "null}}");
        }
    }
    note(self, &self->steps, entry.bytes, entry.len);
    text_free(&entry);
    judge(self, step, name, error);
    if (most != NULL && ms > json_int(most, ms)) {
        text what = {NULL, 0, 0};
        text_print(&what, "took %lld ms (at most %lld)", (long long)ms,
                   (long long)json_int(most, ms));
        wrong(self, name, what.bytes, NULL);
        text_free(&what);
    }
    free(name);
}

static void write_list(FILE *out, const char *name, const text *list) {
    fprintf(out, ",\"%s\":[", name);
    if (list->len > 0) {
        fwrite(list->bytes, 1, list->len, out);
    }
    fputc(']', out);
}

bool write_record(host *self, const char *path) {
    struct timespec used;
    bool written;
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        return false;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    host_lock(self);
    fprintf(out, "{\"calls\":{\"permission\":%d,\"hook\":%d,\"tool\":%d},\"cancelled\":%d",
            self->permission, self->hook, self->tool, self->cancelled);
    write_list(out, "messages", &self->messages);
    write_list(out, "stderr", &self->stderr_lines);
    write_list(out, "steps", &self->steps);
    write_list(out, "values", &self->values);
    write_list(out, "fail", &self->fail);
    write_list(out, "loop_errors", &self->loop_errors);
    fprintf(out, ",\"cpu_ms\":%lld}",
            (long long)used.tv_sec * 1000 + (long long)used.tv_nsec / 1000000);
    host_changed(self);
    written = ferror(out) == 0;
    return fclose(out) == 0 && written;
}

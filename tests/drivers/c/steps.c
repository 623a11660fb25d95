/* The steps, each ending by a deadline. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* How long a step may take that does not say so, in milliseconds. */
#define STEP 8000

struct task {
    host *owner;
    const json *step;
    const char *name; /* for a step that waits for it */
    bool done;
    pthread_t thread;
    task *next;
};

static void *run_task(void *data) {
    task *this = data;
    do_timed(this->owner, this->step);
    host_lock(this->owner);
    this->done = true;
    host_changed(this->owner);
    return NULL;
}

static task *start_task(host *self, const json *step, const char *name) {
    task *made = must_have(sizeof *made);
    made->owner = self;
    made->step = step;
    made->name = name;
    made->done = false;
    host_lock(self);
    made->next = self->tasks;
    self->tasks = made;
    host_changed(self);
    if (pthread_create(&made->thread, NULL, run_task, made) != 0) {
        abort();
    }
    return made;
}

static failure join_task(const task *one, int64_t deadline) {
    host *self = one->owner;
    int64_t limit = left(deadline);
    bool done;
    host_lock(self);
    while (!one->done && left(deadline) > 0) {
        host_wait(self, deadline);
    }
    done = one->done;
    pthread_mutex_unlock(&self->lock);
    return done ? no_failure() : timed_out(limit);
}

void end_tasks(host *self, int64_t deadline) {
    while (self->tasks != NULL) {
        task *one = self->tasks;
        failure late = join_task(one, deadline);
        if (late.kind != NULL) {
            note_text(self, &self->fail, late.message, strlen(late.message));
            failure_free(&late);
            return;
        }
        pthread_join(one->thread, NULL);
        self->tasks = one->next;
        free(one);
    }
}

static failure join_named(host *self, const char *name, int64_t deadline) {
    task *one;
    host_lock(self);
    one = self->tasks;
    while (one != NULL && strcmp(one->name, name) != 0) {
        one = one->next;
    }
    pthread_mutex_unlock(&self->lock);
    return one == NULL ? driver_failure("%s is not in the background", name)
                       : join_task(one, deadline);
}

static failure in_parallel(host *self, const json *steps, int64_t deadline) {
    const json *step;
    task *started[16];
    size_t count = 0, n;
    failure error = no_failure();
    for (step = steps->first; step != NULL; step = step->next) {
        if (count == sizeof started / sizeof *started) {
            return driver_failure("too many steps at once");
        }
        started[count++] = start_task(self, step, "");
    }
    for (n = 0; n < count && error.kind == NULL; n++) {
        error = join_task(started[n], deadline);
    }
    return error;
}

void do_timed(host *self, const json *step) {
    int64_t limit = json_int(json_get(step, "timeout_ms"), STEP);
    int64_t started = now(), ms;
    failure error = do_step(self, step, started + limit);
    ms = now() - started;
    /* What cannot be cut short is judged by the clock. */
    if (error.kind == NULL && ms > limit + 50) {
        error = timed_out(limit);
    }
    note_step(self, step, ms, &error);
    failure_free(&error);
}

/* How a session's last event ends what is received. */
static failure ended(const towline_event *event) {
    const towline_error *error = towline_event_error(event);
    const char *result = towline_event_str(event, "/result", NULL);
    if (error != NULL) {
        return failure_of(error);
    }
    if (result != NULL && *result != '\0') {
        return driver_failure("%s", result);
    }
    return no_failure();
}

/* Receives until a message of that type ("end": until the end), or that many of them. */
static failure receive(host *self, const char *until, int64_t most, int64_t deadline) {
    int64_t limit = left(deadline), received = 0;
    for (;;) {
        towline_event *event;
        towline_kind_of_event kind;
        bool found = false;
        failure error = next_event(self, deadline, &event);
        if (error.kind != NULL) {
            return error;
        }
        if (event == NULL) {
            return timed_out(limit);
        }
        kind = towline_event_kind(event);
        if (kind == TOWLINE_MESSAGE) {
            const char *type = towline_event_type(event);
            note_message(self, event);
            received++;
            found = until == NULL ? received >= most : type != NULL && strcmp(type, until) == 0;
        } else if (kind == TOWLINE_CLOSED) {
            error = ended(event);
            if (error.kind == NULL && until != NULL && strcmp(until, "end") != 0) {
                error = driver_failure("stream ended before %s", until);
            }
        }
        towline_event_free(event);
        if (found || kind == TOWLINE_CLOSED) {
            return error;
        }
    }
}

/* The error by its place: it may not be there yet when the arguments are taken. */
static failure result_of(towline_status status, towline_error *const *error) {
    return status == TOWLINE_OK ? no_failure() : failed(status, *error);
}

static failure send(host *self, const char *prompt, size_t len) {
    towline_error *error = NULL;
    return result_of(towline_session_send(self->session, prompt, len, NULL, &error), &error);
}

static failure send_user(host *self, const json *prompt, const json *session_id) {
    towline_error *error = NULL;
    text message = {NULL, 0, 0};
    failure made;
    if (session_id == NULL) {
        return send(self, prompt->string, prompt->length);
    }
    text_print(&message, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
    text_add(&message, prompt->start, prompt->size);
    text_print(&message, "},\"parent_tool_use_id\":null,\"session_id\":");
    text_add(&message, session_id->start, session_id->size);
    text_print(&message, "}");
    made = result_of(
        towline_session_send_json(self->session, message.bytes, message.len, NULL, &error), &error);
    text_free(&message);
    return made;
}

static failure send_fill(host *self, size_t bytes) {
    failure made;
    text prompt = {NULL, 0, 0};
    text_fill(&prompt, 'u', bytes);
    made = send(self, prompt.bytes, prompt.len);
    text_free(&prompt);
    return made;
}

static failure query(host *self, const json *prompt) {
    towline_error *error = NULL;
    failure made;
    towline_status status = towline_session_create(self->options, &self->session, &error);
    if (status != TOWLINE_OK) {
        return failed(status, error);
    }
    self->is_query = true;
    made = send(self, prompt->string, prompt->length);
    if (made.kind != NULL) {
        return made;
    }
    return result_of(towline_session_end_input_when_settled(self->session, &error), &error);
}

/* A control request with one field, or none; its answer goes to the record when it is wanted. */
static failure ask(host *self, const char *subtype, const char *field, const json *value,
                   bool wanted, int64_t deadline) {
    text payload = {NULL, 0, 0};
    towline_event *event;
    failure made;
    if (field != NULL) {
        text_print(&payload, "{\"%s\":", field);
        text_add(&payload, value->start, value->size);
        text_print(&payload, "}");
    }
    made = control(self, subtype, payload.bytes, deadline, &event);
    text_free(&payload);
    if (made.kind == NULL && wanted) {
        size_t len;
        const char *answer = towline_event_json(event, &len);
        note(self, &self->values, answer, len);
    }
    towline_event_free(event);
    return made;
}

static failure server_info(host *self) {
    size_t len;
    const char *info = towline_session_capabilities_json(self->session, &len);
    if (info == NULL) {
        note(self, &self->values, "null", 4);
    } else {
        note(self, &self->values, info, len);
    }
    return no_failure();
}

/* Steps about saved sessions; false when it is none. */
static bool saved(host *self, const json *step, failure *made) {
    towline_error *error = NULL;
    towline_buffer *found = NULL;
    const json *what, *dir;
    const char *id;
    text options = {NULL, 0, 0};
    towline_status status;
    bool list = (what = json_get(step, "list_sessions")) != NULL;
    bool messages = !list && (what = json_get(step, "session_messages")) != NULL;
    bool rename = what == NULL && (what = json_get(step, "rename_session")) != NULL;
    if (what == NULL && (what = json_get(step, "tag_session")) == NULL) {
        return false;
    }
    id = json_string(json_get(what, "id"), "");
    text_print(&options, "{");
    if ((dir = json_get(what, "dir")) != NULL) {
        text_print(&options, "\"directory\":");
        text_add(&options, dir->start, dir->size);
    }
    text_print(&options, "}");
    if (list) {
        status = towline_sessions_list(options.bytes, options.len, &found, &error);
    } else if (messages) {
        status = towline_sessions_messages(id, options.bytes, options.len, &found, &error);
    } else if (rename) {
        status = towline_sessions_rename(id, json_string(json_get(what, "title"), ""),
                                         options.bytes, options.len, &error);
    } else {
        status = towline_sessions_tag(id, json_string(json_get(what, "tag"), NULL), options.bytes,
                                      options.len, &error);
    }
    text_free(&options);
    if (found != NULL) {
        size_t len;
        const char *json = towline_buffer_data(found, &len);
        note(self, &self->values, json, len);
        towline_buffer_free(found);
    }
    *made = result_of(status, &error);
    return true;
}

/* A step that is given up at the deadline. */
static failure cancelled(host *self, const json *step, int64_t deadline) {
    towline_error *error = NULL;
    towline_status status;
    failure made;
    if (json_get(step, "close") == NULL) {
        made = do_step(self, step, deadline);
        if (made.kind != NULL && strcmp(made.kind, "Timeout") == 0) {
            failure_free(&made);
        }
        return made;
    }
    /* The form of close that does not wait; the host looks on for a while and goes. */
    status = towline_session_begin_close(self->session, &error);
    if (status == TOWLINE_OK) {
        idle(self, deadline);
    }
    return result_of(status, &error);
}

static failure sleeping(host *self, int64_t ms) {
    if (self->session != NULL && !self->is_query) {
        idle(self, now() + ms);
    } else {
        pass_time(ms);
    }
    return no_failure();
}

static failure drop_iterator(host *self, int64_t deadline) {
    /* Only a query's iterator is the conversation itself. */
    return self->is_query ? close_session(self, deadline) : no_failure();
}

failure do_step(host *self, const json *step, int64_t deadline) {
    const json *what;
    failure made;
    if (saved(self, step, &made)) {
        return made;
    }
    if (json_get(step, "connect") != NULL) {
        made = open_session(self, deadline);
        what = json_get(step, "prompt");
        return made.kind != NULL || !json_is(what, NULL) ? made
                                                         : send(self, what->string, what->length);
    }
    if ((what = json_get(step, "query")) != NULL) {
        return query(self, what);
    }
    if ((what = json_get(step, "sleep_ms")) != NULL) {
        return sleeping(self, json_int(what, 0));
    }
    if (json_get(step, "close") != NULL) {
        return close_session(self, deadline);
    }
    if ((what = json_get(step, "background")) != NULL) {
        start_task(self, what, json_string(json_get(step, "as"), ""));
        return no_failure();
    }
    if ((what = json_get(step, "join")) != NULL) {
        return join_named(self, json_string(what, ""), deadline);
    }
    if ((what = json_get(step, "parallel")) != NULL) {
        return in_parallel(self, what, deadline);
    }
    if (self->session == NULL) {
        return driver_failure("there is no session");
    }
    if ((what = json_get(step, "send_user")) != NULL) {
        return send_user(self, what, json_get(step, "session_id"));
    }
    if ((what = json_get(step, "send_user_fill")) != NULL) {
        return send_fill(self, (size_t)json_int(what, 0));
    }
    if ((what = json_get(step, "recv_until")) != NULL) {
        return receive(self, json_string(what, ""), 0, deadline);
    }
    if ((what = json_get(step, "recv_n")) != NULL) {
        return receive(self, NULL, json_int(what, 0), deadline);
    }
    if (json_get(step, "drop_iterator") != NULL) {
        return drop_iterator(self, deadline);
    }
    if (json_get(step, "interrupt") != NULL) {
        return ask(self, "interrupt", NULL, NULL, false, deadline);
    }
    if ((what = json_get(step, "set_model")) != NULL) {
        return ask(self, "set_model", "model", what, false, deadline);
    }
    if ((what = json_get(step, "set_permission_mode")) != NULL) {
        return ask(self, "set_permission_mode", "mode", what, false, deadline);
    }
    if (json_get(step, "mcp_status") != NULL) {
        return ask(self, "mcp_status", NULL, NULL, true, deadline);
    }
    if (json_get(step, "server_info") != NULL) {
        return server_info(self);
    }
    if ((what = json_get(step, "cancel_after_ms")) != NULL) {
        int64_t given_up = now() + json_int(what, 0);
        return cancelled(self, json_get(step, "step"), given_up < deadline ? given_up : deadline);
    }
    return driver_failure("unknown host step %.*s", (int)(step->size < 100 ? step->size : 100),
                          step->start);
}

/* A conversation, read in the way that the host reads. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* What steps receive; the rest is seen to by callbacks. */
static bool is_received(const towline_event *event) {
    switch (towline_event_kind(event)) {
    case TOWLINE_INITIALIZED:
    case TOWLINE_MESSAGE:
    case TOWLINE_RESPONSE:
    case TOWLINE_CLOSED:
        return true;
    default:
        return false;
    }
}

/* Waits as an event loop does: for the descriptor, as long as the session allows. */
static failure watch(host *self, int64_t most) {
    struct pollfd descriptor;
    towline_error *error = NULL;
    int64_t limit;
    towline_status status = towline_session_fd(self->session, &descriptor.fd, &error);
    if (status == TOWLINE_OK) {
        status = towline_session_next_timeout(self->session, &limit, &error);
    }
    if (status != TOWLINE_OK) {
        return failed(status, error);
    }
    descriptor.events = POLLIN;
    poll(&descriptor, 1, (int)(limit >= 0 && limit < most ? limit : most));
    return no_failure();
}

/* Polls for what steps receive; *event is NULL when the time has passed. */
static failure poll_event(host *self, int64_t deadline, towline_event **event) {
    for (;;) {
        towline_error *error = NULL;
        towline_status status = towline_session_poll(
            self->session, self->event_loop ? 0 : left(deadline), event, &error);
        if (status == TOWLINE_OK && is_received(*event)) {
            return no_failure();
        }
        if (status == TOWLINE_OK) {
            towline_event_free(*event);
            *event = NULL;
        } else if (status != TOWLINE_TIMEOUT) {
            return failed(status, error);
        } else if (self->event_loop && left(deadline) > 0) {
            failure wrong = watch(self, left(deadline));
            if (wrong.kind != NULL) {
                return wrong;
            }
        } else if (left(deadline) == 0) {
            return no_failure();
        }
    }
}

static void keep(host *self, towline_event *event) {
    kept **end, *added = must_have(sizeof *added);
    added->event = event;
    added->next = NULL;
    host_lock(self);
    for (end = &self->inbox; *end != NULL; end = &(*end)->next) {
    }
    *end = added;
    host_changed(self);
}

static towline_event *unkeep(host *self) {
    towline_event *event = NULL;
    kept *first;
    host_lock(self);
    first = self->inbox;
    if (first != NULL) {
        self->inbox = first->next;
        event = first->event;
        free(first);
    }
    host_changed(self);
    return event;
}

failure next_event(host *self, int64_t deadline, towline_event **event) {
    *event = unkeep(self);
    return *event == NULL ? poll_event(self, deadline, event) : no_failure();
}

/* Takes events until there is one of this kind, and of this number unless it is 0; the others are
 * for later steps. The session's end comes in the place of any. */
static failure wait_for(host *self, towline_kind_of_event kind, uint64_t id, int64_t deadline,
                        towline_event **event) {
    int64_t limit = left(deadline);
    for (;;) {
        failure wrong = poll_event(self, deadline, event);
        if (wrong.kind != NULL) {
            return wrong;
        }
        if (*event == NULL) {
            return timed_out(limit);
        }
        if (towline_event_kind(*event) == TOWLINE_CLOSED ||
            (towline_event_kind(*event) == kind && (id == 0 || towline_event_id(*event) == id))) {
            return no_failure();
        }
        keep(self, *event);
        *event = NULL;
    }
}

failure open_session(host *self, int64_t deadline) {
    towline_error *error = NULL;
    towline_event *event;
    const towline_error *why;
    towline_status status;
    failure wrong;
    end_session(self);
    status = towline_session_create(self->options, &self->session, &error);
    if (status != TOWLINE_OK) {
        return failed(status, error);
    }
    if (!self->event_loop) {
        status = towline_session_connect(self->session, left(deadline), &error);
        return status == TOWLINE_OK ? no_failure() : failed(status, error);
    }
    wrong = wait_for(self, TOWLINE_INITIALIZED, 0, deadline, &event);
    if (wrong.kind == NULL && towline_event_kind(event) == TOWLINE_CLOSED) {
        why = towline_event_error(event);
        wrong = why == NULL ? driver_failure("it ended before it was open") : failure_of(why);
    }
    towline_event_free(event);
    return wrong;
}

failure control(host *self, const char *subtype, const char *payload, int64_t deadline,
                towline_event **event) {
    towline_error *error = NULL;
    towline_status status;
    const towline_error *why;
    uint64_t id;
    failure wrong;
    *event = NULL;
    if (!self->event_loop) {
        status = towline_session_request_wait(self->session, subtype, payload, TOWLINE_NUL,
                                              left(deadline), event, &error);
        return status == TOWLINE_OK ? no_failure() : failed(status, error);
    }
    status = towline_session_request(self->session, subtype, payload, TOWLINE_NUL, &id, &error);
    if (status != TOWLINE_OK) {
        return failed(status, error);
    }
    wrong = wait_for(self, TOWLINE_RESPONSE, id, deadline, event);
    if (wrong.kind != NULL) {
        towline_session_cancel_request(self->session, id, NULL, NULL);
        return wrong;
    }
    why = towline_event_error(*event);
    if (why == NULL) {
        return no_failure();
    }
    wrong = failure_of(why);
    towline_event_free(*event);
    *event = NULL;
    return wrong;
}

void idle(host *self, int64_t deadline) {
    while (left(deadline) > 0) {
        towline_event *event = NULL;
        failure wrong = self->session == NULL ? driver_failure("there is no session")
                                              : poll_event(self, deadline, &event);
        if (wrong.kind != NULL) {
            /* Another thread polls, or all is over. */
            failure_free(&wrong);
            pass_time(left(deadline));
        } else if (event != NULL) {
            keep(self, event);
        }
    }
}

/* What was received and nobody takes any more. */
static void forget(host *self) {
    towline_event *event;
    while ((event = unkeep(self)) != NULL) {
        towline_event_free(event);
    }
}

failure close_session(host *self, int64_t deadline) {
    towline_error *error = NULL;
    towline_event *event = NULL;
    towline_status status;
    int64_t limit = left(deadline);
    if (self->session == NULL) {
        return no_failure();
    }
    if (!self->event_loop) {
        status = towline_session_close(self->session, -1, &error);
        /* After the end, so that every callback has had its say. */
        while (status == TOWLINE_OK &&
               towline_session_poll(self->session, 0, &event, NULL) == TOWLINE_OK) {
            towline_event_free(event);
        }
        return status == TOWLINE_OK ? no_failure() : failed(status, error);
    }
    status = towline_session_begin_close(self->session, &error);
    while (status == TOWLINE_OK) {
        status = towline_session_poll(self->session, 0, &event, &error);
        if (status == TOWLINE_OK) {
            bool over = towline_event_kind(event) == TOWLINE_CLOSED;
            towline_event_free(event);
            if (over) {
                return no_failure();
            }
        } else if (status == TOWLINE_TIMEOUT && left(deadline) > 0) {
            failure wrong = watch(self, left(deadline));
            if (wrong.kind != NULL) {
                return wrong;
            }
            status = TOWLINE_OK;
        } else if (status == TOWLINE_TIMEOUT) {
            return timed_out(limit);
        } else if (status == TOWLINE_ERR_BUSY) {
            /* The thread that polls sees it through. */
            towline_error_free(error);
            status = towline_session_close(self->session, -1, &error);
            return status == TOWLINE_OK ? no_failure() : failed(status, error);
        }
    }
    if (status == TOWLINE_ERR_CLOSED) {
        towline_error_free(error);
        return no_failure();
    }
    return failed(status, error);
}

void end_session(host *self) {
    towline_status status;
    forget(self);
    status = towline_session_free(self->session);
    if (status != TOWLINE_OK) {
        const char *name = towline_status_name((int)status);
        note_text(self, &self->fail, name, strlen(name));
    }
    self->session = NULL;
}

/* The host program of a case: what it saw, with what it starts, and the conversation. */
#ifndef CASE_HOST_H
#define CASE_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "json.h"
#include "text.h"
#include "towline.h"

/* How a step failed. */
typedef struct {
    const char *kind; /* "Error", "Timeout", "Driver"; NULL when it did not */
    char *message;
    bool has_exit_code;
    int64_t exit_code;
} failure;

/* An event that was received while the host did something else. */
typedef struct kept kept;
struct kept {
    towline_event *event;
    kept *next;
};

/* How many have come to a barrier. */
typedef struct barrier barrier;
struct barrier {
    char *name;
    int64_t come;
    barrier *next;
};

/* A step that runs beside the others. */
typedef struct task task;

typedef struct {
    /* Guards all of it that any thread changes; `changed` follows every change. */
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* The record: items of lists, with commas between them. */
    text messages, stderr_lines, steps, values, fail, loop_errors;
    int permission, hook, tool, cancelled;

    barrier *barriers;
    int running; /* callbacks that answer later and have not yet */
    int next_tool_number;
    task *tasks;

    towline_options *options;
    towline_session *session;
    bool is_query;    /* the conversation is one prompt */
    bool event_loop;  /* it polls only when the descriptor or the time limit says so */
    kept *inbox;
    const char *fake_cli, *work;
} host;

/* Milliseconds of a clock that only goes forward. */
int64_t now(void);
/* What is left until then, never below 0. */
int64_t left(int64_t deadline);
void pass_time(int64_t ms);

/* record.c */
void host_lock(host *self);
/* Lets go, and tells those who wait for a change. */
void host_changed(host *self);
/* Waits for a change, with the lock held, until then at most. */
void host_wait(host *self, int64_t deadline);
void note(host *self, text *list, const char *json, size_t len);
void note_text(host *self, text *list, const char *words, size_t len);
void note_message(host *self, const towline_event *event);
/* Judges a step by what the case says of it. */
void note_step(host *self, const json *step, int64_t ms, const failure *error);
/* Writes the record; whether that worked. */
bool write_record(host *self, const char *path);

/* failure.c */
failure no_failure(void);
failure timed_out(int64_t limit);
failure driver_failure(const char *format, ...);
/* Of a call that returned this status; frees the error object. */
failure failed(towline_status status, towline_error *error);
/* Of an error object that stays where it is. */
failure failure_of(const towline_error *error);
void failure_free(failure *error);

/* setup.c */
/* Takes a step that says with what a session starts; false when it is none. */
bool set_up(host *self, const json *step, failure *error);

/* callbacks.c */
typedef enum { PERMISSION, HOOK, TOOL } callback_kind;
typedef struct {
    host *owner;
    callback_kind kind;
    const json *policy;
} callback;
towline_answer called(void *data, towline_request *request);

/* talk.c */
/* The next thing to receive: *event is NULL when the time has passed. */
failure next_event(host *self, int64_t deadline, towline_event **event);
failure open_session(host *self, int64_t deadline);
failure control(host *self, const char *subtype, const char *payload, int64_t deadline,
                towline_event **event);
/* Lets time pass: what comes is kept for later steps. */
void idle(host *self, int64_t deadline);
failure close_session(host *self, int64_t deadline);
void end_session(host *self);

/* steps.c */
failure do_step(host *self, const json *step, int64_t deadline);
void do_timed(host *self, const json *step);
/* Waits for the steps beside, as long as they may take. */
void end_tasks(host *self, int64_t deadline);

#endif

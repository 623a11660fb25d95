/* Sessions over a stream of the host: one inside the program, and a CLI that the host starts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "towline_test.h"

#define RESULT                                                                                     \
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\","           \
    "\"session_id\":\"s\",\"uuid\":\"u\"}\n"

static int opened, closed, freed, finalized;

static void finalize(void *user_data) {
    CHECK(user_data == &opened);
    finalized++;
}

/* A CLI inside the program: it answers initialize and every prompt, a byte at a time. */
struct inside {
    towline_waker *waker;
    towline_session *session;
    char line[4096], answer[4096];
    size_t line_len, answer_len, read;
    bool ended, fails;
};

static struct inside *latest;

static void *inside_open(void *user_data, const towline_launch *launch, towline_waker *waker) {
    struct inside *stream = calloc(1, sizeof *stream);
    CHECK(user_data == &opened && launch == NULL && stream != NULL);
    opened++;
    stream->waker = waker;
    latest = stream;
    return stream;
}

static void inside_line(struct inside *stream) {
    const char *id = strstr(stream->line, "\"request_id\":\"");
    if (strstr(stream->line, "\"initialize\"") != NULL) {
        int len;
        CHECK(id != NULL);
        id += strlen("\"request_id\":\"");
        len = (int)(strchr(id, '"') - id);
        sprintf(stream->answer + stream->answer_len,
                "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
                "\"request_id\":\"%.*s\",\"response\":{\"capabilities\":[]}}}\n", len, id);
    } else {
        CHECK(strstr(stream->line, "\"hello\"") != NULL);
        strcat(stream->answer, RESULT);
    }
    stream->answer_len = strlen(stream->answer);
    OK(towline_waker_wake(stream->waker));
}

static ptrdiff_t inside_write(void *opaque, const void *bytes, size_t len) {
    struct inside *stream = opaque;
    CHECK(len > 0 && stream->line_len + 1 < sizeof stream->line);
    if (stream->session != NULL) {
        /* The session is locked. */
        STATUS(TOWLINE_ERR_REENTRANT, towline_session_send(stream->session, "x", 1, NULL, NULL));
        STATUS(TOWLINE_ERR_REENTRANT, towline_session_wake(stream->session, NULL));
    }
    stream->line[stream->line_len++] = *(const char *)bytes;
    stream->line[stream->line_len] = '\0';
    if (*(const char *)bytes == '\n') {
        inside_line(stream);
        stream->line_len = 0;
    }
    return 1;
}

static ptrdiff_t inside_read(void *opaque, void *buffer, size_t len) {
    struct inside *stream = opaque;
    CHECK(len > 0);
    if (stream->fails) {
        return TOWLINE_BROKEN;
    }
    if (stream->read < stream->answer_len) {
        *(char *)buffer = stream->answer[stream->read++];
        return 1;
    }
    return stream->ended ? 0 : TOWLINE_WOULD_BLOCK;
}

static void inside_end_input(void *opaque) {
    struct inside *stream = opaque;
    stream->ended = true;
    OK(towline_waker_wake(stream->waker));
}

static void inside_close(void *opaque) {
    (void)opaque;
    closed++;
}

static bool inside_ended(void *opaque, int64_t *status, const char **problem) {
    struct inside *stream = opaque;
    CHECK(*status == TOWLINE_NO_EXIT && *problem == NULL);
    if (stream->fails) {
        *problem = "the line is dead";
    } else {
        *status = 0;
    }
    return true;
}

static void inside_free(void *opaque) {
    struct inside *stream = opaque;
    OK(towline_waker_free(stream->waker));
    free(stream);
    freed++;
}

static towline_transport inside(void) {
    towline_transport transport;
    memset(&transport, 0, sizeof transport);
    transport.size = sizeof transport;
    transport.open = inside_open;
    transport.read = inside_read;
    transport.write = inside_write;
    transport.end_input = inside_end_input;
    transport.close = inside_close;
    transport.ended = inside_ended;
    transport.free = inside_free;
    return transport;
}

static void a_conversation_inside_the_program(void) {
    towline_transport transport = inside();
    towline_options *options = towline_options_new();
    towline_session *session;
    towline_event *event;
    int64_t pid = -1;
    OK(towline_options_set_string(options, "model", "opus", TOWLINE_NUL, NULL));
    OK(towline_options_set_transport(options, &transport, &opened, finalize, NULL));
    session = test_start(options);
    latest->session = session;
    event = test_until(session, TOWLINE_DIAGNOSTIC);
    CHECK(strstr(towline_event_json(event, NULL), "model") != NULL);
    OK(towline_event_free(event));
    OK(towline_session_pid(session, &pid, NULL));
    CHECK(pid == 0);
    OK(towline_session_send(session, "hello", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    test_finish(session);
    CHECK(opened == 1 && closed == 1 && freed == 1 && finalized == 0);

    /* Each session opens a stream of its own; one that breaks says how. */
    session = test_start(options);
    OK(towline_event_free(test_until(session, TOWLINE_INITIALIZED)));
    latest->fails = true;
    OK(towline_waker_wake(latest->waker));
    event = test_until(session, TOWLINE_CLOSED);
    CHECK(strstr(towline_error_message(towline_event_error(event)), "the line is dead") != NULL);
    CHECK(strstr(towline_event_str(event, "/transport", NULL), "the line is dead") != NULL);
    OK(towline_event_free(event));
    OK(towline_session_free(session));
    CHECK(opened == 2 && closed == 2 && freed == 2);
    OK(towline_options_free(options));
    CHECK(finalized == 1);
}

static void *open_nothing(void *user_data, const towline_launch *launch, towline_waker *waker) {
    (void)user_data;
    (void)launch;
    OK(towline_waker_free(waker));
    return NULL;
}

static void what_is_wrong_is_refused(void) {
    towline_transport transport = inside();
    towline_options *options = towline_options_new();
    towline_session *session = NULL;
    finalized = 0;
    transport.size--;
    FAILS(TOWLINE_ERR_ARGUMENT, "size", towline_options_set_transport(options, &transport, &opened, finalize, &error));
    transport.size++;
    transport.write = NULL;
    FAILS(TOWLINE_ERR_ARGUMENT, "write", towline_options_set_transport(options, &transport, &opened, finalize, &error));
    CHECK(finalized == 0);
    transport = inside();
    transport.open = open_nothing;
    OK(towline_options_set_transport(options, &transport, &opened, finalize, NULL));
    FAILS(TOWLINE_ERR_START, "open", towline_session_create(options, &session, &error));
    CHECK(session == NULL);
    /* Back to a CLI. */
    OK(towline_options_set_transport(options, NULL, NULL, NULL, NULL));
    CHECK(finalized == 1);
    OK(towline_options_free(options));
}

/* A CLI that the host starts itself, with all options. */
struct process {
    towline_waker *waker;
    pid_t pid;
    int fd, status;
    bool reaped;
};

static struct process process;

static void *process_open(void *user_data, const towline_launch *launch, towline_waker *waker) {
    int ends[2];
    (void)user_data;
    CHECK(launch != NULL && launch->argv[0] != NULL && launch->cwd == NULL && launch->user == NULL);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    process.pid = fork();
    CHECK(process.pid >= 0);
    if (process.pid == 0) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execve(launch->argv[0], (char *const *)launch->argv, (char *const *)launch->env);
        _exit(127);
    }
    close(ends[1]);
    process.waker = waker;
    process.fd = ends[0];
    CHECK(fcntl(process.fd, F_SETFL, O_NONBLOCK) == 0);
    return &process;
}

static ptrdiff_t process_read(void *stream, void *buffer, size_t len) {
    ssize_t n = recv(((struct process *)stream)->fd, buffer, len, 0);
    return n >= 0 ? n : errno == EAGAIN ? TOWLINE_WOULD_BLOCK : TOWLINE_BROKEN;
}

static ptrdiff_t process_write(void *stream, const void *bytes, size_t len) {
    ssize_t n = send(((struct process *)stream)->fd, bytes, len, MSG_NOSIGNAL);
    return n >= 0 ? n : errno == EAGAIN ? TOWLINE_WOULD_BLOCK : TOWLINE_BROKEN;
}

static void process_end_input(void *stream) {
    shutdown(((struct process *)stream)->fd, SHUT_WR);
}

static bool process_terminate(void *stream) {
    return kill(((struct process *)stream)->pid, SIGTERM) == 0;
}

static void process_close(void *stream) {
    struct process *own = stream;
    if (!own->reaped) {
        kill(own->pid, SIGKILL);
        CHECK(waitpid(own->pid, &own->status, 0) == own->pid);
        own->reaped = true;
    }
}

static bool process_ended(void *stream, int64_t *status, const char **problem) {
    struct process *own = stream;
    (void)problem;
    own->reaped = own->reaped || waitpid(own->pid, &own->status, WNOHANG) == own->pid;
    if (own->reaped) {
        *status = WIFEXITED(own->status) ? WEXITSTATUS(own->status) : -WTERMSIG(own->status);
    }
    return own->reaped;
}

static void process_free(void *stream) {
    struct process *own = stream;
    OK(towline_waker_free(own->waker));
    close(own->fd);
}

static void a_cli_that_the_host_starts(void) {
    towline_transport transport = inside();
    towline_options *options = test_options(
        "[{\"expect\":{\"type\":\"user\"}},{\"emit\":{\"type\":\"result\",\"subtype\":\"success\","
        "\"is_error\":false,\"result\":\"ok\",\"session_id\":\"s\",\"uuid\":\"u\"}},"
        "{\"expect_eof\":true},{\"exit\":7}]");
    towline_session *session;
    towline_event *event = NULL;
    towline_kind_of_event kind = TOWLINE_NO_EVENT;
    int fd;
    transport.launches = true;
    transport.open = process_open;
    transport.read = process_read;
    transport.write = process_write;
    transport.end_input = process_end_input;
    transport.terminate = process_terminate;
    transport.close = process_close;
    transport.ended = process_ended;
    transport.free = process_free;
    OK(towline_options_set_transport(options, &transport, NULL, NULL, NULL));
    session = test_start(options);
    OK(towline_session_fd(session, &fd, NULL));
    OK(towline_session_send(session, "hi", TOWLINE_NUL, NULL, NULL));
    while (kind != TOWLINE_CLOSED) {
        struct pollfd entries[2] = {{fd, POLLIN, 0}, {process.fd, POLLIN, 0}};
        towline_status status = towline_session_poll(session, 0, &event, NULL);
        int64_t ms;
        if (status == TOWLINE_OK) {
            kind = towline_event_kind(event);
            if (kind == TOWLINE_TURN_ENDED) {
                OK(towline_session_end_input(session, NULL));
            } else if (kind == TOWLINE_CLOSED) {
                int64_t code = 0;
                OK(towline_event_int(event, "/exitCode", &code));
                CHECK(code == 7);
            }
            OK(towline_event_free(event));
            continue;
        }
        CHECK(status == TOWLINE_TIMEOUT);
        OK(towline_session_next_timeout(session, &ms, NULL));
        /* Its end may be known a moment after the end of its output. */
        CHECK(poll(entries, 2, ms < 0 || ms > 50 ? 50 : (int)ms) >= 0);
        OK(towline_waker_wake(process.waker));
    }
    OK(towline_session_free(session));
    OK(towline_options_free(options));
}

int main(void) {
    a_conversation_inside_the_program();
    what_is_wrong_is_refused();
    a_cli_that_the_host_starts();
    return 0;
}

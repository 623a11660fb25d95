/* A chat on the terminal: text as it streams, a question before a tool runs, a tool of this
 * program's own, cost and turns at the end.
 *
 *   chat [--cli PATH] [--model NAME] [PROMPT]
 *
 * With a prompt it has one turn; without, every line read is a prompt, until the end of input.
 * Ctrl-C interrupts the turn; a second one, or one with no turn running, ends the chat. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <towline.h>
#include <unistd.h>

struct chat {
    towline_session *session;
    bool streamed;     /* deltas of the message that is coming were shown */
    bool turn;         /* a turn is running */
    bool interrupting; /* and was interrupted */
    bool closing;      /* the session is being closed */
    double cost;       /* of the session so far, in US dollars */
    int64_t turns;     /* rounds with the model */
    bool failed;
};

/* The handler may only write to a pipe; whoever waits for something watches it too. */
static int interrupts[2];

static void on_interrupt(int signal) {
    (void)signal;
    int saved = errno;
    ssize_t written = write(interrupts[1], "!", 1);
    (void)written;
    errno = saved;
}

static bool watch_interrupts(void) {
    if (pipe(interrupts) != 0) return false;
    for (int i = 0; i < 2; i++)
        if (fcntl(interrupts[i], F_SETFL, O_NONBLOCK) == -1 || fcntl(interrupts[i], F_SETFD, FD_CLOEXEC) == -1) return false;
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGINT, &action, NULL) == 0;
}

/* Takes one Ctrl-C, if there is one. */
static bool interrupted(void) {
    char byte;
    return read(interrupts[0], &byte, 1) == 1;
}

static void forget_interrupts(void) {
    while (interrupted()) continue;
}

enum reading { LINE, END, INTERRUPTED };

/* Reads a line of the input; what does not fit is dropped. Byte by byte, so that nothing is
 * buffered that poll(2) would not see. */
static enum reading read_line(char *line, size_t size) {
    size_t n = 0;
    bool begun = false;
    for (;;) {
        struct pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {interrupts[0], POLLIN, 0}};
        if (poll(watched, 2, -1) < 0 && errno != EINTR) return END;
        if (interrupted()) return INTERRUPTED;
        if (!watched[0].revents) continue;
        char byte;
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0 && !begun) return END;
        if (got <= 0 || byte == '\n') break;
        begun = true;
        if (n + 1 < size) line[n++] = byte;
    }
    line[n] = '\0';
    return LINE;
}

/* Prints a text of the model's without its control characters, which could make the terminal show
 * something else than what is asked; at most limit characters of it. */
static void print_plain(const char *text, size_t len, size_t limit) {
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool starts = (byte & 0xC0) != 0x80; /* of UTF-8 */
        if (starts && limit-- == 0) {
            fputs("...", stdout);
            return;
        }
        bool c1 = byte == 0xC2 && i + 1 < len && (unsigned char)text[i + 1] < 0xA0;
        putchar(byte < 0x20 || byte == 0x7F || c1 ? '?' : byte);
        i += c1;
    }
}

static int fail(towline_error *error) {
    fprintf(stderr, "chat: %s\n", error ? towline_error_message(error) : "out of memory");
    towline_error_free(error);
    return 1;
}

/* May this tool run? It asks on the terminal, and denies when nobody answers. */
static towline_answer ask(void *user_data, towline_request *request) {
    struct chat *chat = user_data;
    size_t n, limit = SIZE_MAX;
    const char *tool = towline_request_str(request, "/tool_name", &n);
    fputs("\n[", stdout);
    if (tool) print_plain(tool, n, limit);
    const char *what = towline_request_str(request, "/input/command", &n);
    if (!what) what = towline_request_str(request, "/input/file_path", &n);
    if (!what) {
        what = towline_request_value(request, "/input", &n);
        limit = 200;
    }
    if (what) {
        fputs(": ", stdout);
        print_plain(what, n, limit);
    }
    fputs("] Allow? [y/N] ", stdout);
    fflush(stdout);
    char line[64] = "";
    enum reading reading = read_line(line, sizeof line);
    bool yes = reading == LINE && (line[0] == 'y' || line[0] == 'Y');
    puts(yes ? "allowed" : "denied");
    if (reading == INTERRUPTED) { /* the denial interrupts the turn */
        chat->interrupting = true;
        forget_interrupts();
    }
    towline_status status = yes ? towline_request_allow(request, NULL, NULL, NULL)
                                : towline_request_deny(request, "The user said no", TOWLINE_NUL, reading != LINE, NULL);
    return status == TOWLINE_OK ? TOWLINE_ANSWERED : TOWLINE_FAILED;
}

static towline_answer weather(void *user_data, towline_request *call) {
    (void)user_data;
    const char *city = towline_request_str(call, "/message/params/arguments/city", NULL);
    char text[256];
    snprintf(text, sizeof text, "Sunny and 21 degrees in %s", city ? city : "?");
    towline_status status = towline_request_tool_text(call, text, TOWLINE_NUL, false, NULL);
    return status == TOWLINE_OK ? TOWLINE_ANSWERED : TOWLINE_FAILED;
}

static void show(struct chat *chat, const towline_event *event) {
    size_t n;
    const char *text = towline_event_text(event, &n);
    const char *type = towline_event_type(event);
    if (type && strcmp(type, "stream_event") == 0) {
        fwrite(text, 1, n, stdout);
        chat->streamed |= n > 0;
    } else if (type && strcmp(type, "assistant") == 0) {
        if (!chat->streamed) fwrite(text, 1, n, stdout);
        chat->streamed = false;
        const char *tool = towline_event_str(event, "/message/content/0/name", &n);
        if (tool) {
            fputs("\n> ", stdout);
            print_plain(tool, n, SIZE_MAX);
        }
        putchar('\n');
    }
    fflush(stdout);
}

static void turn_ended(struct chat *chat, const towline_event *event) {
    chat->turn = false;
    double cost;
    if (towline_event_double(event, "/total_cost_usd", &cost) == TOWLINE_OK) chat->cost = cost;
    int64_t turns;
    if (towline_event_int(event, "/num_turns", &turns) == TOWLINE_OK) chat->turns += turns;
    bool is_error = false;
    if (towline_event_bool(event, "/is_error", &is_error) == TOWLINE_OK && is_error) {
        const char *reason = towline_event_str(event, "/terminal_reason", NULL);
        printf("(the turn failed: %s)\n", reason ? reason : "unknown reason");
    }
}

static void begin_close(struct chat *chat) {
    chat->closing = true;
    towline_session_begin_close(chat->session, NULL);
}

/* False when there is nothing gentler left to do than to free the session. */
static bool ctrl_c(struct chat *chat) {
    if (chat->closing) return false;
    if (chat->turn && !chat->interrupting) {
        puts("\n(interrupting; Ctrl-C again ends the chat)");
        chat->interrupting = true;
        towline_session_interrupt(chat->session, NULL, NULL);
    } else {
        puts("\n(closing)");
        begin_close(chat);
    }
    fflush(stdout);
    return true;
}

/* False after the last one. */
static bool take(struct chat *chat, const towline_event *event) {
    switch (towline_event_kind(event)) {
    case TOWLINE_MESSAGE: show(chat, event); break;
    case TOWLINE_TURN_ENDED: turn_ended(chat, event); break;
    case TOWLINE_DIAGNOSTIC: fprintf(stderr, "chat: %s\n", towline_event_text(event, NULL)); break;
    case TOWLINE_CLOSED: {
        const towline_error *why = towline_event_error(event);
        if (why) fprintf(stderr, "chat: %s\n", towline_error_message(why));
        chat->failed |= why != NULL;
        return false;
    }
    default: break;
    }
    return true;
}

/* Takes one event, or waits for the session or Ctrl-C; false when the session is over. */
static bool step(struct chat *chat) {
    if (interrupted() && !ctrl_c(chat)) return false;
    towline_event *event;
    towline_error *error = NULL;
    towline_status status = towline_session_poll(chat->session, 0, &event, &error);
    if (status == TOWLINE_OK) {
        bool open = take(chat, event);
        towline_event_free(event);
        return open;
    }
    int fd = -1;
    int64_t timeout = -1;
    if (status == TOWLINE_TIMEOUT) {
        status = towline_session_fd(chat->session, &fd, &error);
        towline_session_next_timeout(chat->session, &timeout, NULL);
    }
    if (status != TOWLINE_OK) {
        chat->failed = true;
        fail(error);
        return false;
    }
    struct pollfd watched[2] = {{fd, POLLIN, 0}, {interrupts[0], POLLIN, 0}};
    poll(watched, 2, timeout > INT_MAX ? INT_MAX : (int)timeout);
    return true;
}

/* One turn; false when the session is over after it. */
static bool say(struct chat *chat, const char *prompt) {
    towline_error *error = NULL;
    if (towline_session_send(chat->session, prompt, TOWLINE_NUL, NULL, &error) != TOWLINE_OK) {
        fail(error);
        chat->failed = true;
        return false;
    }
    chat->turn = true;
    chat->interrupting = false;
    while (chat->turn || chat->closing)
        if (!step(chat)) return false;
    return true;
}

int main(int argc, char **argv) {
    const char *cli = NULL, *model = NULL, *prompt = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cli") == 0 && i + 1 < argc) cli = argv[++i];
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc) model = argv[++i];
        else if (strcmp(argv[i], "--help") == 0 || argv[i][0] == '-' || prompt) {
            bool help = strcmp(argv[i], "--help") == 0;
            fprintf(help ? stdout : stderr, "usage: chat [--cli PATH] [--model NAME] [PROMPT]\n");
            return help ? 0 : 2;
        } else prompt = argv[i];
    }
    if (!watch_interrupts()) {
        perror("chat");
        return 1;
    }

    struct chat chat = {0};
    towline_error *error = NULL;
    towline_options *options = towline_options_new();
    if (cli) towline_options_set_string(options, "cliPath", cli, TOWLINE_NUL, NULL);
    if (model) towline_options_set_string(options, "model", model, TOWLINE_NUL, NULL);
    towline_options_set_bool(options, "includePartialMessages", true, NULL);
    towline_options_on_permission(options, ask, &chat, NULL, NULL);
    towline_options_add_tool(options, "demo", "weather", "The weather in a city",
        "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}",
        "{\"readOnlyHint\":true}", weather, NULL, NULL, NULL);
    towline_status status = towline_session_create(options, &chat.session, &error);
    towline_options_free(options);
    if (status != TOWLINE_OK) return fail(error);

    bool open = true;
    if (prompt) {
        printf("you> %s\n", prompt);
        open = say(&chat, prompt);
    }
    while (open && !prompt) {
        static char line[1 << 16];
        forget_interrupts(); /* what came as the turn ended was meant for it */
        printf("you> ");
        fflush(stdout);
        if (read_line(line, sizeof line) != LINE) {
            putchar('\n');
            break;
        }
        if (line[0]) open = say(&chat, line);
    }
    if (open) {
        begin_close(&chat);
        while (step(&chat)) continue;
    }
    printf("(%lld turns, $%.4f)\n", (long long)chat.turns, chat.cost);
    towline_session_free(chat.session);
    return chat.failed;
}

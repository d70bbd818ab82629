/* Play $game in C, without any library.
 *
 *     $commands
 *
 * Change `choose`, below: it is asked for an action on each of your turns. The rest can stay as it is. Print what you
 * like to stderr, and `--bot-logs DIR` keeps it; stdout is for replies alone. `fairplay rules $name` prints the rules.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON as it came: a value is a pointer to where it begins in the text of a message. */
static const char *field(const char *object, const char *name); /* the value of a field; "null": there is no such one */
static const char *first(const char *list);                     /* the first value of a list; NULL: it is empty */
static const char *next(const char *value);                     /* the value behind it in a list; NULL: it was last */
static const char *entry(const char *list, int index);          /* the value at a place, from 0; NULL: there is none */
static int number(const char *value);                           /* the whole number that a value is */
static bool is(const char *value, const char *text);            /* is a value this text? */

$part

/* What is said between the referee and a bot: a line of JSON comes in, and a line of JSON goes out with its nonce. */

/* Where a value has come to its end. */
static const char *behind(const char *value) {
    int depth = 0; /* of brackets */
    const char *at = value;
    do {
        if (*at == '"')
            for (at++; *at && *at != '"'; at++) at += *at == '\\' && at[1]; /* an escaped quote is no end */
        else if (*at == '[' || *at == '{')
            depth++;
        else if (*at == ']' || *at == '}')
            depth--;
        at += *at != '\0';
    } while (*at && (depth > 0 || !strchr(",:]}", *at)));
    return at;
}

static const char *without_spaces(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *first(const char *list) {
    const char *at = *list == '[' || *list == '{' ? without_spaces(list + 1) : "";
    return strchr("]}", *at) ? NULL : at; /* strchr finds the end of a text, too */
}

static const char *next(const char *value) {
    const char *at = behind(value);
    return *at == ',' ? without_spaces(at + 1) : NULL;
}

static const char *field(const char *object, const char *name) {
    for (const char *key = first(object), *value; key; key = next(value)) {
        const char *colon = behind(key);
        if (*colon != ':') break;
        value = without_spaces(colon + 1);
        if (is(key, name)) return value;
    }
    return "null";
}

static const char *entry(const char *list, int index) {
    const char *value = first(list);
    while (value && index-- > 0) value = next(value);
    return value;
}

static int number(const char *value) {
    return atoi(value);
}

static bool is(const char *value, const char *text) {
    size_t length = strlen(text);
    return *value == '"' && !strncmp(value + 1, text, length) && value[length + 1] == '"';
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *type = field(line, "type"), *nonce = field(line, "nonce");
        if (*nonce != '"' || is(type, "closing")) continue; /* no reply is expected */
        printf("{\"nonce\":%.*s,\"answer\":", (int)(behind(nonce) - nonce), nonce);
        if (is(type, "take_turn"))
            choose(field(line, "view"));
        else
            printf("null");
        printf("}\n");
        fflush(stdout); /* or it is never read */
    }
    free(line);
    return 0;
}

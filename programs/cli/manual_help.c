/*
 * The option tables as help for a terminal: `dpmf help`, `dpmf help VERB` and `--help`. Fed by the
 * tables of the verbs, command_*.c.
 */
#include <string.h>

#include "cli/manual.h"
#include "cli/text.h"

enum { HELP_WIDTH = 80, LABEL_WIDTH = 26 };

struct option_label manual_option_label(const struct option *option) {
    struct option_label label;
    char letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(label.text, sizeof label.text, "%s--%s%s%s", letter, option->name,
             option->value.kind != VALUE_NONE ? " " : "",
             option->value.kind != VALUE_NONE ? option->value.name : "");
    return label;
}

struct option_help manual_option_help(const struct option *option) {
    static const char mark[] = "{default}";
    struct option_help help = {""};
    const char *at = strstr(option->help, mark);
    FILE *memory = fmemopen(help.text, sizeof help.text, "w");
    if (memory == NULL) return help;
    if (at != NULL && option->show_default != NULL) {
        fprintf(memory, "%.*s", (int)(at - option->help), option->help);
        option->show_default(memory);
        fputs(at + sizeof mark - 1, memory);
    } else {
        fputs(option->help, memory);
    }
    fclose(memory);
    return help;
}

struct page_name manual_page_name(const struct verb *verb) {
    struct page_name page;
    snprintf(page.text, sizeof page.text, "%s", verb->name);
    for (char *at = page.text; (at = strchr(at, ' ')) != NULL;) *at = '-';
    return page;
}

void manual_choices_print(FILE *out, const struct value *value, const char *separator) {
    const char *choice;
    for (size_t i = 0; (choice = value->choices(i, NULL)) != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? separator : "", choice);
}

/* A label, and its text in a column of its own. */
static void print_entry(FILE *out, const char *label, const char *text) {
    size_t length = strlen(label);
    fprintf(out, "  %s", label);
    if (length + 2 > LABEL_WIDTH) {
        fputc('\n', out);
        length = 0;
    } else {
        length += 2;
    }
    fprintf(out, "%*s  ", (int)(LABEL_WIDTH - length), "");
    text_wrap(out, text, LABEL_WIDTH + 2, LABEL_WIDTH + 2, HELP_WIDTH);
}

static void print_option(FILE *out, const struct option *option) {
    print_entry(out, manual_option_label(option).text, manual_option_help(option).text);
    if (option->value.kind == VALUE_CHOICE) {
        char list[512] = "";
        FILE *memory = fmemopen(list, sizeof list, "w");
        if (memory == NULL) return;
        fputs("one of: ", memory);
        manual_choices_print(memory, &option->value, ", ");
        fclose(memory);
        fprintf(out, "%*s", LABEL_WIDTH + 2, "");
        text_wrap(out, list, LABEL_WIDTH + 2, LABEL_WIDTH + 2, HELP_WIDTH);
    }
}

void manual_verb_help(FILE *out, const struct verb *verb) {
    const struct option_group *group;
    fprintf(out, "Usage: dpmf %s %s\n\ndpmf %s: %s.\n", verb->name, verb->synopsis, verb->name,
            verb->summary);
    for (size_t i = 0; verb->paragraphs[i] != NULL; i++) {
        fputc('\n', out);
        text_wrap(out, verb->paragraphs[i], 0, 0, HELP_WIDTH);
    }
    if (verb->parts != NULL) fputs("\nCommands:\n", out);
    for (size_t i = 0; verb->parts != NULL && verb->parts[i] != NULL; i++)
        print_entry(out, verb_word(verb->parts[i]), verb->parts[i]->summary);
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++) {
        fprintf(out, "\n%s:\n", group->title);
        for (const struct option *option = group->options; option->name != NULL; option++)
            print_option(out, option);
    }
    if (verb->exit_note != NULL) {
        fputs("\nExit status:\n  ", out);
        text_wrap(out, verb->exit_note, 2, 2, HELP_WIDTH);
    }
    fputs("\nExamples:\n", out);
    for (const struct example *example = verb->examples; example->shows != NULL; example++)
        fprintf(out, "  %s:\n    %s\n", example->shows, example->command);
}

void manual_program_help(FILE *out) {
    fprintf(out, "dpmf %s: %s\n\nUsage: dpmf COMMAND [options]\n\nCommands:\n", dpmf_version(),
            program_summary);
    for (size_t i = 0; verbs[i] != NULL; i++)
        fprintf(out, "  %-12s  %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\ndpmf help COMMAND explains one of them; dpmf version prints the version.\n"
          "To see it at work: dpmf demo\n",
          out);
}

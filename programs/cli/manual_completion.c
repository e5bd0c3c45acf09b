/*
 * The option tables as completion scripts for bash, zsh and fish. Fed by the tables of the verbs,
 * command_*.c; printed by `dpmf completion`. The scripts need nothing but the shell itself.
 */
#include <string.h>

#include "cli/manual.h"

/* Text inside single quotes of a shell. */
static void print_quoted(FILE *out, const char *text, size_t length, const char *escape) {
    for (size_t i = 0; i < length && text[i] != '\0'; i++) {
        if (text[i] == '\'')
            fputs("'\\''", out);
        else if (escape != NULL && strchr(escape, text[i]) != NULL)
            fprintf(out, "\\%c", text[i]);
        else
            fputc(text[i], out);
    }
}

/* A completion shows one short line: the help up to its first aside. */
static size_t brief_length(const char *help) {
    size_t length = strcspn(help, ";(:");
    while (length > 0 && help[length - 1] == ' ') length--;
    return length;
}

static void for_each_option(FILE *out, const struct verb *verb,
                            void (*print)(FILE *, const struct verb *, const struct option *)) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            print(out, verb, option);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_option_word(FILE *out, const struct verb *verb, const struct option *option) {
    (void)verb;
    fprintf(out, " --%s", option->name);
}

/* What completes a value, as a call of the helper functions on top of the script. */
static void bash_value(FILE *out, const struct value *value) {
    switch (value->kind) {
    case VALUE_CHOICE:
        fputs("_dpmf_words '", out);
        manual_choices_print(out, value, " ");
        fputs("'", out);
        break;
    case VALUE_FILE:
    case VALUE_OUTPUT:
        fputs("_dpmf_files", out);
        if (value->suffix != NULL) fprintf(out, " '%s'", value->suffix);
        break;
    case VALUE_DIRECTORY: fputs("_dpmf_directories", out); break;
    default: fputc(':', out); break;
    }
}

static void bash_option_case(FILE *out, const struct verb *verb, const struct option *option) {
    const struct page_name page = manual_page_name(verb);
    if (option->value.kind == VALUE_NONE) return;
    fprintf(out, "    %s:--%s", page.text, option->name);
    if (option->alias != NULL) fprintf(out, "|%s:--%s", page.text, option->alias);
    if (option->letter != 0) fprintf(out, "|%s:-%c", page.text, option->letter);
    fputs(") ", out);
    bash_value(out, &option->value);
    fputs("; return ;;\n", out);
}

/* A verb with parts: the second word belongs to it, and together they are called as the page is. */
static void bash_parts(FILE *out) {
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const struct verb *verb = verbs[i];
        if (verb->parts == NULL) continue;
        fprintf(out,
                "    if [[ $verb == %s ]]; then\n"
                "        if ((COMP_CWORD == 2)); then\n"
                "            _dpmf_words '",
                verb->name);
        for (size_t j = 0; verb->parts[j] != NULL; j++)
            fprintf(out, "%s ", verb_word(verb->parts[j]));
        fputs("--help'\n"
              "            return\n"
              "        fi\n"
              "        verb+=-${COMP_WORDS[2]}\n"
              "    fi\n",
              out);
    }
}

void manual_bash_completion(FILE *out) {
    const struct verb *verb;
    fputs("# bash completion for dpmf, printed by: dpmf completion bash\n"
          "_dpmf_words() {\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
          "}\n"
          "_dpmf_files() {\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    if [[ -n ${1-} ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X \"!*$1\" -- "
          "\"$cur\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "    fi\n"
          "}\n"
          "_dpmf_directories() {\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
          "}\n"
          "_dpmf() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local verb=${COMP_WORDS[1]}\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        _dpmf_words '",
          out);
    for (size_t i = 0; verbs[i] != NULL; i++) fprintf(out, "%s ", verbs[i]->name);
    fputs("--help --version'\n"
          "        return\n"
          "    fi\n",
          out);
    bash_parts(out);
    fputs("    # bash cuts --name=value into three words\n"
          "    if [[ $cur == = ]]; then\n"
          "        cur=\n"
          "    elif [[ $prev == = ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n"
          "    case $verb:$prev in\n",
          out);
    for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
        for_each_option(out, verb, bash_option_case);
    fputs("    esac\n"
          "    case $verb in\n",
          out);
    for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
        fprintf(out, "    %s)\n        if [[ $cur == -* ]]; then\n            _dpmf_words '",
                manual_page_name(verb).text);
        for_each_option(out, verb, bash_option_word);
        fputs("'\n        else\n            ", out);
        bash_value(out, &verb->operands.value);
        fputs("\n        fi ;;\n", out);
    }
    fputs("    esac\n"
          "}\n"
          "complete -F _dpmf dpmf\n",
          out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_value(FILE *out, const struct value *value) {
    print_quoted(out, value->name, strlen(value->name), ":");
    fputc(':', out);
    switch (value->kind) {
    case VALUE_CHOICE:
        fputc('(', out);
        manual_choices_print(out, value, " ");
        fputc(')', out);
        break;
    case VALUE_FILE:
    case VALUE_OUTPUT:
        fputs("_files", out);
        if (value->suffix != NULL) fprintf(out, " -g \"*%s\"", value->suffix);
        break;
    case VALUE_DIRECTORY: fputs("_files -/", out); break;
    default: break;
    }
}

static void zsh_spec(FILE *out, const struct option *option, const char *dashes, const char *name) {
    const char *equals = name[1] != '\0' && option->value.kind != VALUE_NONE ? "=" : "";
    fprintf(out, "            '%s%s%s[", dashes, name, equals);
    const struct option_help help = manual_option_help(option);
    print_quoted(out, help.text, brief_length(help.text), "[]");
    fputc(']', out);
    if (option->value.kind != VALUE_NONE) {
        fputc(':', out);
        zsh_value(out, &option->value);
    }
    fputs("' \\\n", out);
}

static void zsh_option(FILE *out, const struct verb *verb, const struct option *option) {
    (void)verb;
    char letter[2] = {option->letter, '\0'};
    if (option->letter != 0) zsh_spec(out, option, "-", letter);
    zsh_spec(out, option, "--", option->name);
}

static void zsh_parts(FILE *out) {
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const struct verb *verb = verbs[i];
        if (verb->parts == NULL) continue;
        fprintf(out,
                "    if [[ $verb == %s ]]; then\n"
                "        if (( CURRENT == 2 )); then\n"
                "            commands=(\n",
                verb->name);
        for (size_t j = 0; verb->parts[j] != NULL; j++) {
            const struct verb *part = verb->parts[j];
            fprintf(out, "                '%s:", verb_word(part));
            print_quoted(out, part->summary, strlen(part->summary), NULL);
            fputs("'\n", out);
        }
        fprintf(out,
                "            )\n"
                "            _describe -t commands 'dpmf %s command' commands\n"
                "            return\n"
                "        fi\n"
                "        verb+=-$words[2]\n"
                "        shift words\n"
                "        (( CURRENT-- ))\n"
                "    fi\n",
                verb->name);
    }
}

void manual_zsh_completion(FILE *out) {
    fputs("#compdef dpmf\n"
          "# zsh completion for dpmf, printed by: dpmf completion zsh\n"
          "_dpmf() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        fprintf(out, "        '%s:", verbs[i]->name);
        print_quoted(out, verbs[i]->summary, strlen(verbs[i]->summary), NULL);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t commands 'dpmf command' commands\n"
          "        return\n"
          "    fi\n"
          "    local verb=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n",
          out);
    zsh_parts(out);
    fputs("    case $verb in\n", out);
    const struct verb *verb;
    for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
        fprintf(out, "    %s)\n        _arguments -S \\\n", manual_page_name(verb).text);
        for_each_option(out, verb, zsh_option);
        if (verb->operands.at_most > 0) {
            fprintf(out, "            '%s:", verb->operands.at_most > 1 ? "*" : "1");
            zsh_value(out, &verb->operands.value);
            fputs("' \\\n", out);
        }
        fputs("        ;;\n", out);
    }
    fputs("    esac\n"
          "}\n"
          "if [[ $funcstack[1] == _dpmf ]]; then\n"
          "    _dpmf \"$@\"\n"
          "elif (( $+functions[compdef] )); then\n"
          "    compdef _dpmf dpmf\n"
          "fi\n",
          out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_value(FILE *out, const struct value *value) {
    switch (value->kind) {
    case VALUE_NONE: break;
    case VALUE_CHOICE:
        fputs(" -x -a '", out);
        manual_choices_print(out, value, " ");
        fputc('\'', out);
        break;
    case VALUE_FILE:
    case VALUE_OUTPUT:
        if (value->suffix != NULL)
            fprintf(out, " -x -a '(__fish_complete_suffix %s)'", value->suffix);
        else
            fputs(" -r -F", out);
        break;
    case VALUE_DIRECTORY: fputs(" -x -a '(__fish_complete_directories)'", out); break;
    default: fputs(" -x", out); break;
    }
}

static void fish_text(FILE *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\') fputc('\\', out);
        fputc(text[i], out);
    }
}

static void fish_option(FILE *out, const struct verb *verb, const struct option *option) {
    fprintf(out, "complete -c dpmf -n '__dpmf_verb_is %s' -l %s", verb->name, option->name);
    if (option->letter != 0) fprintf(out, " -s %c", option->letter);
    fish_value(out, &option->value);
    fputs(" -d '", out);
    const struct option_help help = manual_option_help(option);
    fish_text(out, help.text, brief_length(help.text));
    fputs("'\n", out);
}

static void fish_operands(FILE *out, const struct verb *verb) {
    const struct value *value = &verb->operands.value;
    if (value->kind == VALUE_FILE)
        fprintf(out, "complete -c dpmf -n '__dpmf_verb_is %s' -F\n", verb->name);
    if (value->kind == VALUE_CHOICE) {
        fprintf(out, "complete -c dpmf -n '__dpmf_verb_is %s' -a '", verb->name);
        manual_choices_print(out, value, " ");
        fputs("'\n", out);
    }
}

void manual_fish_completion(FILE *out) {
    fputs("# fish completion for dpmf, printed by: dpmf completion fish\n"
          "function __dpmf_verb_is\n"
          "    set -l words (commandline -opc)\n"
          "    set -l last (math 1 + (count $argv))\n"
          "    test (count $words) -ge $last; and test \"$words[2..$last]\" = \"$argv\"\n"
          "end\n"
          "function __dpmf_needs_verb\n"
          "    test (count (commandline -opc)) -eq 1\n"
          "end\n"
          "complete -c dpmf -f\n"
          "complete -c dpmf -n __dpmf_needs_verb -l help -d 'list the commands'\n"
          "complete -c dpmf -n __dpmf_needs_verb -l version -d 'print the version'\n",
          out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        fprintf(out, "complete -c dpmf -n __dpmf_needs_verb -a %s -d '", verbs[i]->name);
        fish_text(out, verbs[i]->summary, strlen(verbs[i]->summary));
        fputs("'\n", out);
    }
    const struct verb *each;
    for (size_t i = 0; (each = verb_at(i)) != NULL; i++) {
        for_each_option(out, each, fish_option);
        fish_operands(out, each);
    }
}

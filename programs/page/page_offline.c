/*
 * What a served page needs to be installed and to open without a network. The worker asks nobody
 * for anything, as the page does: it has the page inside, so that its policy can forbid every
 * connection. A browser compares the worker with the server's whenever the page is opened, and so
 * notices a newer release. Fed by the made page; feeds serve.
 */
#define _GNU_SOURCE
#include "page/page_offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_text.h"

/* A star on the page's own colour. */
#define ICON                                                                                       \
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect "  \
    "width='24' height='24' fill='%230c6960'/%3E%3Cpath fill='%23fff' d='M12 5l2.1 4.4 4.9.7-3.5 " \
    "3.4.8 4.8L12 16l-4.3 2.3.8-4.8L5 10.1l4.9-.7z'/%3E%3C/svg%3E"

static char *copy_text(struct dpmf_json *json, size_t *n) {
    const char *text = dpmf_json_text(json, n);
    char *copy = text ? strdup(text) : NULL;
    dpmf_json_free(json);
    return copy;
}

/* The type stands in the address: data:TYPE;base64,... or data:TYPE,... */
static void add_icon(struct dpmf_json *json, const char *address) {
    const char *type = address + strlen("data:");
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "src", address);
    dpmf_json_bytes(json, "type", type, strcspn(type, ";,"));
    dpmf_json_string(json, "sizes", "any");
    dpmf_json_string(json, "purpose", "any");
    dpmf_json_end_object(json);
}

char *page_manifest(const char *name, const char *logo, size_t *n) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "name", name);
    dpmf_json_string(json, "short_name", name);
    dpmf_json_string(json, "start_url", "./");
    dpmf_json_string(json, "scope", "./");
    dpmf_json_string(json, "display", "standalone");
    dpmf_json_string(json, "background_color", "#f7f4ee");
    dpmf_json_string(json, "theme_color", "#f7f4ee");
    dpmf_json_begin_array(json, "icons");
    if (logo) add_icon(json, logo);
    add_icon(json, ICON); /* whatever size a browser wants, where the logo has another */
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return copy_text(json, n);
}

char *page_worker(const char *page, size_t page_size, const char *policy, size_t *n) {
    static const char rest[] =
        ";\n"
        "const root = new URL(\"./\", self.registration.scope).pathname;\n"
        "self.addEventListener(\"install\", () => self.skipWaiting());\n"
        "self.addEventListener(\"activate\", (event) => event.waitUntil(self.clients.claim()));\n"
        "self.addEventListener(\"fetch\", (event) => {\n"
        "    const { mode, url } = event.request;\n"
        "    if (mode !== \"navigate\" || new URL(url).pathname !== root) return;\n"
        "    event.respondWith(new Response(page, { headers: { \"Content-Type\": \"text/html; "
        "charset=utf-8\",\n"
        "        \"Content-Security-Policy\": policy, \"Referrer-Policy\": \"no-referrer\" } }));\n"
        "});\n";
    struct dpmf_json *json = dpmf_json_new();
    size_t length = 0;
    char *script = NULL;
    dpmf_json_begin_array(json, NULL);
    dpmf_json_bytes(json, NULL, page, page_size);
    dpmf_json_string(json, NULL, policy);
    dpmf_json_end_array(json);
    const char *text = dpmf_json_text(json, &length);
    static const char head[] = "\"use strict\";\nconst [page, policy] = ";
    if (text) script = malloc(sizeof head + length + sizeof rest);
    if (script) {
        memcpy(script, head, sizeof head - 1);
        memcpy(script + sizeof head - 1, text, length);
        memcpy(script + sizeof head - 1 + length, rest, sizeof rest);
        *n = sizeof head - 1 + length + sizeof rest - 1;
    }
    dpmf_json_free(json);
    return script;
}

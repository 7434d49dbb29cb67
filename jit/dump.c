/* Reads CUJIT_DUMP and prints stages; the texts are made by the stages themselves. */
#include "jit/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const jit_dump_stages[] = {"bytecode", "cfg", "ssa", "ir", "checks", "llvm", "ptx", NULL};

bool jit_dump_wants(const char *stage)
{
    const char *list = getenv("CUJIT_DUMP");
    size_t length = strlen(stage);
    for (const char *word = list; word && *word;) {
        size_t size = strcspn(word, ", ");
        if (size == length && memcmp(word, stage, size) == 0)
            return true;
        word += size;
        word += strspn(word, ", ");
    }
    return false;
}

void jit_dump_text(const char *stage, const Snapshot *function, const char *text)
{
    if (!text || !*text)
        return;
    const SourceFunction *source = &function->code->source;
    Buf out = {0};
    buf_printf(&out, "--- %s of %s (%s:%d)\n%s%s", stage, source->name, source->file, source->first_line, text,
               text[strlen(text) - 1] == '\n' ? "" : "\n");
    fputs(buf_text(&out), stderr);
    fflush(stderr);
    buf_free(&out);
}

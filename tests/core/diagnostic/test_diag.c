/* Every row of diag.def formats; positions, truncation, the first failure wins. */
#include "check.h"
#include "core/diagnostic/diag.h"
#include "core/target.h"
#include "core_tests.h"

/* Calls diag_fail with arguments of the types that the row's format names, at most 6. */
static void fail_by_format(Diag *diag, DiagId id)
{
    const char *format = diag_info[id].format;
    char kinds[8] = "";
    for (const char *at = strchr(format, '%'); at; at = strchr(at + 1, '%')) {
        char kind = at[1] == 'z' ? 'z' : at[1];
        strncat(kinds, &kind, 1);
    }
#define ROW(text, ...)                            \
    if (!strcmp(kinds, text)) {                   \
        diag_fail(diag, NULL, id, ##__VA_ARGS__); \
        return;                                   \
    }
    /* No layout of these rows satisfies the formatter twice. */
    /* clang-format off */
    ROW("s", "A")
    ROW("ss", "A", "B")
    ROW("sss", "A", "B", "C")
    ROW("dd", 3, 9) ROW("ddss", 3, 9, "A", "B") ROW("sd", "A", 2) ROW("ds", 2, "A") ROW("sssd", "A", "B", "C", 4) ROW("sdd", "A", 1, 2)
        ROW("ssds", "A", "B", 1, "C") ROW("sdsd", "A", 1, "B", 2) ROW("sdss", "A", 1, "B", "C")
            ROW("sssds", "A", "B", "C", 1, "D") ROW("ssdss", "A", "B", 1, "C", "D") ROW("zss", (size_t)1, "A", "B")
                ROW("ds", 1, "A") ROW("ssss", "A", "B", "C", "D") ROW("d", 1) ROW("z", (size_t)1) ROW("zz", (size_t)1, (size_t)2) ROW("", 0) ROW("sds", "A", 1, "B")
                    ROW("ssd", "A", "B", 1) ROW("sudsu", "A", 1u, 2, "B", 3u) ROW("suddd", "A", 1u, 2, 3, 4)
    /* clang-format on */
        fprintf(stderr, "%s: this test does not know a row with \"%s\"\n", diag_info[id].name, kinds);
}

static void test_rows(void)
{
    for (int id = DIAG_NONE + 1; id < DIAG_COUNT; id++) {
        Diag diag = {0};
        fail_by_format(&diag, (DiagId)id);
        bool ok = diag.id == (DiagId)id && diag.message[0] && !strchr(diag.message, '%') && *diag_info[id].exception;
        if (!check_that(ok, __FILE__, __LINE__, "a row formats"))
            fprintf(stderr, "row %s: '%s'\n", diag_info[id].name, diag.message);
    }
    CHECK(!strcmp(diag_info[DIAG_NAME_UNDEFINED].name, "NAME_UNDEFINED"));
    CHECK(!strcmp(diag_info[DIAG_NAME_UNDEFINED].exception, "TypingError"));
}

static void test_notes(void)
{
    SourceFunction function = {.file = "f.py", .name = "f", .first_line = 3};
    SourcePos pos = {&function, 4, 4, 2, 9};
    Diag diag = {0};
    diag_note(&diag, &pos, "nothing failed");
    CHECK(diag.note_count == 0);
    diag_fail(&diag, NULL, DIAG_UNSUPPORTED, "a failure");
    diag_note(&diag, &pos, "here %d", 1);
    diag_note(&diag, &pos, "here %d", 1);
    CHECK(diag.note_count == 1 && !strcmp(diag.notes[0].message, "here 1") && !strcmp(diag.notes[0].file, "f.py"));
    CHECK(diag.notes[0].line == 4 && diag.notes[0].column == 2 && diag.notes[0].end_column == 9);
    diag_note(&diag, NULL, "nowhere");
    CHECK(diag.note_count == 2 && diag.notes[1].line == 0 && !diag.notes[1].file[0]);
    for (int i = 0; i < 2 * DIAG_NOTE_LIMIT; i++)
        diag_note(&diag, NULL, "number %d", i);
    CHECK(diag.note_count == DIAG_NOTE_LIMIT);
    diag_fail(&diag, NULL, DIAG_UNSUPPORTED, "later");
    CHECK(!strcmp(diag.message, "a failure") && diag.note_count == DIAG_NOTE_LIMIT);
    diag_clear(&diag);
    CHECK(!diag_failed(&diag) && diag.note_count == 0);
}

static void test_truncation(void)
{
    static char text[4000];
    Diag diag = {0};
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    diag_fail(&diag, NULL, DIAG_UNSUPPORTED, text);
    size_t length = strlen(diag.message);
    CHECK(length > 2000 && length % 3 == 0 && length < sizeof diag.message);
    diag_clear(&diag);
    text[0] = 'x';
    memmove(text + 1, text + 3, sizeof text - 3);
    diag_fail(&diag, NULL, DIAG_UNSUPPORTED, text);
    length = strlen(diag.message);
    CHECK(length > 2000 && length % 3 == 1);
}

void test_diag(void)
{
    test_rows();
    test_notes();
    test_truncation();
    Diag diag = {0};
    CHECK(!diag_failed(&diag));
    SourceFunction function = {.file = "k.py", .name = "f.<locals>.g", .first_line = 3};
    SourcePos pos = {.function = &function, .line = 7, .end_line = 8, .column = 4, .end_column = 9};
    CHECK(!diag_fail(&diag, &pos, DIAG_NAME_UNDEFINED, "cuda", ""));
    CHECK(diag_failed(&diag) && diag.id == DIAG_NAME_UNDEFINED);
    CHECK_TEXT(diag.message, "name 'cuda' is not defined");
    CHECK_TEXT(diag.file, "k.py");
    CHECK_TEXT(diag.function, "f.<locals>.g");
    CHECK(diag.line == 7 && diag.end_line == 8 && diag.column == 4 && diag.end_column == 9 && !diag.code);
    diag_fail(&diag, NULL, DIAG_LLVM, "later");
    CHECK(diag.id == DIAG_NAME_UNDEFINED);
    diag_clear(&diag);
    CHECK(!diag_failed(&diag) && !diag.message[0] && !diag.line);
    CHECK(!diag_fail_code(&diag, 719, DIAG_DRIVER_CALL, "cuLaunchKernel", "CUDA_ERROR_LAUNCH_FAILED", 719, "bad"));
    CHECK(diag.code == 719);
    CHECK_TEXT(diag.message, "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED (719): bad");
}

void test_target(void)
{
    CHECK(target_gpu_count > 0 && target_gpus[0].sm == 75);
    bool ascending = true;
    for (int i = 0; i < target_gpu_count; i++) {
        ascending &= !i || target_gpus[i - 1].sm < target_gpus[i].sm;
        CHECK(target_gpu(target_gpus[i].sm) == &target_gpus[i]);
    }
    CHECK(ascending);
    CHECK(!target_gpu(74) && !target_gpu(0));
    CHECK(target_gpu(81)->sm == 80 && target_gpu(100000)->sm == target_gpus[target_gpu_count - 1].sm);
    CHECK_TEXT(target_gpu(90)->name, "sm_90");
    CHECK(target_gpu(75)->ptx == 65);
}

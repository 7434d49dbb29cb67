/* A part of fake_driver.c: links, whose code lists what went in. */
#ifndef CUJIT_TESTS_FAKE_LINK_H
#define CUJIT_TESTS_FAKE_LINK_H

/* As the driver does, it writes the length of a log over the size that it was given, whenever the link is used. */
typedef struct FakeLink {
    char code[1024], *log;
    CUjit_option *options;
    void **values;
    unsigned int count;
} FakeLink;

CUresult act_cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *state)
{
    CUresult result = make((void **)state, sizeof(FakeLink));
    if (result != CUDA_SUCCESS)
        return result;
    *(FakeLink *)*state = (FakeLink){.code = "linked:", .options = options, .values = values, .count = count};
    for (unsigned int i = 0; i < count; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            ((FakeLink *)*state)->log = values[i];
    return compile("", count, options, values);
}

CUresult act_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                           unsigned int count, CUjit_option *options, void **values)
{
    FakeLink *link = (FakeLink *)state;
    (void)count, (void)options, (void)values;
    if (size >= 3 && !memcmp(data, "bad", 3)) {
        sprintf(link->log, "fake fatal : bad code");
        return CUDA_ERROR_INVALID_VALUE;
    }
    size_t used = strlen(link->code);
    snprintf(link->code + used, sizeof link->code - used, " %d/%s", (int)type, name);
    return CUDA_SUCCESS;
}

CUresult act_cuLinkComplete(CUlinkState state, void **code, size_t *size)
{
    FakeLink *link = (FakeLink *)state;
    for (unsigned int i = 0; i < link->count; i++)
        if (link->options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES ||
            link->options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
            link->values[i] = NULL;
    *code = link->code;
    *size = strlen(*code);
    return CUDA_SUCCESS;
}

CUresult act_cuLinkDestroy(CUlinkState state) { return destroy(state); }

#endif

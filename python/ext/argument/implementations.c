/* The frontend lists the calls that wait for an implementation; the object that each of them names (cujit.extending) chooses
 * one by the arguments' types; its snapshot joins the kernel's. Chosen implementations may call what is overloaded, too, so
 * this goes on until nothing is missing. Python runs under no lock but the GIL. */
#include "ext/argument/implementations.h"

#include "ext/guard.h"
#include "ext/raise.h"
#include "ext/snapshot/function_snapshot.h"
#include "ext/snapshot/type_value.h"

enum { MOST_ROUNDS = 200 };

/* --- arguments as Python has them: a Type, or a tuple that names what is no type of values ------------------------------- */
static PyObject *argument_object(ExtState *state, const WishArgument *argument, bool with_values);

static PyObject *compile_time_object(ExtState *state, const Constant *constant)
{
    const char *shown = constant->shown_as ? constant->shown_as : constant->text ? constant->text : "";
    switch (constant->kind) {
    case CONSTANT_STRING: return Py_BuildValue("(ss)", "string", constant->text);
    case CONSTANT_TYPE: return Py_BuildValue("(sN)", "type", ext_type_object(state, constant->type));
    case CONSTANT_CLASS: return Py_BuildValue("(sN)", "class", ext_type_object(state, constant->type));
    case CONSTANT_OVERLOADED:
    case CONSTANT_INTRINSIC:
    case CONSTANT_CODE:
    case CONSTANT_FUNCTION: return Py_BuildValue("(ss)", "function", shown);
    default: return Py_BuildValue("(ss)", "object", shown);
    }
}

/* Whether an item leads to what lives no longer than the compilation. */
static bool has_object(const Type *type)
{
    bool is_one =
        type->kind == TYPE_OBJECT || (type_has_trait(type, TRAIT_OBJECT) && !type_has_trait(type, TRAIT_CLASS));
    for (uint32_t i = 0; !is_one && type->kind == TYPE_TUPLE && i < type->count; i++)
        is_one = has_object(type->items[i]);
    return is_one;
}

static PyObject *tuple_with_objects(ExtState *state, const Type *type, bool with_values)
{
    if (type_is_tagged(type, TUPLE_CLOSURE))
        return Py_BuildValue("(ss)", "function", ((const CodeSnapshot *)type->object)->source.name);
    PyObject *items = PyTuple_New(type->count);
    for (uint32_t i = 0; items && i < type->count; i++) {
        const Type *item = type->items[i];
        WishArgument argument = {item, item->kind == TYPE_OBJECT ? item->object : NULL};
        PyObject *made = argument_object(state, &argument, with_values);
        if (made)
            PyTuple_SET_ITEM(items, i, made);
        else
            Py_CLEAR(items);
    }
    return items ? Py_BuildValue("(ssN)", "tuple", tuple_tag_info[type->tag].text, items) : NULL;
}

/* What leads to a class that the snapshot has is copied without. */
static PyObject *plain_type(ExtState *state, const Type *type)
{
    Type copy = *type;
    if (type_is_tagged(type, TUPLE_NAMED))
        copy.object = NULL;
    return ext_type_object(state, type_is_scalar(type) ? type : &copy);
}

static PyObject *argument_object(ExtState *state, const WishArgument *argument, bool with_values)
{
    const Type *type = argument->type;
    const Constant *constant = argument->constant;
    if (type->kind == TYPE_OBJECT)
        return compile_time_object(state, type->object);
    if (has_object(type))
        return tuple_with_objects(state, type, with_values);
    PyObject *made = plain_type(state, type);
    if (made && with_values && constant && constant->kind == CONSTANT_BOOL)
        return Py_BuildValue("(sNN)", "literal", made, PyBool_FromLong(constant->integer != 0));
    if (made && with_values && constant && constant->kind == CONSTANT_INT)
        return Py_BuildValue("(sNN)", "literal", made,
                             constant->is_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)constant->integer)
                                                   : PyLong_FromLongLong(constant->integer));
    return made;
}

static PyObject *arguments_list(ExtState *state, const ImplementationWish *wish)
{
    PyObject *list = PyList_New(wish->count);
    for (uint32_t i = 0; list && i < wish->count; i++) {
        PyObject *item = argument_object(state, &wish->arguments[i], wish->with_values);
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *keywords_tuple(const ImplementationWish *wish)
{
    PyObject *tuple = PyTuple_New(wish->keyword_count);
    for (uint32_t i = 0; tuple && i < wish->keyword_count; i++) {
        PyObject *name = PyUnicode_FromString(wish->keywords[i]);
        if (name)
            PyTuple_SET_ITEM(tuple, i, name);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* --- answers ------------------------------------------------------------------------------------------------------------- */
/* What the class of a dataclass has under a name. New reference. */
static PyObject *ask_class(ExtState *state, const ImplementationWish *wish, const char *form)
{
    PyObject *module = PyImport_ImportModule("cujit.extending.class_members");
    PyObject *arguments = module ? arguments_list(state, wish) : NULL;
    PyObject *chosen = arguments ? PyObject_CallMethod(module, "member_of", "OssO", (PyObject *)wish->overloads,
                                                       wish->member, form, arguments)
                                 : NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(module);
    return chosen;
}

/* What Python chooses: a function, None, True for a method, or a str that says why it cannot. New reference. */
static PyObject *ask_python(ExtState *state, const ImplementationWish *wish)
{
    static const char *const forms[] = {
        [OVERLOAD_CALL] = "call", [OVERLOAD_ATTRIBUTE] = "attribute", [OVERLOAD_METHOD] = "method"};
    if (wish->member)
        return ask_class(state, wish, forms[wish->form]);
    PyObject *arguments = arguments_list(state, wish), *keywords = arguments ? keywords_tuple(wish) : NULL;
    PyObject *chosen = keywords ? PyObject_CallMethod((PyObject *)wish->overloads, "choose", "sOO", forms[wish->form],
                                                      arguments, keywords)
                                : NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return chosen;
}

typedef struct Answer {
    Arena *arena;
    const ImplementationWish *wish;
    PyObject *chosen;
    Implementation *made;
} Answer;

static bool begin_answer(void *data)
{
    Answer *answer = data;
    Arena *arena = answer->arena;
    PyObject *chosen = answer->chosen;
    const char *text = PyUnicode_Check(chosen) ? PyUnicode_AsUTF8(chosen) : NULL;
    answer->made = ARENA_NEW(arena, Implementation);
    answer->made->arena = arena;
    answer->made->key = arena_string(arena, answer->wish->key);
    answer->made->is_method = chosen == Py_True;
    answer->made->error = text ? arena_string(arena, text) : NULL;
    return !PyErr_Occurred();
}

/* Fills the answer. */
static bool make_answer(ExtKernel *kernel, Answer *answer)
{
    bool has_overloads;
    if (!ext_guard(begin_answer, answer))
        return false;
    if (!PyFunction_Check(answer->chosen))
        return true;
    answer->made->function =
        ext_snapshot(kernel->state, answer->chosen, NULL, answer->arena, kernel->keep_alive, &has_overloads);
    return answer->made->function && PyList_Append(kernel->keep_alive, answer->chosen) == 0;
}

static bool give_answer(ExtKernel *kernel, const ImplementationWish *wish, PyObject *chosen)
{
    Answer answer = {ext_arena(), wish, chosen, NULL};
    if (!answer.arena || !make_answer(kernel, &answer)) {
        arena_destroy(answer.arena);
        return false;
    }
    jit_add_implementation(kernel->function, answer.made);
    return true;
}

static bool answer_all(ExtKernel *kernel, const ImplementationWish *wish)
{
    for (; wish; wish = wish->next) {
        PyObject *chosen = ask_python(kernel->state, wish);
        bool ok = chosen && give_answer(kernel, wish, chosen);
        Py_XDECREF(chosen);
        if (!ok)
            return false;
    }
    return true;
}

/* Not a part of its caller: a Diag takes 5 KB of a stack that may be small. */
static __attribute__((noinline)) bool choose(ExtKernel *kernel, const Type *const *types, uint32_t count)
{
    const ImplementationWish *wishes = NULL;
    bool ok = true, more = true;
    for (int round = 0; ok && more; round++) {
        Diag diag = {.id = DIAG_NONE};
        Arena *arena = ext_arena();
        if (!arena)
            return false;
        Py_BEGIN_ALLOW_THREADS ok =
            jit_wishes(kernel->function, types, count, !kernel->is_device, arena, &wishes, &diag);
        Py_END_ALLOW_THREADS more = ok && wishes;
        if (!ok)
            ext_raise(&diag);
        else if (more && round == MOST_ROUNDS)
            ok = (ext_raise_id(DIAG_UNSUPPORTED, "implementations of overloaded functions ask for others without end"),
                  false);
        else
            ok = answer_all(kernel, wishes);
        arena_destroy(arena);
    }
    return ok;
}

/* Whether a value has a class whose methods are asked for. */
static bool has_instance(const Type *type)
{
    bool is_one = type_class(type);
    for (uint32_t i = 0; !is_one && type->kind == TYPE_TUPLE && i < type->count; i++)
        is_one = has_instance(type->items[i]);
    return is_one;
}

bool ext_choose_implementations(ExtKernel *kernel, const Type *const *types, uint32_t count)
{
    bool may_wish = kernel->has_overloads;
    for (uint32_t i = 0; !may_wish && i < count; i++)
        may_wish = has_instance(types[i]);
    return !may_wish || choose(kernel, types, count);
}

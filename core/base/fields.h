/* Structs that compiled code depends on list their fields as X_FIELDS(FIELD), a row each: FIELD(type, name, extent, key, of).
 * The rows declare the struct and write the key under which code is kept (jit/cache/cache_key.c): no field can be forgotten. */
#ifndef CUJIT_CORE_FIELDS_H
#define CUJIT_CORE_FIELDS_H

/* extent: "[3]" of an array, else nothing. key, and what it needs in `of`:
 *   number, real, text          the value; booleans and enums are numbers
 *   bytes, hash (size)          what the field points to
 *   texts, constants, types, fields (count)     lists
 *   leading (count)             the first of an array
 *   links (count)               what is linked, by its content
 *   type, array, function, foreign, code, source, intrinsic, processor     what is meant by it
 *   identity                    an object of this process, told apart from others by its number
 *   class                       the same of a class of Python, or NULL
 *   place_text, place_number, positions (size)  only where the code tells where in the source it comes from
 *   address                     code with one is not kept
 *   none                        the code does not depend on it: a comment says why */
#define DECLARE_FIELD(type, name, extent, key, of) type name extent;

#endif

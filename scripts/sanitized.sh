#!/bin/sh
# sanitized.sh BUILD COMMAND...: runs a command that imports the package of a build with sanitizers, made by GCC. The reports of
# all its processes are in BUILD/reports; there being any is a failure, whatever the command says.
set -eu
build=$(cd "$1" && pwd)
shift
setting() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
library() {   # library NAME: the compiler's
    path=$("$(setting CMAKE_C_COMPILER)" "-print-file-name=$1")
    [ -e "$path" ] || { echo "$(setting CMAKE_C_COMPILER) has no $1: configure $build with GCC" >&2; exit 1; }
    echo "$path"
}
reports=$build/reports
rm -rf "$reports"
mkdir "$reports"
export PYTHONPATH="$build/python" CUJIT_DEVICE=cpu
case $(setting CUJIT_SANITIZE) in
address,undefined)
    preload=$(library libasan.so)
    if grep -q 'libubsan\.so' "$build"/python/cujit/_core.*; then
        echo "reports of libubsan.so would not be seen, to which $build/python/cujit/_core is linked: build it again" >&2
        exit 1
    fi
    # Python does not free all at its end. Its own allocator would hide the borders of what is allocated.
    export CUJIT_SANITIZER=address PYTHONMALLOC=malloc
    # CUDA's driver, which a few tests ask for where there is one, lays its memory out where the sanitizer would forbid any.
    export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:protect_shadow_gap=0:log_path=$reports/address"
    export UBSAN_OPTIONS="print_stacktrace=1:print_summary=1:log_path=$reports/undefined"
    ;;
thread)
    preload=$(library libtsan.so)
    export CUJIT_SANITIZER=thread
    suppressions=$(cd "$(dirname "$0")" && pwd)/thread_sanitizer.txt
    export TSAN_OPTIONS="die_after_fork=0:second_deadlock_stack=1:suppressions=$suppressions:log_path=$reports/thread"
    ;;
*)
    echo "$build is no build with sanitizers that this script knows" >&2
    exit 1
    ;;
esac
status=0
LD_PRELOAD=$preload "$@" || status=$?
count=$(find "$reports" -type f | wc -l)
echo "$count processes with reports"
[ "$count" = 0 ] || grep -h SUMMARY "$reports"/* | sort | uniq -c
[ "$status" = 0 ] && [ "$count" = 0 ]

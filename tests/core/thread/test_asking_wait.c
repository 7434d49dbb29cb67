/* Waits that ask: whether they do, what they hold meanwhile, and what they say where both happens at once. */
#include <pthread.h>

#include "check.h"
#include "core/thread/asking_wait.h"
#include "core_tests.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static int asked, comes_at, stops_at; /* by which question; 0: by none */
static bool has_come, was_open;

static bool is_there(const void *what) { return *(const bool *)what; }

static bool is_interrupted(void)
{
    was_open = pthread_mutex_trylock(&lock) == 0;
    if (was_open)
        pthread_mutex_unlock(&lock);
    asked++;
    has_come |= asked == comes_at;
    return asked == stops_at;
}

static bool wait_with(bool is_there_before, int comes, int stops)
{
    has_come = is_there_before;
    asked = 0;
    comes_at = comes;
    stops_at = stops;
    pthread_mutex_lock(&lock);
    bool waited = wait_asking(&come, &lock, is_there, &has_come, is_interrupted);
    CHECK(pthread_mutex_trylock(&lock) != 0);
    pthread_mutex_unlock(&lock);
    return waited;
}

static void *make_it_so(void *unused)
{
    pthread_mutex_lock(&lock);
    has_come = true;
    pthread_cond_broadcast(&come);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void check_without_questions(void)
{
    pthread_t thread;
    has_come = false;
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&thread, NULL, make_it_so, NULL) == 0);
    CHECK(wait_asking(&come, &lock, is_there, &has_come, NULL));
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

void test_asking_wait(void)
{
    CHECK(wait_with(true, 0, 1) && asked == 0);
    CHECK(wait_with(false, 2, 3) && asked == 2 && was_open);
    CHECK(!wait_with(false, 3, 2) && asked == 2 && !has_come);
    CHECK(!wait_with(false, 1, 1) && asked == 1 && has_come);
    check_without_questions();
}

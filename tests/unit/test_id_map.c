/*
 * The id map: numbers in order of arrival, ids of every length, and readers beside the one that
 * adds.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ratings/id_map.h"

static uint32_t find(const struct id_map *map, const char *id, uint32_t length) {
    return id_map_find(map, (struct id_text){id, length});
}

static uint32_t add(struct id_map *map, const char *id, uint32_t length) {
    uint32_t number;
    assert_int_equal(id_map_add(map, (struct id_text){id, length}, &number, NULL), 0);
    return number;
}

static void test_numbers_in_order(void **state) {
    (void)state;
    struct id_map *map;
    assert_int_equal(id_map_init(&map, NULL), 0);
    enum { N = 200000 };
    char id[32];
    for (uint32_t i = 0; i < N; i++) {
        uint32_t length = (uint32_t)sprintf(id, i % 2 ? "%u" : "a longer id, %u", i);
        assert_int_equal(find(map, id, length), ID_MAP_NONE);
        assert_int_equal(add(map, id, length), i);
        assert_int_equal(add(map, id, length), i);
    }
    assert_int_equal(id_map_size(map), N);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t length = (uint32_t)sprintf(id, i % 2 ? "%u" : "a longer id, %u", i);
        assert_int_equal(find(map, id, length), i);
        struct id_text stored = id_map_id(map, i);
        assert_int_equal(stored.length, length);
        assert_memory_equal(stored.bytes, id, length);
    }
    assert_true(id_map_bytes(map) > N * 8);
    id_map_free(map);
}

/* All ids of up to three letters of an alphabet of four, and what looks like them when packed: no
 * two are taken for one, alone or many at once. */
static void test_short_ids_differ(void **state) {
    (void)state;
    struct id_map *map;
    assert_int_equal(id_map_init(&map, NULL), 0);
    char text[ID_MAP_MANY][4];
    struct id_text ids[ID_MAP_MANY];
    uint32_t n = 0, numbers[ID_MAP_MANY];
    for (uint32_t length = 1; length <= 3; length++)
        for (uint32_t i = 0; i < 1u << (2 * length); i++, n++) {
            for (uint32_t at = 0; at < length; at++) text[n][at] = "\0a\xff,"[i >> (2 * at) & 3];
            ids[n] = (struct id_text){text[n], length};
            assert_int_equal(add(map, text[n], length), n);
        }
    id_map_find_many(map, ids, (int)n, numbers);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(numbers[i], i);
    id_map_free(map);
}

/* Ids that differ only in length or in a zero byte are different. */
static void test_every_length(void **state) {
    (void)state;
    struct id_map *map;
    assert_int_equal(id_map_init(&map, NULL), 0);
    static char zeros[65536], letters[65536];
    memset(letters, 'a', sizeof letters);
    uint32_t number = 0;
    for (uint32_t length = 1; length <= sizeof zeros;
         length = length < 20 ? length + 1 : length * 2) {
        assert_int_equal(add(map, zeros, length), number++);
        assert_int_equal(add(map, letters, length), number++);
    }
    id_map_free(map);
}

/* Whole numbers of every size have the numbers of their texts, whichever way they came first. */
static void test_whole_numbers(void **state) {
    static const int64_t edges[] = {0,  1,         4095,      4096,      (1 << 22) - 1, 1 << 22,
                                    -1, INT32_MAX, INT64_MIN, INT64_MAX, 100000000};
    (void)state;
    struct id_map *map;
    assert_int_equal(id_map_init(&map, NULL), 0);
    enum { N = 100000, EDGES = sizeof edges / sizeof edges[0] };
    char id[32];
    uint32_t number;
    for (uint32_t i = 0; i < N; i++) {
        const int64_t whole = i < EDGES ? edges[i] : ((int64_t)i << (i % 2 ? 24 : 4)) + 3;
        const uint32_t length = (uint32_t)sprintf(id, "%lld", (long long)whole);
        id_map_find_wholes(map, &whole, 1, &number);
        assert_int_equal(number, ID_MAP_NONE);
        if (i % 3 == 0) assert_int_equal(add(map, id, length), i);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(
                id_map_add_whole(map, whole, (struct id_text){id, length}, &number, NULL), 0);
            assert_int_equal(number, i);
        }
        assert_int_equal(find(map, id, length), i);
    }
    assert_int_equal(id_map_size(map), N);
    for (uint32_t i = 0; i < N; i += 2) {
        int64_t two[2];
        uint32_t numbers[2];
        for (uint32_t k = 0; k < 2; k++)
            two[k] =
                i + k < EDGES ? edges[i + k] : ((int64_t)(i + k) << ((i + k) % 2 ? 24 : 4)) + 3;
        id_map_find_wholes(map, two, 2, numbers);
        assert_int_equal(numbers[0], i);
        assert_int_equal(numbers[1], i + 1);
    }
    id_map_free(map);
}

enum { SHARED = 300000 };

struct shared_map {
    struct id_map *map;
    _Atomic uint32_t added;
};

static void *look_up(void *self) {
    struct shared_map *shared = self;
    char id[32];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < SHARED; i++) {
        uint32_t added = atomic_load(&shared->added);
        uint32_t length = (uint32_t)sprintf(id, i % 3 ? "%u" : "user number %u", 97 * i);
        uint32_t number = find(shared->map, id, length);
        /* what was added before is found; what is not found may come any moment; never another's */
        if (number != i && (number != ID_MAP_NONE || i < added)) wrong++;
        const int64_t whole = (int64_t)i * 97;
        id_map_find_wholes(shared->map, &whole, 1, &number);
        if (i % 3 && number != i && (number != ID_MAP_NONE || i < added)) wrong++;
    }
    return (void *)(uintptr_t)wrong;
}

static void test_readers_beside_the_writer(void **state) {
    (void)state;
    struct shared_map shared = {0};
    assert_int_equal(id_map_init(&shared.map, NULL), 0);
    pthread_t readers[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, look_up, &shared), 0);
    char id[32];
    for (uint32_t i = 0; i < SHARED; i++) {
        uint32_t length = (uint32_t)sprintf(id, i % 3 ? "%u" : "user number %u", 97 * i), number;
        if (i % 3 == 0)
            assert_int_equal(add(shared.map, id, length), i);
        else
            assert_int_equal(id_map_add_whole(shared.map, (int64_t)i * 97,
                                              (struct id_text){id, length}, &number, NULL),
                             0);
        atomic_store(&shared.added, i + 1);
    }
    for (int i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(readers[i], &wrong);
        assert_null(wrong);
    }
    id_map_free(shared.map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_in_order),
        cmocka_unit_test(test_short_ids_differ),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_readers_beside_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
